"""Collects the token figures of one response: what was said of each last, and what cannot be. Pure.

Figures are cumulative: the last one that came wins, none is summed, and one that falls contradicts
that for good. What is no count (a negative number, a text, a fraction, a number beyond 53 bits) is
unknown and kept as it was said, shortened. It must never turn an absent figure into 0.
"""

from collections.abc import Mapping

import msgspec

from stanchion.broker.plane.dialects.words import short
from stanchion.protocol.usage import Usage

MAX_TOKENS = 2**53 - 1
GROWING = frozenset({"output_tokens", "reasoning_tokens"})
"""What grows while a response comes."""


class Reported(msgspec.Struct, frozen=True):
    """What a response says of its tokens."""

    usage: Usage | None = None
    why: str | None = "the provider reported no usage"
    """Where something is unknown."""
    malformed: Mapping[str, str] = {}
    """Figures that cannot be, by our names, as they were said."""
    contradicted: bool = False
    """Whether a figure of 0 stands against content that came."""
    input_includes_cache: bool | None = None
    """Whether the input figure has in it what a cache gave or took; None = not known."""
    output_includes_reasoning: bool | None = None
    """Whether the output figure has the reasoning in it; None = not known."""


class Figures:
    """Those of one response so far, by the names of `Usage`."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._malformed: dict[str, str] = {}
        self._fell: set[str] = set()

    def take(self, name: str, value: object) -> None:
        """What was said of one figure; None says nothing."""
        if value is None or name in self._fell:
            return
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_TOKENS:
            self._malformed[name] = short(value)
            return
        before = self._known.get(name, 0)
        self._malformed.pop(name, None)
        self._known[name] = value
        if value < before:
            self._fell.add(name)
            self._malformed[name] = f"{before}, then {value}"

    def get(self, name: str) -> int | None:
        """A figure; None = not said, or it cannot be."""
        return None if name in self._malformed else self._known.get(name)

    def report(
        self,
        *,
        produced: bool,
        reasoned: bool,
        output: str,
        momentary: frozenset[str] = frozenset(),
        input_includes_cache: bool | None,
        output_includes_reasoning: bool | None,
    ) -> Reported:
        """All of it.

        `produced`, `reasoned`: output of its own, or reasoning, came: a figure of 0 contradicts
        that (BerriAI/litellm#41849). `output`: the provider's own name of the output figure.
        `momentary`: figures that were growing still when the response was cut.
        """
        if not self._known and not self._malformed:
            return Reported()
        denied = self._denied(produced=produced, reasoned=reasoned)
        malformed = self._malformed | dict.fromkeys(denied, "0")
        known = self._known
        if malformed or momentary:
            known = {
                name: count
                for name, count in known.items()
                if name not in malformed and name not in momentary
            }
        usage = Usage(**known)
        return Reported(
            usage=usage,
            why=self._why(denied, usage, output, momentary),
            malformed=malformed,
            contradicted=bool(denied),
            input_includes_cache=input_includes_cache,
            output_includes_reasoning=output_includes_reasoning,
        )

    def _denied(self, *, produced: bool, reasoned: bool) -> list[str]:
        """Figures of 0 against what came."""
        if 0 not in self._known.values():
            return []
        # Where all output is denied, a reasoning of 0 within it says nothing either.
        denies_all = produced and self.get("output_tokens") == 0
        shown = {"output_tokens": produced, "reasoning_tokens": reasoned or denies_all}
        return [name for name, came in shown.items() if came and self.get(name) == 0]

    def _why(
        self, denied: list[str], usage: Usage, output: str, momentary: frozenset[str]
    ) -> str | None:
        if momentary:
            return "the response did not end, its output was counted so far only"
        if denied:
            what = "content" if denied[0] == "output_tokens" else "reasoning"
            figure = denied[0].replace("_", " ")
            return f"0 {figure} were reported for a response with {what}"
        if self._fell:
            names = ", ".join(sorted(self._fell))
            return f"{names} fell, although figures are cumulative"
        if self._malformed:
            said = ", ".join(f"{name} {raw}" for name, raw in sorted(self._malformed.items()))
            return f"no count of tokens: {said}"
        return f"the provider reported no {output}" if usage.output_tokens is None else None
