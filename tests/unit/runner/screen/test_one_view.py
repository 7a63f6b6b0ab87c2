"""A job of one attempt looks like the attempt."""

import io

from rich.console import Console
from tests.fakes.jobs import ended

from stanchion.protocol.events import Warned
from stanchion.runner.jobs.on_disk import sum_up
from stanchion.runner.screen.live_view import LiveView
from stanchion.runner.screen.one_view import OneView


def test_its_events_and_lines_are_passed_on_and_its_end_adds_nothing() -> None:
    out = io.StringIO()
    live = LiveView(Console(file=out, width=80), lines=True, spinner=False)
    with OneView(live) as view:
        view.say("hello")
        view.show(("hello", 1), Warned(what="w", detail="d"))
        view.ended(ended(1), sum_up([ended(1)], {"hello": 1}))

    assert out.getvalue().splitlines() == ["hello", "warning   w: d"]
