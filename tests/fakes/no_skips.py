"""Where everything is required, a skipped test is a failed one, whatever skipped it.

CI sets `STANCHION_TESTS_REQUIRE_ALL=1`: a machine without a tool, a registry or a privilege must be
seen there. Elsewhere pytest's loud skip stands. The rule is here once, so no test needs it.
"""

import os
from collections.abc import Generator

import pytest

REQUIRE_ALL = "STANCHION_TESTS_REQUIRE_ALL"


def _refuse_a_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    # A failure that is expected is reported as a skip too, with a reason of its own.
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get(REQUIRE_ALL):
        report.outcome = "failed"
        report.longrepr = f"nothing may be skipped under {REQUIRE_ALL}: {report.longreprtext}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Of a test, its setup and its teardown."""
    report = yield
    _refuse_a_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Of a whole module."""
    report = yield
    _refuse_a_skip(report)
    return report
