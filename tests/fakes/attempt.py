"""An attempt directory as the broker and the keeper leave it, in a test's own folder."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import msgspec

from stanchion.protocol.codec import PROTOCOL_VERSION, encode
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.launch import (
    AccountRef,
    Deadlines,
    Effort,
    FrozenLaunch,
    HarnessRef,
    ImageRef,
    Isolation,
    LaunchSpec,
    Limit,
    Limits,
    LimitSource,
    ModelRef,
    SandboxSpec,
    TaskRef,
    Workspace,
)
from stanchion.supervisor.paths import Paths

INSTRUCTION = "Write a sentence.\n"
REWARDED = """#!/bin/bash
cat "$WORK/answer.txt"
mkdir -p "$LOGS/verifier" && echo 1 > "$LOGS/verifier/reward.txt"
"""


def a_spec(**changes: object) -> LaunchSpec:
    """A launch of the scripted harness that passes the gate, but for its digests."""
    spec = LaunchSpec(
        protocol=PROTOCOL_VERSION,
        profile="rehearsal",
        task=TaskRef(
            name="t",
            sha256="0" * 64,
            instruction_sha256=hashlib.sha256(INSTRUCTION.encode()).hexdigest(),
        ),
        image=ImageRef(),
        harness=HarnessRef(name="scripted", version="1.0", sha256="1" * 64),
        model=ModelRef(account="rehearsal", id="m"),
        dialect=Dialect.OPENAI_CHAT,
        limits=Limits(output_tokens=Limit(value=1000, source=LimitSource.LAUNCH)),
        effort=Effort(word="high"),
        deadlines=Deadlines(agent_s=60, verifier_s=20),
        sandbox=SandboxSpec(isolation=Isolation.NONE),
    )
    return msgspec.structs.replace(spec, **changes)


@dataclass(frozen=True)
class Attempt:
    """The folders of one attempt."""

    root: Path
    paths: Paths

    @property
    def workdir(self) -> Path:
        return self.root / "work"

    @property
    def answer(self) -> Path:
        return self.workdir / "answer.txt"


def lay_out(root: Path, *, test_script: str | None = REWARDED, **changes: object) -> Attempt:
    """Everything that the supervisor finds when it starts."""
    paths = Paths(
        run_dir=root / "run",
        harness_root=root / "harness",
        tests_dir=root / "tests",
        logs_dir=root / "logs",
        solution_dir=root / "solution",
        hosts_file=root / "hosts",
        root_home=root / "home",
        homes=root / "homes",
    )
    attempt = Attempt(root=root, paths=paths)
    paths.run_dir.mkdir(mode=0o700)
    package = paths.harness_root / "scripted" / "1.0"
    package.mkdir(parents=True)
    (package / "program").write_text("x")
    listed = {"program": {"sha256": "", "size_bytes": 1, "mode": 493}}
    manifest = json.dumps({"name": "scripted", "version": "1.0", "files": listed}).encode()
    (package / "manifest.json").write_bytes(manifest)
    spec = a_spec(
        harness=HarnessRef(
            name="scripted", version="1.0", sha256=hashlib.sha256(manifest).hexdigest()
        ),
        workspace=Workspace(
            workdir=str(attempt.workdir),
            env={"ANSWER": str(attempt.answer)},
            answers=(str(attempt.answer),),
            verifier_env={"WORK": str(attempt.workdir), "LOGS": str(paths.logs_dir)},
        ),
    )
    frozen = FrozenLaunch(
        spec=msgspec.structs.replace(spec, **changes),
        account=AccountRef(
            name="rehearsal",
            dialect=Dialect.OPENAI_CHAT,
            base_url="http://127.0.0.1:1/v1",
            tls=False,
            credential="rehearsal",
            fingerprint=None,
        ),
    )
    paths.launch_file.write_bytes(encode(frozen))
    paths.token_file.write_text("st1_enrol")
    paths.instruction_file.write_text(INSTRUCTION)
    if test_script is not None:
        paths.tests_source.mkdir()
        (paths.tests_source / "test.sh").write_text(test_script)
    paths.workdir_source.mkdir()
    (paths.workdir_source / "given.txt").write_text("given")
    return attempt
