"""The hand-written page names every field of the types that it documents, and its TOML is valid."""

import re
from pathlib import Path

import pytest

from stanchion.rehearsal.faults.kinds import KINDS
from stanchion.rehearsal.script import Defaults, Script, ToolCall, Turn, Usage, parse_script
from stanchion.rehearsal.witness import Sighting

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "rehearsal-script.md"
TEXT = PAGE.read_text()
ROWS = {row.split("`")[1]: row for row in TEXT.splitlines() if row.startswith("| `")}


@pytest.mark.parametrize("type_", [Script, Turn])
def test_each_field_of_a_script_and_of_a_turn_has_a_row(
    type_: type[Script | Turn],
) -> None:
    for name in type_.__struct_fields__:
        assert name in ROWS


@pytest.mark.parametrize("type_", [Defaults, ToolCall, Usage])
def test_each_field_of_the_small_types_is_mentioned(
    type_: type[Defaults | ToolCall | Usage],
) -> None:
    for name in type_.__struct_fields__:
        assert re.search(rf"`(?:\w+\.)?{name}`", TEXT), name


@pytest.mark.parametrize("kind", KINDS)
def test_each_fault_has_a_row_with_its_own_fields(kind: str) -> None:
    row = ROWS[kind]
    for name in KINDS[kind].__struct_fields__:
        if name != "times":
            assert f"`{name}`" in row, name
    assert "`times`" in TEXT


def test_a_fault_has_no_row_without_a_type() -> None:
    faults = TEXT.partition("## Faults")[2].partition("Examples:")[0]
    named = re.findall(r"^\| `(\w+)` \|", faults, flags=re.MULTILINE)
    assert set(named) - {"kind"} == set(KINDS)


def test_the_witness_section_names_what_was_asked() -> None:
    section = TEXT.partition("## The witness")[2]
    asked = set(Sighting.__struct_fields__) & set(re.findall(r"`(\w+)`", section))
    assert {"model", "thinking_type", "thinking_budget_tokens", "fault", "turn", "tools"} <= asked


def test_the_examples_are_scripts() -> None:
    whole, examples = re.findall(r"```toml\n(.*?)```", TEXT, flags=re.DOTALL)
    assert len(parse_script(whole, source="page").turn) == 2
    for line in examples.splitlines():
        script = parse_script(f"version = 1\n[[turn]]\ntext = 'a'\n{line}", source="page")
        assert script.turn[0].fault
