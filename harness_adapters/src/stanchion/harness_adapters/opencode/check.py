"""What OpenCode 1.18.33 would misread, clamp or drop without a word, refused before the start.

Decides nothing about policy (which limits or words are allowed); it must never let a value through
that would reach the wire as another one.
"""

from collections.abc import Sequence

from stanchion.harness_adapters import common_checks as common
from stanchion.harness_adapters.base import Settings
from stanchion.harness_adapters.opencode.config import RESERVE_TOKENS
from stanchion.harness_adapters.opencode.packages import PACKAGES, Package
from stanchion.protocol.dialects import Dialect
from stanchion.protocol.refusal import refuse

NAME = "opencode"
_RESERVED = common.Reserved(prefixes=("OPENCODE_", "BUN_"))


def check(settings: Settings, dialects: Sequence[Dialect]) -> None:
    """Raise RefusedError for the first thing that is wrong."""
    common.check_dialect(NAME, settings.dialect, dialects)
    common.check_model(NAME, settings.model)
    _check_numbers(settings)
    package = PACKAGES[settings.dialect]
    _check_path(settings, package)
    _check_ceiling(settings, package)
    _check_effort(settings.effort, package)
    common.check_instruction(NAME, settings.instruction)
    # Text in braces would be substituted in its configuration.
    common.check_places(settings, excluded="{}")
    common.check_environment(settings, _RESERVED)


def _check_path(settings: Settings, package: Package) -> None:
    if package.model_in_path and "/" in settings.model:
        raise refuse(
            "model_unwritable",
            field="--model",
            value=settings.model,
            rule=f"opencode's package {package.npm} makes an id with a slash the whole path of its "
            "requests",
            remedy="Name the model as the provider lists it, without models/",
        )


def _check_numbers(settings: Settings) -> None:
    common.check_tokens(NAME, "limits.output_tokens", settings.output_limit)
    common.check_tokens(NAME, "limits.context", settings.context)
    reserve = min(RESERVE_TOKENS, settings.output_limit)
    if settings.context is not None and settings.context <= reserve:
        raise refuse(
            "context_too_small",
            field="limits.context",
            value=settings.context,
            rule=f"opencode keeps {reserve} tokens of the context window free and would compact "
            "the conversation after every step of a window that is not larger",
            remedy=f"Give a window above {reserve}, or none, which switches compaction off",
        )


def _check_ceiling(settings: Settings, package: Package) -> None:
    ceiling = package.ceiling(settings.model)
    if ceiling is not None and settings.output_limit > ceiling[1]:
        raise refuse(
            "limit_clamped",
            field="limits.output_tokens",
            value=settings.output_limit,
            rule=f"opencode lowers the limit of every model whose id contains {ceiling[0]} to "
            f"{ceiling[1]} without a word, and this one is {settings.model}",
            remedy=f"Declare --output-limit {ceiling[1]} or less, or name the model under an id "
            "without these words; a gateway can map it to another",
        )


def _check_effort(effort: str | None, package: Package) -> None:
    common.check_effort_form(NAME, effort)
    if effort is None or package.efforts is None or effort in package.efforts:
        return
    if package.effort_field is None:
        raise refuse(
            "effort_unwritable",
            field="--effort",
            value=effort,
            rule=f"opencode's package {package.npm} takes {', '.join(package.efforts)} and ends "
            "before it asks for any other",
            remedy="Use one of these words, or none to leave the effort unspecified",
        )
