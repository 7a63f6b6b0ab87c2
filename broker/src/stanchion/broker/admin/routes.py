"""The admin API: JSON over the broker's own Unix socket. Routes and status codes, no decisions.

Errors are ErrorReply bodies from the refusals of the parts below; nothing of a request's bytes is
ever echoed or logged, and no route shows a secret.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import msgspec
from aiohttp import web

from stanchion.broker.admin.answers import (
    constant_errors,
    json_answer,
    lines_answer,
    read_body,
)
from stanchion.broker.admin.metrics import Metrics
from stanchion.broker.admin.principals import acting, note_action
from stanchion.broker.admin.watching import Watching
from stanchion.broker.attempts.attempt import Attempt
from stanchion.broker.attempts.leases import ENROL_TTL_MS, LeaseError
from stanchion.broker.attempts.runs import Runs
from stanchion.broker.config import Config
from stanchion.broker.receipts.ledger import Ledger
from stanchion.protocol.admin import (
    EnrolTicket,
    Health,
    HostReport,
    OpenRun,
    ProfileView,
    Rehearsal,
)
from stanchion.protocol.codec import PROTOCOL_VERSION
from stanchion.protocol.credentials import ComparedEnv, CompareEnv
from stanchion.protocol.events import AssertedBy, StageChanged
from stanchion.protocol.job import CloseJob, OpenJob
from stanchion.protocol.refusal import refuse

MAX_BODY_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Admin:
    """The handlers."""

    runs: Runs
    ledger: Ledger
    config: Config
    config_path: Path | None
    metrics: Metrics
    stop: Callable[[], None]
    needed: Callable[[], None] = lambda: None
    """Called for each answer, other than figures that are scraped."""

    def application(self) -> web.Application:
        """The routes."""
        app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[constant_errors])
        app.on_response_prepare.append(self._note_need)
        app.on_response_prepare.append(note_action)
        app.router.add_get("/healthz", self.health)
        app.router.add_get("/metrics", self.scrape)
        app.router.add_get("/v1/profiles", self.profiles)
        app.router.add_get("/v1/profiles/{name}", self.profile)
        app.router.add_post("/v1/credentials/compare", self.compare_env)
        app.router.add_post("/v1/runs", self.open_run)
        app.router.add_get("/v1/runs", self.list_runs)
        app.router.add_get("/v1/runs/{id}", self.show_run)
        app.router.add_post("/v1/runs/{id}/enrol", self.enrol)
        app.router.add_post("/v1/runs/{id}/host-facts", self.host_facts)
        app.router.add_post("/v1/runs/{id}/notes", self.note)
        app.router.add_post("/v1/runs/{id}/cancel", self.cancel)
        app.router.add_post("/v1/runs/{id}/revoke", self.revoke)
        app.router.add_post("/v1/runs/{id}/rehearsal", self.present)
        watching = Watching(runs=self.runs, ledger=self.ledger)
        app.router.add_get("/v1/runs/{id}/events", watching.events)
        app.router.add_get("/v1/vitals", watching.vitals)
        app.router.add_get("/v1/checkpoint", watching.checkpoint)
        app.router.add_get("/v1/runs/{id}/bundle", self.bundle)
        app.router.add_post("/v1/jobs", self.open_job)
        app.router.add_post("/v1/jobs/{id}/close", self.close_job)
        app.router.add_post("/v1/stop", self.stop_broker)
        return app

    async def _note_need(self, request: web.Request, _: web.StreamResponse) -> None:
        if request.path != "/metrics":
            self.needed()

    async def health(self, _: web.Request) -> web.Response:
        return json_answer(
            Health(
                version=metadata.version("stanchion"),
                protocol=PROTOCOL_VERSION,
                pid=os.getpid(),
                config_path=None if self.config_path is None else str(self.config_path),
                config_sha256=self.config.sha256,
                open_runs=self.runs.open_count,
                env_names=self.runs.accounts.env_names,
            )
        )

    async def compare_env(self, request: web.Request) -> web.Response:
        asked = await read_body(request, CompareEnv)
        return json_answer(ComparedEnv(differing=self.runs.accounts.differing(asked.proofs)))

    async def scrape(self, _: web.Request) -> web.Response:
        text = self.metrics.text()
        return web.Response(body=text, headers={"content-type": self.metrics.content_type})

    async def profiles(self, _: web.Request) -> web.Response:
        return json_answer([self._profile(name) for name in self.config.profiles])

    async def profile(self, request: web.Request) -> web.Response:
        return json_answer(self._profile(request.match_info["name"]))

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
        trips = self.runs.tripped(name)
        return msgspec.structs.replace(
            profile.view(name),
            tripped={account: trip.sentence for account, trip in trips.items()},
            unready=self.runs.accounts.unready(name),
        )

    async def open_run(self, request: web.Request) -> web.Response:
        order = await read_body(request, OpenRun)
        return json_answer(await self.runs.open(order, by=acting(request)), status=201)

    async def list_runs(self, request: web.Request) -> web.Response:
        state = request.query.get("state")
        if state not in {None, "open", "closed"}:
            raise refuse(
                "state_invalid",
                field="state",
                value=None,
                rule="it is open or closed",
                remedy="Leave it out for all attempts",
            )
        return json_answer([view for view in self.runs.views() if state in {None, view.state}])

    async def show_run(self, request: web.Request) -> web.Response:
        return json_answer(self.runs.view(request.match_info["id"]))

    async def enrol(self, request: web.Request) -> web.Response:
        token = await self._attempt(request).enrol_token(by=acting(request))
        if isinstance(token, LeaseError):
            raise refuse(
                "enrol_refused",
                field="ID",
                value=request.match_info["id"][:40],
                rule=f"an attempt is enrolled once, while it is open ({token})",
                remedy="Open another attempt",
            )
        return json_answer(EnrolTicket(token=token, expires_in_s=ENROL_TTL_MS // 1000))

    async def host_facts(self, request: web.Request) -> web.Response:
        report = await read_body(request, HostReport)
        return json_answer(await self.runs.close(request.match_info["id"], report.host))

    async def note(self, request: web.Request) -> web.Response:
        event = await read_body(request, StageChanged)
        attempt = self._attempt(request)
        attempt.story.tell(event)
        attempt.publish(event, AssertedBy.HOST)
        return web.Response(status=204)

    async def present(self, request: web.Request) -> web.Response:
        rehearsal = await read_body(request, Rehearsal)
        attempt = self._attempt(request)
        self.runs.present(attempt.terms.id, rehearsal)
        return web.Response(status=204)

    def _attempt(self, request: web.Request) -> Attempt:
        """The open attempt that its launcher speaks of."""
        attempt = self.runs.attempt(request.match_info["id"])
        attempt.heard()
        return attempt

    async def cancel(self, request: web.Request) -> web.Response:
        name = request.match_info["id"]
        await self.runs.attempt(name).cancel(by=acting(request))
        return json_answer(self.runs.view(name))

    async def revoke(self, request: web.Request) -> web.Response:
        name = request.match_info["id"]
        await self.runs.attempt(name).revoke(f"revoked by {acting(request)}")
        return json_answer(self.runs.view(name))

    async def bundle(self, request: web.Request) -> web.Response:
        data = self.ledger.bundle(self.runs.known(request.match_info["id"]))
        return lines_answer(data or b"")

    async def open_job(self, request: web.Request) -> web.Response:
        return lines_answer(await self.ledger.jobs.open(await read_body(request, OpenJob)))

    async def close_job(self, request: web.Request) -> web.Response:
        order = await read_body(request, CloseJob)
        return lines_answer(await self.ledger.jobs.close(request.match_info["id"], order))

    async def stop_broker(self, _: web.Request) -> web.Response:
        self.stop()
        return web.Response(status=202)
