"""Folds the usage objects of Anthropic messages. Pure.

What `message_start` says of the output is provisional (Anthropic API reference, "Streaming
messages"). Input does not include what the cache gave or took; output includes thinking ("Prompt
caching", "Extended thinking").
"""

from stanchion.broker.plane.dialects.figures import Figures, Reported

_NAMES = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_input_tokens": "cache_read_tokens",
    "cache_creation_input_tokens": "cache_write_tokens",
}
"""Fields of the usage object, and ours."""


class UsageFold:
    """The figures so far."""

    def __init__(self) -> None:
        self._figures = Figures()

    def start(self, value: object) -> None:
        """The usage of `message_start`."""
        if isinstance(value, dict):
            self.take({name: count for name, count in value.items() if name != "output_tokens"})

    def take(self, value: object) -> None:
        """The usage of a `message_delta` or of a whole message."""
        if not isinstance(value, dict):
            return
        details = value.get("output_tokens_details")
        thinking = details.get("thinking_tokens") if isinstance(details, dict) else None
        for theirs, ours in _NAMES.items():
            self._figures.take(ours, value.get(theirs))
        self._figures.take("reasoning_tokens", thinking)

    def report(self, *, produced: bool, reasoned: bool) -> Reported:
        """All of it. `produced`: text, thinking or a tool call came; `reasoned`: thinking did."""
        return self._figures.report(
            produced=produced,
            reasoned=reasoned,
            output="final output_tokens",
            input_includes_cache=False,
            output_includes_reasoning=True,
        )
