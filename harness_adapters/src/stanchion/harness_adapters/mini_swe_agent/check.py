"""What mini-swe-agent 2.4.6 would misread or change, refused before the start.

Decides nothing about policy (which limits or words are allowed); it must never let a value through
that would reach the wire as another one.
"""

from collections.abc import Sequence

from stanchion.harness_adapters import common_checks as common
from stanchion.harness_adapters.base import Settings
from stanchion.protocol.dialects import EFFORT_WORDS, Dialect
from stanchion.protocol.refusal import refuse

NAME = "mini_swe_agent"
_BRIDGED = "responses/"
"""litellm takes a model of this beginning for one of OpenAI's other API, and cuts it off."""
_RESERVED = common.Reserved(
    prefixes=("MSWEA_", "LITELLM_", "OPENAI_", "ANTHROPIC_", "TIKTOKEN_", "CUSTOM_TIKTOKEN_"),
    names=("SSL_VERIFY", "SSL_CERT_FILE", "AIOHTTP_TRUST_ENV", "DEFAULT_MAX_RETRIES"),
)


def check(settings: Settings, dialects: Sequence[Dialect]) -> None:
    """Raise RefusedError for the first thing that is wrong."""
    common.check_dialect(NAME, settings.dialect, dialects)
    common.check_model(NAME, settings.model)
    common.check_effort_form(NAME, settings.effort)
    common.check_tokens(NAME, "limits.output_tokens", settings.output_limit)
    common.check_tokens(NAME, "limits.context", settings.context)
    common.check_instruction(NAME, settings.instruction)
    # An argument with an equals sign is taken for a setting.
    common.check_places(settings, excluded="=")
    common.check_environment(settings, _RESERVED)
    if settings.model.startswith(_BRIDGED):
        raise refuse(
            "model_unwritable",
            field="--model",
            value=settings.model,
            rule=f"{NAME} asks for a model of this name through another API, and without "
            f"{_BRIDGED}",
            remedy="Name the model by an id that begins otherwise; a gateway can map it",
        )
    _check_word(settings)


def _check_word(settings: Settings) -> None:
    words = EFFORT_WORDS[Dialect.ANTHROPIC_MESSAGES]
    if settings.dialect is not Dialect.ANTHROPIC_MESSAGES or settings.effort in {None, *words}:
        return
    raise refuse(
        "effort_unwritable",
        field="--effort-raw",
        value=settings.effort,
        rule=f"over {settings.dialect} {NAME} takes {', '.join(words)} and ends before it asks "
        "for any other",
        remedy="Use one of these words, or none to leave the effort unspecified",
    )
