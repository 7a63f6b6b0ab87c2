"""Folds the usage objects of both OpenAI APIs, chat completions and responses. Pure.

The last object wins, figures are cumulative and never summed, a figure out of range is unknown.
It must never turn an absent figure into 0.
"""

from dataclasses import dataclass

from stanchion.protocol.usage import Usage

MAX_TOKENS = 2**53 - 1


@dataclass(frozen=True, slots=True)
class Names:
    """What an API calls its counts; the details of each are in a member `NAME_details`."""

    input: str
    output: str


CHAT = Names(input="prompt_tokens", output="completion_tokens")
RESPONSES = Names(input="input_tokens", output="output_tokens")


class UsageFold:
    """The last usage object that came."""

    def __init__(self, names: Names = CHAT) -> None:
        self._names = names
        self._last: dict[str, object] | None = None

    def take(self, value: object) -> None:
        """A usage member of a chunk, a body or a choice; null says nothing."""
        if isinstance(value, dict) and value:
            self._last = value

    def read(self, *, produced: bool) -> tuple[Usage | None, str | None]:
        """The usage and, where something is unknown, why.

        `produced`: text, reasoning or a tool call came; 0 output tokens contradict that
        (BerriAI/litellm#41849).
        """
        if self._last is None:
            return None, "the provider reported no usage"
        usage = _usage(self._last, self._names)
        if produced and usage.output_tokens == 0:
            contradicted = Usage(
                input_tokens=usage.input_tokens,
                cache_read_tokens=usage.cache_read_tokens,
                cache_write_tokens=usage.cache_write_tokens,
            )
            return contradicted, "0 output tokens were reported for a response with content"
        if usage.output_tokens is None:
            return usage, f"the provider reported no valid {self._names.output}"
        return usage, None


def _usage(said: dict[str, object], names: Names) -> Usage:
    prompt = _details(said, names.input)
    cached = _count(prompt.get("cached_tokens"))
    if cached is None:  # Moonshot (earendil-works/pi#2017), DeepSeek API reference
        cached = _count(said.get("cached_tokens", said.get("prompt_cache_hit_tokens")))
    return Usage(
        input_tokens=_count(said.get(names.input)),
        output_tokens=_count(said.get(names.output)),
        reasoning_tokens=_count(_details(said, names.output).get("reasoning_tokens")),
        cache_read_tokens=cached,
        cache_write_tokens=_count(prompt.get("cache_write_tokens")),
    )


def _details(said: dict[str, object], name: str) -> dict[str, object]:
    value = said.get(f"{name}_details")
    return value if isinstance(value, dict) else {}


def _count(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= MAX_TOKENS else None
