"""From options to the launch spec: sources, defaults and refusals."""

from dataclasses import replace

import msgspec
import pytest

from fakes.scripted_harness import ScriptedHarness
from stanchion.harness_adapters.registry import adapter
from stanchion.protocol.admin import ModelView, ProfileView
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.launch import Artifact, Isolation, LimitSource, Policy, SandboxKind
from stanchion.protocol.refusal import RefusedError
from stanchion.runner.launching.resolve import (
    Options,
    Pinned,
    harness_version,
    resolve,
    resolve_effort,
    resolve_memory,
)
from stanchion.runner.tasks.examples import example_task
from stanchion.runner.tasks.task import Task, read_task
from stanchion.runner.tasks.users import User

OPENCODE = adapter("opencode")
VERSION = OPENCODE.versions[-1]
TASK = read_task(example_task("hello"))
OPTIONS = Options(harness="opencode", account="main", model="future-9/large")
PINNED = Pinned(base_sha256="b" * 64, harness_sha256="a" * 64)
PROFILE = ProfileView(
    name="evals",
    accounts={"main": Dialect.OPENAI_CHAT, "other": Dialect.GEMINI},
    policy=Policy.ENFORCE,
    limit_policy="default",
    effort_policy="unspecified-ok",
    harnesses={},
    isolation=Isolation.M2,
    allow_weak=False,
    models={"main/future-9/large": ModelView(context=65_536, output_limit=32_768)},
    budget_requests=9,
    max_wait_s=60,
)


def test_the_spec_says_everything() -> None:
    spec = resolve(TASK, OPTIONS, PROFILE, OPENCODE, PINNED)

    assert (spec.profile, spec.model.account, spec.model.id) == ("evals", "main", "future-9/large")
    assert (spec.task.name, spec.task.sha256) == ("hello", TASK.sha256)
    assert (spec.image.base, spec.image.verified) == ("debian", "b" * 64)
    assert (spec.harness.version, spec.harness.sha256) == (VERSION, "a" * 64)
    assert (spec.budget.requests, spec.waits.max_wait_s) == (9, 60)
    assert spec.workspace.answers == ("/work/hello.txt",)
    assert spec.effort.word is None


@pytest.mark.parametrize(
    ("launch", "models", "value", "source"),
    [
        (64_000, PROFILE.models, 64_000, LimitSource.LAUNCH),
        (None, PROFILE.models, 32_768, LimitSource.OPERATOR),
        (None, {}, 128_000, LimitSource.DEFAULT),
    ],
)
def test_the_first_that_declares_a_limit_wins(
    launch: int | None, models: dict[str, ModelView], value: int, source: LimitSource
) -> None:
    profile = msgspec.structs.replace(PROFILE, models=models)
    spec = resolve(TASK, replace(OPTIONS, output_limit=launch), profile, OPENCODE, PINNED)

    limit = spec.limits.output_tokens
    assert limit is not None
    assert (limit.value, limit.source) == (value, source)


def test_a_context_nobody_knows_stays_unknown() -> None:
    profile = msgspec.structs.replace(PROFILE, models={})

    assert resolve(TASK, OPTIONS, profile, OPENCODE, PINNED).limits.context is None


def test_answers_of_the_launch_replace_the_tasks() -> None:
    options = replace(OPTIONS, answers=("/x",))

    assert resolve(TASK, options, PROFILE, OPENCODE, PINNED).workspace.answers == ("/x",)


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"account": "none"}, "account_missing"),
        ({"dialect": Dialect.ANTHROPIC_MESSAGES}, "dialect_differs"),
        ({"effort": "loud"}, "effort_unknown"),
        ({"effort": "high", "effort_raw": "loud"}, "effort_twice"),
        ({"thinking_budget": 2_048}, "thinking_budget_refused"),
        ({"harness_version": "0.0.1"}, "harness_version_unknown"),
        ({"memory_mb": 16}, "memory_too_small"),
    ],
)
def test_what_would_be_misread_is_refused(change: dict[str, object], refusal: str) -> None:
    options = msgspec.convert(
        {name: getattr(OPTIONS, name) for name in OPTIONS.__slots__} | change, Options
    )
    with pytest.raises(RefusedError) as refused:
        resolve(TASK, options, PROFILE, OPENCODE, PINNED)
    assert refused.value.refusal.id == refusal


def test_an_api_that_the_harness_does_not_speak_is_refused() -> None:
    options = replace(OPTIONS, harness="scripted", account="other")
    with pytest.raises(RefusedError, match="scripted does not speak gemini") as refused:
        resolve(TASK, options, PROFILE, ScriptedHarness(""), PINNED)
    assert refused.value.refusal.id == "dialect_unknown"


def test_an_unknown_effort_names_the_known_words() -> None:
    with pytest.raises(RefusedError, match="minimal, low, medium, high, xhigh, max"):
        resolve_effort(replace(OPTIONS, effort="loud"), Dialect.OPENAI_CHAT)


def test_a_raw_effort_is_not_checked() -> None:
    effort = resolve_effort(replace(OPTIONS, effort_raw="loud"), Dialect.OPENAI_CHAT)

    assert (effort.word, effort.raw) == ("loud", True)


@pytest.mark.parametrize("word", ["", " loud", "loud\n", "l" * 65, "lo\x00ud"])
def test_a_raw_effort_is_one_word_that_can_be_seen(word: str) -> None:
    with pytest.raises(RefusedError, match="exactly as it was given"):
        resolve_effort(replace(OPTIONS, effort_raw=word), Dialect.OPENAI_CHAT)


def test_a_thinking_budget_is_frozen_into_the_spec_or_refused() -> None:
    profile = msgspec.structs.replace(PROFILE, accounts={"main": Dialect.ANTHROPIC_MESSAGES})
    options = replace(OPTIONS, thinking_budget=20_000)

    assert resolve(TASK, options, profile, OPENCODE, PINNED).effort.thinking_budget == 20_000
    with pytest.raises(RefusedError, match="openai_chat has no thinking budget"):
        resolve(TASK, options, PROFILE, OPENCODE, PINNED)


def test_the_rehearsal_speaks_the_dialect_that_is_asked_for() -> None:
    profile = msgspec.structs.replace(
        PROFILE, name="rehearsal", accounts={"rehearsal": Dialect.OPENAI_CHAT}
    )
    options = replace(
        OPTIONS, account="rehearsal", model="future-9", effort="high", output_limit=8_000
    )
    spoken = {None: Dialect.OPENAI_CHAT, **{dialect: dialect for dialect in Dialect}}
    for asked, dialect in spoken.items():
        spec = resolve(TASK, replace(options, dialect=asked), profile, OPENCODE, PINNED)
        assert spec.dialect is dialect
    with pytest.raises(RefusedError, match="does not speak gemini") as refused:
        resolve(
            TASK, replace(options, dialect=Dialect.GEMINI), profile, ScriptedHarness(""), PINNED
        )
    assert (refused.value.refusal.field, refused.value.refusal.value) == ("--dialect", "gemini")


def test_the_rehearsal_speaks_the_harness_own_dialect_where_none_is_asked_for() -> None:
    profile = msgspec.structs.replace(
        PROFILE, name="rehearsal", accounts={"rehearsal": Dialect.OPENAI_CHAT}
    )
    options = replace(
        OPTIONS, harness="claude_code", account="rehearsal", model="future-9", effort="high"
    )
    spec = resolve(TASK, options, profile, adapter("claude_code"), PINNED)
    assert spec.dialect is Dialect.ANTHROPIC_MESSAGES


def test_a_profile_that_pins_a_version_allows_no_other() -> None:
    profile = msgspec.structs.replace(PROFILE, harnesses={"opencode": "1.0.0"})
    with pytest.raises(RefusedError, match="was measured"):
        harness_version(OPTIONS, profile, OPENCODE)
    with pytest.raises(RefusedError, match="allows opencode"):
        harness_version(replace(OPTIONS, harness_version=VERSION), profile, OPENCODE)


@pytest.mark.parametrize(
    ("launch", "task", "harness", "memory_mb"),
    [
        (None, None, 1500, 2048),
        (None, 4096, 1500, 4096),
        (None, 512, 3000, 3000),
        (1600, 4096, 1500, 1600),
    ],
)
def test_memory_is_never_less_than_the_harness_needs(
    launch: int | None, task: int | None, harness: int, memory_mb: int
) -> None:
    assert resolve_memory(launch, task, harness) == memory_mb


def asks(**changes: object) -> Task:
    return replace(TASK, config=replace(TASK.config, **changes))


@pytest.mark.parametrize("name", ["oracle", "noop"])
def test_a_harness_without_a_model_may_make_no_request(name: str) -> None:
    harness = adapter(name)
    spec = resolve(TASK, replace(OPTIONS, harness=name), PROFILE, harness, PINNED)

    assert (spec.budget.requests, spec.budget.output_tokens) == (0, None)
    assert (spec.harness.name, spec.dialect) == (name, Dialect.OPENAI_CHAT)
    assert spec.limits.output_tokens is not None


def test_users_artifacts_and_the_solutions_variables_are_in_the_spec() -> None:
    config = asks(
        agent_user=User("agent", "t:1, agent.user"),
        verifier_user=User("1000", "t:2, verifier.user"),
        artifacts=(Artifact(source="/work/out"),),
        env={"A": "1", "B": "1"},
        solution_env={"B": "2"},
    )
    pinned = replace(PINNED, passwd="agent:x:77:77::/:/bin/sh\n")
    workspace = resolve(config, OPTIONS, PROFILE, OPENCODE, pinned).workspace

    assert (workspace.uid, workspace.verifier_uid) == (77, 1000)
    assert workspace.artifacts == (Artifact(source="/work/out"),)
    assert workspace.env == {"A": "1", "B": "2"}


def test_a_user_that_the_image_lacks_is_refused_by_line() -> None:
    task = asks(agent_user=User("agent", "t/task.toml:1, agent.user"))
    with pytest.raises(RefusedError, match=r"task\.toml:1, agent\.user"):
        resolve(task, OPTIONS, PROFILE, OPENCODE, replace(PINNED, passwd="root:x:0:0\n"))


def test_a_sandbox_with_one_user_takes_no_other() -> None:
    options = replace(OPTIONS, sandbox=SandboxKind.PROCESS)
    pinned = Pinned(base_sha256=None, harness_sha256="a" * 64)
    task = asks(agent_user=User("1000", "t:1, agent.user"))
    with pytest.raises(RefusedError, match="--sandbox process has one user"):
        resolve(task, options, PROFILE, OPENCODE, pinned)
    root = asks(agent_user=User("root", "t:1, agent.user"))
    assert resolve(root, options, PROFILE, OPENCODE, pinned).workspace.uid == 0


def test_an_image_stands_in_for_the_base() -> None:
    image = resolve(TASK, replace(OPTIONS, image="./root"), PROFILE, OPENCODE, PINNED).image

    assert (image.requested, image.base, image.verified) == ("./root", None, "b" * 64)


def test_one_response_is_no_longer_than_the_window() -> None:
    equal = replace(OPTIONS, output_limit=65_536, context=65_536)
    assert resolve(TASK, equal, PROFILE, OPENCODE, PINNED).limits.output_tokens is not None
    with pytest.raises(RefusedError) as refused:
        resolve(TASK, replace(equal, output_limit=65_537), PROFILE, OPENCODE, PINNED)
    assert refused.value.refusal.id == "limit_above_context"
