"""An account's pacer on the event loop: gives requests their turn, and ends them when it trips.

It decides nothing itself: the pacer does, whenever something happened or a wait is over.
"""

import asyncio
import random
from collections.abc import Callable

from stanchion.broker.clock import mono_ms
from stanchion.broker.plane.pacing.pacer import Call, Failure, Pacer, Verdict
from stanchion.broker.plane.pacing.trips import Trip

MAX_IN_FLIGHT = 40


class Turns:
    """One account's queue."""

    def __init__(
        self,
        max_in_flight: int = MAX_IN_FLIGHT,
        *,
        now_ms: Callable[[], int] = mono_ms,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._pacer = Pacer(max_in_flight=max_in_flight)
        self._now_ms = now_ms
        self._jitter = jitter
        self._waiting: dict[Call, asyncio.Future[Verdict]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self.trip: Trip | None = None
        """Why nothing is sent any more; None = the account is not tripped."""

    @property
    def in_flight(self) -> int:
        """Requests that were sent and are not over."""
        return self._pacer.in_flight

    @property
    def waiting(self) -> int:
        """Requests that are held back."""
        return self._pacer.waiting

    def at_once(self, call: Call) -> Verdict | None:
        """What a request hears without waiting, as most do; None = it has to `queue`.

        GO = it holds a slot now, to be given back with `over` or `failed`.
        """
        if self.trip is not None:
            return Verdict.REFUSED
        return Verdict.GO if self._pacer.free(call, self._now_ms()) else None

    def queue(self, call: Call) -> "asyncio.Future[Verdict]":
        """Wait for a turn, if need be; what it hears means the same."""
        turn: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        verdict = self.at_once(call)
        if verdict is not None:
            turn.set_result(verdict)
            return turn
        self._pacer.wait(call, self._now_ms())
        self._waiting[call] = turn
        self._dispatch()
        return turn

    def why(self, call: Call) -> str:
        """What a request waits for, in words."""
        return self._pacer.why(call, self._now_ms())

    def leave(self, call: Call) -> None:
        """A request waits no longer: its turn is cancelled."""
        self._waiting.pop(call).cancel()
        self._pacer.leave(call, self._now_ms())
        self._dispatch()

    def accepted(self, call: Call) -> None:
        """The provider answered it, and not with a refusal to pace."""
        self._pacer.accepted(call)
        self._dispatch()

    def over(self) -> None:
        """A request that had its turn has ended."""
        self._pacer.released()
        self._dispatch()

    def failed(self, call: Call, failure: Failure) -> Verdict:
        """A request that had its turn failed; its slot is free again."""
        self._pacer.released()
        verdict = self._pacer.failed(call, failure, now_ms=self._now_ms(), jitter=self._jitter())
        self._dispatch()
        return verdict

    def tripped(self, trip: Trip) -> None:
        """Nothing is sent any more; what waits, ends. The first reason stays."""
        if self.trip is None:
            self.trip = trip
            for call in list(self._waiting):
                self._give(call, Verdict.REFUSED)

    def _dispatch(self) -> None:
        if not self._waiting and self._timer is None:
            return
        now_ms = self._now_ms()
        for call in self._pacer.hopeless(now_ms):
            self._give(call, Verdict.GIVE_UP)
        while (next_call := self._pacer.next(now_ms)) is not None:
            self._give(next_call, Verdict.GO)
        if self._timer is not None:
            self._timer.cancel()
        wake_ms = self._pacer.wake_ms
        self._timer = (
            None
            if wake_ms is None
            else asyncio.get_running_loop().call_later(
                max(1, wake_ms - now_ms) / 1000, self._dispatch
            )
        )

    def _give(self, call: Call, verdict: Verdict) -> None:
        self._pacer.leave(call, self._now_ms())
        self._waiting.pop(call).set_result(verdict)
