import msgspec
import pytest

from stanchion.protocol.control import FromSupervisor, Publish
from stanchion.protocol.events import (
    Envelope,
    Event,
    FileSent,
    HarnessStarted,
    OutputStream,
    OutputWritten,
    VitalsSampled,
    Warned,
)
from stanchion.protocol.vitals import Vitals
from stanchion.supervisor.outbox import Outbox


def output(size: int = 100) -> OutputWritten:
    return OutputWritten(stream=OutputStream.HARNESS_STDOUT, data=b"x" * size)


def warned(what: str = "w") -> Warned:
    return Warned(what=what, detail="d")


def piece(size: int) -> FileSent:
    return FileSent(purpose="answer", path="/a", offset=0, data=b"x" * size, last=True)


def filled(*events: Event, max_bytes: int = 10**6, window_bytes: int = 10**6) -> Outbox:
    outbox = Outbox(boot="b", max_bytes=max_bytes, window_bytes=window_bytes)
    for event in events:
        outbox.add(event, mono_ms=5, wall_ms=6)
    return outbox


def taken(outbox: Outbox) -> list[Envelope]:
    envelopes = []
    while (line := outbox.take()) is not None:
        message = msgspec.json.decode(line, type=FromSupervisor)
        assert isinstance(message, Publish)
        envelopes.append(message.envelope)
    return envelopes


def test_events_go_out_in_order_and_numbered_from_one() -> None:
    envelopes = taken(filled(warned("a"), warned("b")))
    assert [(e.seq, e.boot, e.mono_ms, e.wall_ms) for e in envelopes] == [
        (1, "b", 5, 6),
        (2, "b", 5, 6),
    ]
    assert [e.event for e in envelopes] == [warned("a"), warned("b")]


def test_it_is_empty_only_when_everything_is_acknowledged() -> None:
    outbox = filled(warned(), warned())
    assert not outbox.empty
    taken(outbox)
    outbox.ack(1)
    assert not outbox.empty
    outbox.ack(2)
    assert outbox.empty
    assert outbox.waiting_bytes == 0


def test_after_a_cut_the_same_lines_go_out_again_with_the_same_numbers() -> None:
    outbox = filled(warned("a"), warned("b"), warned("c"))
    first = [outbox.take(), outbox.take()]
    outbox.ack(1)
    outbox.rewind()
    assert outbox.take() == first[1]
    assert [e.seq for e in taken(outbox)] == [3]


def test_an_ack_of_what_was_not_sent_again_yet_is_fine() -> None:
    outbox = filled(warned("a"), warned("b"))
    taken(outbox)
    outbox.rewind()
    outbox.ack(1)
    assert [e.seq for e in taken(outbox)] == [2]


def test_a_full_window_holds_the_rest_back() -> None:
    outbox = filled(*[output(1000)] * 5, window_bytes=2000)
    assert [e.seq for e in taken(outbox)] == [1, 2]
    outbox.ack(1)
    assert [e.seq for e in taken(outbox)] == [3]


def test_a_line_larger_than_the_window_still_goes() -> None:
    assert len(taken(filled(piece(5000), window_bytes=2000))) == 1


def test_over_its_bound_output_goes_first_and_one_gap_says_so() -> None:
    outbox = filled(warned("first"), *[output(1000)] * 20, warned("last"), max_bytes=10_000)
    assert outbox.waiting_bytes <= 10_000
    events = [e.event for e in taken(outbox)]
    gaps = [event for event in events if isinstance(event, Warned) and event.what == "gap"]
    assert len(gaps) >= 1
    assert "OutputWritten" in gaps[0].detail
    assert events[0] == warned("first")
    assert events[-1] == warned("last")


def test_the_numbers_have_no_hole_after_a_gap() -> None:
    pair: list[Event] = [output(1000), warned()]
    outbox = filled(*pair * 30, max_bytes=10_000)
    seqs = [e.seq for e in taken(outbox)]
    assert seqs == list(range(1, len(seqs) + 1))


def test_files_are_dropped_only_when_nothing_lesser_is_left() -> None:
    vitals = VitalsSampled(vitals=Vitals())
    outbox = filled(vitals, piece(4000), output(2000), piece(4000), max_bytes=11_500)
    kinds = [type(e.event) for e in taken(outbox)]
    assert kinds == [Warned, FileSent, Warned, FileSent]


def test_what_must_not_be_lost_is_kept_beyond_the_bound() -> None:
    started = HarnessStarted(argv=("x" * 500,), uid=0)
    outbox = filled(*[started] * 30, max_bytes=2000)
    assert [e.event for e in taken(outbox)] == [started] * 30


def test_what_was_sent_is_never_dropped() -> None:
    outbox = filled(output(1000), output(1000))
    lines = [outbox.take(), outbox.take()]
    for _ in range(2000):
        outbox.add(output(1000), mono_ms=1, wall_ms=1)
    outbox.rewind()
    assert [outbox.take(), outbox.take()] == lines


@pytest.mark.parametrize("count", [1, 7])
def test_a_gap_counts_what_it_stands_for(count: int) -> None:
    outbox = filled(*[output(3000)] * count, max_bytes=3000)
    (gap,) = [e.event for e in taken(outbox)]
    assert isinstance(gap, Warned)
    assert f"{count} OutputWritten" in gap.detail
