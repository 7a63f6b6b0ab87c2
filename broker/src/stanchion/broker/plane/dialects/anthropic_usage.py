"""Folds the usage objects of Anthropic messages. Pure.

Figures are cumulative: the last that came wins, none is summed, and one that falls contradicts
that and is unknown. What `message_start` says of the output is provisional (Anthropic API
reference, "Streaming messages"). It must never turn an absent figure into 0.
"""

from stanchion.protocol.usage import Usage

MAX_TOKENS = 2**53 - 1

_NAMES = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_input_tokens": "cache_read_tokens",
    "cache_creation_input_tokens": "cache_write_tokens",
}
"""Fields of the usage object, and ours. Input does not include what the cache gave or took."""


class UsageFold:
    """The figures so far."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        self._fell: set[str] = set()

    def start(self, value: object) -> None:
        """The usage of `message_start`."""
        if isinstance(value, dict):
            self._take({name: count for name, count in value.items() if name != "output_tokens"})

    def take(self, value: object) -> None:
        """The usage of a `message_delta` or of a whole message."""
        if isinstance(value, dict):
            self._take(value)

    def read(self, *, produced: bool) -> tuple[Usage | None, str | None]:
        """The usage and, where something is unknown, why.

        `produced`: text, thinking or a tool call came; 0 output tokens contradict that.
        """
        if not self._known:
            return None, "the provider reported no usage"
        if produced and self._known.get("output_tokens") == 0:
            usage = self._usage(without={"output_tokens"})
            return usage, "0 output tokens were reported for a response with content"
        if self._fell:
            why = f"{', '.join(sorted(self._fell))} fell, although figures are cumulative"
            return self._usage(without=self._fell), why
        if "output_tokens" not in self._known:
            return self._usage(without=set()), "the provider reported no final output_tokens"
        return self._usage(without=set()), None

    def _take(self, said: dict[str, object]) -> None:
        details = said.get("output_tokens_details")
        thinking = details.get("thinking_tokens") if isinstance(details, dict) else None
        for name, value in (
            *((ours, said.get(theirs)) for theirs, ours in _NAMES.items()),
            ("reasoning_tokens", thinking),
        ):
            count = _count(value)
            if count is None:
                continue
            if count < self._known.get(name, 0):
                self._fell.add(name)
            self._known[name] = count

    def _usage(self, *, without: set[str]) -> Usage:
        return Usage(**{name: n for name, n in self._known.items() if name not in without})


def _count(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= MAX_TOKENS else None
