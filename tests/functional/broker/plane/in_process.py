"""An attempt in the test's own process, with waits and sizes of the test's choice."""

import asyncio
import contextlib
import socket
import ssl
import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

from fakes.launches import KEY, spec
from stanchion.broker.attempts.attempt import Attempt, Terms
from stanchion.broker.attempts.leases import Grant
from stanchion.broker.attempts.listeners import bind_private
from stanchion.broker.plane.limits import Limits
from stanchion.broker.plane.model_socket import ModelConnection
from stanchion.broker.plane.pool import Pool
from stanchion.broker.plane.target import Target
from stanchion.broker.receipts.bundle import Verified, verify
from stanchion.broker.receipts.ledger import Ledger
from stanchion.broker.secrets import Secret
from stanchion.broker.tasks import Tasks
from stanchion.protocol.codec import digest
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.exchange import Answered
from stanchion.protocol.launch import AccountRef, FrozenLaunch
from stanchion.protocol.receipt import Denied, ExchangeEnd, Record, RunOpen

ACCOUNT = AccountRef(
    name="rehearsal",
    dialect=Dialect.OPENAI_CHAT,
    base_url="http://127.0.0.1:1/v1",
    tls=False,
    credential="rehearsal",
    fingerprint=None,
)
NAME = "7f3a90c41b22.1"


@dataclass
class Stage:
    """The attempt, its lease, and its model socket."""

    attempt: Attempt
    lease: str
    directory: Path

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_unix_connection(str(self.directory / "model.sock"))

    def head(self, length: int) -> bytes:
        return (
            f"POST /v1/chat/completions HTTP/1.1\r\nx-stanchion-lease: {self.lease}\r\n"
            f"content-length: {length}\r\n\r\n"
        ).encode()

    async def request(self, body: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await self.connect()
        writer.write(self.head(len(body)) + body)
        return reader, writer

    def records(self) -> tuple[Record, ...]:
        found = verify(self.attempt.book.bundle())
        assert isinstance(found, Verified), found
        return found.records

    async def answered(self) -> Answered:
        """How the first exchange ended, once it is on record."""
        await until(lambda: any(isinstance(r, ExchangeEnd) for r in self.records()))
        return next(r.answered for r in self.records() if isinstance(r, ExchangeEnd))

    async def denied(self) -> str:
        """Why the first request was refused, once it is on record."""
        await until(lambda: any(isinstance(r, Denied) for r in self.records()))
        return next(r.why for r in self.records() if isinstance(r, Denied))

    async def until_left(self) -> None:
        """No connection is open any more."""
        await until(lambda: not self.attempt.connections)


async def until(come: Callable[[], bool]) -> None:
    """Let the loop turn until it is so."""
    while not come():  # noqa: ASYNC110 - everything runs on this loop; there is nothing to miss
        await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def in_process(
    port: int, *, limits: Limits, tls: ssl.SSLContext | None = None, **changes: object
) -> AsyncIterator[Stage]:
    """An enrolled attempt whose provider is on this port."""
    with tempfile.TemporaryDirectory(prefix="st") as folder:
        root, pool = Path(folder), Pool()
        ledger = await Ledger.open(root)
        launch = FrozenLaunch(spec=spec(**changes), account=ACCOUNT)
        book = await ledger.begin(NAME)
        await book.append(
            RunOpen,
            nonce="n",
            launch=launch,
            launch_sha256=digest(launch),
            broker_version="0",
            rehearsal_port=None,
        )
        target = Target(
            host="127.0.0.1",
            port=port,
            authority=f"127.0.0.1:{port}",
            path="/v1",
            tls=tls,
            key=Secret(KEY),
            pool=pool,
        )
        async with asyncio.TaskGroup() as group:
            attempt = Attempt(
                terms=Terms(
                    id=NAME,
                    launch=launch,
                    launch_sha256=digest(launch),
                    directory=root,
                    opened_at_ms=5,
                    untouched_reward="0",
                    target=target,
                ),
                ledger=ledger,
                book=book,
                tasks=Tasks(group),
                limits=limits,
            )
            token = await attempt.enrol_token(by="uid 1")
            assert isinstance(token, str)
            grant = await attempt.enrol(token, "boot-1")
            assert isinstance(grant, Grant)
            loop = asyncio.get_running_loop()
            server = await loop.create_unix_server(
                lambda: ModelConnection(attempt, loop), sock=bind_private(root / "model.sock")
            )
            try:
                yield Stage(attempt, grant.token, root)
            finally:
                server.close()
                await attempt.revoke("the test is over")
                await attempt.settle(10)
        pool.close()
        await ledger.aclose()


def silent_port() -> tuple[socket.socket, int]:
    """A server that takes connections and never says a word, and its port."""
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen(8)
    return server, server.getsockname()[1]
