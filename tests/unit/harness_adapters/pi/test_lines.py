import pytest

from stanchion.harness_adapters.pi.lines import Tokens, read
from stanchion.protocol.usage import Usage


@pytest.mark.parametrize("text", [b"", b"hello", b"[1]", b'{"type": 3}', b"[" * 99_999])
def test_what_is_no_line_is_none(text: bytes) -> None:
    assert read(text) is None


def test_nothing_reported_is_unknown_and_cached_input_is_input() -> None:
    assert Tokens().usage() is None
    assert Tokens(input=1, cache_read=2, cache_write=4).usage() == Usage(
        input_tokens=7, cache_read_tokens=2, cache_write_tokens=4
    )
