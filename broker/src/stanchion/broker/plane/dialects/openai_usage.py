"""Folds the usage objects of both OpenAI APIs, chat completions and responses. Pure.

Input includes what a cache gave, output includes reasoning (OpenAI API reference, "usage"), unless
the figures themselves say otherwise: vendors of the same format count reasoning beside the output.
"""

from dataclasses import dataclass

from stanchion.broker.plane.dialects.figures import GROWING, Figures, Reported


@dataclass(frozen=True, slots=True)
class Names:
    """What an API calls its counts; the details of each are in a member `NAME_details`."""

    input: str
    output: str


CHAT = Names(input="prompt_tokens", output="completion_tokens")
RESPONSES = Names(input="input_tokens", output="output_tokens")


class UsageFold:
    """The figures so far."""

    def __init__(self, names: Names = CHAT) -> None:
        self._names = names
        self._figures = Figures()
        self._total: int | None = None
        self._passing = False

    def take(self, value: object, *, passing: bool = False) -> None:
        """A usage member of a chunk, a body or a choice; null says nothing.

        `passing`: it came beside content, and may be that of a moment (vllm-project/vllm#5708).
        """
        if not isinstance(value, dict):
            return
        self._passing = passing
        prompt = _details(value, self._names.input)
        cached = prompt.get("cached_tokens")
        if cached is None:  # Moonshot (earendil-works/pi#2017), DeepSeek API reference
            cached = value.get("cached_tokens", value.get("prompt_cache_hit_tokens"))
        said = {
            "input_tokens": value.get(self._names.input),
            "output_tokens": value.get(self._names.output),
            "reasoning_tokens": _details(value, self._names.output).get("reasoning_tokens"),
            "cache_read_tokens": cached,
            "cache_write_tokens": prompt.get("cache_write_tokens"),
        }
        for name, figure in said.items():
            if figure is not None:
                self._figures.take(name, figure)
        total = value.get("total_tokens")
        self._total = total if isinstance(total, int) else self._total

    def report(self, *, produced: bool, reasoned: bool, ended: bool) -> Reported:
        """All of it.

        `produced`: text, reasoning or a tool call came; `reasoned`: reasoning did. `ended`: a
        reason for the end came.
        """
        return self._figures.report(
            produced=produced,
            reasoned=reasoned,
            output=self._names.output,
            momentary=GROWING if self._passing and not ended else frozenset(),
            input_includes_cache=self._input_includes_cache(),
            output_includes_reasoning=self._output_includes_reasoning(),
        )

    def _input_includes_cache(self) -> bool:
        """False where the cache gave more than there was."""
        given, cached = self._figures.get("input_tokens"), self._figures.get("cache_read_tokens")
        return given is None or cached is None or cached <= given

    def _output_includes_reasoning(self) -> bool | None:
        """By arithmetic where it tells: the total has the reasoning once, in the output or not.

        xAI counts it beside the output. A total that fits neither leaves it open.
        """
        reasoning = self._figures.get("reasoning_tokens")
        made = self._figures.get("output_tokens")
        if made is None or not reasoning:
            return True
        given = self._figures.get("input_tokens")
        if given is None or self._total is None:
            return reasoning <= made
        if self._total == given + made:
            return reasoning <= made or None
        return False if self._total == given + made + reasoning else None


def _details(said: dict[str, object], name: str) -> dict[str, object]:
    value = said.get(f"{name}_details")
    return value if isinstance(value, dict) else {}
