"""A smoke run in the form that CI systems read: a suite a combination, a case a property. Pure.

The de-facto format of JUnit's Ant task: `failure` for what blocks, `skipped` with its reason for
what was waived, undetermined or not put to the test. Characters that XML 1.0 has no place for are
escaped as text, for reasons and models come from outside.
"""

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from stanchion.runner.smoke.judging import Finding, Holds, Property
from stanchion.runner.smoke.report import SmokeReport

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(reports: Sequence[SmokeReport]) -> bytes:
    """The whole document."""
    suites = [_suite(found) for found in reports]
    root = ET.Element("testsuites", _totals(suites, "stanchion smoke"))
    root.extend(suites)
    ET.indent(root)
    text: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _suite(found: SmokeReport) -> ET.Element:
    cases = [_case(found, task.task, finding) for task in found.tasks for finding in task.findings]
    cases += [_problem(found, words) for words in found.problems]
    name = " ".join((found.harness, found.model, *found.asked.values()))
    suite = ET.Element("testsuite", _counts(cases) | {"name": _text(name)})
    properties = ET.SubElement(suite, "properties")
    named = {"harness": found.harness, "model": found.model, **found.asked}
    for key, value in named.items():
        ET.SubElement(properties, "property", {"name": key, "value": _text(value)})
    suite.extend(cases)
    if found.flags:
        lines = [f"{one.flag}, {one.task}: {one.why}" for one in found.flags]
        ET.SubElement(suite, "system-out").text = _text("\n".join(lines))
    return suite


def _case(found: SmokeReport, task: str, finding: Finding) -> ET.Element:
    case = ET.Element("testcase", {"classname": f"smoke.{task}", "name": finding.property.value})
    reason = _reason(found, finding.property)
    if finding.holds is Holds.FAILED and reason is None:
        ET.SubElement(case, "failure", {"message": _text(finding.why)})
    elif finding.holds is not Holds.PASSED:
        why = finding.why if finding.holds is not Holds.FAILED else f"{finding.why}; {reason}"
        message = f"{finding.holds.value}: {why}"
        ET.SubElement(case, "skipped", {"message": _text(message)})
    return case


def _reason(found: SmokeReport, name: Property) -> str | None:
    return f"waived: {found.waived[name]}" if name in found.waived else None


def _problem(found: SmokeReport, words: str) -> ET.Element:
    case = ET.Element("testcase", {"classname": "smoke", "name": _text(f"run {found.model}")})
    ET.SubElement(case, "error", {"message": _text(words)})
    return case


def _counts(cases: Sequence[ET.Element]) -> dict[str, str]:
    def having(tag: str) -> str:
        return str(sum(case.find(tag) is not None for case in cases))

    return {
        "tests": str(len(cases)),
        "failures": having("failure"),
        "errors": having("error"),
        "skipped": having("skipped"),
    }


def _totals(suites: Sequence[ET.Element], name: str) -> dict[str, str]:
    keys = ("tests", "failures", "errors", "skipped")
    sums = {key: str(sum(int(suite.get(key, "0")) for suite in suites)) for key in keys}
    return {"name": name, **sums}


def _text(text: str) -> str:
    return _NOT_XML.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
