import msgspec
import pytest

from stanchion.harness_adapters.json_lines import decoded, mended

_TEXTS = msgspec.json.Decoder(dict[str, str])


@pytest.mark.parametrize("data", [b"", b"hello", b'{"a": 3}', b"\xff{", b"[" * 99_999, "[]"])
def test_what_does_not_fit_is_none(data: bytes | str) -> None:
    assert decoded(_TEXTS, data) is None
    assert mended(_TEXTS, data) is None


def test_what_fits_is_read() -> None:
    assert decoded(_TEXTS, b'{"a": "b"}') == mended(_TEXTS, '{"a": "b"}') == {"a": "b"}


def test_half_a_surrogate_pair_is_no_text_until_it_is_mended() -> None:
    half = b'{"a": "x\\ud83d"}'
    assert decoded(_TEXTS, half) is None
    assert mended(_TEXTS, half) == {"a": "x?"}
