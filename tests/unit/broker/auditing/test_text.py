import io

from rich.console import Console

from fakes.receipts import KEY, Writing, asked, closed, ending, honest, run_open
from stanchion.broker.auditing.judging import Report, broken, judge, missing
from stanchion.broker.auditing.requirements import parse_requirement
from stanchion.broker.auditing.text import print_reports
from stanchion.broker.receipts.bundle import Broken, Verified, verify
from stanchion.protocol.receipt import RunOpen


def report(data: bytes, *demands: str, trusted: bool = True) -> Report:
    found = verify(data)
    assert isinstance(found, Verified)
    keys = {KEY.public_key} if trusted else set()
    requirements = [parse_requirement(demand) for demand in demands]
    return judge(found, path="out/receipts.bundle", trusted_keys=keys, requirements=requirements)


def printed(*reports: Report, terminal: bool = False) -> str:
    stream = io.StringIO()
    print_reports(reports, Console(file=stream, highlight=False, force_terminal=terminal, width=60))
    return stream.getvalue()


def test_a_verified_attempt_shows_the_whole_way() -> None:
    text = printed(report(closed(), "effort=max"))

    assert text.splitlines()[0] == "VERIFIED  out/receipts.bundle"
    assert "  run           7f3a90c41b22 attempt 1" in text
    assert "  key           34:75:0F:98:BD:59:FC:FC (trusted)" in text
    assert "  records       9, exchanges 3: 3 completed, 0 without an end" in text
    assert "  calls         3 logical, 3 sendings\n" in text
    assert "  output limit  default 128000       128000               128000 (3 of 3)" in text
    assert "  effort        max                  max                  max (3 of 3)" in text
    assert "  ended         completed, graded, score 1.0" in text
    assert "  require       effort=max  holds" in text
    assert "  proven        - no byte of this file changed" in text
    assert "  not proven    - that the broker told the truth" in text


def test_unknown_is_said_in_words() -> None:
    text = printed(report(Writing().add(RunOpen, **run_open()).bundle(), trusted=False))

    assert "INCOMPLETE" in text
    assert "(not trusted)" in text
    assert "  isolation     not reported" in text
    assert "  ended         no close, score withheld" in text
    assert "  effort        max                  unknown              no request" in text


def test_a_value_that_is_absent_from_the_wire_is_said() -> None:
    writing = honest(exchanges=2, sent=lambda n: asked(effort="max" if n == 1 else None))

    text = printed(report(writing.close(**ending()), "effort=max"))
    assert "max (1 of 2), absent (1 of 2)" in text
    assert "effort=max  does not hold: 1 x absent" in text


def test_a_broken_bundle_shows_where_and_nothing_else() -> None:
    text = printed(broken("x", Broken(3, "the record is not in canonical form")), missing("y"))

    assert text == (
        "TAMPERED  x\n"
        "  why           line 3: the record is not in canonical form\n"
        "  not proven    - anything\n"
        "\n"
        "INCOMPLETE  y\n"
        "  why           this attempt has no receipts.bundle\n"
        "  not proven    - anything\n"
    )


def test_no_word_of_a_bundle_reaches_the_terminal_as_an_order() -> None:
    evil = "\x1b]0;owned\x07\x9b2J\r[bold]max[/bold]\u202e"
    writing = honest(exchanges=1, sent=lambda _: asked(effort=evil))

    text = printed(report(writing.close(**ending())), terminal=False)
    assert not {"\x1b", "\x07", "\x9b", "\r", "\u202e"} & set(text)
    assert r"\x1b]0;owned\x07\x9b2J\r[bold]max[/bold]\u202e (1 of 1)" in text


def test_colour_is_for_terminals() -> None:
    assert "\x1b[" in printed(missing("y"), terminal=True)
    assert "\x1b[" not in printed(missing("y"))
