"""`stanchion smoke` with the real OpenCode: all held with the built-in provider, and by name where
an account's provider cuts at the limit and never reasons."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fakes.other_user import end_broker
from stanchion.images.bundle import Bundle
from stanchion.images.harness_store import HarnessPackage
from stanchion.images.rootfs import BaseImage
from stanchion.images.runsc import RunscInfo

pytestmark = [
    *(pytest.mark.acceptance, pytest.mark.sandbox, pytest.mark.harness),
    pytest.mark.timeout(300),
]

POOR = """
version = 1
[[turn]]
text = "I have not even begun, and my answer is already"
finish = "length"
"""
CONFIG = """
version = 1
[profiles.own.accounts.box]
api = "openai_chat"
base_url = "http://127.0.0.1:{port}/v1"
credential = "none"
allow_plain_http = true
"""
OPENCODE = ("smoke", "--harness", "opencode", "--effort", "max")


@dataclass(frozen=True)
class Command:
    folder: Path
    state: Path

    def __call__(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "stanchion.runner", *words],
            cwd=self.folder,
            env={**os.environ, "STANCHION_STATE": str(self.state)},
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )


@pytest.fixture
def stanchion(
    cache_dir: Path, bundle: Bundle, base_image: BaseImage, opencode: HarnessPackage,
    runsc: RunscInfo, tmp_path: Path,
) -> Iterator[Command]:  # fmt: skip
    state = tmp_path / "state"
    state.mkdir()
    (state / "cache").symlink_to(cache_dir)
    yield Command(tmp_path, state)
    end_broker(state)


def test_what_was_asked_for_reached_the_provider(stanchion: Command) -> None:
    done = stanchion(*OPENCODE, "--model", "rehearsal/scripted-1", "--output-limit", "64000")

    lines = done.stdout.splitlines()
    assert lines[-1] == "smoke: 2 tasks, 4 properties, 4 held", done.stderr
    assert done.returncode == 0
    assert "  hello            passed: asked 64000, wire 64000 x2" in lines


def test_a_provider_that_cuts_and_never_reasons_fails_by_name(
    stanchion: Command, tmp_path: Path
) -> None:
    (tmp_path / "poor.toml").write_text(POOR)
    command = [sys.executable, "-m", "stanchion.rehearsal", "--script", tmp_path / "poor.toml"]
    with subprocess.Popen(
        [*command, "--port", "0", "--die-with-stdin"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as provider:
        assert provider.stdin is not None
        assert provider.stdout is not None
        port = json.loads(provider.stdout.readline())["port"]
        (tmp_path / "stanchion.toml").write_text(CONFIG.format(port=port))
        done = stanchion(*OPENCODE, "--model", "box/poor-1", "--json")
        provider.stdin.close()

    report = json.loads(done.stdout)
    assert report["properties"] == {
        "effort": "passed",
        "output_limit": "passed",
        "reasoning": "failed",
        "no_length_stop": "failed",
    }, done.stderr
    assert report["held"] == 2
    assert done.returncode == 1
