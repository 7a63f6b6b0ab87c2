"""Decides whether the harness may start: what was declared, what is mounted, what was written.

Pure; never runs the harness to ask it. A broken rule raises RefusedError and the harness never
starts.
"""

from collections.abc import Mapping

from stanchion.harness_adapters.base import Adapter, Settings, Written
from stanchion.protocol.codec import PROTOCOL_VERSION
from stanchion.protocol.dialects import EFFORT_WORDS, knows_effort
from stanchion.protocol.launch import Isolation, LaunchSpec
from stanchion.protocol.refusal import refuse
from stanchion.supervisor.launch_files import Launch, PackageSeen


def check_terms(launch: Launch, adapter: Adapter) -> int:
    """Check what the spec says; the output limit that holds."""
    spec = launch.frozen.spec
    _check_protocol(spec)
    _check_effort(spec)
    _check_adapter(spec, adapter)
    if launch.instruction_sha256 != spec.task.instruction_sha256:
        raise refuse(
            "instruction_differs",
            field="task.instruction_sha256",
            value=launch.instruction_sha256,
            rule=f"the instruction must have digest {spec.task.instruction_sha256}",
            remedy="The task changed during the launch: launch it again",
        )
    limit = spec.limits.output_tokens
    if limit is None:
        raise refuse(
            "limit_missing",
            field="limits.output_tokens",
            value=None,
            rule="every attempt must declare an output limit",
            remedy="Pass --output-limit N or set it for the model in the profile",
        )
    return limit.value


def _check_protocol(spec: LaunchSpec) -> None:
    if spec.protocol != PROTOCOL_VERSION:
        raise refuse(
            "protocol_differs",
            field="protocol",
            value=spec.protocol,
            rule=f"this supervisor speaks protocol {PROTOCOL_VERSION}",
            remedy="Use a supervisor bundle of the launcher's version: stanchion images bundle",
        )


def _check_effort(spec: LaunchSpec) -> None:
    word = spec.effort.word
    if word is None or spec.effort.raw or knows_effort(spec.dialect, word):
        return
    raise refuse(
        "effort_unknown",
        field="effort.word",
        value=word,
        rule=f"{spec.dialect} knows {', '.join(EFFORT_WORDS[spec.dialect])}",
        remedy="Use one of these words, or --effort-raw to send another one verbatim",
    )


def _check_adapter(spec: LaunchSpec, adapter: Adapter) -> None:
    if spec.dialect not in adapter.dialects:
        raise refuse(
            "dialect_unsupported",
            field="dialect",
            value=spec.dialect,
            rule=f"{adapter.name} speaks {', '.join(adapter.dialects)}",
            remedy="Choose an account with one of these APIs",
        )
    if spec.harness.version not in adapter.versions:
        raise refuse(
            "harness_version",
            field="harness.version",
            value=spec.harness.version,
            rule=f"the behaviour of {adapter.name} was measured for {', '.join(adapter.versions)}",
            remedy="Launch one of these versions",
        )


def check_package(spec: LaunchSpec, seen: PackageSeen) -> None:
    """The mounted package must be the one that the spec names."""
    wanted = spec.harness
    rule = remedy = value = None
    if seen.manifest_sha256 != wanted.sha256:
        rule = f"the manifest of {wanted.name} {wanted.version} must have digest {wanted.sha256}"
        value = seen.manifest_sha256 or "no manifest"
    elif (seen.name, seen.version) != (wanted.name, wanted.version):
        rule = f"the package must be {wanted.name} {wanted.version}"
        value = f"{seen.name} {seen.version}"
    elif seen.wrong_sizes:
        rule = "every file must have the size that the manifest lists"
        value = seen.wrong_sizes[0]
    if rule is None:
        return
    remedy = f"Fetch it again: stanchion harness fetch {wanted.name}@{wanted.version}"
    raise refuse("harness_differs", field="harness", value=value, rule=rule, remedy=remedy)


def corrected(spec: LaunchSpec) -> frozenset[str]:
    """What the harness is not told, since the broker writes it into the requests."""
    limit, word = spec.limits.output_tokens, spec.effort.word
    values = {correction.value for correction in spec.corrections}
    names = {"output_limit"} if limit is not None and limit.value in values else set()
    return frozenset(names | ({"effort"} if word is not None and word in values else set()))


def check_written(settings: Settings, written: Written, corrected: frozenset[str]) -> None:
    """What the harness will understand must be what was asked for, or nothing if it is unsaid."""
    unsaid = corrected | written.unsaid
    asked: dict[str, tuple[object, object]] = {
        "model": (settings.model, written.model),
        "output_limit": (settings.output_limit, written.output_limit),
        "context": (settings.context, written.context),
    }
    if settings.effort is not None:  # unspecified: what the harness sends is recorded, not judged
        asked["effort"] = (settings.effort, written.effort)
    if settings.thinking_budget is not None:
        asked["thinking_budget"] = (settings.thinking_budget, written.thinking_budget)
    differing = [
        name
        for name, (wanted, found) in asked.items()
        if wanted != found and not (found is None and name in unsaid)
    ]
    base_url = written.base_url or ""
    if base_url != settings.base_url and not base_url.startswith(f"{settings.base_url}/"):
        asked["base_url"] = (settings.base_url, written.base_url)
        differing.append("base_url")
    if differing:
        wanted, found = asked[differing[0]]
        raise refuse(
            "config_differs",
            field=f"configuration.{differing[0]}",
            value=found,
            rule=f"the written configuration must say {wanted}",
            remedy="The adapter does not fit this harness version; please report it",
        )


def isolation_mode(asked: Isolation, checks: Mapping[str, bool]) -> str:
    """`M2` if it was asked for and every check held, else `none`."""
    held = bool(checks) and all(checks.values())
    return (asked if held else Isolation.NONE).value


def check_isolation(spec: LaunchSpec, checks: Mapping[str, bool]) -> str:
    """Fail closed where the self-test did not hold; the mode that holds."""
    mode = isolation_mode(spec.sandbox.isolation, checks)
    if mode == spec.sandbox.isolation or spec.sandbox.allow_weak:
        return mode
    failed = sorted(name for name, held in checks.items() if not held)
    raise refuse(
        "isolation_failed",
        field="sandbox.isolation",
        value=", ".join(failed) or "no check ran",
        rule=f"every self-test of {spec.sandbox.isolation} must hold before the harness starts",
        remedy="Use a sandbox that allows namespaces inside, or allow weak isolation explicitly",
    )
