"""Checks a launch against its profile before anything of it exists. Pure.

It decides whether the terms may be frozen; it must never fill in a term that is missing.
"""

import msgspec

from stanchion.broker.config import REHEARSAL, Account, Profile
from stanchion.broker.plane.path_model import MAX_MODEL, is_addressable
from stanchion.protocol.admin import OpenRun
from stanchion.protocol.codec import PROTOCOL_VERSION
from stanchion.protocol.dialects import EFFORT_WORDS, Dialect, knows_effort
from stanchion.protocol.launch import Isolation, LaunchSpec, LimitSource
from stanchion.protocol.refusal import refuse

LIMIT_MEMBERS: dict[Dialect, tuple[str, ...]] = {
    Dialect.OPENAI_CHAT: ("max_tokens", "max_completion_tokens"),
    Dialect.OPENAI_RESPONSES: ("max_output_tokens",),
    Dialect.ANTHROPIC_MESSAGES: ("max_tokens",),
    Dialect.GEMINI: (),
}
"""Members of a request body that carry its output limit; where it stands deeper, none."""
EFFORT_MEMBERS: dict[Dialect, tuple[str, ...]] = {
    Dialect.OPENAI_CHAT: ("reasoning_effort",),
    Dialect.OPENAI_RESPONSES: ("reasoning.effort",),
    Dialect.ANTHROPIC_MESSAGES: ("output_config.effort",),
    Dialect.GEMINI: ("generationConfig.thinkingConfig.thinkingLevel",),
}
"""The same of its effort; one that stands deeper by its path."""


def check_launch(order: OpenRun, profiles: dict[str, Profile]) -> tuple[Profile, Account]:
    """The profile and account that the launch may use; RefusedError for the first broken rule."""
    spec = order.spec
    _check_protocol(order)
    profile = profiles.get(spec.profile)
    if profile is None:
        raise refuse(
            "profile_unknown",
            field="--profile",
            value=spec.profile,
            rule=f"it is one of {', '.join(sorted(profiles))}",
            remedy="Name one of them, or add it to stanchion.toml and start the broker again",
        )
    account = _account(spec, profile)
    _check_rehearsal(order)
    _check_model(spec)
    _check_limit(spec, profile)
    _check_effort(spec, profile)
    _check_harness(spec, profile)
    _check_isolation(spec, profile)
    _check_corrections(spec)
    return profile, account


def _check_protocol(order: OpenRun) -> None:
    for number in (order.protocol, order.spec.protocol):
        if number != PROTOCOL_VERSION:
            raise refuse(
                "protocol_version",
                field="protocol",
                value=number,
                rule=f"this broker speaks protocol {PROTOCOL_VERSION}",
                remedy="Use the command and the broker of one installation",
            )


def _account(spec: LaunchSpec, profile: Profile) -> Account:
    account = profile.accounts.get(spec.model.account)
    if spec.profile == REHEARSAL and account is not None:
        account = msgspec.structs.replace(account, api=spec.dialect)
    if account is None:
        raise refuse(
            "account_missing",
            field="--model",
            value=f"{spec.model.account}/{spec.model.id}",
            rule=f"profile {spec.profile} has the account before the slash "
            f"(it has {', '.join(sorted(profile.accounts)) or 'none'})",
            remedy=f"Add [profiles.{spec.profile}.accounts.{spec.model.account}]; "
            "no other account is used in its place",
        )
    if account.api is not spec.dialect:
        raise refuse(
            "dialect_differs",
            field="--dialect",
            value=spec.dialect,
            rule=f"account {spec.model.account} speaks {account.api}",
            remedy=f"Launch with --dialect {account.api}, or use another account",
        )
    return account


def _check_model(spec: LaunchSpec) -> None:
    """Where the model stands in the path, every request of another form would be refused."""
    if spec.dialect is Dialect.GEMINI and not is_addressable(spec.model.id):
        raise refuse(
            "model_unaddressable",
            field="--model",
            value=spec.model.id,
            rule=f"{spec.dialect} has the model in the path: letters and digits, with single "
            f". _ - between them, {MAX_MODEL} at most, and no models/ before them",
            remedy="Name the model as the provider lists it, without models/",
        )


def _check_rehearsal(order: OpenRun) -> None:
    if order.rehearsal is None and order.spec.budget.requests == 0:
        return  # nobody is asked, so nobody has to play the model
    if (order.rehearsal is not None) is not (order.spec.profile == REHEARSAL):
        raise refuse(
            "rehearsal_profile",
            field="rehearsal",
            value=order.spec.profile,
            rule="a rehearsal provider goes with the built-in profile `rehearsal`, with no other",
            remedy="Launch with --model rehearsal/NAME, or without a rehearsal provider",
        )
    if order.rehearsal is not None and not 1 <= order.rehearsal.port <= 65535:
        raise refuse(
            "rehearsal_port",
            field="rehearsal.port",
            value=order.rehearsal.port,
            rule="it is a port from 1 to 65535 on this machine",
            remedy="Pass the port that the rehearsal provider printed",
        )


def _check_limit(spec: LaunchSpec, profile: Profile) -> None:
    limit = spec.limits.output_tokens
    if limit is None or limit.value < 1:
        raise refuse(
            "limit_missing",
            field="limits.output_tokens",
            value=None if limit is None else limit.value,
            rule="every attempt carries an output limit of at least 1 token",
            remedy="Pass --output-limit N",
        )
    if profile.limit_policy == "explicit" and limit.source is not LimitSource.LAUNCH:
        raise refuse(
            "limit_undeclared",
            field="--output-limit",
            value=None,
            rule=f"profile {spec.profile} has limit_policy explicit; this limit "
            f"({limit.value}) came from {limit.source}",
            remedy="Pass --output-limit N",
        )


def _check_effort(spec: LaunchSpec, profile: Profile) -> None:
    word = spec.effort.word
    if word is None and profile.effort_policy == "explicit":
        raise refuse(
            "effort_undeclared",
            field="--effort",
            value=None,
            rule=f"profile {spec.profile} has effort_policy explicit",
            remedy="Pass --effort WORD",
        )
    if word is not None and not spec.effort.raw and not knows_effort(spec.dialect, word):
        raise refuse(
            "effort_unknown",
            field="--effort",
            value=word,
            rule=f"{spec.dialect} knows {', '.join(EFFORT_WORDS[spec.dialect])}",
            remedy="Use one of these words, or pass it as --effort-raw",
        )


def _check_harness(spec: LaunchSpec, profile: Profile) -> None:
    wanted = profile.harnesses.get(spec.harness.name)
    if profile.harnesses and wanted != spec.harness.version:
        allowed = ", ".join(f"{name}@{version}" for name, version in profile.harnesses.items())
        raise refuse(
            "harness_version",
            field="--harness",
            value=f"{spec.harness.name}@{spec.harness.version}",
            rule=f"profile {spec.profile} allows {allowed}",
            remedy="Launch one of these, or change the profile's harnesses",
        )


def _check_isolation(spec: LaunchSpec, profile: Profile) -> None:
    """A profile that pays says how the agent is kept; the rehearsal has no key to lose."""
    if spec.profile == REHEARSAL or profile.allow_weak:
        return
    if spec.sandbox.isolation is Isolation.NONE and profile.isolation is not Isolation.NONE:
        raise refuse(
            "isolation_weak",
            field="sandbox.isolation",
            value=spec.sandbox.isolation,
            rule=f"profile {spec.profile} demands {profile.isolation}",
            remedy=f"Launch with --sandbox runsc, or set allow_weak = true in "
            f"[profiles.{spec.profile}]",
        )


def _check_corrections(spec: LaunchSpec) -> None:
    """A correction may only write what the launch declares, and where the dialect has it."""
    limit = spec.limits.output_tokens
    declared: dict[str, int | str | None] = {
        **dict.fromkeys(LIMIT_MEMBERS[spec.dialect], None if limit is None else limit.value),
        **dict.fromkeys(EFFORT_MEMBERS[spec.dialect], spec.effort.word),
    }
    for correction in spec.corrections:
        if correction.field not in declared or correction.value != declared[correction.field]:
            raise refuse(
                "correction_unsupported",
                field=f"corrections.{correction.field}",
                value=correction.value,
                rule=f"a correction writes the declared output limit or effort into one of "
                f"{', '.join(declared) or 'no field'} of {spec.dialect}",
                remedy="Use an adapter that corrects nothing else",
            )
