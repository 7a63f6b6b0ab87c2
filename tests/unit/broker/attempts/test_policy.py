import msgspec
import pytest

from fakes.launches import order, spec
from stanchion.broker.attempts.policy import EFFORT_MEMBERS, LIMIT_MEMBERS, check_launch
from stanchion.broker.config import Profile, built_in, read_config
from stanchion.protocol.admin import OpenRun, Rehearsal
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.launch import (
    Budget,
    Correction,
    Effort,
    HarnessRef,
    Isolation,
    Limit,
    Limits,
    LimitSource,
    ModelRef,
    SandboxKind,
    SandboxSpec,
)
from stanchion.protocol.refusal import RefusedError

EVALS = """
version = 1
[profiles.evals]
limit_policy = "explicit"
effort_policy = "explicit"
harnesses = { opencode = "1.18.33" }
[profiles.evals.accounts.a]
api = "openai_chat"
base_url = "https://api.example.com/v1"
credential = "none"
[profiles.evals.accounts.g]
api = "gemini"
base_url = "https://api.example.com"
credential = "none"
"""
PROFILES = read_config(EVALS.encode()).profiles
LAUNCH = Limits(output_tokens=Limit(value=5, source=LimitSource.LAUNCH))


def evals(**changes: object) -> OpenRun:
    terms = {"profile": "evals", "model": ModelRef(account="a", id="m"), "limits": LAUNCH}
    return msgspec.structs.replace(order(), spec=spec(**{**terms, **changes}), rehearsal=None)


def test_a_launch_within_policy_gets_its_account() -> None:
    profile, account = check_launch(evals(), PROFILES)
    assert profile.effort_policy == "explicit"
    assert account.base_url == "https://api.example.com/v1"
    check_launch(order(), built_in().profiles)


def test_a_launch_without_requests_needs_nobody_to_play_the_model() -> None:
    nobody = msgspec.structs.replace(order(budget=Budget(requests=0)), rehearsal=None)
    check_launch(nobody, built_in().profiles)
    asking = msgspec.structs.replace(order(), rehearsal=None)
    with pytest.raises(RefusedError) as refused:
        check_launch(asking, built_in().profiles)
    assert refused.value.refusal.id == "rehearsal_profile"


def test_a_correction_that_writes_what_was_declared_is_taken() -> None:
    limit = order().spec.limits.output_tokens
    assert limit is not None
    correction = Correction(field="max_tokens", value=limit.value, why="w")
    check_launch(order(corrections=(correction,)), built_in().profiles)


def test_every_dialect_says_which_members_may_be_corrected() -> None:
    assert set(LIMIT_MEMBERS) == set(EFFORT_MEMBERS) == set(Dialect)


def test_the_built_in_account_speaks_the_dialect_of_the_launch() -> None:
    for dialect in Dialect:
        order_of = order(dialect=dialect, effort=Effort(word="high"))
        _, account = check_launch(order_of, built_in().profiles)
        assert account.api is dialect


@pytest.mark.parametrize(
    ("launch", "word"),
    [
        (evals(profile="none"), "profile_unknown"),
        (evals(model=ModelRef(account="b", id="m")), "account_missing"),
        (evals(dialect=Dialect.ANTHROPIC_MESSAGES), "dialect_differs"),
        (
            evals(model=ModelRef(account="g", id="models/m"), dialect=Dialect.GEMINI),
            "model_unaddressable",
        ),
        (evals(limits=Limits(output_tokens=None)), "limit_missing"),
        (
            evals(limits=Limits(output_tokens=Limit(value=0, source=LimitSource.LAUNCH))),
            "limit_missing",
        ),
        (
            evals(limits=Limits(output_tokens=Limit(value=5, source=LimitSource.DEFAULT))),
            "limit_undeclared",
        ),
        (evals(effort=Effort()), "effort_undeclared"),
        (evals(effort=Effort(word="ultra")), "effort_unknown"),
        (evals(harness=HarnessRef(name="opencode", version="2", sha256="c")), "harness_version"),
        (evals(harness=HarnessRef(name="codex", version="1", sha256="c")), "harness_version"),
        (
            evals(corrections=(Correction(field="max_tokens", value=6, why="w"),)),
            "correction_unsupported",
        ),
        (
            evals(corrections=(Correction(field="top_p", value=5, why="w"),)),
            "correction_unsupported",
        ),
        (evals(protocol=2), "protocol_version"),
        (msgspec.structs.replace(order(), protocol=2), "protocol_version"),
        (msgspec.structs.replace(order(), rehearsal=None), "rehearsal_profile"),
        (
            msgspec.structs.replace(evals(), rehearsal=Rehearsal(port=1, key="k")),
            "rehearsal_profile",
        ),
        (
            msgspec.structs.replace(order(), rehearsal=Rehearsal(port=70000, key="k")),
            "rehearsal_port",
        ),
    ],
)
def test_the_first_broken_rule_is_named(launch: OpenRun, word: str) -> None:
    with pytest.raises(RefusedError) as refused:
        check_launch(launch, PROFILES)
    assert refused.value.refusal.id == word


def test_a_raw_word_and_any_harness_pass_where_the_profile_allows() -> None:
    raw = msgspec.structs.replace(order(), spec=spec(effort=Effort(word="ultra", raw=True)))
    profile, _ = check_launch(raw, built_in().profiles)
    assert isinstance(profile, Profile)


def test_a_profile_that_pays_must_allow_weak_isolation_by_name() -> None:
    weak = evals(sandbox=SandboxSpec(kind=SandboxKind.PROCESS, isolation=Isolation.NONE))
    allowing = read_config(
        EVALS.replace("[profiles.evals]", "[profiles.evals]\nallow_weak = true").encode()
    ).profiles

    with pytest.raises(RefusedError) as refused:
        check_launch(weak, PROFILES)

    assert refused.value.refusal.id == "isolation_weak"
    assert "allow_weak = true in [profiles.evals]" in refused.value.refusal.remedy
    check_launch(weak, allowing)
    rehearsed = spec(sandbox=weak.spec.sandbox)
    check_launch(msgspec.structs.replace(order(), spec=rehearsed), built_in().profiles)
