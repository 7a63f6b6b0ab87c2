from pathlib import Path

from stanchion.protocol.launch import HarnessRef
from stanchion.supervisor.paths import Paths


def test_the_places_of_a_sandbox() -> None:
    paths = Paths()
    assert [
        str(place)
        for place in (
            paths.launch_file,
            paths.token_file,
            paths.instruction_file,
            paths.tests_source,
            paths.workdir_source,
            paths.control_socket,
            paths.model_socket,
        )
    ] == [
        "/run/stanchion/launch.json",
        "/run/stanchion/enrol.token",
        "/run/stanchion/instruction.md",
        "/run/stanchion/tests",
        "/run/stanchion/workdir",
        "/run/stanchion/control.sock",
        "/run/stanchion/model.sock",
    ]
    harness = HarnessRef(name="h", version="1.2", sha256="")
    assert paths.package(harness) == Path("/opt/stanchion-harness/h/1.2")


def test_root_lives_in_root_and_others_in_a_home_of_their_own() -> None:
    assert Paths().home(0) == Path("/root")
    assert Paths().home(1000) == Paths().homes / "agent-1000"
