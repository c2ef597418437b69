"""The configuration of all tests."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import Generator, Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs
import pytest

from tests.reporting import pytest_sessionfinish, pytest_terminal_summary
from tests.tiers import COLLECTED, DEEP, FIRST, deep_path, in_deep_tier, in_first_tier

if TYPE_CHECKING:
    from fuseloom.dataflow.samml.graph import Graph
    from fuseloom.dataflow.table.table import FusionTable

__all__ = ["pytest_sessionfinish", "pytest_terminal_summary"]  # hooks

TESTS = Path(__file__).parent
if sys.dont_write_bytecode:
    # Thousands of processes would each compile what they import.  What is compiled goes to a
    # folder of its own, so that the tree stays as the variable PYTHONDONTWRITEBYTECODE wants it.
    sys.pycache_prefix = str(platformdirs.user_cache_path("fuseloom") / "bytecode-of-tests")
    sys.dont_write_bytecode = False
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(TESTS.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
)  # so that Python processes that keep off the current folder find helpers of tests
BROWSER = TESTS / "browser"
WAITING = (
    BROWSER,
    TESTS / "exploration" / "executors",
    TESTS / "hostile",
    TESTS / "workbench" / "serving",
    TESTS / "workbench" / "service",
)
"""Folders of tests that mostly wait: for a page, a server, another process."""


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One worker more than there are cores, as some tests wait for a page or another process."""
    return (os.cpu_count() or 1) + 1


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave alone what the tier cannot select: importing it would take long, or fail."""
    tier = config.option.markexpr
    if tier not in (FIRST, DEEP) or not collection_path.is_relative_to(TESTS):
        return None
    path = collection_path.relative_to(TESTS).as_posix() + "/" * collection_path.is_dir()
    if tier == FIRST:
        return None if in_first_tier(path) else True
    if not fnmatch(collection_path.name, "test_*.py"):
        return None
    return None if in_deep_tier(path, collection_path.read_text(encoding="utf-8")) else True


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep what is collected away from Python's search for garbage, which would never find any."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@cache
def _below_tests(path: Path) -> str:
    return path.relative_to(TESTS).as_posix()


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark the tests of the deep tier, and let a test that drives a browser run once more."""
    if deep_path(_below_tests(item.path)):
        item.add_marker(pytest.mark.deep)
    if item.get_closest_marker("browser") or item.get_closest_marker("walk"):
        item.add_marker(pytest.mark.flaky(reruns=1))


def _covered(item: pytest.Item) -> bool:
    """Return whether it has few random cases, and only the deep tier, which has more, runs it."""
    known = getattr(item, "callspec", None)
    few = known is not None and "small" in known.id.split("-") and "count" in known.params
    return few and deep_path(_below_tests(item.path)) is not None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Spread the files of tests that wait among those of tests that compute.

    Files are handed to the workers in this order (``--no-loadscope-reorder``), so that one computes
    while another waits, and none is left with the longest files at the end.
    """
    config.stash[COLLECTED] = [*items]
    if twice := [item for item in items if _covered(item)]:
        config.hook.pytest_deselected(items=twice)
        items[:] = [item for item in items if item not in set(twice)]
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    waiting = [path for path in files if not set(WAITING).isdisjoint(path.parents)]
    order = [path for path in files if path not in set(waiting)]
    step = max(1, int(0.8 * len(order) / max(1, len(waiting))))
    for number, path in enumerate(waiting):
        order.insert(number * (step + 1), path)
    items[:] = [item for path in order for item in files[path]]


@pytest.fixture(autouse=True)
def _no_running_loop(request: pytest.FixtureRequest) -> Iterator[None]:
    """Playwright's loop counts as running in its thread until the last browser test is over."""
    running = asyncio._get_running_loop()
    if BROWSER in request.path.parents:
        yield
        return
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(running)


@pytest.fixture(autouse=True, scope="session")
def _sound_tables_and_graphs() -> Iterator[None]:
    """Check every table and graph that tests compile: compilation takes them to be sound."""
    from fuseloom.dataflow import compilation
    from fuseloom.dataflow.samml.verify import verify

    lower, run_passes = compilation.lower, compilation.run_passes

    def checked_lower(table: FusionTable) -> Graph:
        table.verify()
        return lower(table)

    def checked_passes(*arguments: Any) -> Any:
        graph, changes = run_passes(*arguments)
        verify(graph)
        return graph, changes

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compilation, "lower", checked_lower)
        patch.setattr(compilation, "run_passes", checked_passes)
        yield


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the kernels once, before several workers would each compile them for themselves."""
    is_worker = hasattr(session.config, "workerinput")
    if not is_worker and session.config.getoption("numprocesses", None):
        from fuseloom.dataflow.sim.compiled.warmup import warmup

        warmup()
