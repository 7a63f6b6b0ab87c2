"""A real program of a user's does on the wire what its description says that it is told."""

import os
import shutil
from pathlib import Path

import pytest

from conformance.harness import rehearsed
from functional.harness_adapters.gate import let_through
from stanchion.harness_adapters import registry
from stanchion.harness_adapters.base import Settings
from stanchion.images.own_program import ensure_program
from stanchion.protocol.dialects import Dialect
from stanchion.runner.launching.command_option import read_command

EXAMPLE = Path(__file__).parents[3] / "examples" / "own-program" / "agent.toml"
CHAT = Dialect.OPENAI_CHAT
SCRIPT = """
[[turn]]
reasoning = "A file is wanted."
[[turn.tool]]
name = "bash"
arguments = {command = "printf one > one.txt"}
[[turn]]
text = "The file is written."
"""

pytestmark = pytest.mark.timeout(120)


@pytest.mark.parametrize(("limit", "effort"), [(200_000, "max"), (8_000, None)])
def test_limit_and_effort_reach_the_wire_on_every_request(
    tmp_path: Path, limit: int, effort: str | None
) -> None:
    own = read_command(EXAMPLE)
    adapter = registry.adapter("command", own.command)
    assert own.folder is not None
    package = ensure_program(tmp_path / "cache", adapter.versions[0], Path(own.folder))
    search = f"{Path(shutil.which('python3') or '').parent}:{os.environ['PATH']}"
    settings = Settings(
        model="maker/future-9:large", base_url="", dialect=CHAT, output_limit=limit, context=None,
        effort=effort, instruction='Write "one" to one.txt,\nthen stop.\n', home="", workdir="",
        package_dir="", env={"PATH": search},
    )  # fmt: skip
    run = rehearsed.run(adapter, package, SCRIPT, settings, tmp_path, timeout_s=60)
    assert run.ran.returncode == 0, run.ran.stderr.decode(errors="replace")
    assert (run.workdir / "one.txt").read_text() == "one"
    assert [(request["max_tokens"], request["reasoning_effort"]) for request in run.seen] == [
        (limit, effort)
    ] * 2
    assert len(let_through(run.requests, CHAT)) == 2
