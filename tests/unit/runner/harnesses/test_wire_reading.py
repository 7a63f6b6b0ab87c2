"""What a bundle of receipts says of limits and efforts, from records of their real types."""

import msgspec

from stanchion.protocol.exchange import Answered, Asked, ExchangeResult, Mismatch
from stanchion.protocol.receipt import (
    Denied,
    ExchangeEnd,
    ExchangeStart,
    Mismatched,
    Record,
    RunStarted,
)
from stanchion.runner.harnesses.wire_reading import Request, read


def asked(limit: int | None, effort: str | None = "max", *, stream: bool = True) -> Asked:
    return Asked(
        model="m", output_limit=limit, output_limit_field="max_tokens" if limit else None,
        effort=effort, effort_field="effort", stream=stream, fields=(), body_sha256="0",
        body_bytes=1,
    )  # fmt: skip


def start(
    number: int, was: Asked, sent: Asked, fields: tuple[str, ...] = (), side: str | None = None
) -> ExchangeStart:
    return ExchangeStart(
        seq=number, prev="0", at_ms=1, exchange=number, asked=was, sent=sent, corrections=fields,
        route="r", session=None, side=side,
    )  # fmt: skip


def bundle(*records: Record) -> bytes:
    return b"".join([b"{}\n", *(msgspec.json.encode(record) + b"\n" for record in records)])


STARTED = RunStarted(
    seq=1, prev="0", at_ms=1, asserted_by="sandbox", isolation="M2", checks={}, written_model="m",
    written_output_limit=128_000, written_effort="max",
)  # fmt: skip


def test_what_was_asked_is_kept_where_the_broker_changed_it() -> None:
    whole, lowered = asked(128_000), asked(64_000, stream=False)
    corrected = asked(128_000, stream=False)
    end = ExchangeEnd(
        seq=4, prev="0", at_ms=1, exchange=3, tries=1, held_ms=0, secret_scrubbed=False,
        answered=Answered(result=ExchangeResult.COMPLETED, text_present=True, tool_calls=0),
    )  # fmt: skip
    seen = read(bundle(STARTED, start(2, whole, whole),
                       start(3, lowered, corrected, ("max_tokens",)), end))  # fmt: skip

    assert (seen.written_limit, seen.written_effort) == (128_000, "max")
    assert seen.requests == (
        Request(limit=128_000, effort="max", field="max_tokens", stream=True),
        Request(
            limit=128_000, effort="max", field="max_tokens", stream=False, limit_asked=64_000,
            effort_asked="max", corrected=("max_tokens",),
        ),
    )  # fmt: skip
    assert (seen.answered, seen.trouble) == (1, None)


def test_a_declared_side_request_is_no_main_request() -> None:
    title = asked(16)
    assert read(bundle(start(1, title, title, side="title"))).requests == ()


def test_a_difference_and_a_denial_are_trouble_and_so_is_a_line_of_nobody() -> None:
    differs = Mismatched(
        seq=1, prev="0", at_ms=1, enforced=True,
        mismatch=Mismatch(exchange=1, field="output_limit", declared="5", observed="4"),
    )  # fmt: skip
    denied = Denied(seq=1, prev="0", at_ms=1, why="path")

    assert read(bundle(differs)).trouble == "output_limit 4 where 5 was declared"
    assert read(bundle(denied)).trouble == "denied: path"
    assert read(bundle() + b"garbage\n").trouble == "a record that this version cannot read"
    assert read(b"").requests == ()
