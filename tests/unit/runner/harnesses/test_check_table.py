from stanchion.protocol.dialects import Dialect
from stanchion.runner.harnesses.cells import Cell, Scenario
from stanchion.runner.harnesses.check_table import closing, table
from stanchion.runner.harnesses.judging import Judged, Verdict
from stanchion.runner.harnesses.wire_reading import Request

PLAIN = Cell("tool", "1", Dialect.GEMINI, 8_000, "low", Scenario.PLAIN)
TRAP = Cell("claude_code", "2", Dialect.ANTHROPIC_MESSAGES, 128_000, "max", Scenario.FALLBACK,
            64_000)  # fmt: skip
FIRST = Request(limit=128_000, effort="max", field="max_tokens", stream=True)
LATER = Request(
    limit=128_000, effort="max", field="max_tokens", stream=False, limit_asked=64_000,
    effort_asked="max", corrected=("max_tokens",),
)  # fmt: skip
ROWS = [
    (TRAP, Judged(cell="t", verdict=Verdict.RIGHT, written=(128_000, "max"), first=FIRST,
                  again=(LATER,))),
    (PLAIN, Judged(cell="p", verdict=Verdict.REFUSED, why="effort_unwritable")),
    (PLAIN, Judged(cell="p", verdict=Verdict.WRONG, why="request 1 of 1: None None")),
]  # fmt: skip


def test_a_row_shows_requested_written_observed_and_the_correction_on_its_way() -> None:
    head, trap, refused, wrong = (" ".join(line.split()) for line in table(ROWS))

    assert head == "harness API limit effort written first asked again"
    assert trap == (
        "claude_code 2 anthropic_messages 128000 max 128000/max 128000/max "
        "64000/max -> 128000/max unstreamed right trap 64000: what a request without a stream is "
        "lowered to"
    )
    assert refused == "tool 1 gemini 8000 low - - - refused (effort_unwritable)"
    assert wrong == "tool 1 gemini 8000 low - - - WRONG request 1 of 1: None None"


def test_the_last_line_counts_and_a_declared_refusal_is_right() -> None:
    assert closing(ROWS) == "3 cells, 2 right, 1 of them refused as declared"
    assert closing(ROWS[:1]) == "1 cells, 1 right"
