import pytest

from fakes.receipts import KEY, OTHER_KEY
from stanchion.broker.receipts.ed25519 import holds, is_public_key, key_fingerprint

SIGNED = KEY.sign(b"words")
GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493


def test_a_signature_holds_for_its_key_and_message_alone() -> None:
    assert holds(public_key=KEY.public_key, message=b"words", signature=SIGNED)
    assert not holds(public_key=OTHER_KEY.public_key, message=b"words", signature=SIGNED)
    assert not holds(public_key=KEY.public_key, message=b"word", signature=SIGNED)


@pytest.mark.parametrize(
    "signature", ["", SIGNED.upper(), SIGNED[:-2], SIGNED + "00", SIGNED + "\n", "zz" * 64]
)
def test_a_signature_has_one_spelling(signature: str) -> None:
    assert not holds(public_key=KEY.public_key, message=b"words", signature=signature)


def test_the_second_number_of_the_same_signature_is_refused() -> None:
    raw = bytes.fromhex(SIGNED)
    other = int.from_bytes(raw[32:], "little") + GROUP_ORDER
    twin = (raw[:32] + other.to_bytes(32, "little")).hex()

    assert not holds(public_key=KEY.public_key, message=b"words", signature=twin)


@pytest.mark.parametrize("key", ["", "00", KEY.public_key.upper(), KEY.public_key + "\n"])
def test_a_public_key_is_64_lower_case_hex_digits(key: str) -> None:
    assert not is_public_key(key)
    assert not holds(public_key=key, message=b"words", signature=SIGNED)


def test_a_fingerprint_is_short_and_names_one_key() -> None:
    assert key_fingerprint(KEY.public_key) == "34:75:0F:98:BD:59:FC:FC"
    assert key_fingerprint(KEY.public_key) != key_fingerprint(OTHER_KEY.public_key)
