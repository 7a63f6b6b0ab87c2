"""What the receipts of one attempt show of its requests: as asked, as sent, as written. Pure."""

import msgspec

from stanchion.protocol.receipt import (
    Denied,
    ExchangeEnd,
    ExchangeStart,
    Mismatched,
    Record,
    RunStarted,
)

_records = msgspec.json.Decoder(Record)


class Request(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One main request, by what a declaration is about."""

    limit: int | None
    """As sent to the provider."""
    effort: str | None
    field: str | None
    """The body field that carried the limit."""
    stream: bool | None = None
    limit_asked: int | None = None
    """As the harness asked, where that is another; with `corrected`."""
    effort_asked: str | None = None
    corrected: tuple[str, ...] = ()
    """Fields that the broker wrote, as declared."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What an attempt shows."""

    written_limit: int | None
    """Read back from the harness's configuration before its start."""
    written_effort: str | None
    requests: tuple[Request, ...]
    answered: int
    """Requests that the provider answered whole."""
    trouble: str | None = None
    """A request that differed or was denied."""


def read(bundle: bytes) -> Seen:
    """All records of a bundle; a line that cannot be read counts as trouble."""
    limit, effort, trouble = None, None, None
    requests: list[Request] = []
    answered = 0
    for line in bundle.splitlines()[1:]:
        match _decoded(line):
            case RunStarted() as started:
                limit, effort = started.written_output_limit, started.written_effort
            case ExchangeStart(side=None) as start:
                requests.append(_request(start))
            case ExchangeEnd(answered=end):
                answered += end.has_content
            case Mismatched(mismatch=found):
                trouble = f"{found.field} {found.observed} where {found.declared} was declared"
            case Denied(why=why):
                trouble = f"denied: {why}"
            case None:
                trouble = "a record that this version cannot read"
    return Seen(
        written_limit=limit,
        written_effort=effort,
        requests=tuple(requests),
        answered=answered,
        trouble=trouble,
    )


def _decoded(line: bytes) -> Record | None:
    try:
        return _records.decode(line)
    except msgspec.DecodeError:
        return None


def _request(start: ExchangeStart) -> Request:
    asked, sent = start.asked, start.sent
    return Request(
        limit=sent.output_limit,
        effort=sent.effort,
        field=sent.output_limit_field,
        stream=sent.stream,
        limit_asked=asked.output_limit if start.corrections else None,
        effort_asked=asked.effort if start.corrections else None,
        corrected=start.corrections,
    )
