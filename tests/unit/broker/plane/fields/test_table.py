"""What the table's own words mean, and that each of them is documented."""

from pathlib import Path

import pytest

from stanchion.broker.plane.fields.table import (
    OPAQUE,
    RULES,
    fold,
    given,
    more_than_one,
    names,
    remote,
    web,
)

GUIDE = Path(__file__).parents[5] / "docs/reference/configuration.md"


@pytest.mark.parametrize(
    "name", ["candidate_count", "candidateCount", "CANDIDATE-COUNT", "CandidateCount"]
)
def test_spellings_that_a_lax_server_reads_alike_are_one_name(name: str) -> None:
    assert fold(name) == "candidatecount"


def test_letters_that_fold_to_ascii_are_folded() -> None:
    assert (fold("\u017ftore"), fold("bac\u212aground")) == ("store", "background")


@pytest.mark.parametrize("value", [None, False, "", [], {}, 0])
def test_nothing_is_not_given(value: object) -> None:
    assert not given(value)


@pytest.mark.parametrize("value", [True, "x", [None], {"a": None}, 1, "false"])
def test_anything_else_is(value: object) -> None:
    assert given(value)


def test_a_count_is_one_or_more_than_one() -> None:
    assert [more_than_one(value) for value in (None, 1, 1.0)] == [False, False, False]
    assert [more_than_one(value) for value in (2, 0, "1", True, 1.5, [1])] == [True] * 6


def test_only_data_in_the_request_itself_is_not_remote() -> None:
    for value in ("", None, "data:image/png;base64,AA", {"url": "data:x"}, {"detail": "low"}, []):
        assert not remote(value)
    for value in (
        "http://x",
        "file:///etc/passwd",
        {"url": "HTTPS://x"},
        ["data:x", "//x"],
        "DATA:x",
    ):
        assert remote(value)


def test_a_word_is_not_a_web_address() -> None:
    assert [web(value) for value in ("wav", {"voice": "a"}, None)] == [False] * 3
    assert [web(value) for value in ("HTTP://x", ["a", "gs://b"])] == [True] * 2


def test_no_rule_hides_in_the_callers_own_data() -> None:
    assert not {fold(key) for rule in RULES for key in rule.keys} & OPAQUE


def test_every_name_that_a_profile_may_allow_is_documented() -> None:
    guide = GUIDE.read_text()
    assert [name for name in names() if f"| `{name}` |" not in guide] == []
