"""The verdict on a bundle, and what it proves and does not prove.

Pure. The order is fixed: a fault in the bytes, then a missing close, then a signer that is not
trusted, then a demand that does not hold. Trust comes from the caller's keys alone; nothing that
a bundle says may add to them.
"""

from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum

import msgspec

from stanchion.broker.auditing.facts import Facts, gather
from stanchion.broker.auditing.requirements import Checked, Requirement, check
from stanchion.broker.receipts.bundle import Broken, Verified
from stanchion.broker.receipts.ed25519 import key_fingerprint
from stanchion.protocol.exit_codes import ExitCode


class Verdict(StrEnum):
    """What an audit says about one attempt, worst first."""

    TAMPERED = "tampered"
    INCOMPLETE = "incomplete"
    SIGNER_UNKNOWN = "signer unknown"
    REQUIREMENT_FAILED = "requirement failed"
    VERIFIED = "verified"


EXIT_CODES = {
    Verdict.TAMPERED: ExitCode.TAMPERED,
    Verdict.INCOMPLETE: ExitCode.INCOMPLETE,
    Verdict.SIGNER_UNKNOWN: ExitCode.INCOMPLETE,
    Verdict.REQUIREMENT_FAILED: ExitCode.FAILED,
    Verdict.VERIFIED: ExitCode.OK,
}


class Signer(msgspec.Struct, frozen=True, kw_only=True):
    """Whose signature the bundle carries."""

    fingerprint: str
    public_key: str
    trusted: bool


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The audit of one attempt. Null = not known, because the bundle did not verify."""

    path: str
    verdict: Verdict
    exit_code: int
    why: str | None
    line: int | None = None
    """Where the bundle is broken, from 1."""
    run: str | None = None
    attempt: int | None = None
    signer: Signer | None = None
    head: str | None = None
    records: int | None = None
    exchanges: int | None = None
    unended: tuple[int, ...] | None = None
    """Exchanges with a start and no end: nobody knows how they ended."""
    holds_bodies: bool | None = None
    facts: Facts | None = None
    requirements: tuple[Checked, ...] = ()
    proven: tuple[str, ...] = ()
    not_proven: tuple[str, ...] = ()
    job: str | None = None
    """Set where the report is on a job's list of attempts and not on an attempt."""


def broken(path: str, fault: Broken) -> Report:
    """The report on a bundle that does not verify: nothing in it counts."""
    return _without_bundle(path, Verdict.TAMPERED, f"line {fault.line}: {fault.why}", fault.line)


def missing(path: str) -> Report:
    """The report on an attempt without a bundle."""
    return _without_bundle(path, Verdict.INCOMPLETE, "this attempt has no receipts.bundle", None)


def _without_bundle(path: str, verdict: Verdict, why: str, line: int | None) -> Report:
    return Report(
        path=path,
        verdict=verdict,
        exit_code=EXIT_CODES[verdict],
        why=why,
        line=line,
        not_proven=("anything",),
    )


def judge(
    bundle: Verified,
    *,
    path: str,
    trusted_keys: Collection[str],
    requirements: Sequence[Requirement] = (),
    contradiction: str | None = None,
) -> Report:
    """The report on a bundle that verifies.

    `contradiction` is what a result beside the bundle says against it.
    """
    facts = gather(bundle)
    checked = tuple(check(requirement, facts) for requirement in requirements)
    signer = Signer(
        fingerprint=key_fingerprint(bundle.header.public_key),
        public_key=bundle.header.public_key,
        trusted=bundle.header.public_key in trusted_keys,
    )
    verdict, why = _verdict(bundle, signer, checked, contradiction)
    return Report(
        path=path,
        verdict=verdict,
        exit_code=EXIT_CODES[verdict],
        why=why,
        run=bundle.header.run,
        attempt=bundle.header.attempt,
        signer=signer,
        head=bundle.head,
        records=len(bundle.records),
        exchanges=facts.requests + facts.side_requests,
        unended=bundle.unended,
        holds_bodies=bundle.header.holds_bodies,
        facts=facts,
        requirements=checked,
        proven=_proven(bundle, signer, facts) if verdict is not Verdict.TAMPERED else (),
        not_proven=tuple(_not_proven(bundle, signer, facts)),
    )


def worst(reports: Iterable[Report]) -> ExitCode:
    """The exit code over several: 4, 3, 1, 0."""
    order = list(Verdict)
    return EXIT_CODES[min((report.verdict for report in reports), key=order.index)]


def _verdict(
    bundle: Verified, signer: Signer, checked: tuple[Checked, ...], contradiction: str | None
) -> tuple[Verdict, str | None]:
    if contradiction is not None:
        return Verdict.TAMPERED, contradiction
    if bundle.closing is None:
        return Verdict.INCOMPLETE, f"the close is missing after record {len(bundle.records)}"
    if not signer.trusted:
        return (
            Verdict.SIGNER_UNKNOWN,
            f"key {signer.fingerprint} is not trusted here: pass the broker's signing.pub as --key",
        )
    failed = [f"{c.key}={c.value} does not hold: {c.why}" for c in checked if not c.held]
    if failed:
        return Verdict.REQUIREMENT_FAILED, "; ".join(failed)
    return Verdict.VERIFIED, None


def _proven(bundle: Verified, signer: Signer, facts: Facts) -> tuple[str, ...]:
    key = signer.fingerprint
    if bundle.closing is None:
        return (f"the holder of key {key} opened this chain; its records are not signed for",)
    count = facts.requests + facts.side_requests
    launch = bundle.opening.launch_sha256[:12]
    return (
        f"no byte of this file changed since the holder of key {key} signed its close",
        f"its {len(bundle.records)} records are complete and in order, launch {launch} to close",
        f"that broker put on record what {count} model requests asked for as they were sent",
    )


def _not_proven(bundle: Verified, signer: Signer, facts: Facts) -> Iterable[str]:
    if bundle.closing is None:
        yield "that nothing followed the last record, or that no record was changed before it"
    if not signer.trusted:
        yield f"who holds key {signer.fingerprint}"
    if bundle.unended:
        numbers = ", ".join(map(str, bundle.unended))
        yield f"how exchange {numbers} ended: there is a start and no end"
    if facts.interrupted:
        yield "how the answers of interrupted requests went on, and what they cost"
    if facts.ambiguous:
        yield "whether the provider processed ambiguous sendings, and what they cost"
    yield "that the broker told the truth when it wrote this"
    yield "that no other route to the provider existed"
    yield "what the sandbox says of itself: the written configuration and its isolation"
    yield "the time of day: all times are the broker's own clock"
    yield "that attempts which are not listed do not exist"
