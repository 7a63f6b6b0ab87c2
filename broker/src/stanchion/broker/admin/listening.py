"""Serves the admin application on its Unix socket, and on nothing else.

aiohttp answers and logs a malformed request with its own bytes in it (aiohttp's
`RequestHandler.handle_error`); here the answer is constant and nothing is logged.
"""

import asyncio
import logging
import socket
from typing import Any, cast

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from stanchion.broker.admin.principals import principal_of
from stanchion.broker.attempts.listeners import BACKLOG

_BODY = (
    b'{"error":{"id":"admin_http","field":"request","value":null,'
    b'"rule":"the request is valid HTTP/1.1","remedy":"Use the client"}}'
)


REFUSED_S = 5.0
_STRANGER = (
    b'{"error":{"id":"admin_principal","field":"caller","value":null,'
    b'"rule":"it is the user that the broker runs as, or root","remedy":"Be that user"}}'
)
_REFUSAL = (
    b"HTTP/1.1 403 Forbidden\r\ncontent-type: application/json\r\n"
    b"content-length: %d\r\nconnection: close\r\n\r\n%b" % (len(_STRANGER), _STRANGER)
)
_log = logging.getLogger("stanchion.broker")


class _Unread(asyncio.Protocol):
    """What a stranger sends is taken and let go: closing on it would lose the answer."""


def refuse(transport: asyncio.Transport) -> None:
    """The constant answer, and nothing else until the other end hangs up, or does not in time."""
    transport.set_protocol(_Unread())
    transport.write(_REFUSAL)
    transport.write_eof()
    asyncio.get_running_loop().call_later(REFUSED_S, transport.abort)


class _QuietHandler(RequestHandler):
    """Constant errors, and nothing of a stranger is read.

    The socket's mode keeps strangers out already; this holds where somebody loosened it.
    """

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        principal = principal_of(transport)
        if principal is None or not principal.may_act:
            _log.warning("the admin socket does not serve %s", principal or "an unknown user")
            refuse(cast("asyncio.Transport", transport))
        else:
            super().connection_made(transport)

    def handle_error(
        self,
        request: web.BaseRequest,  # noqa: ARG002 - aiohttp's signature
        status: int = 500,
        exc: BaseException | None = None,  # noqa: ARG002
        message: str | None = None,  # noqa: ARG002
    ) -> web.StreamResponse:
        response = web.Response(status=status, body=_BODY, content_type="application/json")
        response.force_close()
        return response


class AdminSite:
    """The listening application."""

    def __init__(self, runner: web.AppRunner, server: asyncio.AbstractServer) -> None:
        self._runner = runner
        self._server = server

    @classmethod
    async def start(cls, app: web.Application, sock: socket.socket) -> "AdminSite":
        """Listen."""
        runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1.0)
        await runner.setup()
        loop = asyncio.get_running_loop()

        def connection() -> "_QuietHandler":
            server: Any = runner.server
            return _QuietHandler(server, loop=loop, access_log=None)  # type: ignore[arg-type]  # off

        return cls(runner, await loop.create_unix_server(connection, sock=sock, backlog=BACKLOG))

    async def close(self) -> None:
        """Stop listening, let running requests end."""
        self._server.close()
        await self._runner.cleanup()
