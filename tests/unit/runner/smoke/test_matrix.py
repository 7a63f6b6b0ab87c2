"""Combinations from options and from a file."""

import pytest

from stanchion.protocol.dialects import Dialect
from stanchion.protocol.refusal import RefusedError
from stanchion.runner.smoke.judging import Property
from stanchion.runner.smoke.matrix import MOST, Combination, checked, multiplied, read_matrix

FILE = """
version = 1
[[combination]]
harness = ["opencode", "pi@1.0"]
model = "anthropic/claude-x"
effort = ["high", "max"]
output_limit = 64_000
waive = { reasoning = "a small model" }
[[combination]]
harness = "opencode"
model = "rehearsal/scripted-1"
dialect = "gemini"
"""


def test_lists_in_a_file_multiply_and_rows_add_up() -> None:
    found = read_matrix(FILE, file="m.toml")

    assert [(one.harness, one.effort) for one in found] == [
        ("opencode", "high"), ("opencode", "max"), ("pi@1.0", "high"), ("pi@1.0", "max"),
        ("opencode", None),
    ]  # fmt: skip
    assert {one.output_limit for one in found} == {64_000, None}
    assert found[0].waived == {Property.REASONING: "a small model"}
    assert found[4].dialect is Dialect.GEMINI
    assert found[1].label == "opencode-anthropic-claude-x-max-64000"
    assert found[1].asked == {"effort": "max", "output-limit": "64000"}


OWN = """
version = 1
[[combination]]
command = ["agents/one.toml", "/srv/two.toml"]
model = "rehearsal/x"
"""


def test_a_program_of_ones_own_is_named_from_the_files_folder() -> None:
    found = read_matrix(OWN, file="checks/m.toml")

    assert [(one.harness, one.command) for one in found] == [
        ("command", "checks/agents/one.toml"), ("command", "/srv/two.toml"),
    ]  # fmt: skip
    assert found[0].asked == {"command": "checks/agents/one.toml"}
    assert found[1].label == "command-rehearsal-x-srv-two.toml"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (OWN.replace('model = "', 'harness = "pi"\nmodel = "'), "and no other, has a command"),
        (FILE.replace('"opencode"', '"command"'), "has a command, the file"),
        (OWN.replace("command = ", "waive = {} # "), "names a harness, or the command"),
        ("version = 1", "combination"),
        ("version = 2\ncombination = []", "version"),
        ("version = 1\ncombination = []", "at least one"),
        (FILE.replace("effort", "efort"), "efort"),
        (FILE.replace("64_000", '"64k"'), "output_limit"),
        (FILE.replace("64_000", "-1"), "output_limit is 1 to"),
        (FILE.replace("anthropic/claude-x", "claude-x"), "model is ACCOUNT/MODEL"),
        (FILE.replace('"high", "max"', '"max", "max"'), "is there twice"),
        (FILE.replace("reasoning =", "reason ="), "a property is one of"),
        (FILE.replace("a small model", " "), "a waiver says why"),
        ("not toml", "m.toml"),
    ],
)
def test_a_file_that_would_leave_something_out_is_refused(text: str, rule: str) -> None:
    with pytest.raises(RefusedError, match=rule):
        read_matrix(text, file="m.toml")


def test_a_run_has_an_end() -> None:
    many = [Combination(harness="h", model=f"a/{number}") for number in range(MOST + 1)]
    with pytest.raises(RefusedError, match="at most"):
        checked(many, source="options")
    assert multiplied(harness=("h",), model=("a/1", "a/2"), effort=()) == many[1:3]
