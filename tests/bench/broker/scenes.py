"""The scenes that are measured: streams, small and large requests, and events of supervisors.

A figure is time of the proxy on its core for one unit of work, counted over the whole scene with
its beginning and end; or what the client saw. Nothing is left out of a scene that went wrong: its
errors are in the result.
"""

import asyncio
import json
import time
from dataclasses import dataclass
from pathlib import Path

from bench.broker import tools
from bench.broker.proxies import Broker, Proxy
from fakes.supervisor import Supervisor
from stanchion.protocol.codec import encode_line
from stanchion.protocol.control import Ack, Publish
from stanchion.protocol.events import Envelope, OutputStream, OutputWritten

CHUNKS, INTERVAL_MS, TEXT_BYTES = 200, 50, 60
"""A stream of ten seconds with twenty chunks a second, each an event of about 260 bytes."""
RAMP_MS = 2000


@dataclass(frozen=True, slots=True)
class Load:
    """What the client does."""

    connections: int
    each: int = 0
    seconds: float = 0.0
    ramp_ms: int = 0
    keep: bool = False
    model: str = "bench-0-1-0-600"
    body_bytes: int = 2000
    stream: bool = False

    def arguments(self, targets: Path) -> list[str]:
        numbers = (self.connections, self.each, self.seconds, self.ramp_ms, int(self.keep))
        return [
            str(targets),
            *map(str, numbers),
            self.model,
            str(self.body_bytes),
            str(int(self.stream)),
        ]


def streams(connections: int, each: int = 2) -> Load:
    """So many slow streams at once."""
    return Load(
        connections=connections,
        each=each,
        seconds=each * CHUNKS * INTERVAL_MS / 1000 + RAMP_MS / 1000,
        ramp_ms=RAMP_MS,
        model=f"bench-100-{CHUNKS}-{INTERVAL_MS}-{TEXT_BYTES}",
        stream=True,
    )


async def play(client: Path, proxy: Proxy, load: Load) -> dict[str, float]:
    """One scene: what the client counted, and what it cost the proxy."""
    targets = await proxy.targets(load.model)
    pids = proxy.pids
    cpu, busy, began = tools.cpu_ns(pids), tools.Busy.now(), time.monotonic()
    process = await asyncio.create_subprocess_exec(
        str(client), *load.arguments(targets), stdout=asyncio.subprocess.PIPE
    )
    before = tools.cpu_ns([process.pid])
    pss_mb = None
    if load.stream:
        await asyncio.sleep(load.seconds * 0.7)  # all of them are under way then
        pss_mb = tools.pss_mb(pids)
        client_ns = tools.cpu_ns([process.pid]) - before
    output, _ = await process.communicate()
    took_s = time.monotonic() - began
    counted: dict[str, float] = json.loads(output)
    spent_ns = tools.cpu_ns(pids) - cpu
    units = counted["chunks"] if load.stream else counted["finished"]
    figures = {
        **counted,
        "cpu_us_per_unit": spent_ns / 1000 / units if units else float("inf"),
        "proxy_cores": spent_ns / 1e9 / took_s,
        "busy_cores": (tools.Busy.now().seconds - busy.seconds) / took_s,
    }
    if pss_mb is not None:
        figures["pss_mb"] = pss_mb
        figures["client_cores"] = client_ns / 1e9 / (load.seconds * 0.7)
    return figures


TEXT = b"x" * 240  # 320 letters as base64


async def ingest(broker: Broker, *, supervisors: int = 20, events: int = 5000) -> dict[str, float]:
    """Events of supervisors, each acknowledged once it is durable."""
    talking = [await broker.supervisor("bench-0-1-0-1") for _ in range(supervisors)]
    lines = [_lines(supervisor, events) for supervisor in talking]
    pids = broker.pids
    cpu, began = tools.cpu_ns(pids), time.monotonic()
    async with asyncio.TaskGroup() as group:
        for supervisor, data in zip(talking, lines, strict=True):
            group.create_task(_publish(supervisor, data, events))
    took_s = time.monotonic() - began
    spent_ns = tools.cpu_ns(pids) - cpu
    for supervisor in talking:
        await supervisor.close()
    total = supervisors * events
    return {
        "events_per_s": total / took_s,
        "cpu_us_per_unit": spent_ns / 1000 / total,
        "proxy_cores": spent_ns / 1e9 / took_s,
    }


def _lines(supervisor: Supervisor, events: int) -> bytes:
    return b"".join(
        encode_line(
            Publish(
                envelope=Envelope(
                    seq=seq,
                    boot=supervisor.boot,
                    mono_ms=1,
                    wall_ms=1,
                    event=OutputWritten(stream=OutputStream.HARNESS_STDOUT, data=TEXT),
                )
            )
        )
        for seq in range(1, events + 1)
    )


async def _publish(supervisor: Supervisor, data: bytes, events: int) -> None:
    writer = supervisor._writer
    assert writer is not None
    for start in range(0, len(data), 65536):
        writer.write(data[start : start + 65536])
        await writer.drain()
    while supervisor.acked < events:
        await supervisor.hear_of(Ack)
