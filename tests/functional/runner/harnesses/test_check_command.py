from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from stanchion.protocol.dialects import Dialect
from stanchion.protocol.refusal import RefusedError
from stanchion.runner.cli.root import root
from stanchion.runner.harnesses.check_command import Wanted, checkable, chosen, findings, keep
from stanchion.runner.harnesses.check_run import CheckedRelease, CheckReport
from stanchion.runner.harnesses.records import RecordHead

HEAD = RecordHead(
    harness="tool", version="1", date="2026-12-01", stanchion="0", runsc="0", package="0"
)  # fmt: skip
DRIFTED = CheckReport(
    releases=(CheckedRelease(head=HEAD, cells=(), drift=("a: not in the record",), recorded=True),),
    shortcomings=("too much is refused",), cells=2, right=1, refused=0,
)  # fmt: skip


def test_without_a_name_every_pinned_harness_that_asks_a_model_is_checked() -> None:
    assert {"claude_code", "opencode"} <= set(checkable())
    assert not {"noop", "oracle"} & set(checkable())
    assert {cell.harness for cell in chosen(Wanted(()))} == set(checkable())


def test_names_dialects_and_quick_narrow_the_list() -> None:
    whole = chosen(Wanted(("opencode@1.18.33",)))
    narrow = chosen(Wanted(("opencode",), (Dialect.GEMINI,), quick=True))

    assert 0 < len(narrow) < len(whole)
    assert {cell.dialect for cell in narrow} == {Dialect.GEMINI}
    with pytest.raises(RefusedError):
        chosen(Wanted(("other",)))


def test_an_unknown_api_is_a_usage_error(tmp_path: Path) -> None:
    done = CliRunner().invoke(root, ["harness", "check", "opencode", "--dialect", "x"])

    assert done.exit_code == 2
    assert "x is none of openai_chat, " in done.stderr


def test_only_a_whole_check_without_a_wrong_cell_becomes_a_record() -> None:
    with pytest.raises(click.UsageError, match="every cell is right"):
        keep(DRIFTED, whole=True)


def test_what_is_beside_the_rows_is_said() -> None:
    assert findings(DRIFTED, recording=False) == [
        "short: too much is refused", "drift: tool 1 a: not in the record",
    ]  # fmt: skip
