"""Asks `stanchion audit`, as a process of its own, what a bundle of receipts is worth.

The demo believes the same command that an auditor would run, not the code that wrote the receipts.
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import msgspec

AUDIT_TIMEOUT_S = 60


class _Signer(msgspec.Struct):
    fingerprint: str


class _Report(msgspec.Struct):
    """The part of an audit's report that is shown."""

    verdict: str
    records: int | None = None
    why: str | None = None
    signer: _Signer | None = None


@dataclass(frozen=True, slots=True)
class AuditVerdict:
    """What the audit said. `records` is None where nothing could be counted."""

    verified: bool
    records: int | None
    words: str


def audit_bundle(bundle: str | None, state_dir: Path) -> AuditVerdict:
    """The verdict on one bundle, trusting this machine's broker."""
    if bundle is None:
        return AuditVerdict(verified=False, records=None, words="no receipts")
    command = [sys.executable, "-m", "stanchion.runner", "audit", "--json"]
    process = subprocess.run(
        [*command, "--state-dir", str(state_dir), bundle],
        capture_output=True,
        timeout=AUDIT_TIMEOUT_S,
        check=False,
    )
    try:
        (report,) = msgspec.json.decode(process.stdout, type=list[_Report])
    except (msgspec.DecodeError, ValueError):
        words = process.stderr.decode(errors="replace").strip()[-300:]
        return AuditVerdict(verified=False, records=None, words=f"not audited: {words}")
    key = f" (key {report.signer.fingerprint})" if report.signer else ""
    why = f": {report.why}" if report.why else ""
    return AuditVerdict(
        verified=process.returncode == 0,
        records=report.records,
        words=f"{report.verdict}{key}{why}",
    )
