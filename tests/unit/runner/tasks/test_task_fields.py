import re

import pytest

from stanchion.runner.tasks.task_fields import BY_NAME, FIELDS, TABLES, Fate


def test_each_field_has_one_row() -> None:
    assert len(BY_NAME) == len(FIELDS)


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.name)
def test_a_row_says_what_it_means_in_one_clause(field: object) -> None:
    row = BY_NAME[getattr(field, "name", "")]
    table = row.name.rpartition(".")[0]
    assert not table or table in TABLES
    assert re.fullmatch(r"[a-z_.]+", row.name)
    assert row.what
    assert not row.what.endswith(".")
    assert not row.remedy or row.fate is Fate.REFUSED
