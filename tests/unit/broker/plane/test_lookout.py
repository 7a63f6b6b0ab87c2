import pytest

from stanchion.broker.plane.dialects.readers import READERS
from stanchion.broker.plane.lookout import Lookout
from stanchion.protocol.dialects import Dialect


def test_the_first_of_all_markers_counts() -> None:
    lookout = Lookout((b"[DONE]", b'"error"'))
    assert lookout.place_in(b'{"error":1} [DONE]') == 1
    assert lookout.place_in(b'[DONE] {"error":1}') == 0
    assert lookout.place_in(b"done, no error") is None
    assert lookout.place_in(b"") is None


def test_the_overlap_is_what_a_cut_marker_may_leave_behind() -> None:
    lookout = Lookout((b"[DONE]", b'"error"'))
    data = b'x"error"'
    kept = data[:-1][-lookout.overlap :]
    assert lookout.place_in(kept + data[-1:]) == 0


@pytest.mark.parametrize("dialect", Dialect)
def test_no_marker_goes_over_the_end_of_a_line(dialect: Dialect) -> None:
    assert not any(set(b"\r\n") & set(marker) for marker in READERS[dialect].markers)
    assert READERS[dialect].lookout is READERS[dialect].lookout
