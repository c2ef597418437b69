"""Reports of a run of the suite: flaky browser tests, the longest files, skips that fail in CI.

They are hooks that ``tests/conftest.py`` takes over.  They work on the reports that the process
which hands out the tests has collected, so that they count the same with and without xdist.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from fnmatch import fnmatch

import pytest

from tests.tiers import ALLOWED_SKIPS

MOST_FLAKY = 5
"""Tests that may pass only on the second try; with more of them the run fails."""

LONGEST = 40
"""Files whose seconds are listed in CI."""


def flaky(stats: dict[str, list[pytest.TestReport]]) -> list[str]:
    """Return the tests that passed only on the second try."""
    again = {report.nodeid for report in stats.get("rerun", [])}
    failed = {report.nodeid for kind in ("failed", "error") for report in stats.get(kind, [])}
    return sorted(again - failed)


def unlisted_skips(reports: Iterable[pytest.TestReport | pytest.CollectReport]) -> list[str]:
    """Return the skipped tests that :data:`tests.tiers.ALLOWED_SKIPS` does not list."""
    names = sorted({report.nodeid.removeprefix("tests/") for report in reports})
    return [name for name in names if not any(fnmatch(name, pattern) for pattern in ALLOWED_SKIPS)]


def longest_files(stats: dict[str, list[pytest.TestReport]]) -> list[tuple[str, float]]:
    """The files that took most of a worker's time, and their seconds."""
    seconds: Counter[str] = Counter()
    for report in (report for reports in stats.values() for report in reports):
        duration = getattr(report, "duration", 0.0)  # a warning has none
        seconds[report.nodeid.partition("::")[0]] += duration
    return seconds.most_common(LONGEST)


def problems(stats: dict[str, list[pytest.TestReport]], ci: bool) -> list[str]:
    """Return the reasons for which a run without a failed test fails all the same."""
    unstable = flaky(stats)
    result = []
    if len(unstable) > MOST_FLAKY:
        result.append(f"{len(unstable)} flaky tests are more than {MOST_FLAKY}")
    if ci:
        result += [
            f"{name} was skipped, which tests/tiers.py does not allow in CI"
            for name in unlisted_skips(stats.get("skipped", []))
        ]
    return result


def _stats(config: pytest.Config) -> dict[str, list[pytest.TestReport]]:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return {} if reporter is None else reporter.stats


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """List flaky tests, the longest files, and what makes the run fail besides failed tests."""
    if os.environ.get("CI"):
        longest = longest_files(terminalreporter.stats)
        told = ", ".join(f"{name.removeprefix('tests/')} {took:.0f} s" for name, took in longest)
        terminalreporter.write_line(f"longest: {told}")
    unstable = flaky(terminalreporter.stats)
    if unstable:
        terminalreporter.write_line(
            f"flaky: {len(unstable)} tests passed only on the second try: {', '.join(unstable)}",
            yellow=True,
        )
    for problem in problems(terminalreporter.stats, bool(os.environ.get("CI"))):
        terminalreporter.write_line(f"FAILED: {problem}", red=True)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run whose tests passed, if too many were flaky or one was skipped silently."""
    if hasattr(session.config, "workerinput"):
        return
    wrong = problems(_stats(session.config), bool(os.environ.get("CI")))
    if wrong and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
