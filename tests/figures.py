"""What a test has counted or measured, shown at the end of the run: how much was tried is part of the result.

It travels with the test's report, since a process of pytest-xdist has no terminal of its own.
"""

from collections.abc import Callable
from typing import Final

import pytest

SHOWN: Final = "shown"
Show = Callable[[object], None]


@pytest.fixture
def show(record_property: Callable[[str, object], None]) -> Show:
    return lambda what: record_property(SHOWN, str(what))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    lines = [line for reports in terminalreporter.stats.values() for report in reports for line in _shown(report)]
    if lines:
        terminalreporter.section("figures")
    for line in lines:
        terminalreporter.line(line)


def _shown(report: object) -> list[str]:
    """Every phase of a test reports the same ones."""
    if not isinstance(report, pytest.TestReport) or report.when != "call":
        return []
    return [str(value) for name, value in report.user_properties if name == SHOWN]
