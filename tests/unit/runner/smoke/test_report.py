"""What blocks a smoke run, and the closing line."""

from tests.unit.runner.smoke.smokes import audited, smoke

from stanchion.protocol.exit_codes import ExitCode
from stanchion.runner.smoke.audited import Audited, Declared, SeenOnWire
from stanchion.runner.smoke.judging import Holds, Property
from stanchion.runner.smoke.report import closing_line, exit_code, not_run, worst

GOOD = audited()
DROPPED = audited(
    effort=Declared(requested="max", on_the_wire=(SeenOnWire(value=None, requests=2),))
)
NOTHING = Audited(path="none", verdict="missing", why="the attempt left no receipts")


def test_all_that_holds_is_counted_in_one_plain_line() -> None:
    found = smoke(GOOD, GOOD)

    assert closing_line([found]) == "smoke: 2 tasks, 4 properties, 4 held"
    assert exit_code(found) is ExitCode.OK
    assert (found.flags, found.problems, found.blocking) == ((), (), ())


def test_what_fails_in_one_task_fails_by_name_and_blocks() -> None:
    found = smoke(GOOD, audited(reasoning=0))

    assert found.properties[Property.REASONING] is Holds.FAILED
    assert found.blocking == (Property.REASONING,)
    assert closing_line([found]) == "smoke: 2 tasks, 4 properties, 3 held, 1 failed"
    assert exit_code(found) is ExitCode.FAILED


def test_a_waiver_with_its_reason_lets_it_fail_and_stays_to_be_read() -> None:
    found = smoke(DROPPED, DROPPED, {Property.EFFORT: "the server has none"})

    assert found.properties[Property.EFFORT] is Holds.FAILED
    assert found.waived == {Property.EFFORT: "the server has none"}
    assert exit_code(found) is ExitCode.OK
    assert closing_line([found]) == "smoke: 2 tasks, 4 properties, 3 held, 1 failed, 1 waived"
    other = smoke(DROPPED, audited(stops=1), {Property.EFFORT: "the server has none"})
    assert exit_code(other) is ExitCode.FAILED


def test_receipts_that_do_not_hold_give_the_audit_s_code() -> None:
    assert exit_code(smoke(GOOD, NOTHING)) is ExitCode.FAILED
    for code in (ExitCode.INCOMPLETE, ExitCode.TAMPERED):
        bad = Audited(path="p", verdict="tampered", exit_code=code)
        found = smoke(GOOD, bad)
        assert exit_code(found) is code
        assert found.properties[Property.LIMIT] is Holds.UNDETERMINED


def test_several_combinations_are_one_sum_and_the_worst_code() -> None:
    refused = not_run("opencode", "box/n", "no account box", asked={})
    reports = [smoke(GOOD, GOOD), smoke(DROPPED, DROPPED), refused]

    assert closing_line(reports) == (
        "smoke: 3 combinations, 4 tasks, 12 properties, 7 held, 1 failed, 4 unexercised"
    )
    assert worst(reports) is ExitCode.FAILED
    assert worst([reports[0], reports[0]]) is ExitCode.OK
