"""Sends one request as often as its account's pacer says, until an answer stands.

Every sending but the last is on record before the next one leaves, and while a request is held
the supervisor knows it. What reaches the harness is the provider's own last answer; only where
there is none does it get a constant one. Nothing is sent twice once a byte has gone back.
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Protocol

import msgspec

from stanchion.broker.clock import mono_ms
from stanchion.broker.plane.pacing.pacer import Call, Failure, Verdict, failure_of
from stanchion.broker.plane.pacing.retry_after import CAP_MS
from stanchion.broker.plane.pacing.trips import Trip
from stanchion.broker.plane.pacing.turns import Turns
from stanchion.protocol.exchange import Answered, ExchangeResult
from stanchion.protocol.launch import Waits

MARGIN_MS = 10_000
"""Between the end of the longest hold and the moment at which the harness stops listening."""
MAX_CALLS = 64
"""Calls kept per attempt for the harness to ask again."""


class Answer(msgspec.Struct, frozen=True):
    """What came back, and how to hand over what is left of it."""

    answered: Answered
    deliver: Callable[[], None]
    retry_after_asked_ms: int | None = None
    retry_after_sent_ms: int | None = None
    stands: bool = False
    """Whether no other sending may follow, whatever it says."""


class Sendings(msgspec.Struct, frozen=True):
    """How a request was sent, for its last receipt."""

    tries: int
    held_ms: int
    gave_up: str | None
    retry_after_asked_ms: int | None
    retry_after_sent_ms: int | None


class Pacing(Protocol):
    """What sending needs of its attempt."""

    revoked: "asyncio.Future[None]"
    calls: MutableMapping[str, Call]
    """By body digest: calls whose harness may ask again."""

    def note_held(self, number: int, *, holding: bool, why: str | None = None) -> None:
        """A request is held, or no longer."""

    async def note_try(self, number: int, sending: int, answer: Answer, *, held_ms: int) -> None:
        """Put a sending that failed on record, durably."""


class Listener(Protocol):
    """The harness's side."""

    gone: bool

    def abort(self) -> None:
        """Cut it."""

    def reply(self, status: int, body: bytes, headers: list[tuple[str, str]] | None = None) -> None:
        """Answer it."""

    def refuse(self, status: int, word: str, headers: list[tuple[str, str]] | None = None) -> None:
        """Answer it, with a word of the broker's own."""

    def watch(
        self,
        *,
        on_gone: Callable[[], None],
        on_pause: Callable[[], None],
        on_resume: Callable[[], None],
    ) -> None:
        """Say when it is gone."""


class Sending:
    """One request of the harness."""

    def __init__(
        self,
        desk: Pacing,
        turns: Turns,
        down: Listener,
        *,
        number: int,
        body_sha256: str,
        waits: Waits,
    ) -> None:
        self._desk = desk
        self._turns = turns
        self._down = down
        self._number = number
        self._digest = body_sha256
        self._waits = waits
        known = body_sha256 in desk.calls
        self._call = desk.calls.pop(body_sha256) if known else _new_call(waits, number)
        self._call.arrived_ms = mono_ms()
        self._held_before_ms = self._call.held_ms
        self._tries = 0
        self._gave_up: str | None = None
        self._last: Answer | None = None

    def accepted(self) -> None:
        """An answer began that goes to the harness as it comes."""
        self._turns.accepted(self._call)

    def story(self, answer: Answer) -> Sendings:
        """For the last receipt."""
        return Sendings(
            tries=self._tries,
            held_ms=self._call.held_ms - self._held_before_ms,
            gave_up=self._gave_up,
            retry_after_asked_ms=answer.retry_after_asked_ms,
            retry_after_sent_ms=answer.retry_after_sent_ms,
        )

    async def run(self, send: Callable[[], Awaitable[Answer]]) -> Answer:
        """The answer that stands."""
        while True:
            verdict = await self._turn()
            if verdict is not Verdict.GO:
                return self._ended(verdict)
            answer, failure = await self._try(send)
            if failure is None:
                return answer
            verdict = self._turns.failed(self._call, failure)
            if verdict is not Verdict.HOLD:
                return self._failed(verdict, answer, failure)
            self._last = answer
            await self._desk.note_try(
                self._number, self._tries, answer, held_ms=self.story(answer).held_ms
            )

    async def _try(self, send: Callable[[], Awaitable[Answer]]) -> tuple[Answer, Failure | None]:
        """One sending; where it failed the slot is still held, for the pacer to take with it."""
        self._tries += 1
        failure = None
        try:
            answer = await send()
            if not answer.stands:
                failure = failure_of(answer.answered, answer.retry_after_asked_ms)
            if failure is None and answer.answered.status is not None:
                self._turns.accepted(self._call)
        finally:
            if failure is None:
                self._turns.over()
        return answer, failure

    async def _turn(self) -> Verdict | None:
        """GO, the end of the wait, or None: nobody waits for the answer any more."""
        if self._over():
            return None
        verdict = self._turns.at_once(self._call)
        if verdict is not None:
            return verdict
        turn = self._turns.queue(self._call)
        if not turn.done():
            await self._hold(turn)
        if turn.cancelled():
            return None if self._over() else self._call.out_of_patience(mono_ms())
        if turn.result() is Verdict.GO and self._over():
            self._turns.over()
            return None
        return turn.result()

    async def _hold(self, turn: "asyncio.Future[Verdict]") -> None:
        gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._down.watch(
            on_gone=lambda: None if gone.done() else gone.set_result(None),
            on_pause=_nothing,
            on_resume=_nothing,
        )
        self._desk.note_held(self._number, holding=True, why=self._turns.why(self._call))
        try:
            ends: list[asyncio.Future[Any]] = [turn, gone, self._desk.revoked]
            await asyncio.wait(
                ends,
                timeout=self._call.patience_ms(mono_ms()) / 1000,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            if not turn.done():
                self._turns.leave(self._call)
            self._desk.note_held(self._number, holding=False)

    def _over(self) -> bool:
        return self._desk.revoked.done() or self._down.gone

    def _failed(self, verdict: Verdict, answer: Answer, failure: Failure) -> Answer:
        if verdict is Verdict.GIVE_UP:
            self._give_up(failure.words)
        else:
            self._keep_call()
        return answer

    def _ended(self, verdict: Verdict | None) -> Answer:
        """The end of a request that was waiting for its turn."""
        if verdict is None:
            return self._left()
        if verdict is Verdict.REFUSED:
            return self._tripped(self._turns.trip)
        cause = self._turns.why(self._call)
        if verdict is Verdict.GIVE_UP:
            self._give_up(cause)
        else:
            self._keep_call()
        return self._last or self._never_sent(cause)

    def _left(self) -> Answer:
        status = None if self._last is None else self._last.answered.status
        why = "the request was not sent"
        if self._desk.revoked.done():
            gone = Answered(result=ExchangeResult.REVOKED, status=status, usage_why=why)
        else:
            self._keep_call()
            gone = Answered(result=ExchangeResult.CLIENT_GONE, status=status, usage_why=why)
        return Answer(gone, self._down.abort)

    def _tripped(self, trip: Trip | None) -> Answer:
        answered = Answered(
            result=ExchangeResult.NOT_SENT,
            error_class=None if trip is None else trip.error_class,
            error_words="another request showed that the provider refuses the account",
            usage_why="the request was not sent",
        )
        return Answer(answered, lambda: self._down.refuse(403, "account_tripped"))

    def _never_sent(self, cause: str) -> Answer:
        answered = Answered(
            result=ExchangeResult.NOT_SENT,
            error_words=f"not sent: {cause}",
            usage_why="the request was not sent",
        )
        headers = [("retry-after", str(CAP_MS // 1000))]
        return Answer(
            answered,
            lambda: self._down.refuse(503, "held_too_long", headers),
            retry_after_sent_ms=CAP_MS,
        )

    def _give_up(self, cause: str) -> None:
        held_s = self._call.held_by(mono_ms()) / 1000
        self._gave_up = f"{cause}; held for {held_s:.1f} s, max_wait_s is {self._waits.max_wait_s}"

    def _keep_call(self) -> None:
        """The harness may ask again: it is the same call then."""
        calls = self._desk.calls
        while len(calls) >= MAX_CALLS:
            del calls[next(iter(calls))]
        calls[self._digest] = self._call


def _new_call(waits: Waits, number: int) -> Call:
    return Call(
        number=number,
        max_held_ms=waits.max_wait_s * 1000,
        hold_ms=max(0, waits.header_wait_s * 1000 - MARGIN_MS),
        arrived_ms=0,
    )


def _nothing() -> None:
    """A request that is held has nothing to pause."""
