"""Each recorded trap through the relay, by its own times and the broker's own limits, at once.

Every byte passes unchanged; no byte of an end leaves before its record could be made; a stream that
falls silent is cut when its patience is over, and not before: comments are no sign of life.
"""

from pathlib import Path

import pytest

from conformance.wire.expecting import assert_answered
from conformance.wire.recorded import Recorded, load, readable
from conformance.wire.replay import WAYS, reader_of
from conformance.wire.virtual_time import Played, play
from stanchion.broker.plane.limits import Limits
from stanchion.broker.plane.relay import RelayEnd
from stanchion.protocol.dialects import Dialect

RELAYED = [
    pytest.param(dialect, path, id=f"{dialect}-{path.stem}")
    for dialect in Dialect
    for path in readable(dialect)
    if load(path).status < 300  # an error's body is collected, not relayed
]
_ENDS = {"whole": RelayEnd.COMPLETE, "fin": RelayEnd.CUT, "rst": RelayEnd.CUT}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("dialect", "path"), RELAYED)
def test_bytes_pass_and_the_end_waits_for_its_record(
    dialect: Dialect, path: Path, way: str
) -> None:
    recorded = load(path)
    played = play(recorded, dialect, way)
    relayed, tap = played.relayed, played.tap
    assert played.left_at_once + relayed.held == recorded.whole
    assert_no_end(recorded, dialect, played.left_at_once)
    assert relayed.end is _ENDS.get(
        recorded.ends, RelayEnd.TERMINAL if tap.terminal else RelayEnd.IDLE
    )
    whole = relayed.end in {RelayEnd.COMPLETE, RelayEnd.TERMINAL}
    assert_answered(tap.answered(complete=whole), recorded.expected, dialect)
    assert_patience(played, stalled=recorded.ends == "stall")


def assert_no_end(recorded: Recorded, dialect: Dialect, left: bytes) -> None:
    """Whoever reads what left at once does not see that the response is over."""
    so_far = reader_of(recorded, dialect)
    so_far.saw(left)
    assert not so_far.terminal
    if not so_far.by_events and recorded.whole:
        assert left != recorded.whole


def assert_patience(played: Played, *, stalled: bool) -> None:
    """A body is over when it ends; one that falls silent after the idle limit, not before."""
    if not stalled:
        assert played.lasted_s == played.quiet_since_s
    elif played.relayed.end is RelayEnd.TERMINAL:
        assert played.lasted_s == played.quiet_since_s + Limits().linger_s
    else:
        assert Limits().idle_s <= played.lasted_s < 2 * Limits().idle_s
        assert Limits().idle_s == 600
