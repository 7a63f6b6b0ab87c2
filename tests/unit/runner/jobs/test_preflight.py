"""Room for a job."""

from pathlib import Path

import pytest

from stanchion.protocol.refusal import RefusedError
from stanchion.runner.jobs.preflight import (
    OVERLAY_MB,
    RESULT_MB,
    Place,
    check_disk,
    memory_warning,
)


def place(free_mb: int, device: int = 1, name: str = "x") -> Place:
    return Place(path=Path(f"/{name}"), device=device, free_mb=free_mb)


def test_enough_is_enough() -> None:
    needed = 4 * OVERLAY_MB + 10 * RESULT_MB
    check_disk(place(needed), place(needed), running=4, attempts=10)
    check_disk(place(4 * OVERLAY_MB), place(10 * RESULT_MB, 2), running=4, attempts=10)


@pytest.mark.parametrize(
    ("scratch", "results", "named"),
    [
        (place(4 * OVERLAY_MB, name="s"), place(9999, name="r"), "/s"),
        (place(4 * OVERLAY_MB - 1, name="s"), place(9999, 2, name="r"), "/s"),
        (place(9999, name="s"), place(10 * RESULT_MB - 1, 2, name="r"), "/r"),
    ],
)
def test_too_little_is_refused_by_name_with_the_need(
    scratch: Place, results: Place, named: str
) -> None:
    with pytest.raises(RefusedError, match="need") as caught:
        check_disk(scratch, results, running=4, attempts=10)

    assert (caught.value.refusal.id, caught.value.refusal.field) == ("disk_low", named)


def test_memory_that_may_become_short_is_said() -> None:
    said = memory_warning([2048, 4096], running=3, available_mb=8000)

    assert said is not None
    assert "12288 MB" in said
    assert memory_warning([2048], running=3, available_mb=8000) is None
    assert memory_warning([2048], running=99, available_mb=None) is None
    assert memory_warning([], running=99, available_mb=1) is None
