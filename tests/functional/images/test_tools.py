import pytest

from stanchion.images import tools
from stanchion.images.errors import MissingToolError, ToolFailedError


def test_a_missing_program_is_named_with_the_command_that_brings_it() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", "/nonexistent")
        with pytest.raises(MissingToolError, match="`npm` is not installed") as refused:
            tools.require("npm")

    assert refused.value.fix is not None
    assert refused.value.fix.endswith("apt-get install -y --no-install-recommends npm")


def test_standard_output_is_returned() -> None:
    assert tools.run(["echo", "said"], doing="echo") == "said\n"


def test_a_failure_carries_the_programs_last_words() -> None:
    with pytest.raises(ToolFailedError, match=r"listing failed \(`ls` ended with 2\): .*/absent"):
        tools.run(["ls", "/absent"], doing="listing")


def test_a_silent_failure_says_so() -> None:
    with pytest.raises(ToolFailedError, match="it said nothing"):
        tools.run(["false"], doing="it")


def test_a_program_that_does_not_end_is_stopped() -> None:
    with pytest.raises(ToolFailedError, match="did not end within 0 s"):
        tools.run(["sleep", "30"], doing="sleeping", timeout_s=0.05)


def test_a_long_program_is_followed_line_by_line() -> None:
    seen: list[str] = []

    tools.follow(["printf", "one\\ntwo\\n"], doing="it", each_line=seen.append)

    assert seen == ["one", "two"]


def test_a_followed_program_that_fails_carries_its_last_words() -> None:
    with pytest.raises(ToolFailedError, match=r"listing failed \(`ls` ended with 2\): .*/absent"):
        tools.follow(["ls", "/absent"], doing="listing", each_line=lambda _line: None)


def test_a_followed_program_that_does_not_end_is_stopped() -> None:
    with pytest.raises(ToolFailedError, match="ended with -9"):
        tools.follow(["sleep", "30"], doing="it", each_line=print, timeout_s=0.05)
