"""The screen of a job that is a single attempt: the attempt's own live view."""

from types import TracebackType
from typing import Self

from stanchion.protocol.events import Event, Unknown
from stanchion.runner.jobs.on_disk import Found
from stanchion.runner.jobs.plan import Key
from stanchion.runner.results.summary import Summary
from stanchion.runner.screen.live_view import LiveView


class OneView:
    """Passes on what belongs to an attempt; the result itself is printed by the command."""

    def __init__(self, view: LiveView) -> None:
        self._view = view

    def __enter__(self) -> Self:
        self._view.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._view.__exit__(kind, error, traceback)

    def say(self, text: str) -> None:
        """One line."""
        self._view.say(text)

    def show(self, key: Key, event: Event | Unknown) -> None:  # noqa: ARG002 - there is but one
        """An event of the attempt."""
        self._view.show(event)

    def ended(self, found: Found, summary: Summary) -> None:
        """Nothing to add: what is printed at the end says it all."""
