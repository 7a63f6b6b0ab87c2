"""Serves the admin application on its Unix socket, and on nothing else.

aiohttp answers and logs a malformed request with its own bytes in it (aiohttp's
`RequestHandler.handle_error`); here the answer is constant and nothing is logged.
"""

import asyncio
import socket
from typing import Any

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from stanchion.broker.attempts.listeners import BACKLOG

_BODY = (
    b'{"error":{"id":"admin_http","field":"request","value":null,'
    b'"rule":"the request is valid HTTP/1.1","remedy":"Use the client"}}'
)


class _QuietHandler(RequestHandler):
    """Constant errors."""

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
