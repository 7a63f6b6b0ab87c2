"""The document for CI: a case for each property, and only what blocks is a failure."""

from xml.etree import ElementTree as ET

from tests.unit.runner.smoke.smokes import BAD, GOOD, REFUSED, audited, smoke

from stanchion.runner.smoke.judging import Property
from stanchion.runner.smoke.junit import junit


def test_junit_has_a_case_for_each_property_and_blocks_only_on_what_blocks() -> None:
    root = ET.fromstring(junit([GOOD, BAD, REFUSED]))

    assert root.attrib == {
        "name": "stanchion smoke", "tests": "17", "failures": "1", "errors": "1", "skipped": "1",
    }  # fmt: skip
    good, bad, refused = root.findall("testsuite")
    assert {case.get("name") for case in good.iter("testcase")} == set(Property)
    assert [case.get("classname") for case in bad.iter("testcase") if case.find("failure")
            is not None] == ["smoke.long-think"]  # fmt: skip
    (skipped,) = bad.iter("skipped")
    assert skipped.get("message") == (
        "failed: 1 of 2 responses cut at their limit; waived: a \\u001b[31msmall\\u0000 window"
    )
    output = bad.find("system-out")
    assert output is not None
    assert "usage_missing" in (output.text or "")
    assert [error.get("message") for error in refused.iter("error")] == ["no account <box> & co"]


def test_what_was_not_put_to_the_test_is_skipped_with_its_reason() -> None:
    easy = smoke(audited(reasoning=0), audited())
    (skipped,) = ET.fromstring(junit([easy])).iter("skipped")

    assert skipped.get("message") == ("unexercised: in none of 2 responses; this task needs none")
