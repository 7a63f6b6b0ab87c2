"""Asks `stanchion audit`, as a process of its own, what a bundle of receipts is worth.

The demo believes the same command that an auditor would run, not the code that wrote the receipts.
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

AUDIT_TIMEOUT_S = 60
T = TypeVar("T")


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


@dataclass(frozen=True, slots=True)
class AuditAnswer(Generic[T]):
    """One call of the audit on one bundle."""

    code: int
    report: T | None
    """None where it printed none."""
    words: str
    """What it said instead."""


def call_audit(bundle: str, state_dir: Path, kind: type[T]) -> AuditAnswer[T]:
    """The part of the report on one bundle that `kind` names, trusting this machine's broker."""
    command = [sys.executable, "-m", "stanchion.runner", "audit", "--json"]
    process = subprocess.run(
        [*command, "--state-dir", str(state_dir), bundle],
        capture_output=True,
        timeout=AUDIT_TIMEOUT_S,
        check=False,
    )
    try:
        (report,) = msgspec.json.decode(process.stdout, type=list[kind])  # type: ignore[valid-type]  # known at run time
    except (msgspec.DecodeError, ValueError):
        words = process.stderr.decode(errors="replace").strip()[-300:]
        return AuditAnswer(process.returncode, None, f"not audited: {words}")
    return AuditAnswer(process.returncode, report, "")


def audit_bundle(bundle: str | None, state_dir: Path) -> AuditVerdict:
    """The verdict on one bundle, trusting this machine's broker."""
    if bundle is None:
        return AuditVerdict(verified=False, records=None, words="no receipts")
    answer = call_audit(bundle, state_dir, _Report)
    report = answer.report
    if report is None:
        return AuditVerdict(verified=False, records=None, words=answer.words)
    key = f" (key {report.signer.fingerprint})" if report.signer else ""
    why = f": {report.why}" if report.why else ""
    return AuditVerdict(
        verified=answer.code == 0,
        records=report.records,
        words=f"{report.verdict}{key}{why}",
    )
