"""The reference page on harnesses, from the adapters and the kept conformance records."""

from collections.abc import Iterator

from stanchion.harness_adapters.base import Adapter, all_corrections
from stanchion.harness_adapters.registry import NAMES, adapter
from stanchion.protocol.dialects import EFFORT_WORDS, Dialect
from stanchion.runner.harnesses import records
from stanchion.runner.harnesses.cells import LIMITS, TRAPS, Cell, cells
from stanchion.runner.harnesses.check_table import request_text
from stanchion.runner.harnesses.judging import Judged, Verdict

HEAD = """\
# Harnesses

What each harness is told, what it cannot say itself, and what it was seen to send: each cell of a
record is one launch of the real program in gVisor, through the broker, with a scripted provider.
`stanchion harness check NAME` makes the same table here and fails where it differs.
"""


def harnesses() -> str:
    """The page."""
    lines = [HEAD.rstrip()]
    for name in NAMES:
        lines += ["", *_section(adapter(name))]
    return "\n".join(lines) + "\n"


def _section(found: Adapter) -> Iterator[str]:
    yield f"## {found.name}"
    yield ""
    if not found.asks_model:
        yield "Asks no model."
        return
    yield from _table(("fact", ""), list(_facts(found)))
    for version in found.versions:
        record = records.load(found.name, version)
        if record is not None:
            yield ""
            yield from _record(found, record)


def _facts(found: Adapter) -> Iterator[tuple[str, str]]:
    yield "versions", ", ".join(found.versions)
    yield "APIs", ", ".join(f"`{dialect}`" for dialect in found.dialects)
    yield "waits for headers", f"{found.header_wait_s} s"
    yield "memory", f"at least {found.min_memory_mb} MB"
    for dialect in found.dialects:
        yield from _corrected(found, dialect)
        for side in found.side_requests(dialect):
            yield f"side request, `{dialect}`", f"{side.name}, up to {side.max_output_tokens}"
    for refuses in found.refuses:
        words = ", ".join(f"`{word}`" for word in refuses.efforts) or "any effort"
        above = f" above {refuses.above}" if refuses.above else ""
        yield f"refused, `{refuses.dialect}`", f"{words}{above}: {refuses.why}"


def _corrected(found: Adapter, dialect: Dialect) -> Iterator[tuple[str, str]]:
    """Of all words; those that need another correction than the limit's are named."""
    always = found.corrections(dialect, LIMITS[-1])
    for correction in always:
        yield f"corrected, `{dialect}`", f"`{correction.field}`: {correction.why}"
    for word in EFFORT_WORDS[dialect]:
        for correction in all_corrections(found, dialect, LIMITS[-1], word)[len(always) :]:
            yield f"corrected, `{dialect}`, `{word}`", f"`{correction.field}`: {correction.why}"


def _record(found: Adapter, record: records.ConformanceRecord) -> Iterator[str]:
    head = record.head
    counts = [cell.verdict for cell in record.cells]
    refused = counts.count(Verdict.REFUSED)
    share = f", {refused} of them refused as declared" if refused else ""
    yield f"**{head.version}**, seen {head.date} with runsc {head.runsc}:"
    yield f"{len(counts)} cells, {len(counts) - counts.count(Verdict.WRONG)} right{share}."
    yield "Effort words that reached the wire as asked, on every request:"
    yield ""
    known = cells(found, head.version)
    judged = list(zip(known, record.cells, strict=True))
    rows = [
        (
            f"`{dialect}`",
            *(_words(judged, dialect, limit) for limit in LIMITS),
            _again(judged, dialect),
        )
        for dialect in found.dialects
    ]
    yield from _table(("API", *map(str, LIMITS), "asked again"), rows)
    if traps := [(cell, result) for cell, result in judged if cell.trap]:
        yield ""
        yield from _table(
            ("trap", "what it is", "asked for", "seen"), [_trap(*row) for row in traps]
        )


def _words(judged: list[tuple[Cell, Judged]], dialect: Dialect, limit: int) -> str:
    words = [
        cell.effort
        for cell, result in judged
        if (cell.dialect, cell.limit, cell.trap) == (dialect, limit, None)
        and result.verdict is Verdict.RIGHT
    ]
    return " ".join(words)


def _again(judged: list[tuple[Cell, Judged]], dialect: Dialect) -> str:
    seen = [result for cell, result in judged if cell.dialect is dialect and result.again]
    return f"in {len(seen)} cells"


def _trap(cell: Cell, result: Judged) -> tuple[str, ...]:
    what = next(
        trap.what
        for trap in TRAPS
        if (trap.harness, trap.number, trap.limit) == (cell.harness, cell.trap, cell.limit)
    )
    shown = [request for request in (result.first, *result.again) if request is not None]
    return str(cell.trap), what, str(cell.limit), "; ".join(map(request_text, shown))


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
