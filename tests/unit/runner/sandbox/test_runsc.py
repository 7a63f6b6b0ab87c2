"""How runsc is called; that it works is tested with real sandboxes."""

from pathlib import Path

import pytest

from stanchion.runner.sandbox.runsc import Runsc, Sandbox


def runsc(*, cgroups: bool) -> Runsc:
    return Runsc("/usr/bin/runsc", Path("/state"), Path("/overlay"), cgroups=cgroups)


def test_a_sandbox_has_no_network_and_writes_to_its_own_overlay() -> None:
    command = runsc(cgroups=True).command("run", "id")

    assert command[0] == "/usr/bin/runsc"
    assert {"--network=none", "--host-uds=open", "--overlay2=root:dir=/overlay"} <= set(command)
    assert "--ignore-cgroups" not in command
    assert command[-2:] == ["run", "id"]


def test_without_a_cgroup_runsc_is_told_so() -> None:
    assert "--ignore-cgroups" in runsc(cgroups=False).command("run", "id")


@pytest.mark.parametrize("sandbox_id", ["short", "A" * 32, "a" * 33, "../" + "a" * 29])
async def test_ids_have_one_length(sandbox_id: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="32 lower-case hex"):
        await Sandbox.start(
            runsc(cgroups=True), sandbox_id=sandbox_id, bundle_dir=tmp_path, drain=print
        )
