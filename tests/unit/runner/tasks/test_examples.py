"""Where the example tasks are found."""

import pytest

from stanchion.runner.tasks.examples import example_task


def test_an_example_is_found() -> None:
    assert (example_task("fix-bug") / "rehearsal.toml").is_file()


def test_another_name_says_where_it_was_looked_for() -> None:
    with pytest.raises(FileNotFoundError, match="no example task other"):
        example_task("other")
