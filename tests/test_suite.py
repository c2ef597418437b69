"""The suite itself: its two tiers, what it waits for, and what it touches of the insides."""

from __future__ import annotations

import ast
import re
import shlex
import tomllib
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import reporting, tiers
from tests.waiting import until

ROOT = Path(__file__).parent.parent
TESTS = ROOT / "tests"
FILES = {
    path.relative_to(TESTS).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(TESTS.rglob("*.py"))
}

SLEEPS = {
    "waiting.py": (2, "the pause between two looks at a condition"),
    "workbench/targets.py": (2, "a job that takes long, by the name of sleep"),
    "workbench/service/test_priority.py": (2, "a process that waits; the time it is watched"),
    "workbench/service/test_sharing.py": (1, "nothing happens meanwhile"),
    "workbench/service/test_wire.py": (2, "the other end of the line reads between two pieces"),
    "workbench/serving/test_hostile.py": (1, "the pace of a visitor"),
    "workbench/serving/test_opening.py": (2, "a page that takes long to make; others beside it"),
    "workbench/serving/test_page.py": (1, "the pace of a visitor"),
    "workbench/serving/test_serve.py": (3, "moments at which the server is ended"),
    "property/soaking.py": (1, "a random moment at which a process is killed"),
    "exploration/sweep/test_sweep.py": (1, "random moments at which the driver is killed"),
    "exploration/executors/targets.py": (5, "jobs that take long, hang, or leave a child"),
    "exploration/executors/test_local.py": (1, "the moment at which the driver says its processes"),
    "exploration/executors/test_drive.py": (1, "random moments at which the driver is killed"),
    "exploration/executors/test_dask.py": (1, "random moments at which something is killed"),
    "exploration/store/test_store.py": (2, "the pace of a reader; random moments of kills"),
    "exploration/test_limiting.py": (2, "processes that outlive their parent"),
}
"""Sleeps by file: how many there are, and what they are for.  Everything else waits for conditions
(``tests/waiting.py``, Playwright's ``expect``)."""

MOST_PRIVATE = 60
"""Touches of private members in all tests.  Lower it with every one that goes."""
PROTOCOLS = {"_repr_html_", "_exit", "_replace", "_fields", "_asdict"}
"""Names with an underscore that Jupyter or Python documents."""


def items(request: pytest.FixtureRequest) -> list[pytest.Item]:
    """Everything that this process has collected, before the marker expression chose."""
    collected: list[pytest.Item] = request.config.stash[tiers.COLLECTED]
    return collected


def chosen(expression: str, marks: set[str]) -> bool:
    """Return whether a marker expression selects a test with these marks."""
    return bool(eval(expression, {}, {name: name in marks for name in MARKS}))


MARKS = ("deep", "browser", "walk", "fuzz")


def test_each_test_is_of_one_tier_or_fuzz() -> None:
    for there in product((False, True), repeat=len(MARKS)):
        marks = {name for name, is_there in zip(MARKS, there, strict=True) if is_there}
        of = [chosen(tiers.FIRST, marks), chosen(tiers.DEEP, marks), "fuzz" in marks]
        assert sum(of) == 1, marks


def test_the_tiers_are_those_that_are_run() -> None:
    """The first is what pytest runs by default, the deep one what ``.ci/run`` runs after it."""
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    default = shlex.split(options["tool"]["pytest"]["ini_options"]["addopts"])
    assert default[default.index("-m") + 1] == tiers.FIRST
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    deep = [line for line in script.splitlines() if line.startswith("python -m pytest ")]
    assert len(deep) == 1
    words = shlex.split(deep[0])
    assert words[words.index("-m", 3) + 1] == tiers.DEEP
    command = re.search(
        r"<!-- test command -->\n```sh\n(.+)\n```", (ROOT / "README.md").read_text()
    )
    assert command is not None
    assert "python -m pytest" in command[1]
    assert " -m " not in command[1].partition("python -m pytest")[2]
    assert "README.md" in script


def test_what_is_collected_is_selected_once(request: pytest.FixtureRequest) -> None:
    """By the marks that tests have; what the first tier leaves alone is deep as a whole."""
    for item in items(request):
        marks = {mark.name for mark in item.iter_markers()}
        path = item.path.relative_to(TESTS).as_posix()
        first = chosen(tiers.FIRST, marks)
        assert first + chosen(tiers.DEEP, marks) + ("fuzz" in marks) == 1, item.nodeid
        if first:
            assert tiers.in_first_tier(path), f"{item.nodeid} is collected in the deep tier only"
        if chosen(tiers.DEEP, marks):
            assert tiers.in_deep_tier(path, FILES[path]), f"{item.nodeid}: no mark in its file"
        assert ("walk" in marks) == (path == tiers.WALKS), item.nodeid
        reruns = item.get_closest_marker("flaky")
        assert (reruns is not None) == bool(marks & {"walk", "browser"}), item.nodeid


@pytest.mark.parametrize("row", tiers.DEEP_PATHS)
def test_what_is_deep_is_there_for_a_reason(row: str) -> None:
    assert (TESTS / row).is_dir() if row.endswith("/") else (TESTS / row).is_file()
    assert tiers.DEEP_PATHS[row]
    assert not [o for o in tiers.DEEP_PATHS if o != row and row.startswith(o)], "it is in a folder"


def test_files_of_the_deep_tier() -> None:
    assert tiers.deep_path("frontends/torch/test_norms.py") == "frontends/torch/"
    assert tiers.deep_path("frontends/torch/") == "frontends/torch/"
    assert tiers.deep_path("frontends/torches.py") is None
    assert not tiers.in_first_tier("browser/test_axe.py")
    assert tiers.in_first_tier(tiers.WALKS)
    assert tiers.in_first_tier("browser/")


def report(name: str) -> SimpleNamespace:
    return SimpleNamespace(nodeid=name)


def test_too_many_flaky_tests_fail_the_run() -> None:
    names = [
        f"tests/browser/test_a.py::test_{number}" for number in range(reporting.MOST_FLAKY + 2)
    ]
    again = [report(name) for name in names]
    stats = {"rerun": again, "passed": again[1:], "failed": again[:1]}
    assert reporting.flaky(stats) == sorted(names[1:]), "one that fails twice is no flaky one"
    assert "flaky tests are more than" in reporting.problems(stats, ci=False)[0]
    assert reporting.problems({"rerun": again[: reporting.MOST_FLAKY]}, ci=False) == []


def test_a_skip_without_a_reason_fails_in_ci() -> None:
    allowed = report("tests/test_docs.py::test_a_command_on_real_data")
    other = report("tests/frontends/files/test_parquet.py::test_reading")
    stats = {"skipped": [allowed, other]}
    assert reporting.problems(stats, ci=False) == []
    (problem,) = reporting.problems(stats, ci=True)
    assert "test_parquet.py::test_reading was skipped" in problem


def test_the_longest_files_come_first() -> None:
    timed = [
        SimpleNamespace(nodeid=f"tests/test_{file}.py::test_{number}", duration=number)
        for file, numbers in (("a", (1.5, 1.0)), ("b", (2.0, 2.0)))
        for number in numbers
    ]
    warning = report("tests/test_a.py::test_1")  # has no duration
    stats = {"passed": timed[:2], "": timed[2:], "warnings": [warning]}
    assert reporting.longest_files(stats) == [("tests/test_b.py", 4.0), ("tests/test_a.py", 2.5)]


@pytest.mark.parametrize("pattern", tiers.ALLOWED_SKIPS)
def test_skips_are_allowed_where_there_are_tests(pattern: str) -> None:
    file, _, _ = pattern.partition("::")
    assert [*TESTS.glob(file)], f"no test is at {file}"
    assert tiers.ALLOWED_SKIPS[pattern]


def test_a_condition_that_never_holds_fails_the_test() -> None:
    looks = iter(range(5))
    assert until(lambda: next(looks) == 3, "the fourth look")
    with pytest.raises(pytest.fail.Exception, match=r"not within 0\.05 seconds: the end"):
        until(lambda: False, "the end", seconds=0.05)


def sleeps(text: str) -> int:
    return len(re.findall(r"\bsleep\(|\bwait_for_timeout\(", text))


def test_tests_wait_for_conditions() -> None:
    """A new sleep is a condition that somebody has not thought of, or has its reason above."""
    there = {file: count for file, text in FILES.items() if (count := sleeps(text))}
    assert there == {file: count for file, (count, _) in SLEEPS.items()}
    assert all(reason for _, reason in SLEEPS.values())


def private_touches(text: str) -> list[int]:
    """The lines that read, patch or import a private member of something else."""
    lines = []
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Attribute(value=ast.Name("self" | "cls")):
                continue
            case ast.Attribute(attr=name) | ast.alias(name=name):
                names = [name]
            case ast.Call(
                func=ast.Attribute(attr="setattr"), args=[_, ast.Constant(str(name)), *_]
            ):
                names = [name]
            case _:
                continue
        lines += [node.lineno for name in names if is_private(name)]
    return lines


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in PROTOCOLS


def test_private_members_are_left_alone() -> None:
    places = [f"{file}:{line}" for file, text in FILES.items() for line in private_touches(text)]
    print("\n".join(places))
    assert len(places) <= MOST_PRIVATE
    assert len(places) > MOST_PRIVATE - 5, "fewer than that: lower MOST_PRIVATE"


def test_private_members_are_seen() -> None:
    text = "from a import _b\nx._y\nself._z\nm.setattr(x, '_w', 1)\nx._repr_html_()\nx.__name__"
    assert private_touches(text) == [1, 2, 4]
