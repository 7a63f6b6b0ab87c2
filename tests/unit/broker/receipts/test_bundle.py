import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.receipts import (
    KEY,
    OTHER_KEY,
    RUN,
    closed,
    ending,
    exchange_start,
    forged,
    honest,
    parsed,
)
from stanchion.broker.receipts.bundle import Broken, Verified, verify
from stanchion.broker.receipts.chain import line_digest
from stanchion.protocol.receipt import ExchangeStart

BUNDLE = closed()
LINES = BUNDLE.splitlines(keepends=True)
Lines = list[dict[str, Any]]


def why(data: bytes) -> str:
    """What is wrong with a bundle that must not verify."""
    found = verify(data)
    assert isinstance(found, Broken)
    return found.why


def changed(line: int, **fields: Any) -> bytes:
    """A bundle with other words in one line, its chain and signatures made right again."""
    lines = parsed(BUNDLE)
    lines[line] |= fields
    return forged(lines)


def test_an_honest_bundle_verifies() -> None:
    found = verify(BUNDLE)

    assert isinstance(found, Verified)
    assert (found.header.run, found.header.attempt) == (RUN, 1)
    assert found.header.public_key == KEY.public_key
    assert len(found.records) == 9
    assert found.closing is found.records[-1]
    assert found.opening is found.records[0]
    assert found.head == line_digest(LINES[-1][:-1])
    assert found.unended == ()


def test_a_forger_with_a_key_can_write_what_an_honest_broker_writes() -> None:
    assert forged(parsed(BUNDLE)) == BUNDLE
    assert isinstance(verify(forged(parsed(BUNDLE), OTHER_KEY)), Verified)


def test_a_start_without_an_end_is_unknown_and_no_fault() -> None:
    writing = honest(exchanges=1)
    writing.add(ExchangeStart, **exchange_start(2))

    found = verify(writing.close(**ending()))

    assert isinstance(found, Verified)
    assert found.unended == (2,)


@given(at=st.integers(0, len(BUNDLE) - 1), flip=st.integers(1, 255))
@settings(max_examples=400, deadline=None)
def test_no_byte_can_be_another(at: int, flip: int) -> None:
    data = bytearray(BUNDLE)
    data[at] ^= flip

    assert isinstance(verify(bytes(data)), Broken)


@pytest.mark.parametrize("at", [0, len(BUNDLE) - 1, len(BUNDLE) - 2, BUNDLE.index(b"\n")])
@pytest.mark.parametrize("flip", [0x01, 0x20, 0x80, 0xFF])
def test_no_byte_at_an_edge_can_be_another(at: int, flip: int) -> None:
    data = bytearray(BUNDLE)
    data[at] ^= flip

    assert isinstance(verify(bytes(data)), Broken)


@given(at=st.integers(0, len(BUNDLE)), piece=st.binary(min_size=1, max_size=40))
@settings(max_examples=200, deadline=None)
def test_nothing_can_be_put_in(at: int, piece: bytes) -> None:
    assert isinstance(verify(BUNDLE[:at] + piece + BUNDLE[at:]), Broken)


@given(st.binary(max_size=300))
def test_garbage_is_refused_and_never_raises(data: bytes) -> None:
    assert isinstance(verify(data), Broken)


@pytest.mark.parametrize("kept", range(2, len(LINES)))
def test_a_cut_between_two_records_leaves_an_incomplete_bundle(kept: int) -> None:
    found = verify(b"".join(LINES[:kept]))

    assert isinstance(found, Verified)
    assert found.closing is None


def test_a_cut_anywhere_else_is_a_fault() -> None:
    between = {sum(map(len, LINES[:kept])) for kept in range(2, len(LINES) + 1)}
    elsewhere = [size for size in range(len(BUNDLE)) if size not in between]

    assert [size for size in elsewhere if isinstance(verify(BUNDLE[:size]), Verified)] == []


def test_a_bundle_without_records_is_a_fault() -> None:
    assert why(LINES[0]) == "the bundle has no records"
    assert why(b"") == "the file does not end with a line end"
    assert why(b"\n").startswith("not a header")


def test_the_line_of_a_fault_is_named() -> None:
    lines = [*LINES]
    lines[3] = lines[3].replace(b"max", b"low")

    assert verify(b"".join(lines)) == Broken(5, "record 4 does not follow the line before it")


@pytest.mark.parametrize(
    "mutate",
    [
        pytest.param(lambda lines: [*lines[:3], *lines[4:]], id="dropped"),
        pytest.param(lambda lines: [*lines[:4], *lines[3:]], id="repeated"),
        pytest.param(lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]], id="swapped"),
        pytest.param(lambda lines: lines[1:], id="no header"),
        pytest.param(lambda lines: [lines[0], *lines], id="two headers"),
        pytest.param(lambda lines: [*lines, lines[-1]], id="two closes"),
        pytest.param(lambda lines: [*lines, b"\n"], id="an empty line"),
        pytest.param(lambda lines: [*lines[:-1], b" " + lines[-1]], id="a space"),
        pytest.param(lambda lines: [*lines[:-1], lines[-1][:-1] + b"\r\n"], id="another line end"),
        pytest.param(
            lambda lines: [b"\xef\xbb\xbf" + lines[0], *lines[1:]], id="a byte order mark"
        ),
    ],
)
def test_no_line_can_be_moved(mutate: Callable[[list[bytes]], list[bytes]]) -> None:
    assert isinstance(verify(b"".join(mutate(LINES))), Broken)


def test_records_of_another_run_of_the_same_key_do_not_fit() -> None:
    other = parsed(BUNDLE)
    other[0]["run"] = "000000000001"
    foreign = forged(other).splitlines(keepends=True)

    assert why(LINES[0] + b"".join(foreign[1:])) == "record 1 does not follow the line before it"


def test_a_close_signed_by_another_key_does_not_fit() -> None:
    theirs = forged(parsed(BUNDLE), OTHER_KEY).splitlines(keepends=True)

    ours = json.loads(LINES[-1])
    ours["signature"] = json.loads(theirs[-1])["signature"]
    last = msgspec.json.encode(ours, order="deterministic") + b"\n"
    assert why(b"".join(LINES[:-1]) + last) == "the close's signature does not hold"


@pytest.mark.parametrize("line", [0, len(LINES) - 1])
def test_a_signature_in_capitals_is_another_spelling(line: int) -> None:
    lines = [*LINES]
    signature = json.loads(lines[line])["signature"].encode()
    lines[line] = lines[line].replace(signature, signature.upper())

    assert "signature does not hold" in why(b"".join(lines))


@pytest.mark.parametrize(
    ("line", "fields", "expected"),
    [
        (0, {"version": 2}, "version 2 is not"),
        (0, {"version": True}, "Expected `int`, got `bool`"),
        (0, {"format": "receipts"}, "format 'receipts'"),
        (0, {"run": "7F3A90C41B22"}, "run id '7F3A90C41B22' is not 12 lower-case hex digits"),
        (0, {"attempt": 0}, "attempt 0 is not a number from 1"),
        (0, {"verify": "skip"}, "unknown field `verify`"),
        (1, {"launch_sha256": "0" * 64}, "the digest of the launch"),
        (1, {"type": "run.reopen"}, "Invalid value 'run.reopen'"),
        (1, {"trusted": True}, "unknown field `trusted`"),
        (2, {"checks": {"proc": 1}}, "Expected `bool`"),
        (3, {"exchange": 1.5}, "Expected `int`"),
        (4, {"answered": {"result": "completed", "by": "me"}}, "answered.by"),
        (4, {"answered": {"result": "fine"}}, "Invalid enum value"),
        (-1, {"records": 7}, "the close does not count"),
        (-1, {"exchanges": 2}, "the close does not count"),
    ],
)
def test_what_this_version_does_not_know_is_refused(
    line: int, fields: dict[str, Any], expected: str
) -> None:
    assert expected in why(changed(line, **fields))


@pytest.mark.parametrize(
    ("mutate", "expected"),
    [
        (lambda lines: [lines[0], *lines[2:]], "must be the first record"),
        (lambda lines: [*lines[:3], lines[1], *lines[3:]], "must be the first record"),
        (lambda lines: [*lines[:5], lines[3], *lines[5:]], "exchange 1 starts twice"),
        (lambda lines: [*lines[:5], lines[4], *lines[5:]], "exchange 1 ends twice"),
        (lambda lines: [*lines[:3], *lines[4:]], "exchange 1 ends without a start"),
        (lambda lines: [*lines, lines[2]], "a record follows the close"),
        (lambda lines: [*lines, lines[-1]], "a record follows the close"),
        (lambda lines: lines[:1], "no records"),
    ],
)
def test_a_key_holder_cannot_break_the_order_either(
    mutate: Callable[[Lines], Lines], expected: str
) -> None:
    assert expected in why(forged(mutate(parsed(BUNDLE))))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (b'{"asked"', b'{"type":"exchange.start","asked"', "canonical"),
        (b'"corrections":[]', b'"corrections": []', "canonical"),
        (b'"exchange":1,', b'"exchange":1.0,', "not a record"),
        (b'"exchange":1,', b'"exchange":01,', "not a record"),
        (b'"route":"/v1', b'"route":"\\u002fv1', "canonical"),
        (b'"stream":true', b'"stream":NaN', "not a record"),
        (b'"stream":true', b'"stream":' + b"[" * 5000 + b"]" * 5000, "not a record"),
    ],
)
def test_a_line_has_one_spelling(old: bytes, new: bytes, expected: str) -> None:
    lines = [*LINES]
    assert old in lines[3]
    lines[3] = lines[3].replace(old, new, 1)

    assert expected in why(b"".join(lines))


def test_a_field_that_a_later_version_added_may_be_missing() -> None:
    lines = parsed(BUNDLE)
    for line in lines:
        line.pop("side", None)

    found = verify(forged(lines))

    assert isinstance(found, Verified)
    assert all(r.side is None for r in found.records if isinstance(r, ExchangeStart))


def test_an_unknown_field_deep_in_a_list_is_found() -> None:
    lines = parsed(BUNDLE)
    lines[1]["launch"]["spec"]["workspace"]["answers"] = ["/a"]
    lines[3]["sent"]["fields"] = [{"model": 1}]

    assert "Expected `str`" in why(forged(lines[:1] + lines[3:]))
    assert "digest of the launch" in why(forged(lines))
