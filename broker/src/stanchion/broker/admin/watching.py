"""The routes for those who watch: one attempt's events, the vitals of all, the checkpoint.

Reading by cursor never loses and never doubles an event, and it says when nothing will follow. It
decides nothing about an attempt.
"""

import asyncio
from dataclasses import dataclass

import msgspec
from aiohttp import web

from stanchion.broker.admin.answers import json_answer
from stanchion.broker.attempts.runs import Runs
from stanchion.broker.clock import wall_ms
from stanchion.broker.receipts.ledger import Ledger
from stanchion.protocol.admin import EventsPage
from stanchion.protocol.events import AssertedBy
from stanchion.protocol.overview import LifecycleEntry, VitalsPage
from stanchion.protocol.refusal import RefusedError, refuse

MAX_WAIT_S = 60.0
PAGE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Watching:
    """The handlers."""

    runs: Runs
    ledger: Ledger

    async def events(self, request: web.Request) -> web.Response:
        name = self.runs.known(request.match_info["id"])
        after = request.query.get("after")
        wait_s = 0.0 if self.runs.ended(name) else read_wait(request.query.get("wait", "0"))
        try:
            entries, cursor = await self.ledger.events.page(name, after, limit=PAGE, wait_s=wait_s)
        except ValueError as error:
            raise _no_cursor() from error
        # Asked only now: the attempt may have ended while this waited.
        ended = self.runs.ended(name) and self.ledger.events.read_up(name, cursor)
        return json_answer(EventsPage(entries=tuple(entries), cursor=cursor, ended=ended))

    async def vitals(self, request: web.Request) -> web.Response:
        after = request.query.get("after")
        wait_s = read_wait(request.query.get("wait", "0"))
        try:
            page = await self.ledger.events.lifecycle(after, PAGE, wait_s)
        except ValueError as error:
            raise _no_cursor() from error
        entries = tuple(
            LifecycleEntry(
                id=row.attempt_id,
                cursor=self.ledger.events.cursor_of(row),
                at_ms=row.at_ms,
                asserted_by=AssertedBy(row.asserted_by),
                event=msgspec.Raw(row.event),
            )
            for row in page.rows
        )
        return json_answer(
            VitalsPage(
                attempts=self.runs.vitals(None if after is None else page.touched),
                entries=entries,
                cursor=page.cursor,
                oldest=self.ledger.events.oldest,
            )
        )

    async def checkpoint(self, _: web.Request) -> web.Response:
        return json_answer(await asyncio.to_thread(self.ledger.checkpoint, wall_ms()))


def read_wait(text: str) -> float:
    """Seconds to wait; RefusedError where it is no such number."""
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


def _no_cursor() -> RefusedError:
    return refuse(
        "cursor_invalid",
        field="after",
        value=None,
        rule="it is a cursor that this broker gave out",
        remedy="Leave it out to read from the start",
    )
