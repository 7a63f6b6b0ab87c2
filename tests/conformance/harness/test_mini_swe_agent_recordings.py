"""Runs that the real mini-swe-agent saved, replayed. Recorded by record_mini_swe_agent.py."""

import json

import pytest

from conformance.harness.recordings import Recorded, Recordings
from stanchion.harness_adapters.base import Saved
from stanchion.harness_adapters.mini_swe_agent import MiniSweAgent
from stanchion.harness_adapters.mini_swe_agent.config import VERSION
from stanchion.protocol.evidence import SessionEnd, SessionState
from stanchion.protocol.transcript import ItemKind, TranscriptItem

LIMIT = 128_000


class Recording(Recorded):
    requests: list[tuple[int | None, int | None, str, bool, int]]
    exit_status: str | None
    messages: list[dict[str, object]]


RECORDED = Recordings("mini_swe_agent", VERSION, Recording)
ALL = RECORDED.names


def replay(name: str, messages: int | None = None) -> tuple[list[Saved], SessionEnd]:
    session = MiniSweAgent().session()
    saved = session.rows([(json.dumps({"messages": RECORDED.load(name).messages[:messages]}),)])
    return saved, session.end()


@pytest.mark.parametrize(
    ("name", "exit_code", "state", "counted"),
    [
        ("success", 0, SessionState.GOOD, 2),
        ("success-anthropic", 0, SessionState.GOOD, 2),
        ("broken", 0, SessionState.GOOD, 1),
        ("length", 0, SessionState.LENGTH, 1),
        ("length-anthropic", 0, SessionState.LENGTH, 1),
        ("empty", 0, SessionState.EMPTY, 1),
        ("no-command", 0, SessionState.ERROR, 1),
        ("error-401", 1, SessionState.ERROR, 1),
        ("error-400", 1, SessionState.ERROR, 1),
        ("killed", -15, SessionState.MID_TURN, 1),
    ],
)
def test_each_end_is_told_whatever_the_exit_code(
    name: str, exit_code: int, state: SessionState, counted: int
) -> None:
    _, end = replay(name)
    assert RECORDED.load(name).returncode == exit_code
    assert (end.state, end.steps) == (state, counted)


@pytest.mark.parametrize("name", ALL)
def test_each_request_is_as_declared_and_without_a_stream(name: str) -> None:
    requests = {request[:4] for request in RECORDED.load(name).requests}
    assert requests == {(LIMIT, None, "max", False)}


def test_its_own_tries_are_ten_and_a_refused_key_ends_it_at_once() -> None:
    statuses = {name: [request[4] for request in RECORDED.load(name).requests] for name in ALL}
    assert statuses["error-400"] == [200, *[400] * 10]
    assert statuses["error-401"] == [200, 401]


@pytest.mark.parametrize("name", ALL)
def test_a_run_that_broke_off_at_any_message_is_never_taken_for_a_good_end(name: str) -> None:
    for cut in range(len(RECORDED.load(name).messages)):
        assert replay(name, cut)[1].state is not SessionState.GOOD


def test_the_transcript_of_both_apis_has_the_same_parts() -> None:
    kinds = [
        [item.kind for item in replay(name)[0] if isinstance(item, TranscriptItem)]
        for name in ("success", "success-anthropic")
    ]
    assert kinds[0] == kinds[1]
    assert {ItemKind.REASONING, ItemKind.TEXT, ItemKind.TOOL} <= set(kinds[0])
