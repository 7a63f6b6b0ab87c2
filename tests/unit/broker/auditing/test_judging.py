import io
import random

import pytest
from rich.console import Console

from fakes.receipts import (
    KEY,
    OTHER_KEY,
    RUN,
    closed,
    ending,
    exchange_end,
    exchange_start,
    honest,
)
from stanchion.broker.auditing.judging import Report, Verdict, broken, judge, missing, worst
from stanchion.broker.auditing.requirements import parse_requirement
from stanchion.broker.auditing.text import print_reports
from stanchion.broker.receipts.bundle import Broken, Verified, verify
from stanchion.protocol.exchange import Answered, AnswerFlag, ExchangeResult
from stanchion.protocol.exit_codes import ExitCode
from stanchion.protocol.receipt import ExchangeEnd, ExchangeStart

BUNDLE = closed()


def audited(
    data: bytes, *demands: str, trusted: str = KEY.public_key, contradiction: str | None = None
) -> Report:
    found = verify(data)
    if isinstance(found, Broken):
        return broken("receipts.bundle", found)
    return judge(
        found,
        path="receipts.bundle",
        trusted_keys={trusted},
        requirements=[parse_requirement(demand) for demand in demands],
        contradiction=contradiction,
    )


def test_an_honest_bundle_of_a_trusted_key_is_verified() -> None:
    report = audited(BUNDLE, "effort=max", "output_limit=128000")

    assert (report.verdict, report.exit_code, report.why) == (Verdict.VERIFIED, 0, None)
    assert (report.run, report.attempt, report.records, report.exchanges) == (RUN, 1, 9, 3)
    assert report.signer is not None
    assert report.signer.fingerprint == "34:75:0F:98:BD:59:FC:FC"
    assert [checked.held for checked in report.requirements] == [True, True]
    assert len(report.proven) == 3
    assert "that the broker told the truth when it wrote this" in report.not_proven


def test_200_flipped_bytes_are_200_times_tampered() -> None:
    chance = random.Random(20240607)
    places = [0, len(BUNDLE) - 1, *(at for at, byte in enumerate(BUNDLE) if byte == 0x0A)]
    places += [chance.randrange(len(BUNDLE)) for _ in range(200 - len(places))]
    codes = []
    for at in places:
        data = bytearray(BUNDLE)
        data[at] ^= 1 << chance.randrange(8)
        codes.append(audited(bytes(data)).exit_code)

    assert codes == [ExitCode.TAMPERED] * 200


def test_a_cut_at_a_record_is_incomplete_and_any_other_is_tampered() -> None:
    ends = [at + 1 for at, byte in enumerate(BUNDLE) if byte == 0x0A]
    after_records = set(ends[1:-1])
    chance = random.Random(7)
    sizes = {*ends[:-1], *(end - 1 for end in ends), *chance.choices(range(len(BUNDLE)), k=100)}
    for size in sizes:
        expected = ExitCode.INCOMPLETE if size in after_records else ExitCode.TAMPERED
        assert audited(BUNDLE[:size]).exit_code == expected, size


def test_a_fault_comes_before_all_else() -> None:
    data = BUNDLE.replace(b'"max"', b'"low"', 1)

    report = audited(data, "effort=low", trusted=OTHER_KEY.public_key)
    assert (report.verdict, report.exit_code) == (Verdict.TAMPERED, 4)
    assert (report.run, report.facts, report.proven) == (None, None, ())
    assert report.not_proven == ("anything",)


def test_a_missing_close_comes_before_an_unknown_signer() -> None:
    report = audited(honest().bundle(), "effort=low", trusted=OTHER_KEY.public_key)

    assert (report.verdict, report.exit_code) == (Verdict.INCOMPLETE, 3)
    assert report.why == "the close is missing after record 8"
    assert "its records are not signed for" in report.proven[0]


def test_an_unknown_signer_comes_before_a_demand() -> None:
    report = audited(closed(key=OTHER_KEY), "effort=low")

    assert (report.verdict, report.exit_code) == (Verdict.SIGNER_UNKNOWN, 3)
    assert report.signer is not None
    assert f"who holds key {report.signer.fingerprint}" in report.not_proven


def test_a_demand_that_does_not_hold_fails() -> None:
    report = audited(BUNDLE, "effort=max", "output_limit=1", "outcome=oom")

    assert (report.verdict, report.exit_code) == (Verdict.REQUIREMENT_FAILED, 1)
    assert report.why == (
        "output_limit=1 does not hold: 3 x 128000; outcome=oom does not hold: it ended completed"
    )


def test_a_result_that_says_otherwise_is_tampered_evidence() -> None:
    report = audited(BUNDLE, contradiction="result.json says another score")

    assert (report.verdict, report.why) == (Verdict.TAMPERED, "result.json says another score")
    assert report.proven == ()


def test_a_start_without_an_end_is_reported_and_no_fault() -> None:
    writing = honest(exchanges=1)
    writing.add(ExchangeStart, **exchange_start(2))

    report = audited(writing.close(**ending()))
    assert (report.verdict, report.unended) == (Verdict.VERIFIED, (2,))
    assert "how exchange 2 ended: there is a start and no end" in report.not_proven


def test_an_attempt_without_a_bundle_is_incomplete() -> None:
    report = missing("attempts/x__1")

    assert (report.verdict, report.exit_code) == (Verdict.INCOMPLETE, 3)
    assert report.why == "this attempt has no receipts.bundle"


@pytest.mark.parametrize(
    ("codes", "expected"),
    [((0, 0), 0), ((0, 1), 1), ((1, 3, 0), 3), ((3, 4, 1), 4), ((4,), 4)],
)
def test_the_worst_verdict_decides(codes: tuple[int, ...], expected: int) -> None:
    reports = {
        0: audited(BUNDLE),
        1: audited(BUNDLE, "effort=low"),
        3: missing("x"),
        4: audited(BUNDLE[:-1]),
    }
    assert worst(reports[code] for code in codes) == expected


def test_no_word_of_a_bundle_adds_to_the_trusted_keys() -> None:
    found = verify(closed(key=OTHER_KEY))
    assert isinstance(found, Verified)

    assert judge(found, path="x", trusted_keys=()).verdict is Verdict.SIGNER_UNKNOWN


def test_an_interrupted_exchange_is_told_and_its_rest_is_not_proven() -> None:
    writing = honest(exchanges=1).add(ExchangeStart, **exchange_start(2))
    cut = {**exchange_end(2), "answered": Answered(result=ExchangeResult.INTERRUPTED)}
    report = audited(writing.add(ExchangeEnd, **cut).close(**ending()))

    assert (report.exit_code, report.unended) == (ExitCode.OK, ())
    assert report.facts is not None
    assert (report.facts.completed, report.facts.interrupted) == (1, 1)
    assert any("interrupted requests" in sentence for sentence in report.not_proven)
    assert not any("interrupted" in sentence for sentence in audited(BUNDLE).not_proven)
    console = Console(file=io.StringIO(), width=200)
    print_reports([report], console)
    assert "1 completed, 1 interrupted, 0 without an end" in console.file.getvalue()  # type: ignore[attr-defined]


def test_an_ambiguous_sending_is_counted_and_its_cost_not_proven() -> None:
    lost = Answered(result=ExchangeResult.UPSTREAM_UNREACHABLE, ambiguous=True)
    writing = honest(exchanges=1).add(ExchangeStart, **exchange_start(2))
    writing.add(ExchangeEnd, **{**exchange_end(2), "answered": lost})
    report = audited(writing.close(**ending()))

    assert any("ambiguous sendings" in sentence for sentence in report.not_proven)
    assert not any("ambiguous" in sentence for sentence in audited(BUNDLE).not_proven)
    console = Console(file=io.StringIO(), width=200)
    print_reports([report], console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "  calls         2 logical, 2 sendings, 1 ambiguous" in text


def test_what_is_odd_about_answers_is_counted() -> None:
    answered = Answered(
        result=ExchangeResult.COMPLETED,
        flags=(AnswerFlag.USAGE_CONTRADICTION,),
        malformed={"usage.output_tokens": "0"},
    )
    writing = honest(exchanges=1).add(ExchangeStart, **exchange_start(2))
    writing.add(ExchangeEnd, **{**exchange_end(2), "answered": answered})
    report = audited(writing.close(**ending()))

    assert report.facts is not None
    assert (report.facts.malformed, report.facts.flags) == (1, {"usage_contradiction": 1})
    console = Console(file=io.StringIO(), width=200)
    print_reports([report, audited(BUNDLE)], console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert text.count("  odd           usage_contradiction 1, malformed 1\n") == 1
    assert text.count("  odd ") == 1
