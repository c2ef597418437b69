"""The sources of each kernel: every one that can change its machine code, and no other."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fuseloom.dataflow.sim.compiled import kernel_sources as sources
from fuseloom.dataflow.sim.compiled.inlining import helpers_of
from fuseloom.dataflow.sim.compiled.kernels import KERNELS
from fuseloom.errors import SimulationError

ENGINE = Path(sources.__file__).parents[4]
REDUCERS = "fuseloom.dataflow.primitives.reducers.kernels"
SCANNERS = "fuseloom.dataflow.primitives.scanners.kernels"
RINGS = "fuseloom.dataflow.sim.compiled.rings"


def test_every_part_of_the_sources_is_there() -> None:
    names = {path.relative_to(ENGINE / "fuseloom").as_posix() for path in sources.sources()}
    simulator = {"sim/compiled/rings.py", "primitives/scanners/kernels.py", "dram/scheduler.py"}
    assert {f"dataflow/{name}" for name in simulator} | {"program/functions.py"} <= names
    assert all(path.suffix == ".py" for path in sources.sources())


@pytest.mark.parametrize("gone", ["*.f90", "kernels_of_old/*.py", "dataflow/no_such_package/*.py"])
def test_a_part_that_matches_nothing_is_an_error(
    gone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A move would otherwise leave stale machine code in use, silently."""
    monkeypatch.setattr(sources, "_SOURCES", (*sources._SOURCES, gone))
    with pytest.raises(SimulationError, match="no source of the compiled kernels matches"):
        sources.sources()


def imported(text: str) -> set[str]:
    """The modules of this package that Python's own parser finds imported."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("fuseloom"):
            found |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names if a.name.startswith("fuseloom")}
        assert not (isinstance(node, ast.ImportFrom) and node.level), "relative imports are unseen"
    return found


@pytest.mark.parametrize("module", sources.texts())
def test_no_import_is_missed(module: str) -> None:
    text = sources.texts()[module]
    assert imported(text) == sources.imports_in(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from fuseloom.a import b", {"fuseloom.a", "fuseloom.a.b"}),
        ("from fuseloom.a import b as c, d", {"fuseloom.a", "fuseloom.a.b", "fuseloom.a.d"}),
        ("from fuseloom.a import (\n    b,  # why\n)", {"fuseloom.a", "fuseloom.a.b"}),
        ("def f():\n    from fuseloom import a", {"fuseloom", "fuseloom.a"}),
        ("from numpy import a\nx = 'fuseloom.b'", set()),
    ],
)  # fmt: skip
def test_imports_are_read(text: str, found: set[str]) -> None:
    assert sources.imports_in(text) == found == imported(text)


@pytest.mark.parametrize("name", list(KERNELS))
def test_all_that_becomes_part_of_a_kernel_is_among_its_sources(name: str) -> None:
    kernel = KERNELS[name]
    behind = sources.modules_behind(kernel.function.__module__)
    used = {h.__module__ for h in all_helpers(kernel.function, {})}
    assert used <= {*behind}


def all_helpers(
    function: Callable[..., Any], reached: dict[Callable[..., Any], None]
) -> dict[Callable[..., Any], None]:
    for helper in helpers_of(function):
        if helper not in reached:
            reached[helper] = None
            all_helpers(helper, reached)
    return reached


def edited(module: str) -> dict[str, str]:
    return {**sources.texts(), module: sources.texts()[module] + "\n"}


def test_the_digest_changes_with_any_source_of_the_kernel() -> None:
    before = sources.digest(REDUCERS)
    behind = sources.modules_behind(REDUCERS)
    assert {REDUCERS, RINGS, "fuseloom.dataflow.sim.compiled.visits"} <= {*behind}
    assert all(sources.digest_of(REDUCERS, edited(module)) != before for module in behind)


def test_the_digest_stays_with_changes_of_other_kernels() -> None:
    assert sources.digest_of(REDUCERS, edited(SCANNERS)) == sources.digest(REDUCERS)
    assert sources.digest_of(SCANNERS, edited(SCANNERS)) != sources.digest(SCANNERS)


def test_a_change_of_one_family_leaves_most_kernels_as_they_are() -> None:
    modules = [kernel.function.__module__ for kernel in KERNELS.values()]
    changed = [m for m in modules if sources.digest_of(m, edited(SCANNERS)) != sources.digest(m)]
    assert 0 < len(changed) < len(modules) / 4
    primitives = {m for m in modules if ".primitives." in m}
    assert all(sources.digest_of(m, edited(RINGS)) != sources.digest(m) for m in primitives)
