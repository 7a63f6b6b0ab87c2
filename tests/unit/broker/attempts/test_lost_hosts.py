import msgspec

from stanchion.broker.attempts.lost_hosts import lost_host, silent_host
from stanchion.protocol.evidence import (
    Claim,
    Evidence,
    HostFacts,
    SessionEnd,
    SessionState,
    WaitStatus,
    WireFacts,
)
from stanchion.protocol.outcome import EndReason, classify


def test_each_says_why_nobody_saw_the_end() -> None:
    for host, words in [
        (lost_host(True), "the host was restarted"),
        (lost_host(False), "directory is gone"),
        (silent_host(600), "for 600 s"),
    ]:
        outcome = classify(Evidence(host=host))
        assert outcome.reason is EndReason.SANDBOX_LOST
        assert words in outcome.detail
        assert (host.oom_kills, host.sandbox_exit) == (None, None)
        assert host.oom_kills_why


def test_a_claim_that_had_come_still_decides() -> None:
    claim = Claim(wait=WaitStatus(exit_code=0), session=SessionEnd(state=SessionState.GOOD))
    evidence = Evidence(claim=claim, wire=WireFacts(exchanges=1, completed=1))
    for host in (HostFacts(sandbox_exit=0), lost_host(True), silent_host(600)):
        seen = msgspec.structs.replace(evidence, host=host)
        assert classify(seen).reason is EndReason.COMPLETED
