import pytest

from stanchion.harness_adapters.claude_code import lines


@pytest.mark.parametrize(
    "text", [b"", b"hello", b"[]", b'{"type": 3}', b'{"a": 1}', b"\xff{", b"[" * 9999]
)
def test_what_is_no_line_of_it_is_none(text: bytes) -> None:
    assert lines.read(text) is None


def test_a_line_is_read_as_far_as_it_matters() -> None:
    found = lines.read(b'{"type": "result", "is_error": false, "result": "x", "new_field": [1]}')
    assert found is not None
    assert (found.type, found.is_error, found.result, found.message) == ("result", False, "x", None)
