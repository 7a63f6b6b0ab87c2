"""Which harnesses there are, by name.

Decides only whether a name is known; it must never guess one that is nearly right.
"""

from collections.abc import Callable

from stanchion.harness_adapters.base import Adapter
from stanchion.harness_adapters.claude_code import ClaudeCode
from stanchion.harness_adapters.opencode import OpenCode
from stanchion.harness_adapters.without_model import Noop, Oracle
from stanchion.protocol.refusal import refuse

_ADAPTERS: dict[str, Callable[[], Adapter]] = {
    ClaudeCode.name: ClaudeCode,
    Noop.name: Noop,
    OpenCode.name: OpenCode,
    Oracle.name: Oracle,
}

NAMES = tuple(sorted(_ADAPTERS))


def adapter(name: str) -> Adapter:
    """The adapter of this harness, or a refusal that names the known ones."""
    if name not in _ADAPTERS:
        raise refuse(
            "harness_unknown",
            field="--harness",
            value=name,
            rule=f"the known harnesses are {', '.join(NAMES)}",
            remedy=f"Choose one of them, as --harness {OpenCode.name}",
        )
    return _ADAPTERS[name]()
