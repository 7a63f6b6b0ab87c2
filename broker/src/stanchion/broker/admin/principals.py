"""Who speaks on the admin socket: the user whom the kernel names for the connection.

It decides who may: the user that the broker runs as, and root. Both may everything; there is no
reader who may not act, for nothing but the socket's owner tells two callers apart. It must never
believe a word of a request about who sent it.

Source: unix(7), SO_PEERCRED: the credentials of the peer when it called connect.
"""

import asyncio
import logging
import os
import socket
import struct
from dataclasses import dataclass

from aiohttp import web

from stanchion.protocol.ids import parse_attempt_id

_CREDENTIALS = struct.Struct("3i")
"""Process, user, group."""
_log = logging.getLogger("stanchion.broker")


@dataclass(frozen=True, slots=True)
class Principal:
    """One caller."""

    uid: int
    pid: int

    def __str__(self) -> str:
        return f"uid {self.uid}"

    @property
    def may_act(self) -> bool:
        """Whether anything of it is read."""
        return self.uid in {0, os.geteuid()}


def principal_of(transport: asyncio.BaseTransport | None) -> Principal | None:
    """The other end of a Unix socket; None = it is closed, or the kernel does not say."""
    found = None if transport is None else transport.get_extra_info("socket")
    if found is None:
        return None
    try:
        said = found.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    except OSError:
        return None
    pid, uid, _ = _CREDENTIALS.unpack(said)
    return Principal(uid=uid, pid=pid)


def acting(request: web.Request) -> str:
    """In words, for the record of what it does."""
    principal = principal_of(request.transport)
    return "an unknown user" if principal is None else str(principal)


async def note_action(request: web.Request, response: web.StreamResponse) -> None:
    """One line in the log for each request that changes something, without a byte of its own."""
    if request.method != "POST":
        return
    resource = request.match_info.route.resource
    name = request.match_info.get("id", "")
    try:
        name = f" {parse_attempt_id(name)}"
    except ValueError:
        name = ""
    place = "no route" if resource is None else resource.canonical
    principal = principal_of(request.transport)
    pid = None if principal is None else principal.pid
    _log.info("%s%s: %d for %s, pid %s", place, name, response.status, acting(request), pid)
