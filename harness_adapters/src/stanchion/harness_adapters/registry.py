"""Which harnesses there are, by name.

Decides only whether a name is known; it must never guess one that is nearly right. An adapter is
imported when it is asked for: the supervisor needs one, and its start is paid by every attempt.
"""

from collections.abc import Callable
from importlib import import_module
from typing import cast

from stanchion.harness_adapters.base import Adapter
from stanchion.protocol.refusal import refuse

_ADAPTERS = {
    "claude_code": "claude_code:ClaudeCode",
    "noop": "without_model:Noop",
    "opencode": "opencode:OpenCode",
    "oracle": "without_model:Oracle",
}
"""Of each name its module here and its class."""

NAMES = tuple(sorted(_ADAPTERS))


def adapter(name: str) -> Adapter:
    """The adapter of this harness, or a refusal that names the known ones."""
    if name not in _ADAPTERS:
        raise refuse(
            "harness_unknown",
            field="--harness",
            value=name,
            rule=f"the known harnesses are {', '.join(NAMES)}",
            remedy="Choose one of them, as --harness opencode",
        )
    module, _, kind = _ADAPTERS[name].partition(":")
    found = getattr(import_module(f"stanchion.harness_adapters.{module}"), kind)
    return cast("Callable[[], Adapter]", found)()
