"""What a fault makes of a rendered reply: other pieces, other waits, another end.

Here are the faults of the wire and of what stands between a client and a model. It works on
whole events, whatever their dialect, and must never send, wait or look at a clock.
"""

from dataclasses import dataclass, replace
from functools import singledispatch

from stanchion.rehearsal.dialects.reply import EVENT_STREAM, Dialect, End, Identity, Piece, Reply
from stanchion.rehearsal.faults import kinds
from stanchion.rehearsal.faults.answers import alter, echoed
from stanchion.rehearsal.turns import Answer, Asked, Refusal

KEEP_ALIVE = b": keep-alive\n\n"
BLANK_LINE = b"\n"
"""The sign of life where the body is one JSON document: space before it changes nothing."""
PROXY_LINE = b"upstream connect error or disconnect/reset before headers\n"
PAGE = (
    b"<!DOCTYPE html>\n<html><head><title>One moment</title></head>"
    b"<body><h1>Checking your browser</h1></body></html>\n"
)
ECHO_HEADER = "x-debug-authorization"
OVERLOADED = 529
SPLIT_GAP_MS = 20
"""Long enough for the halves to arrive one by one on a loopback."""


@dataclass(frozen=True, slots=True)
class Scene:
    """The request that meets a fault, and whom it is talking to."""

    dialect: Dialect
    asked: Asked
    identity: Identity
    key: str
    """What the client presented; empty if it was nothing that could be said back."""


def play(answer: Answer, fault: kinds.Fault | None, scene: Scene) -> tuple[Reply, float]:
    """The reply that this request gets, and the seconds to hold it back."""
    if fault is None:
        return scene.dialect.render(scene.asked, answer, scene.identity), answer.hold_s
    altered = alter(fault, answer, scene.key)
    reply = scene.dialect.render(scene.asked, altered, scene.identity)
    return _disturb(fault, reply, scene), altered.hold_s


@singledispatch
def _disturb(_fault: kinds.AnyFault, reply: Reply, _scene: Scene) -> Reply:
    """What the wire makes of a reply; the faults without a case below are in the answer alone."""
    return reply


@_disturb.register
def _status(fault: kinds.StatusFault, _reply: Reply, scene: Scene) -> Reply:
    headers = tuple(fault.headers.items())
    if fault.retry_after is not None:
        headers = (("Retry-After", str(fault.retry_after)), *headers)
    error = Refusal(
        status=fault.status,
        message=fault.message or f"Rehearsed fault: status {fault.status}.",
        kind=fault.error_type,
        code=fault.error_code,
    )
    return replace(scene.dialect.refuse(error, scene.identity), headers=headers)


@_disturb.register
def _error_event(fault: kinds.ErrorEventFault, reply: Reply, scene: Scene) -> Reply:
    error = Refusal(
        status=OVERLOADED,
        message=fault.message or "Rehearsed fault: an error inside a 200.",
        kind=fault.error_type,
        code=fault.error_code,
    )
    if not scene.asked.stream:
        return replace(scene.dialect.refuse(error, scene.identity), status=200)
    before = reply.pieces[: fault.after]
    event = Piece(delay_ms=_gap_ms(reply, fault.after), data=scene.dialect.error_event(error))
    return replace(reply, pieces=(*before, event))


@_disturb.register
def _cut(fault: kinds.CutFault, reply: Reply, scene: Scene) -> Reply:
    end = End(fault.how)
    if not scene.asked.stream:
        (body,) = reply.pieces
        size = len(body.data) // 2
        return replace(reply, pieces=(replace(body, data=body.data[:size]),), end=end)
    sent = reply.pieces[: fault.after]
    rest = reply.pieces[fault.after :]
    if rest and fault.extra_bytes:
        sent = (*sent, replace(rest[0], data=rest[0].data[: fault.extra_bytes]))
    return replace(reply, pieces=sent, end=end)


@_disturb.register
def _stall(fault: kinds.StallFault, reply: Reply, scene: Scene) -> Reply:
    after = fault.after if scene.asked.stream else 0
    before, rest = reply.pieces[:after], reply.pieces[after:]
    if fault.stall_s is None:
        return replace(reply, pieces=before, end=End.SILENT)
    if not rest:
        return reply
    late = replace(rest[0], delay_ms=rest[0].delay_ms + round(fault.stall_s * 1000))
    return replace(reply, pieces=(*before, late, *rest[1:]))


@_disturb.register
def _drip(fault: kinds.DripFault, reply: Reply, scene: Scene) -> Reply:
    after = fault.after if scene.asked.stream else 0
    sign = KEEP_ALIVE if scene.asked.stream else BLANK_LINE
    drop = Piece(delay_ms=round(fault.interval_s * 1000), data=sign)
    before, rest = reply.pieces[:after], reply.pieces[after:]
    if fault.count is None:
        return replace(reply, pieces=before, drip=drop, size_bytes=None)
    return replace(reply, pieces=(*before, *(drop,) * fault.count, *rest), size_bytes=None)


@_disturb.register
def _redirect(fault: kinds.RedirectFault, _reply: Reply, _scene: Scene) -> Reply:
    return Reply(
        status=fault.status,
        content_type="text/plain; charset=utf-8",
        headers=(("Location", fault.location),),
        pieces=(),
        size_bytes=0,
    )


@_disturb.register
def _key_echo(fault: kinds.KeyEchoFault, reply: Reply, scene: Scene) -> Reply:
    key = echoed(fault, scene.key)
    if fault.where == "header":
        return replace(reply, headers=((ECHO_HEADER, f"Bearer {key}"),))
    if fault.where == "body":
        error = Refusal(status=fault.status, message=f"Incorrect API key provided: {key}.")
        reply = scene.dialect.refuse(error, scene.identity)
    return _split(reply, key.encode()) if fault.form == "split" else reply


@_disturb.register
def _garbage(fault: kinds.GarbageFault, reply: Reply, scene: Scene) -> Reply:
    if fault.what in {"html", "empty"}:
        page = PAGE if fault.what == "html" else b""
        return Reply(
            status=200,
            content_type="text/html; charset=utf-8" if page else EVENT_STREAM,
            pieces=(Piece(delay_ms=0, data=page),) if page else (),
            size_bytes=len(page),
        )
    after = fault.after if scene.asked.stream else 0
    before, rest = reply.pieces[:after], reply.pieces[after:]
    if fault.what == "line":
        line = Piece(delay_ms=_gap_ms(reply, after), data=PROXY_LINE)
        return replace(reply, pieces=(*before, line), size_bytes=None)
    broken = tuple(replace(piece, data=_unclosed(piece.data)) for piece in rest[:1])
    return replace(reply, pieces=(*before, *broken, *rest[1:]), size_bytes=None)


def _unclosed(data: bytes) -> bytes:
    """The event or body without the last two bytes of its JSON, which are never inside a letter."""
    text = data.rstrip(b"\n")
    return text[:-2] + data[len(text) :]


def _split(reply: Reply, key: bytes) -> Reply:
    """The same bytes, where those that hold the key leave in two halves."""
    pieces: list[Piece] = []
    for piece in reply.pieces:
        start = piece.data.find(key) if key else -1
        if start < 0:
            pieces.append(piece)
            continue
        middle = start + len(key) // 2
        pieces += [
            replace(piece, data=piece.data[:middle]),
            Piece(delay_ms=SPLIT_GAP_MS, data=piece.data[middle:]),
        ]
    return replace(reply, pieces=tuple(pieces))


def _gap_ms(reply: Reply, position: int) -> int:
    """The wait that the event at this position had, or the last one's."""
    if not position:
        return 0
    return reply.pieces[min(position, len(reply.pieces) - 1)].delay_ms
