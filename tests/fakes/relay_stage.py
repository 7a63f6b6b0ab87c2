"""A relay between a hand-driven provider and a recording harness."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

from stanchion.broker.plane.dialects.base import DialectReader
from stanchion.broker.plane.dialects.openai_chat import READER
from stanchion.broker.plane.limits import Limits
from stanchion.broker.plane.relay import Flow, Relayed, relay
from stanchion.broker.plane.response_reader import Form, ResponseReader
from stanchion.broker.plane.scrub import Scrubber
from stanchion.broker.plane.spellings import Spellings
from stanchion.broker.plane.upstream import Ending, Upstream


class Up:
    """The provider's side, pushed by the test."""

    def __init__(self) -> None:
        self.log: list[str] = []

    def take_body(self, on_body: Callable[[bytes], None], on_end: Callable[[Ending], None]) -> None:
        self.push, self.end = on_body, on_end

    def pause(self) -> None:
        self.log.append("pause")

    def resume(self) -> None:
        self.log.append("resume")

    def close(self) -> None:
        self.log.append("close")


class Down:
    """The harness's side."""

    def __init__(self) -> None:
        self.gone = False
        self.sent = b""
        self.callbacks: dict[str, Callable[[], None]] = {}

    def write(self, data: bytes) -> None:
        self.sent += data

    def watch(self, **callbacks: Any) -> None:
        self.callbacks = callbacks


class Stage:
    """A relay under way."""

    def __init__(
        self,
        limits: Limits,
        form: Form = Form.EVENTS,
        key: Spellings | None = None,
        reader: DialectReader = READER,
    ) -> None:
        self.up, self.down, self.alive = Up(), Down(), 0
        self.tap = ResponseReader(reader, status=200, form=form, output_limit=None)
        self.flow: Flow = relay(
            cast("Upstream", self.up),
            self.down,
            self.tap,
            limits=limits,
            on_alive=self.live,
            scrub=None
            if key is None
            else Scrubber(key, self.tap.digest, events=form is Form.EVENTS),
        )

    def live(self) -> None:
        self.alive += 1

    async def play(self, script: Callable[["Stage"], None]) -> Relayed:
        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            task = group.create_task(self.flow.run())
            await asyncio.sleep(0)
            script(self)
        return task.result()
