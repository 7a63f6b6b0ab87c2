"""A real program of a user's does on the wire what its description says that it is told."""

import os
import shutil
from pathlib import Path

import pytest

from conformance.harness import native
from fakes.tapped_port import tapped_port
from functional.harness_adapters.conftest import rehearsing
from stanchion.broker.plane.admission import admitted
from stanchion.broker.plane.http_gate import Accepted, read_head
from stanchion.broker.plane.model_socket import ModelRequest
from stanchion.harness_adapters import registry
from stanchion.harness_adapters.base import Settings
from stanchion.images.own_program import ensure_program
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.exchange import Asked
from stanchion.runner.launching.command_option import read_command
from stanchion.supervisor.relay_head import rewrite

EXAMPLE = Path(__file__).parents[3] / "examples" / "own-program" / "agent.toml"
SCRIPT = """
version = 1
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
    workdir = tmp_path / "work"
    workdir.mkdir()
    own = read_command(EXAMPLE)
    adapter = registry.adapter("command", own.command)
    assert own.folder is not None
    package = ensure_program(tmp_path / "cache", adapter.versions[0], Path(own.folder))
    search = f"{Path(shutil.which('python3') or '').parent}:{os.environ['PATH']}"
    with (
        rehearsing(SCRIPT, tmp_path) as provider,
        tapped_port(int(provider.base_url.rpartition(":")[2])) as tapped,
    ):
        plan = adapter.plan(
            Settings(
                model="maker/future-9:large",
                base_url=f"http://127.0.0.1:{tapped.port}",
                dialect=Dialect.OPENAI_CHAT,
                output_limit=limit,
                context=None,
                effort=effort,
                instruction='Write "one" to one.txt,\nthen stop.\n',
                home=str(tmp_path / "home"),
                workdir=str(workdir),
                package_dir=str(package.path),
                env={"PATH": search},
            )
        )
        ran = native.run(plan, workdir, timeout_s=60)
        seen = provider.sightings()
        requests = tapped.requests()
    assert ran.returncode == 0, ran.stderr.decode(errors="replace")
    assert (workdir / "one.txt").read_text() == "one"
    assert [(request["max_tokens"], request["reasoning_effort"]) for request in seen] == [
        (limit, effort)
    ] * 2
    for head, body in requests:
        rewritten = rewrite(head, "st1_x")
        assert rewritten is not None
        accepted = read_head(rewritten)
        assert isinstance(accepted, Accepted), (accepted, head)
        request = ModelRequest(accepted.route, accepted.forwarded, accepted.session, body)
        assert isinstance(admitted(Dialect.OPENAI_CHAT, request, frozenset()), Asked)
