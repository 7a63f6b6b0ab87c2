"""Reports as people read them. Decides layout only.

Every word that comes from a bundle is shown as text: no markup, and no control character that
could move the terminal's cursor.
"""

from collections.abc import Iterable

from rich.console import Console
from rich.text import Text

from stanchion.broker.auditing.facts import Along, Facts
from stanchion.broker.auditing.judging import Report, Verdict

_STYLES = {
    Verdict.VERIFIED: "bold green",
    Verdict.REQUIREMENT_FAILED: "bold yellow",
    Verdict.SIGNER_UNKNOWN: "bold yellow",
    Verdict.INCOMPLETE: "bold yellow",
    Verdict.TAMPERED: "bold red",
}


def print_reports(reports: Iterable[Report], console: Console) -> None:
    """One block a report, a blank line between two."""
    for at, report in enumerate(reports):
        if at:
            console.print()
        for line in _block(report):
            console.print(line, soft_wrap=True)


def _block(report: Report) -> Iterable[Text]:
    head = Text()
    head.append(report.verdict.value.upper(), style=_STYLES[report.verdict])
    head.append(f"  {_plain(report.path)}")
    yield head
    if report.why is not None:
        yield Text(f"  why           {_plain(report.why)}")
    if report.signer is not None:
        trust = "trusted" if report.signer.trusted else "not trusted"
        whose = f"run           {report.run} attempt {report.attempt}"
        yield Text(f"  {whose if report.job is None else f'job           {report.job}'}")
        yield Text(f"  key           {report.signer.fingerprint} ({trust})")
    if report.facts is not None:
        yield from _facts(report, report.facts)
    for checked in report.requirements:
        held = "holds" if checked.held else f"does not hold: {_plain(checked.why)}"
        yield Text(f"  require       {_plain(checked.key)}={_plain(checked.value)}  {held}")
    yield from _list("proven", report.proven)
    yield from _list("not proven", report.not_proven)


def _facts(report: Report, facts: Facts) -> Iterable[Text]:
    unended = len(report.unended or ())
    cut = f"{facts.interrupted} interrupted, " if facts.interrupted else ""
    yield Text(
        f"  records       {report.records}, exchanges {report.exchanges}: "
        f"{facts.completed} completed, {cut}{unended} without an end; "
        f"{facts.side_requests} side requests, {facts.corrected} corrected, "
        f"{facts.denied} denied, {facts.mismatches} mismatches"
    )
    lost = f", {facts.ambiguous} ambiguous" if facts.ambiguous else ""
    yield Text(f"  calls         {facts.calls} logical, {facts.sendings} sendings{lost}")
    if facts.held_ms or facts.gave_up:
        yield Text(f"  paced         held {facts.held_ms / 1000:.1f} s, {facts.gave_up} given up")
    if facts.reasoning is not None and facts.lengths is not None:
        seen, lengths = facts.reasoning, facts.lengths
        answered = seen.present + seen.absent + seen.unknown
        unknown = f", unknown {lengths.unknown}" if lengths.unknown else ""
        yield Text(
            f"  responses     reasoning in {seen.present} of {answered}, "
            f"length stops {lengths.stops}{unknown}"
        )
    odd = {**facts.flags, **({"malformed": facts.malformed} if facts.malformed else {})}
    if odd:
        yield Text(f"  odd           {', '.join(f'{word} {n}' for word, n in odd.items())}")
    yield Text(f"  harness       {_plain(facts.harness)}")
    yield Text(f"  isolation     {_plain(', '.join(facts.isolation) or 'not reported')}")
    score = "withheld" if facts.score is None else facts.score
    ended = "no close" if facts.outcome is None else f"{facts.outcome}, {facts.grade}"
    yield Text(f"  ended         {_plain(ended)}, score {_plain(score)}")
    yield Text(f"  {'':<13} {'requested':<20} {'written':<20} on the wire", style="dim")
    rows = [("output limit", facts.output_limit), ("effort", facts.effort), ("model", facts.model)]
    if facts.thinking_budget is not None:
        rows.insert(2, ("thinking", facts.thinking_budget))
    for name, along in rows:
        yield Text(f"  {name:<13} {_along(along, facts.requests)}")


def _along(along: Along, requests: int) -> str:
    requested = "unspecified" if along.requested is None else str(along.requested)
    if along.source is not None:
        requested = f"{along.source} {requested}"
    written = "unknown" if along.written is None else str(along.written)
    wire = ", ".join(
        f"{'absent' if seen.value is None else seen.value} ({seen.requests} of {requests})"
        for seen in along.on_the_wire
    )
    return f"{_plain(requested):<20} {_plain(written):<20} {_plain(wire) or 'no request'}"


def _list(title: str, sentences: Iterable[str]) -> Iterable[Text]:
    for at, sentence in enumerate(sentences):
        yield Text(f"  {'' if at else title:<13} - {_plain(sentence)}")


def _plain(text: str | None) -> str:
    """The text without characters that a terminal would act on."""
    shown = text or ""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)
