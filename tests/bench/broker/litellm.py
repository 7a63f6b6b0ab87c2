"""LiteLLM beside the broker, where it can be had: in an environment of its own, below build/.

It is no dependency of the project, and what it costs is measured for comparison only: one worker,
no database and no callbacks, which is the least that it can do. It has fewer streams than the
others, for it does not carry 200 of 20 chunks a second on one core of a small machine.
"""

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from bench.broker import tools
from bench.broker.proxies import KEY, Proxy

HOME = Path(__file__).parents[3] / "build" / "litellm"
PYTHON = HOME / "bin" / "python"
START_S = 180.0
INSTALL_S = 300.0
CONFIG = """
model_list:
  - model_name: "*"
    litellm_params:
      model: "openai/*"
      api_base: "http://127.0.0.1:{port}/v1"
      api_key: "{key}"
      allowed_openai_params: ["reasoning_effort"]
litellm_settings:
  telemetry: false
"""

SETTINGS = {
    "LITELLM_LOG": "ERROR",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
}
"""It listens on loopback only, and the bench's client has no key for it."""


class Tcp(Proxy):
    """One that listens on a port; its folder's name tells which."""

    port: int = 0

    async def targets(self, model: str) -> Path:  # noqa: ARG002 - as the others
        file = self.folder / "targets"
        file.write_text(f"tcp {self.port} none\n", encoding="ascii")
        return file


def installed() -> str | None:
    """Its version; None = it is not here and cannot be had."""
    if not PYTHON.exists():
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            _install()
    asked = [str(PYTHON), "-c", "from importlib.metadata import version as v;print(v('litellm'))"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


def _install() -> None:
    subprocess.run([sys.executable, "-m", "venv", str(HOME)], check=True, timeout=INSTALL_S)
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "litellm[proxy]"], check=True, timeout=INSTALL_S)


@contextlib.asynccontextmanager
async def standing(folder: Path, provider: int) -> AsyncIterator[Proxy]:
    """It, on the core of the proxies, before the provider on that port."""
    port = tools.free_port()
    process = _start(folder, port, provider)
    try:
        await _answers(process, port, folder / "log")
        proxy = Tcp("litellm", process.pid, folder)
        proxy.port = port
        yield proxy
    finally:
        process.kill()
        process.wait(30)


def _start(folder: Path, port: int, provider: int) -> "subprocess.Popen[bytes]":
    config = folder / "config.yaml"
    config.write_text(CONFIG.format(port=provider, key=KEY), encoding="ascii")
    command = [str(HOME / "bin" / "litellm"), "--config", str(config), "--host", "127.0.0.1"]
    with (folder / "log").open("wb") as log:
        return subprocess.Popen(
            [*command, "--port", str(port), "--num_workers", "1"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=os.environ | SETTINGS,
            preexec_fn=lambda: tools.pin(tools.PROXY_CORE),  # noqa: PLW1509 - one thread here
        )


async def _answers(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    until = asyncio.get_running_loop().time() + START_S
    while process.poll() is None and asyncio.get_running_loop().time() < until:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET /health/liveliness HTTP/1.0\r\n\r\n")
            line = await reader.readline()
            writer.close()
            if b" 200 " in line:
                return
        await asyncio.sleep(0.5)
    raise TimeoutError(f"ended, or no answer within {START_S:g} s: {_last_line(log)}")


def _last_line(log: Path) -> str:
    return (log.read_text(encoding="utf-8").strip() or "not a word").splitlines()[-1][:200]
