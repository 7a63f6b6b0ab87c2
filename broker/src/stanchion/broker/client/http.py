"""Talks to the admin API over its Unix socket: typed calls, typed errors, no retries."""

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from stanchion.protocol.admin import (
    EnrolTicket,
    ErrorReply,
    EventsPage,
    Health,
    HostReport,
    OpenRun,
    ProfileView,
    Rehearsal,
    RunOpenedReply,
    RunView,
)
from stanchion.protocol.codec import CodecError, decode, encode
from stanchion.protocol.credentials import ComparedEnv, CompareEnv, EnvProof
from stanchion.protocol.events import StageChanged
from stanchion.protocol.evidence import HostFacts
from stanchion.protocol.job import CloseJob, OpenJob
from stanchion.protocol.overview import Checkpoint, VitalsPage
from stanchion.protocol.refusal import Refusal, RefusedError, refuse

if TYPE_CHECKING:
    import aiohttp  # a third of a short command's start, and most commands never call

T = TypeVar("T")

_CALL_S = 60.0
_CONNECT_S = 10.0


class BrokerUnreachableError(Exception):
    """No broker answers on the socket, or it went away during the call."""


class CursorGoneError(RefusedError):
    """What follows the cursor is not kept whole; `oldest` is the earliest that may be passed."""

    def __init__(self, refusal: Refusal, oldest: str) -> None:
        super().__init__(refusal)
        self.oldest = oldest


class BrokerClient:
    """One client for many calls; use it as an async context."""

    def __init__(self, admin_socket: Path) -> None:
        self._path = admin_socket
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        import aiohttp

        self._session = aiohttp.ClientSession(
            connector=aiohttp.UnixConnector(path=str(self._path)),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def health(self) -> Health:
        return decode(await self._call("GET", "/healthz"), Health)

    async def differing_env(self, proofs: Sequence[EnvProof]) -> tuple[str, ...]:
        """Variables in which this process has another key than the broker was started with."""
        body = encode(CompareEnv(proofs=tuple(proofs)))
        data = await self._call("POST", "/v1/credentials/compare", body)
        return decode(data, ComparedEnv).differing

    async def profiles(self) -> list[ProfileView]:
        return decode(await self._call("GET", "/v1/profiles"), list[ProfileView])

    async def profile(self, name: str) -> ProfileView:
        return decode(await self._call("GET", f"/v1/profiles/{name}"), ProfileView)

    async def open_run(self, order: OpenRun) -> RunOpenedReply:
        return decode(await self._call("POST", "/v1/runs", encode(order)), RunOpenedReply)

    async def enrol(self, run: str) -> EnrolTicket:
        return decode(await self._call("POST", f"/v1/runs/{run}/enrol"), EnrolTicket)

    async def host_facts(self, run: str, report: HostReport | HostFacts) -> RunView:
        """Close the attempt; said again, it answers the same."""
        body = report if isinstance(report, HostReport) else HostReport(host=report)
        path = f"/v1/runs/{run}/host-facts"
        return decode(await self._call("POST", path, encode(body)), RunView)

    async def run(self, run: str) -> RunView:
        return decode(await self._call("GET", f"/v1/runs/{run}"), RunView)

    async def runs(self, state: str | None = None) -> list[RunView]:
        """All of them; `open` or `closed`: only those."""
        query = None if state is None else {"state": state}
        return decode(await self._call("GET", "/v1/runs", query=query), list[RunView])

    async def events(self, run: str, after: str | None = None, wait_s: float = 0.0) -> EventsPage:
        """The events after a cursor; waits so long for the first one."""
        query = {"wait": str(wait_s), **({} if after is None else {"after": after})}
        path = f"/v1/runs/{run}/events"
        data = await self._call("GET", path, query=query, timeout_s=_CALL_S + wait_s)
        return decode(data, EventsPage)

    async def vitals(self, after: str | None = None, wait_s: float = 0.0) -> VitalsPage:
        """Where every attempt stands that something was heard of after the cursor."""
        query = {"wait": str(wait_s), **({} if after is None else {"after": after})}
        data = await self._call("GET", "/v1/vitals", query=query, timeout_s=_CALL_S + wait_s)
        return decode(data, VitalsPage)

    async def checkpoint(self) -> Checkpoint:
        """The heads of all chains, signed."""
        return decode(await self._call("GET", "/v1/checkpoint"), Checkpoint)

    async def bundle(self, run: str) -> bytes:
        """The receipts as they are durable now; complete only once the attempt is closed."""
        return await self._call("GET", f"/v1/runs/{run}/bundle")

    async def cancel(self, run: str) -> RunView:
        return decode(await self._call("POST", f"/v1/runs/{run}/cancel"), RunView)

    async def open_job(self, order: OpenJob) -> bytes:
        """Put a job's plan on record; said again, it answers the same. The job's receipts."""
        return await self._call("POST", "/v1/jobs", encode(order))

    async def close_job(self, job: str, order: CloseJob) -> bytes:
        """Have the list of its attempts signed; may be said again. The job's receipts."""
        return await self._call("POST", f"/v1/jobs/{job}/close", encode(order))

    async def note(self, run: str, event: StageChanged) -> None:
        """Put a stage of the host into the stream."""
        await self._call("POST", f"/v1/runs/{run}/notes", encode(event))

    async def present(self, run: str, rehearsal: Rehearsal) -> None:
        """The provider of a rehearsal again, to a broker that took the attempt over."""
        await self._call("POST", f"/v1/runs/{run}/rehearsal", encode(rehearsal))

    async def stop(self) -> None:
        """Have the broker end."""
        await self._call("POST", "/v1/stop")

    async def metrics(self) -> str:
        """The Prometheus exposition."""
        return (await self._call("GET", "/metrics")).decode()

    async def _call(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        query: dict[str, str] | None = None,
        timeout_s: float = _CALL_S,
    ) -> bytes:
        if self._session is None:
            raise RuntimeError("use BrokerClient in an async with block")
        import aiohttp

        timeout = aiohttp.ClientTimeout(total=timeout_s, connect=_CONNECT_S)
        try:
            async with self._session.request(
                method,
                f"http://broker{path}",
                data=body,
                params=query,
                timeout=timeout,
                allow_redirects=False,
            ) as response:
                data = await response.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise BrokerUnreachableError(
                f"no broker answers on {self._path} ({type(error).__name__}): "
                "start one with `stanchion broker serve`"
            ) from error
        if response.status >= 400:
            raise _refused(response.status, data)
        return data


def _refused(status: int, data: bytes) -> RefusedError:
    try:
        reply = decode(data, ErrorReply)
        if reply.oldest is not None:
            return CursorGoneError(reply.error, reply.oldest)
        return RefusedError(reply.error)
    except CodecError:
        return refuse(
            "broker_error",
            field="broker",
            value=status,
            rule="it answers with one of its own errors",
            remedy="See broker.log in the state folder",
        )
