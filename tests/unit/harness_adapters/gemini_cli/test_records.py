import pytest

from stanchion.harness_adapters.gemini_cli.records import Record, Tokens, printed, row


@pytest.mark.parametrize(
    "found",
    [(), ("a",), ("a", 3), (3, "{}"), ("a", "[]"), ("a", "hello"), ("a", "[" * 99_999)],
)
def test_what_is_no_row_is_none(found: tuple[object, ...]) -> None:
    assert row(found) is None


def test_half_a_surrogate_pair_is_mended() -> None:
    found = row(("a", '{"id": "1", "type": "gemini", "content": "x\\ud83d"}'))
    assert found is not None
    assert isinstance(found[1], Record)
    assert found[1].text() == "x?"
    assert printed(b'{"type": "error", "message": "\\ud83d"}') is not None


def test_nothing_reported_is_unknown() -> None:
    assert Tokens().usage() is None
