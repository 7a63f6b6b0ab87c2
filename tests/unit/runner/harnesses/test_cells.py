from stanchion.harness_adapters.registry import NAMES, adapter
from stanchion.protocol.dialects import EFFORT_WORDS, Dialect
from stanchion.runner.harnesses.cells import LIMITS, TRAPS, Cell, Scenario, cells

SPEAKERS = [adapter(name) for name in NAMES if adapter(name).asks_model]


def test_every_limit_meets_every_effort_word_of_every_dialect_once() -> None:
    for speaker in SPEAKERS:
        found = [cell for cell in cells(speaker, "1") if cell.trap is None]
        expected = {
            (dialect, limit, word)
            for dialect in speaker.dialects
            for limit in (8_000, 64_000, 128_000, 200_000)
            for word in EFFORT_WORDS[dialect]
        }
        assert {(cell.dialect, cell.limit, cell.effort) for cell in found} == expected
        assert len(found) == len(expected)


def test_every_limit_of_every_dialect_is_also_asked_for_again() -> None:
    for speaker in SPEAKERS:
        for quick in (False, True):
            again = {
                (cell.dialect, cell.limit)
                for cell in cells(speaker, "1", quick=quick)
                if cell.scenario is Scenario.AGAIN
            }
            assert again == {(dialect, limit) for dialect in speaker.dialects for limit in LIMITS}


def test_the_quick_list_has_each_limit_and_each_word_of_each_dialect_and_is_short() -> None:
    opencode = adapter("opencode")
    quick, whole = cells(opencode, "1", quick=True), cells(opencode, "1")

    assert set(quick) <= set(whole)
    assert len(quick) < len(whole) / 2
    for dialect in opencode.dialects:
        mine = [cell for cell in quick if cell.dialect is dialect]
        assert {cell.effort for cell in mine} == set(EFFORT_WORDS[dialect])
        assert {cell.limit for cell in mine} == set(LIMITS)


def test_one_dialect_is_that_one_only() -> None:
    found = cells(adapter("opencode"), "1", dialects=(Dialect.GEMINI,))
    assert {cell.dialect for cell in found} == {Dialect.GEMINI}


def test_each_known_silent_limit_is_a_named_row_that_asks_for_more_than_it() -> None:
    assert {trap.number for trap in TRAPS} >= {8_000, 32_000, 64_000}
    assert all(trap.limit > trap.number for trap in TRAPS)
    claude = [cell for cell in cells(adapter("claude_code"), "1") if cell.trap]
    assert {(cell.trap, cell.limit) for cell in claude} == {
        (trap.number, trap.limit) for trap in TRAPS if trap.harness == "claude_code"
    }


def test_every_cell_has_a_name_of_its_own() -> None:
    for speaker in SPEAKERS:
        names: list[str] = [cell.name for cell in cells(speaker, "1")]
        assert len(set(names)) == len(names)
    cell = Cell("h", "1", Dialect.GEMINI, 8_000, "low", Scenario.PLAIN)
    assert cell.name == "gemini/8000/low/plain"
