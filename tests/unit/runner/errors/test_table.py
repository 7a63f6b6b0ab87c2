"""The errors table and the code know the same errors, and every command that is named exists."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from fakes.command_words import resolves
from stanchion.protocol.exit_codes import ExitCode
from stanchion.protocol.refusal import Refusal
from stanchion.runner.cli.root import root
from stanchion.runner.errors.table import exit_code, next_command, table

ROOT = Path(__file__).parents[4]
SOURCES = sorted(ROOT.glob("*/src/stanchion/**/*.py"))
DYNAMIC = {"admin_http", "admin_ledger", "admin_internal", "admin_principal"}
"""Made from a word in admin/answers.py, or a constant of admin/listening.py."""


def texts(node: ast.AST) -> Iterator[str]:
    """Every piece of constant text below a node."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else None
            yield (function.id if isinstance(function, ast.Name) else name or ""), node


def raised() -> dict[str, Path]:
    """Every id in a call of `refuse`, `Refusal` or an error with an id."""
    found: dict[str, Path] = {}
    for path in SOURCES:
        if "rehearsal" in path.parts and "commands.py" not in path.name:
            continue  # its faults refuse requests as a provider would
        for name, call in calls(path):
            given = [word.value for word in call.keywords if word.arg in {"id", "error_id"}]
            if name == "refuse" and isinstance(call.func, ast.Name):
                given += call.args[:1]
            for node in given:
                picked = [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node]
                for choice in picked:
                    if isinstance(choice, ast.Constant) and isinstance(choice.value, str):
                        found.setdefault(choice.value, path)
    return found


def test_every_error_that_is_raised_has_its_row() -> None:
    missing = {name: str(path.relative_to(ROOT)) for name, path in raised().items()}
    assert {name: place for name, place in missing.items() if name not in table()} == {}


def test_no_row_is_left_over() -> None:
    code = "\n".join(path.read_text() for path in SOURCES)
    left = [name for name in table() if name not in DYNAMIC and f'"{name}"' not in code]
    assert left == []


@pytest.mark.parametrize("name", sorted(table()))
def test_the_next_command_exists(name: str) -> None:
    command = table()[name].next
    assert command is None or resolves(command), command


NAMED = re.compile(r"\bstanchion ([a-z]+)(?: ([a-z]+))?")


def named_commands(path: Path) -> Iterator[tuple[str, str | None]]:
    """In what is said after a rule: the words of `remedy`, `fix` and `next`."""
    said = [
        word.value
        for _, call in calls(path)
        for word in call.keywords
        if word.arg in {"remedy", "fix", "next", "next_command"}
    ]
    said += [
        node.value
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Assign) and "remedy" in {*map(ast.unparse, node.targets)}
    ]
    for text in (text for value in said for text in texts(value)):
        yield from ((match[1], match[2]) for match in NAMED.finditer(text))


def test_commands_named_in_remedies_exist() -> None:
    context = click.Context(root, info_name="stanchion")
    wrong = []
    for path in SOURCES:
        for name, second in named_commands(path):
            command = root.get_command(context, name)
            inner = isinstance(command, click.Group) and second is not None
            if command is None or (inner and command.get_command(context, second) is None):
                wrong.append(f"{path.relative_to(ROOT)}: stanchion {name} {second}")
    assert wrong == []


def test_an_error_of_a_newer_broker_counts_as_wrong_arguments() -> None:
    assert exit_code("from_the_future") is ExitCode.USAGE
    assert exit_code("limit_missing") is ExitCode.REFUSED


def a_refusal(name: str = "effort_unknown", **changes: str) -> Refusal:
    fields = {"field": "f", "value": None, "rule": "r", "remedy": "Mend it", **changes}
    return Refusal(id=name, **fields)


def test_the_most_exact_next_command_is_shown() -> None:
    assert next_command(a_refusal()) == "stanchion limits ACCOUNT/MODEL"
    assert next_command(a_refusal(next="stanchion doctor")) == "stanchion doctor"
    assert next_command(a_refusal(remedy="Run stanchion doctor --fix")) is None
    assert next_command(a_refusal("from_the_future")) is None
