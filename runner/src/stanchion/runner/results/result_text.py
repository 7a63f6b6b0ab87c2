"""A result as people read it: one block of aligned lines. Pure.

Shows what is known and says what is not; a withheld score is never shown as a number. With the
receipts at hand, counts over all requests stand beside the distinct values.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from stanchion.protocol.outcome import Blame, Retry
from stanchion.protocol.result import AttemptResult, OpenAttempt
from stanchion.runner.results.wire_picture import WirePicture

UNKNOWN = "unknown"
LABEL_WIDTH = 7
NOT_PROVEN = "not proven: that no other route to the provider existed"

Shown = AttemptResult | OpenAttempt
Counts = Mapping[int | None, int] | Mapping[str | None, int]


def result_text(
    result: Shown,
    wire: WirePicture | None = None,
    *,
    where: str | None = None,
    planned: int | None = None,
) -> str:
    """The block. `where`: the path by which its reader got here, if there is one."""
    lines = [
        _head(result, wire, planned),
        *_ending_lines(result, wire),
        _line("next", _next(result, where)),
        _line("limit", _limit(result, wire)),
        _line("effort", _effort(result, wire)),
        _line("model", _model(result, wire)),
        _line("calls", _calls(result, wire)),
        _line("usage", _usage(result, wire)),
        _line("time", _time(result, wire)),
        _line("box", _box(result, wire)),
        _line("proof", _proof(result, wire)),
    ]
    return "\n".join(lines)


def _head(result: Shown, wire: WirePicture | None, planned: int | None) -> str:
    harness = f"{result.harness.name} {result.harness.version}"
    launch = wire and wire.launch
    profile = f" · profile {launch.spec.profile}" if launch else ""
    return (
        f"run {result.run} · {result.task} attempt {_number(result, planned)} · {harness} · "
        f"{result.model}{profile}"
    )


def _number(result: Shown, planned: int | None) -> str:
    """Numbers above the planned ones are retries."""
    if planned is None or planned == 1 == result.attempt:
        return str(result.attempt)
    return (
        f"{result.attempt} of {planned}"
        if result.attempt <= planned
        else f"{result.attempt}, a retry"
    )


def _line(label: str, text: str) -> str:
    return f"{label:<{LABEL_WIDTH}}{text}"


def _ending_lines(result: Shown, wire: WirePicture | None) -> list[str]:
    if isinstance(result, OpenAttempt):
        return [_line("RUNS", result.now)]
    lines = [_line("ENDED", _ending(result)), _line("why", _why(result, wire))]
    if result.answers:
        said = (f"{answer.path} {answer.state}" for answer in result.answers)
        lines.append(_line("answer", ", ".join(said)))
    return lines


def _ending(result: AttemptResult) -> str:
    outcome = result.outcome
    parts = [str(outcome.reason)]
    if outcome.blame is not None:
        parts.append(f"blame {outcome.blame}")
    if outcome.retry != "never":
        parts.append(f"retry {outcome.retry}")
    parts.append(score_text(result))
    if outcome.flags:
        parts.append(f"flags {', '.join(outcome.flags)}")
    return " · ".join(parts)


def _why(result: AttemptResult, wire: WirePicture | None) -> str:
    """The reason, and where the end was a row of failures, what they were."""
    if wire is None or not wire.last:
        return result.outcome.detail
    last = wire.last[-1]
    words = [str(last.status or ""), str(last.error_class or last.result)]
    shown = " ".join(word for word in words if word)
    request = f" ({last.provider_request_id})" if last.provider_request_id else ""
    row = f"last {len(wire.last)} failed, the very last {shown}{request}"
    return f"{result.outcome.detail}; {wire.requests} requests, {row}"


def score_text(result: AttemptResult) -> str:
    """The score, or that it is withheld and what the tests had said."""
    if result.score is not None:
        return f"score {result.score:g}"
    if result.reward:
        said = ", ".join(f"{value:g}" for value in result.reward.values())
        return f"score WITHHELD (tests said {said})"
    return f"score WITHHELD ({result.grade})"


def _next(result: Shown, where: str | None) -> str:
    """The commands that make sense now."""
    name = where or f"{result.run}.{result.attempt}"
    if isinstance(result, OpenAttempt):
        commands = ["attach {}", "logs -f {}", "cancel {}"]
    elif result.score is None and result.outcome.retry is not Retry.NEVER:
        commands = ["rerun {}", "logs {}"]
    elif result.outcome.blame is Blame.OPERATOR:
        commands = ["logs {}", "broker status"]
    else:
        commands = ["logs {}"]
    shown = [f"stanchion {command.format(name)}" for command in commands]
    bundle = None if isinstance(result, OpenAttempt) else result.receipts.bundle
    return "   or   ".join([*shown, *([f"stanchion audit {where or bundle}"] if bundle else [])])


def _limit(result: Shown, wire: WirePicture | None) -> str:
    seen = result.limits.output_tokens
    observed = _observed(seen.observed, wire.limits if wire else None)
    corrected = " · corrected" if seen.corrected else ""
    return (
        f"{seen.source or UNKNOWN} {_known(seen.declared)} | written {_known(seen.written)} | "
        f"wire {observed}{corrected}"
    )


def _effort(result: Shown, wire: WirePicture | None) -> str:
    seen = result.effort
    asked = seen.requested or "unspecified"
    observed = _observed(seen.observed, wire.efforts if wire else None)
    return f"{asked} | written {seen.written or 'nothing'} | wire {observed}"


def _model(result: Shown, wire: WirePicture | None) -> str:
    stops = f"length stops {_known(result.length_stops)}"
    if wire is None:
        reasoning = {True: "seen", False: "none", None: UNKNOWN}[result.reasoning_present]
        return f"reasoning {reasoning} · {stops}"
    unknown = f" ({wire.reasoning_unknown} unknown)" if wire.reasoning_unknown else ""
    corrections = ", ".join(f"{name} x{times}" for name, times in wire.corrections.items())
    asked, served = _counted(wire.asked) or "nothing", _counted(wire.served) or "nothing"
    return (
        f"asked {asked} | served {served} · "
        f"reasoning {wire.reasoning} of {wire.completed}{unknown} · {stops} · "
        f"corrections {corrections or 'none'}"
    )


def _calls(result: Shown, wire: WirePicture | None) -> str:
    """Logical calls and sendings apart: a retry is no call of the agent's."""
    told = wire or result.receipts
    lost = told.ambiguous
    unclear = f" ({lost} ambiguous: nobody knows whether they were processed)" if lost else ""
    return f"{_known(told.calls)} logical · {_known(told.sendings)} sendings{unclear}"


def _usage(result: Shown, wire: WirePicture | None) -> str:
    usage = result.usage
    cost = usage.cost or f"{UNKNOWN}{_because(result, 'usage.cost')}"
    known = f"  known for {wire.usage_known} of {wire.requests}" if wire else ""
    no_cache = _beside(usage.input_includes_cache, "cache")
    no_reasoning = _beside(usage.output_includes_reasoning, "reasoning")
    return (
        f"in {_tokens(usage.input_tokens)}{no_cache}  "
        f"out {_tokens(usage.output_tokens)}{no_reasoning}  "
        f"reasoning {_tokens(usage.reasoning_tokens)}  cost {cost}{known}"
    )


def _beside(includes: bool | None, part: str) -> str:  # noqa: FBT001 - a fact, not a switch
    """What a provider counts beside a figure is not in it."""
    return f" (without {part})" if includes is False else ""


def _tokens(value: int | None) -> str:
    return UNKNOWN if value is None else f"{value:,}"


def _because(result: Shown, path: str) -> str:
    return f" ({result.why[path]})" if path in result.why else ""


def _time(result: Shown, wire: WirePicture | None) -> str:
    stages = result.stages
    held = f" in {wire.held} requests" if wire and wire.held else ""
    shown = {
        "start": _seconds(_sum(stages.sandbox_start_s, stages.supervisor_start_s)),
        "first response": _seconds(stages.first_response_s),
        "agent": f"{_seconds(stages.agent_s)} (held {_seconds(stages.held_s)}{held})",
        "verify": _seconds(stages.verify_s),
        "total": _seconds(stages.total_s),
    }
    return "  ".join(f"{name} {text}" for name, text in shown.items())


def _seconds(seconds: float | None) -> str:
    return UNKNOWN if seconds is None else f"{seconds:.1f}"


def _box(result: Shown, wire: WirePicture | None) -> str:
    box = result.sandbox
    kind = "gVisor" if box.kind == "runsc" else box.kind
    limits = {True: "limits enforced", False: "limits NOT enforced", None: "limits unknown"}
    image = f"base sha256:{result.image.verified[:12]}…" if result.image.verified else "no image"
    network = "no network" if box.network == "none" else f"network {box.network}"
    peak = f" · peak {wire.peak_bytes / 1e6:.0f} MB" if wire and wire.peak_bytes else ""
    return (
        f"{kind} {box.isolation or UNKNOWN} · {network} · {image} · "
        f"{limits[box.limits_enforced]} · oom {_known(box.oom_kills)}{peak}"
    )


def _proof(result: Shown, wire: WirePicture | None) -> str:
    receipts = result.receipts
    if isinstance(result, OpenAttempt):
        records = f"{wire.records} records so far" if wire else f"{receipts.exchanges} exchanges"
        return f"{records} · the chain is closed and signed when the attempt ends"
    if receipts.bundle is None or receipts.head is None:
        return f"no receipts at hand{_because(result, 'receipts.bundle')}"
    records = f"{wire.records} records" if wire else f"{receipts.exchanges} exchanges"
    return f"{receipts.bundle} · {records} · head {receipts.head[:4]}… · {NOT_PROVEN}"


def _observed(values: Sequence[int | None] | Sequence[str | None], counts: Counts | None) -> str:
    if counts:
        return _counted(counts)
    return ", ".join("nothing" if value is None else str(value) for value in values) or "no request"


def _counted(counts: Counts) -> str:
    """Each value and how often."""
    ordered: Counter[str] = Counter()
    for value, times in counts.items():
        ordered["nothing" if value is None else str(value)] += times
    return ", ".join(f"{value} x{times}" for value, times in ordered.items())


def _known(value: int | None) -> str:
    return UNKNOWN if value is None else str(value)


def _sum(left: float | None, right: float | None) -> float | None:
    return None if left is None or right is None else left + right
