"""Holds of one request in virtual time: real pacer, queue and sending, and nobody waits."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from conformance.wire.virtual_time import VirtualLoop
from stanchion.broker.plane import sending
from stanchion.broker.plane.pacing.pacer import Call
from stanchion.broker.plane.pacing.turns import Turns
from stanchion.broker.plane.sending import Answer, Sending, Sendings
from stanchion.protocol.exchange import Answered, ErrorClass, ExchangeResult
from stanchion.protocol.launch import Waits

GOOD = Answered(result=ExchangeResult.COMPLETED, status=200, text_present=True)
BUSY = Answered(
    result=ExchangeResult.PROVIDER_ERROR, status=429, error_class=ErrorClass.RATE_LIMITED
)
WAITS = Waits(header_wait_s=11, max_wait_s=60)
"""11 s less the margin of 10 s: a request is held for 1 s at most."""


class Harness:
    """Listens to the end, and keeps what the broker itself says."""

    gone = False

    def __init__(self) -> None:
        self.refused: list[tuple[int, str]] = []

    def abort(self) -> None:
        raise AssertionError("nothing is cut here")

    def reply(self, *answer: Any) -> None:
        raise AssertionError(f"the sending itself delivers nothing of the provider: {answer}")

    def refuse(self, status: int, word: str, headers: Any = None) -> None:
        del headers
        self.refused.append((status, word))

    def watch(self, **_callbacks: Callable[[], None]) -> None:
        """It never leaves."""


@dataclass
class Account:
    """One attempt under one account, as its requests see it; time is the loop's."""

    provider: list[Answer]
    revoked: "asyncio.Future[None]" = field(default_factory=lambda: _loop().create_future())
    calls: dict[str, Call] = field(default_factory=dict)
    sent: list[tuple[int, str]] = field(default_factory=list)
    """When, and which body."""
    requests: int = 0
    holds: list[tuple[int, bool]] = field(default_factory=list)
    tried: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.turns = Turns(now_ms=now_ms, jitter=lambda: 0.0)

    def note_held(self, number: int, *, holding: bool, why: str | None = None) -> None:
        del number, why
        self.holds.append((now_ms(), holding))

    async def note_try(self, number: int, sending: int, answer: Answer, *, held_ms: int) -> None:
        del sending, answer, held_ms
        self.tried.append(number)

    async def ask(self, body: str, harness: Harness) -> tuple[Answer, Sendings]:
        """One request of the harness; what stood in the end, and its story."""
        self.requests += 1
        one = Sending(
            self, self.turns, harness, number=self.requests, body_sha256=body, waits=WAITS
        )

        async def send() -> Answer:
            self.sent.append((now_ms(), body))
            return self.provider.pop(0)

        answer = await one.run(send)
        answer.deliver()
        return answer, one.story(answer)


def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


def now_ms() -> int:
    return round(_loop().time() * 1000)


async def ask_until_good(account: Account, body: str, harness: Harness) -> None:
    """As a harness does that is handed a failure back."""
    while (await account.ask(body, harness))[0].answered is not GOOD:
        pass


def says(answered: Answered, retry_after_ms: int | None = None) -> Answer:
    return Answer(answered, lambda: None, retry_after_asked_ms=retry_after_ms)


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Awaitable[None]]], None]:
    """Runs a scene; the clock is the loop's, which leaps."""
    monkeypatch.setattr(sending, "mono_ms", now_ms)

    def run(scene: Callable[[], Awaitable[None]]) -> None:
        async def main() -> None:
            await scene()

        with asyncio.Runner(loop_factory=VirtualLoop) as runner:
            runner.run(main())

    return run


Play = Callable[[Callable[[], Awaitable[None]]], None]


def test_a_hold_ends_before_the_harness_stops_listening_and_goes_on_when_it_asks_again(
    play: Play,
) -> None:
    """The account cools down for 2 s, each request is held for 1 s."""

    async def scene() -> None:
        account, harness = Account([says(BUSY, 2_000), says(GOOD)]), Harness()
        answer, story = await account.ask("body", harness)
        assert (now_ms(), answer.answered) == (1_000, BUSY)
        assert (story.tries, story.held_ms, story.gave_up) == (1, 1_000, None)
        answer, story = await account.ask("body", harness)
        assert (now_ms(), answer.answered) == (2_000, GOOD)
        assert (story.tries, story.held_ms, story.gave_up) == (1, 1_000, None)
        assert account.sent == [(0, "body"), (2_000, "body")]
        assert account.holds == [(0, True), (1_000, False), (1_000, True), (2_000, False)]
        assert (account.tried, harness.refused) == ([1], [])

    play(scene)


def test_a_call_keeps_its_place_and_its_patience_over_all_its_requests(play: Play) -> None:
    """Another call came later and waits longer, and still it is the second."""

    async def scene() -> None:
        account = Account([says(BUSY, 3_500), says(GOOD), says(GOOD)])
        first, other = Harness(), Harness()
        await account.ask("body", first)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(ask_until_good(account, "body", first))
            tasks.create_task(ask_until_good(account, "other", other))
        assert account.sent == [(0, "body"), (3_500, "body"), (3_500, "other")]
        assert first.refused == [(503, "held_too_long")] * 2
        assert other.refused == [(503, "held_too_long")] * 2

    play(scene)
