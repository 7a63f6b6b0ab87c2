"""The HTTP side of the rehearsal: a request in, the scripted bytes out, a witness line after.

It carries decisions of `turns` and of a dialect to the wire and must never make one of its own,
nor touch the bytes between the dialect and the socket.
"""

import asyncio
import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import replace

from aiohttp import web

from stanchion.rehearsal.delivery import deliver
from stanchion.rehearsal.dialects import (
    anthropic_messages,
    gemini,
    openai_chat,
    openai_responses,
)
from stanchion.rehearsal.dialects.reply import Dialect, Identity, Reply
from stanchion.rehearsal.faults.kinds import kind_of
from stanchion.rehearsal.faults.replies import Scene, play
from stanchion.rehearsal.faults.tally import Tally
from stanchion.rehearsal.script import Script
from stanchion.rehearsal.turns import Answer, Asked, Refusal, choose
from stanchion.rehearsal.witness import Exchange

COUNT_PATH = "/v1/messages/count_tokens"
MODELS_PATHS = ("/v1/models", gemini.MODELS_PATH)
DIALECTS: dict[str, Dialect] = {
    "/v1/chat/completions": openai_chat,
    "/v1/responses": openai_responses,
    "/v1/messages": anthropic_messages,
    COUNT_PATH: anthropic_messages,
}
ROUTES = (*(("POST", path) for path in DIALECTS), *(("GET", path) for path in MODELS_PATHS))
ROUTES_OF_A_MODEL = tuple(
    f"POST {folder}MODEL:{action}"
    for folder in gemini.FOLDERS
    for action in ("generateContent", "streamGenerateContent?alt=sse")
)
BODY_LIMIT_BYTES = 64 * 1024 * 1024
REPEATED_TIME_S = 1_767_225_600
"""When every repeatable answer was created: 1 January 2026."""

BODY_TOO_LARGE = Refusal(
    status=413, message=f"the body is larger than {BODY_LIMIT_BYTES} bytes; send a smaller one"
)


class RehearsalServer:
    """Answers requests from one script until it is stopped."""

    def __init__(
        self,
        *,
        script: Script,
        key: str | None,
        witness: Callable[[bytes], None],
        repeatable: bool = False,
    ) -> None:
        """`repeatable` makes ids and times from the request, in place of chance and clock."""
        self._script = script
        self._key = key
        self._witness = witness
        self._repeatable = repeatable
        self._tally = Tally()
        self.stopping = False
        """Set before the connections are closed, so that our end is not taken for the client's."""

    def application(self) -> web.Application:
        app = web.Application(client_max_size=BODY_LIMIT_BYTES)
        app.router.add_route("*", "/{path:.*}", self.handle)
        return app

    async def handle(self, request: web.Request) -> web.StreamResponse:
        identity = await self._identity(request)
        dialect = _dialect(request)
        exchange = Exchange(
            at_ms=time.time_ns() // 1_000_000,
            request_id=identity.request_id,
            method=request.method,
            path=request.path,
        )
        try:
            reply, hold_s = await self._decide(request, exchange, dialect, identity)
            await asyncio.sleep(hold_s)
            return await deliver(request, exchange, reply, dialect.REQUEST_ID_HEADER)
        except (asyncio.CancelledError, ConnectionError):
            exchange.client_gone = not self.stopping
            raise
        finally:
            self._witness(exchange.line())

    async def _identity(self, request: web.Request) -> Identity:
        if not self._repeatable:
            return Identity(token=secrets.token_hex(16), created_s=int(time.time()))
        try:
            body = await request.read()
        except web.HTTPRequestEntityTooLarge:
            body = b""  # refused below
        token = hashlib.sha256(request.path.encode() + b"\0" + body).hexdigest()[:32]
        return Identity(token=token, created_s=REPEATED_TIME_S)

    async def _decide(
        self, request: web.Request, exchange: Exchange, dialect: Dialect, identity: Identity
    ) -> tuple[Reply, float]:
        """The reply, and the seconds to hold it back."""
        if refusal := await self._not_admitted(request, exchange, dialect):
            return dialect.refuse(refusal, identity), 0.0
        if request.path in MODELS_PATHS:
            return dialect.models(identity.created_s), 0.0
        body = exchange.body or b""
        counting = request.path == COUNT_PATH
        asked = anthropic_messages.understand_count(body) if counting else dialect.understand(body)
        if isinstance(asked, Refusal):
            return dialect.refuse(asked, identity), 0.0
        exchange.asked = asked
        if counting:
            return anthropic_messages.counted(asked), 0.0
        choice = choose(self._script, asked)
        exchange.turn = choice.turn
        if isinstance(choice, Refusal):
            return dialect.refuse(choice, identity), 0.0
        scene = Scene(
            dialect=dialect,
            asked=asked if choice.model is None else replace(asked, model=choice.model),
            identity=identity,
            key=_sayable(dialect.presented_key(request.headers)),
        )
        return self._play(exchange, choice, asked, scene)

    def _play(
        self, exchange: Exchange, answer: Answer, asked: Asked, scene: Scene
    ) -> tuple[Reply, float]:
        fault = self._tally.due(answer.fault, turn=answer.turn, conversation=asked.conversation)
        exchange.fault = kind_of(fault) if fault else None
        return play(answer, fault, scene)

    async def _not_admitted(
        self, request: web.Request, exchange: Exchange, dialect: Dialect
    ) -> Refusal | None:
        try:
            exchange.body = await request.read()
        except web.HTTPRequestEntityTooLarge:
            return BODY_TOO_LARGE
        exchange.key_ok = self._key_ok(dialect.presented_key(request.headers))
        if exchange.key_ok is False:
            return dialect.WRONG_KEY
        if not _is_known(request, dialect):
            return _unknown_url(request)
        return None

    def _key_ok(self, presented: str | None) -> bool | None:
        if self._key is None:
            return None
        return hmac.compare_digest(
            (presented or "").encode(errors="surrogateescape"), self._key.encode()
        )


def _dialect(request: web.Request) -> Dialect:
    """By the path; where that is shared or unknown, by the header that Anthropic demands."""
    named = gemini.at(request.path, request.query.get("alt"))
    if named is not None:
        return named
    other = anthropic_messages if "anthropic-version" in request.headers else openai_chat
    return DIALECTS.get(request.path, other)


def _is_known(request: web.Request, dialect: Dialect) -> bool:
    named = isinstance(dialect, gemini.Gemini) and dialect.is_served
    return (request.method == "POST" and named) or (request.method, request.path) in ROUTES


def _sayable(key: str | None) -> str:
    """A key that can stand in a header and in JSON as it is; empty for any other."""
    return key if key and all("!" <= letter <= "~" for letter in key) else ""


def _unknown_url(request: web.Request) -> Refusal:
    known = ", ".join([*(f"{method} {path}" for method, path in ROUTES), *ROUTES_OF_A_MODEL])
    return Refusal(
        status=404,
        message=f"Unknown request URL: {request.method} {request.path}; this provider has {known}",
        code="unknown_url",
    )
