"""What a check says to people: a row a cell, requested -> written -> observed; one last line."""

from collections.abc import Sequence

from stanchion.runner.harnesses.cells import TRAPS, Cell
from stanchion.runner.harnesses.judging import Judged, Verdict
from stanchion.runner.harnesses.wire_reading import Request

COLUMNS = ("harness", "API", "limit", "effort", "written", "first", "asked again", "")


def table(judged: Sequence[tuple[Cell, Judged]]) -> list[str]:
    """All rows under one head."""
    rows = [COLUMNS, *(_row(cell, result) for cell, result in judged)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(COLUMNS))]
    return [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def closing(judged: Sequence[tuple[Cell, Judged]]) -> str:
    """The one plain line at the end; a cell that is refused as declared is right."""
    refused = sum(result.verdict is Verdict.REFUSED for _, result in judged)
    wrong = sum(result.verdict is Verdict.WRONG for _, result in judged)
    share = f", {refused} of them refused as declared" if refused else ""
    return f"{len(judged)} cells, {len(judged) - wrong} right{share}"


def _row(cell: Cell, result: Judged) -> tuple[str, ...]:
    written = "-" if result.written is None else _pair(*result.written)
    return (
        f"{cell.harness} {cell.version}",
        str(cell.dialect),
        str(cell.limit),
        cell.effort,
        written,
        "-" if result.first is None else request_text(result.first),
        "; ".join(request_text(request) for request in result.again) or "-",
        _words(cell, result),
    )


def request_text(request: Request) -> str:
    """As it was sent; before an arrow what the harness had asked for."""
    sent = _pair(request.limit, request.effort)
    if request.corrected:
        sent = f"{_pair(request.limit_asked, request.effort_asked)} -> {sent}"
    return f"{sent} unstreamed" if request.stream is False else sent


def _pair(limit: int | None, effort: str | None) -> str:
    return f"{'none' if limit is None else limit}/{effort or 'unsaid'}"


def _words(cell: Cell, result: Judged) -> str:
    words = str(result.verdict)
    if cell.trap is not None:
        what = next(
            trap.what
            for trap in TRAPS
            if (trap.harness, trap.number, trap.limit) == (cell.harness, cell.trap, cell.limit)
        )
        words += f"  trap {cell.trap}: {what}"
    if result.verdict is Verdict.WRONG:
        return f"WRONG {result.why}"
    return f"{words} ({result.why})" if result.why else words
