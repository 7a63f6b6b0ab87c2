"""Where the supervisor finds and puts things; tests point them into a folder of their own."""

from dataclasses import dataclass
from pathlib import Path

from stanchion.protocol.launch import HarnessRef


@dataclass(frozen=True, slots=True)
class Paths:
    """The places of one attempt, as the sandbox sees them."""

    run_dir: Path = Path("/run/stanchion")
    """The attempt directory; hidden from the agent and from the tests."""
    harness_root: Path = Path("/opt/stanchion-harness")
    tests_dir: Path = Path("/tests")
    logs_dir: Path = Path("/logs")
    solution_dir: Path = Path("/solution")
    hosts_file: Path = Path("/etc/hosts")
    root_home: Path = Path("/root")
    homes: Path = Path("/home")

    @property
    def launch_file(self) -> Path:
        return self.run_dir / "launch.json"

    @property
    def token_file(self) -> Path:
        return self.run_dir / "enrol.token"

    @property
    def instruction_file(self) -> Path:
        return self.run_dir / "instruction.md"

    @property
    def tests_source(self) -> Path:
        return self.run_dir / "tests"

    @property
    def solution_source(self) -> Path:
        """There for the oracle alone."""
        return self.run_dir / "solution"

    @property
    def workdir_source(self) -> Path:
        return self.run_dir / "workdir"

    @property
    def control_socket(self) -> Path:
        return self.run_dir / "control.sock"

    @property
    def model_socket(self) -> Path:
        return self.run_dir / "model.sock"

    def package(self, harness: HarnessRef) -> Path:
        """Where the harness's package is mounted."""
        return self.harness_root / harness.name / harness.version

    def home(self, uid: int) -> Path:
        """The agent's home folder."""
        return self.root_home if uid == 0 else self.homes / f"agent-{uid}"
