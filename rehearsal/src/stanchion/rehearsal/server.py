"""The HTTP side of the rehearsal: a request in, the scripted bytes out, a witness line after.

It carries decisions of `turns` and of a dialect to the wire and must never make one of its own,
nor touch the bytes between the dialect and the socket.
"""

import asyncio
import hmac
import secrets
import time
from collections.abc import Callable
from typing import NoReturn

from aiohttp import web

from stanchion.rehearsal.dialects import openai_chat
from stanchion.rehearsal.dialects.reply import Dialect, Identity, Reply
from stanchion.rehearsal.script import Script
from stanchion.rehearsal.turns import Refusal, choose
from stanchion.rehearsal.witness import Exchange

CHAT_DIALECTS: dict[str, Dialect] = {"/v1/chat/completions": openai_chat}
MODELS_PATH = "/v1/models"
ROUTES = (*(("POST", path) for path in CHAT_DIALECTS), ("GET", MODELS_PATH))
BODY_LIMIT_BYTES = 64 * 1024 * 1024

WRONG_KEY = Refusal(
    status=401,
    message="Incorrect API key provided. Send the rehearsal's key as Authorization: Bearer KEY.",
    code="invalid_api_key",
)
BODY_TOO_LARGE = Refusal(
    status=413, message=f"the body is larger than {BODY_LIMIT_BYTES} bytes; send a smaller one"
)


class RehearsalServer:
    """Answers requests from one script until it is stopped."""

    def __init__(
        self, *, script: Script, key: str | None, witness: Callable[[bytes], None]
    ) -> None:
        self._script = script
        self._key = key
        self._witness = witness
        self.stopping = False
        """Set before the connections are closed, so that our end is not taken for the client's."""

    def application(self) -> web.Application:
        app = web.Application(client_max_size=BODY_LIMIT_BYTES)
        app.router.add_route("*", "/{path:.*}", self.handle)
        return app

    async def handle(self, request: web.Request) -> web.StreamResponse:
        identity = Identity(token=secrets.token_hex(16), created_s=int(time.time()))
        exchange = Exchange(
            at_ms=time.time_ns() // 1_000_000,
            request_id=f"req_{identity.token}",
            method=request.method,
            path=request.path,
        )
        try:
            reply, hold_s = await self._decide(request, exchange, identity)
            await asyncio.sleep(hold_s)
            return await _send(request, exchange, reply)
        except (asyncio.CancelledError, ConnectionError):
            exchange.client_gone = not self.stopping
            raise
        finally:
            self._witness(exchange.line())

    async def _decide(
        self, request: web.Request, exchange: Exchange, identity: Identity
    ) -> tuple[Reply, float]:
        """The reply, and the seconds to hold it back."""
        dialect = CHAT_DIALECTS.get(request.path, openai_chat)
        if refusal := await self._not_admitted(request, exchange):
            return dialect.refuse(refusal), 0.0
        if (request.method, request.path) == ("GET", MODELS_PATH):
            return openai_chat.models(identity.created_s), 0.0
        asked = dialect.understand(exchange.body or b"")
        if isinstance(asked, Refusal):
            return dialect.refuse(asked), 0.0
        exchange.asked = asked
        choice = choose(self._script, asked)
        exchange.turn = choice.turn
        if isinstance(choice, Refusal):
            return dialect.refuse(choice), 0.0
        return dialect.render(asked, choice, identity), choice.hold_s

    async def _not_admitted(self, request: web.Request, exchange: Exchange) -> Refusal | None:
        try:
            exchange.body = await request.read()
        except web.HTTPRequestEntityTooLarge:
            return BODY_TOO_LARGE
        exchange.key_ok = self._key_ok(request.headers.get("Authorization", ""))
        if exchange.key_ok is False:
            return WRONG_KEY
        if (request.method, request.path) not in ROUTES:
            return _unknown_url(request)
        return None

    def _key_ok(self, authorization: str) -> bool | None:
        if self._key is None:
            return None
        return hmac.compare_digest(
            authorization.encode(errors="surrogateescape"), f"Bearer {self._key}".encode()
        )


async def _send(request: web.Request, exchange: Exchange, reply: Reply) -> web.StreamResponse:
    response = web.StreamResponse(
        status=reply.status,
        headers={
            "Content-Type": reply.content_type,
            "Cache-Control": "no-cache",
            "x-request-id": exchange.request_id,
        },
    )
    if reply.sized:
        response.content_length = sum(len(piece.data) for piece in reply.pieces)
    await response.prepare(request)
    exchange.status = reply.status
    for piece in reply.pieces if request.method != "HEAD" else ():
        if piece.delay_ms:
            await asyncio.sleep(piece.delay_ms / 1000)
        await response.write(piece.data)
        exchange.sent(piece.data)
    if not reply.ends:
        await _until_cancelled()
    await response.write_eof()
    exchange.complete = True
    return response


async def _until_cancelled() -> NoReturn:
    while True:
        await asyncio.Event().wait()


def _unknown_url(request: web.Request) -> Refusal:
    known = ", ".join(f"{method} {path}" for method, path in ROUTES)
    return Refusal(
        status=404,
        message=f"Unknown request URL: {request.method} {request.path}; this provider has {known}",
        code="unknown_url",
    )
