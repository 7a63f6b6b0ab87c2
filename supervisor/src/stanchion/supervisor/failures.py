"""Counts what failed since the last progress. Pure.

A response that completed with nothing in it is a failure like any other: an endless chain of them
looks busy and gets nowhere (OpenCode issues #49414, #49008). Tool calls that the harness refused
are counted apart: they are the model's, and the request behind them went well.
"""

from dataclasses import dataclass

from stanchion.protocol.exchange import Answered, ErrorClass, ExchangeResult
from stanchion.supervisor.evidence import Evidence, RequestEnded, Step, ToolFailed

FAILING_WORDS = frozenset({"unknown", "error"})
"""Words of harnesses for a step that came to nothing."""


@dataclass(slots=True)
class Failures:
    """The fold of failing requests, steps and tool calls."""

    first_ms: int | None = None
    last_ms: int | None = None
    requests: int = 0
    steps: int = 0
    overflows: int = 0
    invalid_call: str | None = None
    invalid_item: str | None = None
    invalid_calls: int = 0
    """Identical ones, in a row."""

    def observe(self, evidence: Evidence, at_ms: int) -> bool:
        """Whether a request or a step failed with this."""
        match evidence:
            case RequestEnded(side=False, answered=answered) if failed(answered):
                self.requests += 1
                self.overflows += answered.error_class is ErrorClass.CONTEXT_OVERFLOW
            case Step(counts=False, reason=reason) if reason in FAILING_WORDS:
                self.steps += 1
            case ToolFailed(item=item, call=call) if item != self.invalid_item:
                self.invalid_calls = self.invalid_calls + 1 if call == self.invalid_call else 1
                self.invalid_call, self.invalid_item = call, item
                return False
            case _:
                return False
        self.first_ms = at_ms if self.first_ms is None else self.first_ms
        self.last_ms = at_ms
        return True

    @property
    def in_a_row(self) -> int:
        """One failure may show both on the wire and as a saved step."""
        return max(self.requests, self.steps)


def failed(answered: Answered) -> bool:
    """Whether the request came to nothing. What could not be read is unknown, and no failure."""
    if answered.result is not ExchangeResult.COMPLETED:
        return True
    return answered.text_present is False and answered.tool_calls == 0 == answered.cut_tool_calls
