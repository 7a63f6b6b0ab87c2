from functools import cache
from pathlib import Path

STEPS = 40


@cache
def ways(steps: int, *, last_was_three: bool = False) -> int:
    """The number of climbs, by the first stride."""
    if steps == 0:
        return 1
    strides = (1, 2) if last_was_three else (1, 2, 3)
    return sum(
        ways(steps - stride, last_was_three=stride == 3) for stride in strides if stride <= steps
    )


def test_the_figure_is_right() -> None:
    assert Path("/work/count.txt").read_text().strip() == str(ways(STEPS))
