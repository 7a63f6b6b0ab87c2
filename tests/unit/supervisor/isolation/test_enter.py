"""Which folders are pinned, so that the way to the supervisor's own stays its own."""

import pytest

from stanchion.supervisor.isolation.enter import steps_to


@pytest.mark.parametrize(
    ("folders", "parents_of", "steps"),
    [
        (("/opt/stanchion",), ("/run/stanchion",), ["/opt", "/run", "/opt/stanchion"]),
        ((), ("/run/a", "/run/b"), ["/run"]),
        ((), ("/spool",), []),
        (("/a/b/c", "/a/b"), (), ["/a", "/a/b", "/a/b/c"]),
        ((), (), []),
    ],
)
def test_every_step_of_the_way_comes_once_and_from_the_top(
    folders: tuple[str, ...], parents_of: tuple[str, ...], steps: list[str]
) -> None:
    assert steps_to(folders, parents_of) == steps
