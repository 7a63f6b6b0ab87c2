"""`stanchion smoke` with the real OpenCode: a good account holds in all and its report is signed; a
harness or a provider that does otherwise fails by name, or is flagged."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from fakes.other_user import end_broker
from fakes.rehearsal_process import rehearsing
from stanchion.harness_adapters.opencode import BINARY
from stanchion.images import entry, manifest
from stanchion.images.bundle import Bundle
from stanchion.images.harness_store import HarnessPackage
from stanchion.images.rootfs import BaseImage
from stanchion.images.runsc import RunscInfo

pytestmark = [
    *(pytest.mark.acceptance, pytest.mark.sandbox, pytest.mark.harness),
    pytest.mark.timeout(420),
]

ANSWER = 'version = 1\n[[turn]]\nreasoning = "A thought."\ntext = "An answer."\n'
SCRIPTS = {
    "never-reasons": ANSWER.replace('reasoning = "A thought."\n', ""),
    "cuts": ANSWER + 'finish = "length"\n',
    "serves-another": ANSWER + 'model = "another-model"\n',
    "counts-nothing": ANSWER + "usage = false\n",
}
ACCOUNT = """
[profiles.own.accounts.{name}]
api = "openai_chat"
base_url = "http://127.0.0.1:{port}/v1"
credential = "none"
allow_plain_http = true
"""
# What a new release of a harness may do unasked: its own cap, or no word of the effort.
ODD_HARNESS = """#!/bin/sh
case "$OPENCODE_CONFIG_CONTENT" in
*drops-effort*)
    OPENCODE_CONFIG_CONTENT=$(
        printf %s "$OPENCODE_CONFIG_CONTENT" | sed 's/{"reasoningEffort": "max"}/{}/g'
    )
    export OPENCODE_CONFIG_CONTENT ;;
*caps-at-32000*) unset OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX ;;
esac
exec "$0.real" "$@"
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
            timeout=400,
            check=False,
        )


@pytest.fixture
def stanchion(
    cache_dir: Path, bundle: Bundle, base_image: BaseImage, opencode: HarnessPackage,
    claude_code: HarnessPackage, runsc: RunscInfo, tmp_path: Path,
) -> Iterator[Command]:  # fmt: skip
    state = tmp_path / "state"
    (state / "cache").mkdir(parents=True)
    for piece in cache_dir.iterdir():
        (state / "cache" / piece.name).symlink_to(piece)
    yield Command(tmp_path, state)
    end_broker(state)


@pytest.fixture
def odd_harness(stanchion: Command, opencode: HarnessPackage) -> None:
    """The same release, stored with a start script that changes what it was told."""
    store = stanchion.state / "cache" / "harness"
    stored = entry.load(store / "opencode" / opencode.version)
    assert stored is not None
    store.unlink()

    def build(root: Path) -> entry.Built:
        shutil.copytree(opencode.path, root, dirs_exist_ok=True, copy_function=os.link)
        (root / "manifest.json").unlink()
        (root / BINARY).rename(root / f"{BINARY}.real")
        (root / BINARY).write_text(ODD_HARNESS)
        (root / BINARY).chmod(0o755)
        digest = manifest.seal(root, "opencode", opencode.version)
        return entry.Built(digest=digest, notes=stored.notes)

    entry.ensure(store / "opencode" / opencode.version, build)


def test_what_was_asked_for_reached_the_provider_and_the_report_is_signed(
    stanchion: Command, tmp_path: Path
) -> None:
    junit = tmp_path / "ci" / "smoke.xml"
    done = stanchion(
        *OPENCODE, "--model", "rehearsal/scripted-1", "--output-limit", "64000",
        "-o", "out", "--junit", junit,
    )  # fmt: skip

    lines = done.stdout.splitlines()
    assert lines[-1] == "smoke: 2 tasks, 4 properties, 4 held", done.stderr
    assert done.returncode == 0
    assert "  hello            passed: asked 64000, wire 64000 x2" in lines
    assert ET.parse(junit).getroot().attrib | {"name": ""} == {
        "name": "", "tests": "8", "failures": "0", "errors": "0", "skipped": "0",
    }  # fmt: skip
    audit = stanchion("audit", "out")
    assert audit.returncode == 0, audit.stdout
    assert "smoke.json is the file that was signed with them" in audit.stdout

    report = tmp_path / "out" / "smoke.json"
    report.write_text(report.read_text().replace('"held": 4', '"held": 3'))
    edited = stanchion("audit", "out")
    assert edited.returncode == 4
    assert "smoke.json is not the one that the list was signed with" in edited.stdout


def test_each_odd_harness_and_provider_fails_by_name_or_is_flagged(
    stanchion: Command, odd_harness: None, tmp_path: Path
) -> None:
    with ExitStack() as running:
        accounts = []
        for name, script in SCRIPTS.items():
            (tmp_path / f"{name}.toml").write_text(script)
            port = running.enter_context(rehearsing(tmp_path / f"{name}.toml"))
            accounts.append(ACCOUNT.format(name=name, port=port))
        (tmp_path / "stanchion.toml").write_text("version = 1\n" + "".join(accounts))
        models = [f"{name}/m" for name in SCRIPTS]
        models += ["rehearsal/drops-effort", "rehearsal/caps-at-32000"]
        (tmp_path / "matrix.toml").write_text(
            "version = 1\n[[combination]]\n"
            f'harness = "opencode"\neffort = "max"\nmodel = {json.dumps(models)}\n'
            'waive = {no_length_stop = "known of one of them"}\n'
        )
        done = stanchion("smoke", "--matrix", "matrix.toml", "-o", "out", "--json")

    found = {one["model"].rpartition("/"): one for one in json.loads(done.stdout)}
    by_name = {(account if model == "m" else model): one for (account, _, model), one in
               found.items()}  # fmt: skip
    failed = {
        name: [key for key, holds in one["properties"].items() if holds == "failed"]
        for name, one in by_name.items()
    }
    flags = {name: {flag["flag"] for flag in one["flags"]} for name, one in by_name.items()}
    assert failed == {
        "never-reasons": ["reasoning"],
        "cuts": ["no_length_stop"],
        "serves-another": [],
        "counts-nothing": [],
        "drops-effort": ["effort"],
        "caps-at-32000": ["output_limit"],
    }, done.stderr
    assert "model_differs" in flags["serves-another"]
    assert "usage_missing" in flags["counts-nothing"]
    assert not {"model_differs", "usage_missing"} & flags["never-reasons"]
    assert done.returncode == 1
    whys = [finding["why"] for task in by_name["caps-at-32000"]["tasks"]
            for finding in task["findings"]]  # fmt: skip
    assert "asked 128000, the harness sent 32000" in whys
    assert stanchion("audit", "out").returncode == 0


def test_a_raw_word_and_a_thinking_budget_are_seen_as_they_were_given(
    stanchion: Command, tmp_path: Path
) -> None:
    (tmp_path / "matrix.toml").write_text(
        'version = 1\n[[combination]]\nharness = "opencode"\nmodel = "rehearsal/new-1"\n'
        'effort_raw = "ultra"\n'
        '[[combination]]\nharness = ["opencode", "claude_code"]\nmodel = "rehearsal/new-1"\n'
        'dialect = "anthropic_messages"\neffort = "high"\nthinking_budget = 20_000\n'
        "output_limit = 64_000\n"
    )
    done = stanchion("smoke", "--matrix", "matrix.toml", "-o", "out")

    lines = done.stdout.splitlines()
    assert lines[-1] == "smoke: 3 combinations, 6 tasks, 12 properties, 12 held", done.stdout
    assert done.returncode == 0
    audit = stanchion("audit", "out", "--json")
    facts = [one["facts"] for one in json.loads(audit.stdout) if one["facts"]]
    wire = [
        (
            {seen["value"] for seen in one["effort"]["on_the_wire"]},
            {seen["value"] for seen in (one["thinking_budget"] or one["effort"])["on_the_wire"]},
            {seen["value"] for seen in one["output_limit"]["on_the_wire"]},
        )
        for one in facts
    ]
    assert wire.count(({"ultra"}, {"ultra"}, {128_000})) == 2
    assert wire.count(({"high"}, {20_000}, {64_000})) == 4
