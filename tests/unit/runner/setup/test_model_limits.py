import msgspec

from stanchion.harness_adapters.opencode import OpenCode
from stanchion.protocol.admin import ModelView, ProfileView
from stanchion.protocol.dialects import EFFORT_WORDS, Dialect
from stanchion.protocol.launch import Isolation, Limit, LimitSource, Policy
from stanchion.runner.setup.model_limits import LimitsView, limits_lines, model_limits


def profile(name: str = "evals", **models: ModelView) -> ProfileView:
    return ProfileView(
        name=name,
        accounts={"vllm": Dialect.OPENAI_CHAT},
        policy=Policy.ENFORCE,
        limit_policy="default",
        effort_policy="unspecified-ok",
        harnesses={},
        isolation=Isolation.M2,
        allow_weak=False,
        models={"vllm/Org/Model": ModelView(context=65536, output_limit=32768), **models},
    )


def limits(text: str, *profiles: ProfileView) -> LimitsView:
    return model_limits(text, profiles, [OpenCode()])


def test_the_operators_word_holds_for_the_account_of_a_profile() -> None:
    view = limits("vllm/Org/Model", profile())
    (way,) = view.accounts
    assert view.model == "Org/Model"
    assert (way.profile, way.account) == ("evals", "vllm")
    assert way.output_limit == Limit(value=32768, source=LimitSource.OPERATOR)
    assert way.context == Limit(value=65536, source=LimitSource.OPERATOR)
    assert way.effort_words == EFFORT_WORDS[Dialect.OPENAI_CHAT]
    assert way.problem is None
    assert [harness.refusal for harness in way.harnesses] == [None]


def test_each_profile_with_the_account_is_shown() -> None:
    view = limits("vllm/x", profile("a"), profile("b"))
    assert [way.profile for way in view.accounts] == ["a", "b"]


def test_a_bare_id_is_shown_for_every_api_that_can_be_spoken() -> None:
    view = limits("claude-opus-5", profile())
    assert {way.api for way in view.accounts} == set(OpenCode.dialects)
    assert view.accounts[0].output_limit.source is LimitSource.DOCUMENTED
    assert view.documented_by is not None
    assert "Anthropic" in view.documented_by


def test_nothing_known_is_said_and_not_guessed() -> None:
    view = limits("nobody/knows")
    assert view.documented_by is None
    assert view.accounts[0].output_limit.source is LimitSource.DEFAULT
    assert view.accounts[0].context is None
    assert "unknown" in "\n".join(limits_lines(view))


def test_what_keeps_it_from_starting_is_shown() -> None:
    small = ModelView(context=16384)
    view = limits("vllm/small", profile(**{"vllm/small": small}))
    (way,) = view.accounts
    assert way.problem is not None
    assert "16384" in way.problem
    refused = limits("vllm/a{b}", profile()).accounts[0].harnesses[0].refusal
    assert refused is not None
    text = "\n".join(limits_lines(view))
    assert "NOT OK" in text
    assert "effort    none minimal" in text
    assert msgspec.json.encode(view)


def test_effort_words_and_the_rule_of_a_thinking_budget_say_where_they_come_from() -> None:
    view = limits("nobody/knows")
    rules = {way.api: way.thinking_budget for way in view.accounts}
    assert rules[Dialect.OPENAI_CHAT] is None
    assert "1024 and more, below the output limit; sent by" in (
        rules[Dialect.ANTHROPIC_MESSAGES] or ""
    )
    assert "not beside an effort" in (rules[Dialect.GEMINI] or "")
    lines = limits_lines(view)
    assert any("OpenAI API reference" in line and "(read 20" in line for line in lines)
    assert "thinking  this API has no thinking budget" in lines
