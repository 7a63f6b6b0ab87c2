"""The audit as a process of its own, over what a real ledger wrote."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.receipts import ATTEMPT, ending, exchange_end, exchange_start, run_open, run_started
from stanchion.broker.receipts.ledger import Ledger
from stanchion.protocol.receipt import ExchangeEnd, ExchangeStart, RunOpen, RunStarted

COMMAND = "from stanchion.broker.auditing.command import audit; audit()"


def written(state: Path, bundle: Path) -> str:
    """A run of two requests in a ledger of its own; returns the broker's key."""
    data, key = asyncio.run(write(state))
    bundle.write_bytes(data)
    return key


async def write(state: Path) -> tuple[bytes, str]:
    ledger = await Ledger.open(state)
    book = await ledger.begin(ATTEMPT)
    await book.append(RunOpen, **run_open())
    await book.append(RunStarted, **run_started())
    for number in (1, 2):
        await book.append(ExchangeStart, **exchange_start(number))
        await book.append(ExchangeEnd, **exchange_end(number))
    await book.close(**ending())
    await ledger.aclose()
    return book.bundle(), ledger.public_key


def audit(*arguments: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


@pytest.mark.timeout(120)
def test_what_a_ledger_wrote_is_verified_here_and_not_elsewhere(tmp_path: Path) -> None:
    bundle = tmp_path / "receipts.bundle"
    key = written(tmp_path / "state", bundle)

    here = audit(bundle, "--state-dir", tmp_path / "state", "--json", "--require", "effort=max")
    (report,) = json.loads(here.stdout)
    assert (here.returncode, here.stderr) == (0, "")
    assert (report["verdict"], report["signer"]["public_key"]) == ("verified", key)

    elsewhere = audit(bundle, "--state-dir", tmp_path / "nowhere")
    assert elsewhere.returncode == 3
    assert elsewhere.stdout.startswith("SIGNER UNKNOWN")

    public = tmp_path / "state" / "broker" / "signing.pub"
    handed_on = audit(bundle, "--key", public, "--state-dir", tmp_path / "nowhere")
    assert (handed_on.returncode, handed_on.stderr) == (0, "")
    assert "\x1b" not in handed_on.stdout

    failed = audit(bundle, "--key", public, "--require", "output_limit=64000")
    assert failed.returncode == 1

    bundle.write_bytes(bundle.read_bytes().replace(b"128000", b"064000", 1))
    assert audit(bundle, "--key", public).returncode == 4
    assert audit(bundle, "--require", "colour=red").returncode == 2


def test_no_key_is_made_by_an_audit(tmp_path: Path) -> None:
    bundle = tmp_path / "receipts.bundle"
    written(tmp_path / "state", bundle)

    audit(bundle, "--state-dir", tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
