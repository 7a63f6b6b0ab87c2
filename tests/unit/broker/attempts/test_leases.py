import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from stanchion.broker.attempts.leases import (
    ENROL_TTL_MS,
    LEASE_TTL_MS,
    OVERLAP_MS,
    Grant,
    KeptLeases,
    LeaseError,
    Leases,
    make_token,
    token_digest,
    well_formed,
)

A, B, C = b"a" * 32, b"b" * 32, b"c" * 32


def enrolled(now_ms: int = 0) -> tuple[Leases, Grant]:
    leases = Leases()
    token = leases.issue_enrol(A, now_ms)
    assert isinstance(token, str)
    grant = leases.redeem(token, "boot", B, now_ms)
    assert isinstance(grant, Grant)
    return leases, grant


def test_a_token_has_its_shape_and_checksum() -> None:
    token = make_token(A)
    assert well_formed(token)
    assert token.startswith("st1_")
    assert len(token) == 54
    assert not well_formed(token[:-1] + ("A" if token[-1] != "A" else "B"))


@given(st.text(max_size=80))
def test_other_text_is_no_token(text: str) -> None:
    assert not well_formed(text)


def test_an_enrol_token_is_good_once_and_for_a_minute() -> None:
    leases = Leases()
    token = leases.issue_enrol(A, 0)
    assert isinstance(token, str)
    assert leases.redeem(token, "boot", B, ENROL_TTL_MS) is LeaseError.EXPIRED
    assert isinstance(leases.redeem(token, "boot", B, ENROL_TTL_MS - 1), Grant)
    assert leases.redeem(token, "boot-2", B, 1) is LeaseError.REDEEMED
    assert leases.issue_enrol(C, 2) is LeaseError.REDEEMED


def test_the_same_start_may_ask_again_until_it_was_heard() -> None:
    """The answer may have been lost with the broker; another start is refused all the same."""
    leases, first = Leases(), Leases().issue_enrol(A, 0)
    token = str(leases.issue_enrol(A, 0))
    assert token == first
    lost = leases.redeem(token, "boot", B, 1)
    again = leases.redeem(token, "boot", C, 2)
    assert isinstance(lost, Grant)
    assert isinstance(again, Grant)
    assert leases.check(lost.token, 3) is LeaseError.UNKNOWN
    assert leases.check(again.token, 3) is None
    assert leases.redeem(token, "boot-2", B, 3) is LeaseError.REDEEMED
    assert leases.redeem(token, "boot", B, ENROL_TTL_MS) is LeaseError.REDEEMED
    leases.heard()
    assert leases.redeem(token, "boot", B, 4) is LeaseError.REDEEMED


def restarted(leases: Leases, *, now_ms: int, wall_ms: int, later_wall_ms: int) -> Leases:
    """As the next broker has it, whose own clock starts at zero."""
    stored = msgspec.json.encode(leases.kept(now_ms, wall_ms))
    return Leases.restored(msgspec.json.decode(stored, type=KeptLeases), 0, later_wall_ms)


def test_a_lease_outlives_the_broker_with_what_it_has_left() -> None:
    leases, grant = enrolled()
    again = restarted(leases, now_ms=100_000, wall_ms=5_000_000, later_wall_ms=5_010_000)
    left_ms = LEASE_TTL_MS - 100_000 - 10_000
    assert again.check(grant.token, left_ms - 1) is None
    assert again.check(grant.token, left_ms) is LeaseError.EXPIRED
    fresh = again.resume(grant.token, "boot", C, left_ms + 1)
    assert isinstance(fresh, Grant)
    assert fresh.generation == 2
    assert again.resume(grant.token, "boot-2", C, 1) is LeaseError.OTHER_BOOT


@pytest.mark.parametrize("jump_ms", [-(10**9), 10**9])
def test_a_jump_of_the_wall_clock_can_only_shorten_a_lease(jump_ms: int) -> None:
    leases, grant = enrolled()
    again = restarted(leases, now_ms=0, wall_ms=0, later_wall_ms=jump_ms)
    assert again.check(grant.token, LEASE_TTL_MS) is LeaseError.EXPIRED
    assert (again.check(grant.token, 0) is None) is (jump_ms < 0)


def test_an_unredeemed_token_and_every_ending_outlive_the_broker() -> None:
    fresh = Leases()
    token = str(fresh.issue_enrol(A, 0))
    kept = restarted(fresh, now_ms=0, wall_ms=0, later_wall_ms=1)
    assert isinstance(kept.redeem(token, "boot", B, 1), Grant)
    again = restarted(kept, now_ms=2, wall_ms=3, later_wall_ms=4)
    assert isinstance(again.redeem(token, "boot", C, 3), Grant)

    leases, grant = enrolled()
    leases.renew(7, C, 1)
    forked = restarted(leases, now_ms=1, wall_ms=1, later_wall_ms=1)
    assert forked.check(grant.token, 1) is LeaseError.REVOKED
    assert forked.resume(grant.token, "boot", A, 1) is LeaseError.REVOKED
    assert forked.revoked == leases.revoked


def test_a_renewal_that_was_lost_with_the_broker_is_resumed_from_the_older_lease() -> None:
    leases, old = enrolled()
    leases.renew(1, C, 10)
    again = restarted(leases, now_ms=20, wall_ms=20, later_wall_ms=30)
    assert again.check(old.token, 1) is None
    assert isinstance(again.resume(old.token, "boot", A, 1), Grant)


def test_a_later_enrol_token_voids_the_earlier_one() -> None:
    leases = Leases()
    first, second = leases.issue_enrol(A, 0), leases.issue_enrol(B, 0)
    assert leases.redeem(str(first), "boot", C, 1) is LeaseError.UNKNOWN
    assert isinstance(leases.redeem(str(second), "boot", C, 1), Grant)


@pytest.mark.parametrize("token", ["", "st1_x", make_token(A) + " ", "Bearer " + make_token(A)])
def test_a_malformed_token_is_never_looked_up(token: str) -> None:
    leases, _ = enrolled()
    assert leases.check(token, 1) is LeaseError.MALFORMED
    assert Leases().redeem(token, "boot", B, 1) is LeaseError.MALFORMED


def test_a_lease_of_another_attempt_is_unknown() -> None:
    leases, _ = enrolled()
    assert leases.check(make_token(C), 1) is LeaseError.UNKNOWN


def test_a_lease_lives_fifteen_minutes() -> None:
    leases, grant = enrolled()
    assert leases.check(grant.token, LEASE_TTL_MS - 1) is None
    assert leases.check(grant.token, LEASE_TTL_MS) is LeaseError.EXPIRED


def test_a_renewed_lease_overlaps_the_old_one_for_a_minute() -> None:
    leases, old = enrolled()
    new = leases.renew(1, C, 1000)
    assert isinstance(new, Grant)
    assert (new.generation, leases.generation) == (2, 2)
    assert leases.check(old.token, 1000 + OVERLAP_MS - 1) is None
    assert leases.check(old.token, 1000 + OVERLAP_MS) is LeaseError.UNKNOWN
    assert leases.check(new.token, 1000 + LEASE_TTL_MS - 1) is None


def test_the_overlap_never_outlives_the_old_lease() -> None:
    leases, old = enrolled()
    leases.renew(1, C, LEASE_TTL_MS - 10)
    assert leases.check(old.token, LEASE_TTL_MS) is LeaseError.UNKNOWN


def test_two_holders_lose_it_both() -> None:
    leases, _ = enrolled()
    new = leases.renew(1, C, 1)
    assert isinstance(new, Grant)
    assert leases.renew(1, A, 2) is LeaseError.STALE_GENERATION
    assert leases.check(new.token, 3) is LeaseError.REVOKED
    assert leases.renew(2, A, 4) is LeaseError.REVOKED
    assert leases.resume(new.token, "boot", A, 4) is LeaseError.REVOKED
    assert leases.issue_enrol(A, 4) is LeaseError.REVOKED


def test_only_the_same_start_may_resume() -> None:
    leases, grant = enrolled()
    assert leases.resume(grant.token, "boot-2", C, 1) is LeaseError.OTHER_BOOT
    assert leases.resume(make_token(C), "boot", C, 1) is LeaseError.UNKNOWN
    assert leases.resume("st1_x", "boot", C, 1) is LeaseError.MALFORMED
    fresh = leases.resume(grant.token, "boot", C, 1)
    assert isinstance(fresh, Grant)
    assert fresh.generation == 2
    assert leases.check(fresh.token, 2) is None


def test_a_resumption_whose_answer_was_lost_can_be_asked_again() -> None:
    leases, grant = enrolled()
    for seed in (C, A, B):
        fresh = leases.resume(grant.token, "boot", seed, 1)
        assert isinstance(fresh, Grant)
    renewed = leases.renew(fresh.generation, C, 2)
    assert isinstance(renewed, Grant)


def test_the_control_connection_outlives_the_lease() -> None:
    """The verifier's word and the claim come after the harness ended."""
    leases, grant = enrolled()
    leases.revoke("the harness ended")
    fresh = leases.resume(grant.token, "boot", C, LEASE_TTL_MS + 5)
    assert isinstance(fresh, Grant)
    renewed = leases.renew(fresh.generation, A, LEASE_TTL_MS + 6)
    assert isinstance(renewed, Grant)
    assert leases.check(renewed.token, LEASE_TTL_MS + 7) is LeaseError.REVOKED


def test_revocation_is_said_once() -> None:
    leases, grant = enrolled()
    assert leases.revoke("over")
    assert not leases.revoke("again")
    assert (leases.revoked, leases.current_digest) == ("over", token_digest(grant.token))
    fresh = Leases()
    token = fresh.issue_enrol(A, 0)
    fresh.revoke("over")
    assert fresh.redeem(str(token), "boot", B, 1) is LeaseError.REVOKED
    assert fresh.current_digest is None


class Life(RuleBasedStateMachine):
    """Whatever happens, at most one start ever holds a lease, and none after its end."""

    def __init__(self) -> None:
        super().__init__()
        self.leases = Leases()
        self.now_ms = 0
        self.seed = 0
        self.enrol = ""
        self.grants: list[Grant] = []
        self.boots: set[str] = set()

    def random(self) -> bytes:
        self.seed += 1
        return self.seed.to_bytes(32, "big")

    @rule(ms=st.integers(0, 400_000))
    def wait(self, ms: int) -> None:
        self.now_ms += ms

    @rule()
    def issue(self) -> None:
        token = self.leases.issue_enrol(self.random(), self.now_ms)
        if not isinstance(token, LeaseError):
            self.enrol = token

    @rule(boot=st.sampled_from(["a", "b"]))
    def redeem(self, boot: str) -> None:
        grant = self.leases.redeem(self.enrol, boot, self.random(), self.now_ms)
        if isinstance(grant, Grant):
            self.grants.append(grant)
            self.boots.add(boot)

    @rule(generation=st.integers(0, 4))
    def renew(self, generation: int) -> None:
        grant = self.leases.renew(generation, self.random(), self.now_ms)
        if isinstance(grant, Grant):
            self.grants.append(grant)

    @rule()
    def revoke(self) -> None:
        self.leases.revoke("rule")

    @invariant()
    def one_holder(self) -> None:
        assert len(self.boots) <= 1
        good = [g for g in self.grants if self.leases.check(g.token, self.now_ms) is None]
        assert len(good) <= 2
        if self.leases.revoked is not None:
            assert good == []


TestLife = Life.TestCase
