"""One process at a time."""

from pathlib import Path

import pytest

from stanchion.protocol.refusal import RefusedError
from stanchion.runner.jobs.job_lock import alone_in


def test_a_second_one_is_refused_while_the_first_works(tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text("{}")
    with (
        alone_in(tmp_path),
        pytest.raises(RefusedError, match="stanchion attach"),
        alone_in(tmp_path),
    ):
        pass
    with alone_in(tmp_path):
        pass


def test_what_goes_wrong_inside_lets_go(tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text("{}")
    with pytest.raises(KeyError), alone_in(tmp_path):
        raise KeyError
    with alone_in(tmp_path):
        pass
