"""No harness speaks to anything but the relay, and none asks for a name, by its system calls."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.harness import rehearsed
from conformance.harness.record_printed import PROGRAMS, Program
from conftest import required
from stanchion.harness_adapters import registry
from stanchion.harness_adapters.base import Adapter, Plan, Settings
from stanchion.images.errors import ImagesError
from stanchion.images.harness_store import ensure_harness

pytestmark = [pytest.mark.acceptance, pytest.mark.harness, pytest.mark.timeout(300)]

INTERNET = re.compile(
    r"connect\(\d+, \{sa_family=AF_INET6?, sin6?_port=htons\((\d+)\).*?\"([^\"]+)\""
)
SENT = re.compile(r"send(?:to|msg|mmsg)\(.*sa_family=AF_INET")


class Traced:
    """The adapter, its harness started under strace."""

    def __init__(self, adapter: Adapter, log: Path) -> None:
        self._adapter, self._log = adapter, log

    def plan(self, settings: Settings) -> Plan:
        plan = self._adapter.plan(settings)
        calls = "trace=connect,sendto,sendmsg,sendmmsg"
        tracer = ("strace", "-f", "-qq", "-e", calls, "-o", str(self._log))
        return replace(plan, argv=(*tracer, *plan.argv))


def strace() -> str:
    found = shutil.which("strace")
    if found is None:
        raise ImagesError("strace is not installed; apt-get install strace")
    return found


NAMES = ("claude_code", "codex", "mini_swe_agent", "opencode", *PROGRAMS)


@pytest.mark.parametrize("harness", NAMES)
def test_the_relay_is_all_that_is_connected_to(
    cache_dir: Path, harness: str, tmp_path: Path
) -> None:
    required("strace", strace)
    adapter = registry.adapter(harness)
    program = PROGRAMS.get(harness) or Program(dialect=adapter.dialects[0])
    version = adapter.versions[-1]
    package = required(harness, lambda: ensure_harness(cache_dir, harness, version))
    log = tmp_path / "calls"
    settings = Settings(
        model="future-9", base_url="", dialect=program.dialect, output_limit=128_000, context=None,
        effort=None, instruction="Do the task.", home="", workdir="", package_dir="", env={},
    )  # fmt: skip
    script = program.scenarios()["success"].script
    run = rehearsed.run(Traced(adapter, log), package, script, settings, tmp_path)  # type: ignore[arg-type]  # only its plan is asked for
    assert run.ran.returncode == 0
    calls = log.read_text(errors="replace")
    port = run.base_url.rpartition(":")[2]
    assert set(INTERNET.findall(calls)) == {(port, "127.0.0.1")}
    assert not SENT.findall(calls)
