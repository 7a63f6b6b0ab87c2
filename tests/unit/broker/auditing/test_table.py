"""Reports as rows: unknown is empty, and nothing in a cell is taken for a formula."""

import csv
import io

from fakes.receipts import KEY, asked, closed, ending, honest
from stanchion.broker.auditing.judging import Report, broken, judge, missing
from stanchion.broker.auditing.table import COLUMNS, csv_text
from stanchion.broker.receipts.bundle import Broken, Verified, verify


def report(data: bytes, path: str = "out/a/receipts.bundle") -> Report:
    found = verify(data)
    if isinstance(found, Broken):
        return broken(path, found)
    assert isinstance(found, Verified)
    return judge(found, path=path, trusted_keys={KEY.public_key})


def rows(*reports: Report) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(csv_text(reports))))


def test_one_row_an_attempt_under_fixed_columns() -> None:
    text = csv_text([report(closed())])
    (row,) = rows(report(closed()))

    assert text.splitlines()[0] == ",".join(COLUMNS)
    assert row["verdict"] == "verified"
    assert (row["run"], row["attempt"]) == ("7f3a90c41b22", "1")
    assert (row["limit_declared"], row["limit_observed"]) == ("128000", "128000")
    assert (row["effort_requested"], row["effort_observed"]) == ("max", "max")
    assert (row["harness"], row["model"]) == ("opencode@1.18.33", "Qwen/Qwen3")
    assert (row["outcome"], row["score"], row["exchanges"]) == ("completed", "1.0", "3")
    assert (row["calls"], row["sendings"], row["ambiguous"]) == ("3", "3", "0")
    assert row["signer_key"]
    assert len(row["head"]) == 64


def test_what_is_not_known_is_empty() -> None:
    altered = closed().replace(b"completed", b"tampered!", 1)
    for row in rows(missing("out/b"), report(altered)):
        assert row["verdict"] in {"incomplete", "tampered"}
        assert (row["score"], row["exchanges"], row["limit_observed"]) == ("", "", "")
    (withheld,) = rows(report(honest().close(**ending("oom", score=None))))
    assert withheld["score"] == ""


def test_several_values_on_the_wire_all_show() -> None:
    efforts = ["max", None]
    bundle = honest(exchanges=2, sent=lambda n: asked(effort=efforts[n - 1])).close(**ending())
    assert rows(report(bundle))[0]["effort_observed"] == "max|absent"


def test_a_cell_is_never_a_formula() -> None:
    assert rows(report(closed(), path="=cmd()"))[0]["path"] == "'=cmd()"
