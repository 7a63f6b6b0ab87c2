"""Which launches show what a harness makes of limits and efforts: the list of cells. Pure.

Generated from the adapters, their dialects, four limits and the dialect's effort words; beside them
one named row for each silent limit that a harness is known for. It never knows what a cell will
show.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from stanchion.harness_adapters.base import Adapter
from stanchion.protocol.dialects import EFFORT_WORDS, Dialect

LIMITS = (8_000, 64_000, 128_000, 200_000)
QUICK_LIMIT = 128_000
MODEL = "future-9"
"""A name that no harness has a rule for."""


class Scenario(StrEnum):
    """What the provider does in a cell."""

    PLAIN = "plain"
    """It answers: one request, unless the harness has more to ask."""
    AGAIN = "again"
    """Its first answer breaks off, so that the harness asks again, however it does."""
    FALLBACK = "fallback"
    """Its first answer is that the path is not known, upon which some ask in another way."""
    LENGTH = "length"
    """Its first answer is cut at the limit."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One launch."""

    harness: str
    version: str
    dialect: Dialect
    limit: int
    effort: str
    scenario: Scenario
    trap: int | None = None
    """A named row: the number that the harness is known to send instead."""

    @property
    def name(self) -> str:
        """As the table and the records call it."""
        kind = f"trap-{self.trap}" if self.trap else str(self.scenario)
        return f"{self.dialect}/{self.limit}/{self.effort}/{kind}"


@dataclass(frozen=True, slots=True)
class Trap:
    """A limit that a harness falls to without a word."""

    harness: str
    number: int
    limit: int
    """What is asked for while it must not show."""
    scenario: Scenario
    what: str


TRAPS = (
    Trap("opencode", 32_000, 64_000, Scenario.PLAIN,
         "what every limit is lowered to without the experimental variable"),
    Trap("claude_code", 32_000, 128_000, Scenario.PLAIN, "the default of an unknown model"),
    Trap("claude_code", 64_000, 128_000, Scenario.FALLBACK,
         "what a request without a stream is lowered to"),
    Trap("claude_code", 64_000, 200_000, Scenario.FALLBACK, "the same"),
    Trap("claude_code", 128_000, 200_000, Scenario.PLAIN, "what its own variable is capped at"),
    Trap("qwen_code", 8_000, 128_000, Scenario.PLAIN, "the default of an unknown model"),
    Trap("qwen_code", 64_000, 200_000, Scenario.LENGTH,
         "what it asks for after an answer was cut at its limit"),
    Trap("pi", 32_000, 128_000, Scenario.PLAIN, "what every model's limit is capped at"),
)  # fmt: skip
"""As measured and written down in each adapter."""


def cells(
    adapter: Adapter,
    version: str,
    *,
    dialects: Sequence[Dialect] | None = None,
    quick: bool = False,
) -> list[Cell]:
    """Every cell of one release, in a fixed order."""
    spoken = [dialect for dialect in adapter.dialects if not dialects or dialect in dialects]
    found = [
        Cell(adapter.name, version, dialect, limit, effort, scenario)
        for dialect in spoken
        for limit, effort, scenario in _settings(dialect, quick=quick)
    ]
    found += [
        Cell(
            adapter.name, version, dialect, trap.limit, EFFORT_WORDS[dialect][-1], trap.scenario,
            trap.number,
        )
        for trap in TRAPS
        if trap.harness == adapter.name
        for dialect in spoken[:1]
    ]  # fmt: skip
    return found


def _settings(dialect: Dialect, *, quick: bool) -> Iterator[tuple[int, str, Scenario]]:
    words = EFFORT_WORDS[dialect]
    for row, limit in enumerate(LIMITS):
        for column, word in enumerate(words):
            if quick and limit != QUICK_LIMIT and column != row % len(words):
                continue
            # With each limit and with half of the words the harness is also made to ask again.
            again = column % 2 == row % 2
            yield limit, word, Scenario.AGAIN if again else Scenario.PLAIN
