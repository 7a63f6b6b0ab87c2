"""The admin API: JSON over the broker's own Unix socket. Routes and status codes, no decisions.

Errors are ErrorReply bodies from the refusals of the parts below; nothing of a request's bytes is
ever echoed or logged, and no route shows a secret.
"""

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TypeVar

import msgspec
from aiohttp import web

from stanchion.broker.admin.metrics import Metrics
from stanchion.broker.attempts.leases import ENROL_TTL_MS, LeaseError
from stanchion.broker.attempts.runs import Runs
from stanchion.broker.config import Config
from stanchion.broker.receipts.event_store import CursorGoneError
from stanchion.broker.receipts.ledger import Ledger, LedgerError
from stanchion.broker.tasks import log_failure
from stanchion.protocol.admin import (
    EnrolTicket,
    ErrorReply,
    EventsPage,
    Health,
    HostReport,
    OpenRun,
    ProfileView,
)
from stanchion.protocol.codec import PROTOCOL_VERSION, CodecError, decode
from stanchion.protocol.events import AssertedBy, StageChanged
from stanchion.protocol.job import CloseJob, OpenJob
from stanchion.protocol.refusal import Refusal, RefusedError, refuse

MAX_BODY_BYTES = 8 * 1024 * 1024
MAX_WAIT_S = 60.0
PAGE = 1000

T = TypeVar("T")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_STATUS = {
    "run_unknown": 404,
    "profile_unknown": 422,
    "attempt_exists": 409,
    "job_unknown": 404,
    "job_exists": 409,
    "cursor_gone": 410,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Admin:
    """The handlers."""

    runs: Runs
    ledger: Ledger
    config: Config
    config_path: Path | None
    metrics: Metrics
    stop: Callable[[], None]

    def application(self) -> web.Application:
        """The routes."""
        app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[_errors])
        app.router.add_get("/healthz", self.health)
        app.router.add_get("/metrics", self.scrape)
        app.router.add_get("/v1/profiles", self.profiles)
        app.router.add_get("/v1/profiles/{name}", self.profile)
        app.router.add_post("/v1/runs", self.open_run)
        app.router.add_get("/v1/runs", self.list_runs)
        app.router.add_get("/v1/runs/{id}", self.show_run)
        app.router.add_post("/v1/runs/{id}/enrol", self.enrol)
        app.router.add_post("/v1/runs/{id}/host-facts", self.host_facts)
        app.router.add_post("/v1/runs/{id}/notes", self.note)
        app.router.add_post("/v1/runs/{id}/cancel", self.cancel)
        app.router.add_post("/v1/runs/{id}/revoke", self.revoke)
        app.router.add_get("/v1/runs/{id}/events", self.events)
        app.router.add_get("/v1/runs/{id}/bundle", self.bundle)
        app.router.add_post("/v1/jobs", self.open_job)
        app.router.add_post("/v1/jobs/{id}/close", self.close_job)
        app.router.add_post("/v1/stop", self.stop_broker)
        return app

    async def health(self, _: web.Request) -> web.Response:
        return _json(
            Health(
                version=metadata.version("stanchion"),
                protocol=PROTOCOL_VERSION,
                pid=os.getpid(),
                config_path=None if self.config_path is None else str(self.config_path),
                config_sha256=self.config.sha256,
                open_runs=self.runs.open_count,
            )
        )

    async def scrape(self, _: web.Request) -> web.Response:
        text = self.metrics.text(self.runs)
        return web.Response(body=text, headers={"content-type": self.metrics.content_type})

    async def profiles(self, _: web.Request) -> web.Response:
        return _json([profile.view(name) for name, profile in self.config.profiles.items()])

    async def profile(self, request: web.Request) -> web.Response:
        return _json(self._profile(request.match_info["name"]))

    def _profile(self, name: str) -> ProfileView:
        profile = self.config.profiles.get(name)
        if profile is None:
            raise refuse(
                "profile_unknown",
                field="--profile",
                value=name[:64],
                rule=f"it is one of {', '.join(sorted(self.config.profiles))}",
                remedy="Name one of them",
            )
        return profile.view(name)

    async def open_run(self, request: web.Request) -> web.Response:
        return _json(await self.runs.open(await _body(request, OpenRun)), status=201)

    async def list_runs(self, _: web.Request) -> web.Response:
        return _json(self.runs.views())

    async def show_run(self, request: web.Request) -> web.Response:
        return _json(self.runs.view(request.match_info["id"]))

    async def enrol(self, request: web.Request) -> web.Response:
        token = await self.runs.attempt(request.match_info["id"]).enrol_token()
        if isinstance(token, LeaseError):
            raise refuse(
                "enrol_refused",
                field="ID",
                value=request.match_info["id"][:40],
                rule=f"an attempt is enrolled once, while it is open ({token})",
                remedy="Open another attempt",
            )
        return _json(EnrolTicket(token=token, expires_in_s=ENROL_TTL_MS // 1000))

    async def host_facts(self, request: web.Request) -> web.Response:
        report = await _body(request, HostReport)
        return _json(await self.runs.close(request.match_info["id"], report.host))

    async def note(self, request: web.Request) -> web.Response:
        event = await _body(request, StageChanged)
        self.runs.attempt(request.match_info["id"]).publish(event, AssertedBy.HOST)
        return web.Response(status=204)

    async def cancel(self, request: web.Request) -> web.Response:
        name = request.match_info["id"]
        await self.runs.attempt(name).cancel()
        return _json(self.runs.view(name))

    async def revoke(self, request: web.Request) -> web.Response:
        name = request.match_info["id"]
        await self.runs.attempt(name).revoke("revoked by the orchestrator")
        return _json(self.runs.view(name))

    async def events(self, request: web.Request) -> web.Response:
        name = self.runs.known(request.match_info["id"])
        ended = self.runs.ended(name)
        wait_s = 0.0 if ended else _wait_s(request.query.get("wait", "0"))
        try:
            entries, cursor = await self.ledger.events.page(
                name, request.query.get("after"), limit=PAGE, wait_s=wait_s
            )
        except ValueError as error:
            raise refuse(
                "cursor_invalid",
                field="after",
                value=None,
                rule="it is a cursor that this broker gave out",
                remedy="Leave it out to read from the start",
            ) from error
        except CursorGoneError as gone:
            raise refuse(
                "cursor_gone",
                field="after",
                value=None,
                rule=f"events are kept from cursor {gone.oldest} on",
                remedy=f"Read on with after={gone.oldest}",
            ) from None
        return _json(
            EventsPage(entries=tuple(entries), cursor=cursor, ended=ended and len(entries) < PAGE)
        )

    async def bundle(self, request: web.Request) -> web.Response:
        data = self.ledger.bundle(self.runs.known(request.match_info["id"]))
        return _lines(data or b"")

    async def open_job(self, request: web.Request) -> web.Response:
        return _lines(await self.ledger.jobs.open(await _body(request, OpenJob)))

    async def close_job(self, request: web.Request) -> web.Response:
        order = await _body(request, CloseJob)
        return _lines(await self.ledger.jobs.close(request.match_info["id"], order))

    async def stop_broker(self, _: web.Request) -> web.Response:
        self.stop()
        return web.Response(status=202)


def _wait_s(text: str) -> float:
    try:
        wait_s = float(text)
    except ValueError:
        wait_s = -1.0
    if not 0.0 <= wait_s <= MAX_WAIT_S:
        raise refuse(
            "wait_invalid",
            field="wait",
            value=None,
            rule=f"it is a number of seconds from 0 to {MAX_WAIT_S:.0f}",
            remedy="Leave it out for an answer at once",
        )
    return wait_s


async def _body(request: web.Request, kind: type[T]) -> T:
    try:
        return decode(await request.read(), kind)
    except CodecError as error:
        raise refuse(
            "body_invalid", field="body", value=None, rule=_rule(error), remedy="Mend the request"
        ) from None


def _rule(error: CodecError) -> str:
    """The decoder's sentence, which names fields and types, never values."""
    return str(error)[:500]


def _json(value: object, *, status: int = 200) -> web.Response:
    return web.Response(
        body=msgspec.json.encode(value), status=status, content_type="application/json"
    )


def _lines(data: bytes) -> web.Response:
    return web.Response(body=data, content_type="application/x-ndjson")


@web.middleware
async def _errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except RefusedError as error:
        status = _STATUS.get(error.refusal.id, 422)
        return _json(ErrorReply(error=error.refusal), status=status)
    except web.HTTPException as error:
        return _json(
            _plain("http", f"the request is answered with {error.status}"), status=error.status
        )
    except LedgerError as error:
        return _json(_plain("ledger", str(error)), status=503)
    except Exception as error:  # noqa: BLE001 - the border: constant body, place in the log
        log_failure(error)
        return _json(_plain("internal", "an unexpected failure; see broker.log"), status=500)


def _plain(word: str, rule: str) -> ErrorReply:
    return ErrorReply(
        error=Refusal(
            id=f"admin_{word}", field="request", value=None, rule=rule, remedy="See the reference"
        )
    )
