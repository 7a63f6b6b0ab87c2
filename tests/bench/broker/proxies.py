"""nginx, HAProxy and the broker, each on the same core and in front of the same provider.

All listen on Unix sockets and are asked alike; all replace the caller's credential by a real one
and keep their connections to the provider. The broker does everything that it does in use: lease,
strict JSON, comparison with the launch, two durable receipts, events, scrub and full tap.
"""

import asyncio
import contextlib
import os
import secrets
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from bench.broker import tools
from fakes.launches import spec
from fakes.supervisor import Supervisor
from stanchion.broker.client import BrokerClient, StatePaths
from stanchion.protocol.admin import OpenRun
from stanchion.protocol.codec import PROTOCOL_VERSION
from stanchion.protocol.control import Enrolled
from stanchion.protocol.launch import ModelRef

NGINX = """
worker_processes 1; daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.err;
events {{ worker_connections 9000; }}
http {{
  access_log off; keepalive_requests 100000000; client_max_body_size 64m;
  client_body_buffer_size 1m;
  client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  upstream provider {{
    server 127.0.0.1:{port}; keepalive 4096; keepalive_requests 100000000;
  }}
  server {{
    listen unix:{socket} backlog=4096;
    location / {{
      proxy_pass http://provider; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header Authorization "Bearer {key}"; proxy_buffering off;
      proxy_request_buffering off; proxy_read_timeout 600s;
    }}
  }}
}}
"""
HAPROXY = """
global
  nbthread 1
  maxconn 9000
defaults
  mode http
  timeout connect 5s
  timeout client 600s
  timeout server 600s
  option http-keep-alive
  http-reuse always
frontend harnesses
  bind unix@{socket} backlog 4096
  option http-no-delay
  http-request set-header Authorization "Bearer {key}"
  default_backend provider
backend provider
  option http-no-delay
  server one 127.0.0.1:{port}
"""
CONFIG = """
version = 1
[broker]
max_runs = 5000
[profiles.bench.accounts.bench]
api = "openai_chat"
base_url = "http://127.0.0.1:{port}/v1"
credential = "file:key"
max_in_flight = 10000
"""
KEY = "sk-proj-7Qm2ZtXv9LdKc4Rw8HsYfG1uNbJ3pEaT6oVxUi5k"
ATTEMPTS = 10
"""Open at a time; a quarter of what their connections are bounded to is used."""


@dataclass
class Proxy:
    """One of them, running."""

    name: str
    pid: int
    folder: Path

    @property
    def pids(self) -> list[int]:
        return tools.family(self.pid)

    async def targets(self, model: str) -> Path:  # noqa: ARG002 - the broker's depend on it
        """A file for the client; `model` is what will be asked for."""
        file = self.folder / "targets"
        file.write_text(f"unix {self.folder / 'proxy.sock'} none\n", encoding="ascii")
        return file


@dataclass
class Broker(Proxy):
    """With attempts opened as they are needed."""

    client: BrokerClient
    draining: asyncio.TaskGroup

    async def targets(self, model: str) -> Path:
        lines = [await self._attempt(model) for _ in range(ATTEMPTS)]
        file = self.folder / "targets"
        file.write_text("".join(lines), encoding="ascii")
        return file

    async def _attempt(self, model: str) -> str:
        supervisor = await self.supervisor(model)
        self.draining.create_task(_drain(supervisor))
        return f"unix {supervisor.directory / 'model.sock'} {supervisor.lease}\n"

    async def supervisor(self, model: str) -> Supervisor:
        """That of a fresh attempt, enrolled."""
        terms = spec(profile="bench", model=ModelRef(account="bench", id=model))
        order = OpenRun(
            protocol=PROTOCOL_VERSION,
            run=secrets.token_hex(6),
            attempt=1,
            spec=msgspec.structs.replace(terms),
            rehearsal=None,
        )
        opened = await self.client.open_run(order)
        ticket = await self.client.enrol(opened.id)
        supervisor = Supervisor(Path(opened.directory))
        answer = await supervisor.enrol(ticket.token, opened.launch_sha256)
        assert isinstance(answer, Enrolled), answer
        return supervisor


async def _drain(supervisor: Supervisor) -> None:
    """Read what a supervisor is told, as one does."""
    reader = supervisor._reader
    assert reader is not None
    while await reader.read(1 << 20):
        pass


def _start(arguments: list[str], **more: object) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        arguments,
        stdin=subprocess.DEVNULL,
        preexec_fn=lambda: tools.pin(tools.PROXY_CORE),  # noqa: PLW1509 - one thread here
        **more,  # type: ignore[call-overload]
    )


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    process.wait(30)


async def _listening(socket: Path) -> None:
    for _ in range(200):
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_unix_connection(str(socket))
            writer.close()
            return
        await asyncio.sleep(0.05)
    sys.exit(f"nobody listens on {socket}")


@contextlib.asynccontextmanager
async def standing(name: str, folder: Path, port: int) -> AsyncIterator[Proxy]:
    """nginx or HAProxy."""
    text, program = {
        "nginx": (NGINX, ["nginx", "-c", str(folder / "conf")]),
        "haproxy": (HAPROXY, ["haproxy", "-f", str(folder / "conf")]),
    }[name]
    conf = text.format(folder=folder, port=port, socket=folder / "proxy.sock", key=KEY)
    (folder / "conf").write_text(conf, encoding="ascii")
    with (folder / "log").open("wb") as log:
        process = _start(program, stdout=log, stderr=log)
    try:
        await _listening(folder / "proxy.sock")
        yield Proxy(name, process.pid, folder)
    finally:
        _end(process)


@contextlib.asynccontextmanager
async def broker(folder: Path, port: int) -> AsyncIterator[Broker]:
    """A real broker process with an account that has a key."""
    paths = StatePaths(folder / "state")
    (folder / "stanchion.toml").write_text(CONFIG.format(port=port), encoding="ascii")
    (folder / "key").write_text(f"{KEY}\n", encoding="ascii")
    (folder / "key").chmod(0o600)
    read_fd, write_fd = os.pipe()
    with (folder / "log").open("wb") as log:
        process = _start(
            [
                *(sys.executable, "-m", "stanchion.broker", "serve"),
                *("--state-dir", str(paths.root), "--runtime-dir", str(folder / "run")),
                *("--config", str(folder / "stanchion.toml"), "--ready-fd", str(write_fd)),
            ],
            pass_fds=(write_fd,),
            stdout=log,
            stderr=log,
        )
    os.close(write_fd)
    ready = os.read(read_fd, 4096)
    os.close(read_fd)
    if b"pid" not in ready:
        sys.exit((folder / "log").read_text() + ready.decode())
    try:
        async with BrokerClient(paths.admin_socket) as client, asyncio.TaskGroup() as draining:
            yield Broker("broker", process.pid, folder, client, draining)
            _end(process)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(10)
