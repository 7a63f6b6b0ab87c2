"""What a model gets: limits with their source, effort words, and what a harness refuses. Pure.

Decides nothing new: it asks the same functions that a launch is resolved with.
"""

from collections.abc import Sequence

import msgspec

from stanchion.harness_adapters.base import Adapter, Settings
from stanchion.harness_adapters.limits import documented, resolve_context, resolve_output
from stanchion.harness_adapters.thinking import RULES, WRITTEN_BY
from stanchion.protocol.admin import ModelView, ProfileView
from stanchion.protocol.dialects import VOCABULARIES, Dialect
from stanchion.protocol.launch import Limit, LimitSource
from stanchion.protocol.refusal import RefusedError
from stanchion.runner.launching.resolve import ANY_PORT_URL, HOME, check_within
from stanchion.runner.sandbox.oci import harness_place


class HarnessView(msgspec.Struct, frozen=True, kw_only=True):
    """One harness with this model."""

    name: str
    version: str
    refusal: str | None
    """Why it would not be started; None = it would."""


class AccountView(msgspec.Struct, frozen=True, kw_only=True):
    """One way to reach the model."""

    profile: str | None
    account: str | None
    api: Dialect
    effort_words: tuple[str, ...]
    effort_source: str
    """Whose page says so, and when it was read."""
    thinking_budget: str | None
    """The rule of the API for `--thinking-budget`; None = it has no such number."""
    output_limit: Limit
    context: Limit | None
    harnesses: tuple[HarnessView, ...]
    problem: str | None = None
    """What keeps every launch of it from starting."""


class LimitsView(msgspec.Struct, frozen=True, kw_only=True):
    """`stanchion limits --json`."""

    model: str
    documented_by: str | None
    """Whose page says so, and when it was read."""
    accounts: tuple[AccountView, ...]


def model_limits(
    text: str, profiles: Sequence[ProfileView], adapters: Sequence[Adapter]
) -> LimitsView:
    """`ACCOUNT/MODEL` where a profile has that account, else a bare model id on any API."""
    account, slash, model = text.partition("/")
    having = [profile for profile in profiles if slash and model and account in profile.accounts]
    if having:
        views = [
            _view(model, profile.accounts[account], adapters, profile=profile, account=account)
            for profile in having
        ]
    else:
        model = text
        spoken = [api for api in Dialect if any(api in adapter.dialects for adapter in adapters)]
        views = [_view(model, api, adapters) for api in spoken]
    entry = documented().get(model)
    return LimitsView(
        model=model,
        documented_by=None if entry is None else f"{entry.source} (read {entry.read})",
        accounts=tuple(views),
    )


def _view(
    model: str,
    api: Dialect,
    adapters: Sequence[Adapter],
    *,
    profile: ProfileView | None = None,
    account: str | None = None,
) -> AccountView:
    key = f"{account}/{model}"
    operator = ModelView() if profile is None else profile.models.get(key, ModelView())
    output = resolve_output(launch=None, operator=operator.output_limit, model=model)
    context = resolve_context(launch=None, operator=operator.context, model=model)
    return AccountView(
        profile=None if profile is None else profile.name,
        account=account,
        api=api,
        effort_words=VOCABULARIES[api].words,
        effort_source=f"{VOCABULARIES[api].source} (read {VOCABULARIES[api].read})",
        thinking_budget=_budget_rule(api),
        output_limit=output,
        context=context,
        harnesses=tuple(
            _harness(adapter, model, api, output, context)
            for adapter in adapters
            if api in adapter.dialects
        ),
        problem=_problem(output, context),
    )


def _budget_rule(api: Dialect) -> str | None:
    rule = RULES.get(api)
    if rule is None:
        return None
    beside = "" if rule.beside_effort else ", not beside an effort"
    harnesses = ", ".join(name for name, spoken in WRITTEN_BY.items() if api in spoken)
    return f"{rule.least} and more, below the output limit{beside}; sent by {harnesses}"


def _problem(output: Limit, context: Limit | None) -> str | None:
    try:
        check_within(output, context)
    except RefusedError as error:
        return str(error)
    return None


def _harness(
    adapter: Adapter, model: str, api: Dialect, output: Limit, context: Limit | None
) -> HarnessView:
    version = adapter.versions[-1]
    refusal = None
    try:
        adapter.check(
            Settings(
                model=model,
                base_url=ANY_PORT_URL,
                dialect=api,
                output_limit=output.value,
                context=None if context is None else context.value,
                effort=None,
                instruction="any",
                home=HOME,
                workdir="/work",
                package_dir=harness_place(adapter.name, version),
                env={},
            )
        )
    except RefusedError as error:
        refusal = str(error)
    return HarnessView(name=adapter.name, version=version, refusal=refusal)


_SOURCES = {
    LimitSource.OPERATOR: "operator: [profiles.P.models] in stanchion.toml",
    LimitSource.DOCUMENTED: "documented by the vendor",
    LimitSource.DEFAULT: "default: nothing is known of this model",
}


def limits_lines(view: LimitsView) -> list[str]:
    """For people."""
    lines = [f"model     {view.model}"]
    if view.documented_by is not None:
        lines.append(f"          {view.documented_by}")
    for way in view.accounts:
        whose = "any account" if way.account is None else f"{way.profile}/{way.account}"
        context, output = way.context, way.output_limit
        lines += [
            "",
            f"account   {whose} ({way.api})",
            f"limit     {output.value} output tokens   {_SOURCES[output.source]}",
            "context   unknown: the harness never compacts by itself"
            if context is None
            else f"context   {context.value} tokens   {_SOURCES[context.source]}",
            f"effort    {' '.join(way.effort_words)}",
            f"          {way.effort_source}",
            f"thinking  {way.thinking_budget or 'this API has no thinking budget'}",
        ]
        for harness in way.harnesses:
            word = "takes it" if harness.refusal is None else f"refuses: {harness.refusal}"
            lines.append(f"harness   {harness.name} {harness.version} {word}")
        if way.problem is not None:
            lines.append(f"NOT OK    {way.problem}")
    return [
        *lines,
        "",
        "change    --output-limit N, --context N, or the model's table in stanchion.toml",
    ]
