"""What every answer of the admin API looks like: JSON bodies, and constant errors.

Nothing of a request's bytes is ever echoed or logged.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec
from aiohttp import web

from stanchion.broker.receipts.event_store import CursorGoneError
from stanchion.broker.receipts.ledger import LedgerError
from stanchion.broker.tasks import log_failure
from stanchion.protocol.admin import ErrorReply
from stanchion.protocol.codec import CodecError, decode
from stanchion.protocol.refusal import Refusal, RefusedError, refuse

T = TypeVar("T")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_STATUS = {
    "run_unknown": 404,
    "profile_unknown": 422,
    "attempt_exists": 409,
    "job_unknown": 404,
    "job_exists": 409,
}


async def read_body(request: web.Request, kind: type[T]) -> T:
    """The message in a request; RefusedError says what is wrong with it."""
    try:
        return decode(await request.read(), kind)
    except CodecError as error:
        raise refuse(
            "body_invalid", field="body", value=None, rule=_rule(error), remedy="Mend the request"
        ) from None


def _rule(error: CodecError) -> str:
    """The decoder's sentence, which names fields and types, never values."""
    return str(error)[:500]


def json_answer(value: object, *, status: int = 200) -> web.Response:
    """One JSON document."""
    return web.Response(
        body=msgspec.json.encode(value), status=status, content_type="application/json"
    )


def lines_answer(data: bytes) -> web.Response:
    """JSON lines as they are stored."""
    return web.Response(body=data, content_type="application/x-ndjson")


@web.middleware
async def constant_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Every failure of a handler as an ErrorReply."""
    try:
        return await handler(request)
    except RefusedError as error:
        status = _STATUS.get(error.refusal.id, 422)
        return json_answer(ErrorReply(error=error.refusal), status=status)
    except CursorGoneError as gone:
        return json_answer(ErrorReply(error=_gone(gone), oldest=gone.oldest), status=410)
    except web.HTTPException as error:
        return json_answer(
            _plain("http", f"the request is answered with {error.status}"), status=error.status
        )
    except LedgerError as error:
        return json_answer(_plain("ledger", str(error)), status=503)
    except Exception as error:  # noqa: BLE001 - the border: constant body, place in the log
        log_failure(error)
        return json_answer(_plain("internal", "an unexpected failure; see broker.log"), status=500)


def _plain(word: str, rule: str) -> ErrorReply:
    return ErrorReply(
        error=Refusal(
            id=f"admin_{word}", field="request", value=None, rule=rule, remedy="See the reference"
        )
    )


def _gone(gone: CursorGoneError) -> Refusal:
    return Refusal(
        id="cursor_gone",
        field="after",
        value=None,
        rule=f"events are kept from cursor {gone.oldest} on",
        remedy=f"Read on with after={gone.oldest}; what was before it is in the receipts",
    )
