"""Families of primitives: each in a folder, and its modules know as much as they may."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import fuseloom.dataflow.primitives
from fuseloom.dataflow.samml.catalogue import FAMILIES, PRIMITIVES

ROOT = Path(fuseloom.dataflow.primitives.__file__).parent
ENGINE = ROOT.parents[2]
KNOWS = {
    "entries": ("samml", "table"),
    "golden": ("samml", "table", "machine", "dram", "sim", "sim.golden", "primitives.golden"),
    "kernels": ("samml", "machine", "dram", "sim", "sim.compiled", "primitives.kernels"),
    "hardware": ("samml", "machine", "rtl"),
    "expected": ("samml", "table", "cost"),
    "exact": ("samml", "table", "dram", "cost", "primitives.exact"),
    "narration": (
        "samml",
        "table",
        "sim",
        "sim.steps",
        "primitives.golden",
        "primitives.narration",
    ),
}
"""The packages of dataflow, and the parts of families, that each part may import.

Of the simulator that is what all its engines share, unless more is named.
"""
MODULES = sorted(path for path in ROOT.glob("*/*.py") if path.name != "__init__.py")


def part_of(module: str) -> str:
    return module.rpartition("_")[2]


def imports(path: Path) -> Iterator[str]:
    """Modules of dataflow that a file imports, below it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.ImportFrom(module=str(module)):
                names = [f"{module}.{alias.name}" for alias in node.names]
            case ast.Import():
                names = [alias.name for alias in node.names]
            case _:
                names = []
        for name in names:
            if name.startswith("fuseloom.dataflow."):
                yield name.removeprefix("fuseloom.dataflow.")


def known(name: str) -> str:
    """Return the package or part of a family that a module belongs to, a word of :data:`KNOWS`."""
    package, *rest = name.split(".")
    if package == "primitives":
        return f"primitives.{part_of(rest[1])}"
    if package == "sim" and (ROOT.parent / "sim" / rest[0]).is_dir():
        return f"sim.{rest[0]}"
    return package


def test_every_folder_is_a_family() -> None:
    assert {path.parent.name for path in MODULES} == set(FAMILIES)
    assert {part_of(path.stem) for path in MODULES} == set(KNOWS)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_part_knows_what_it_may(path: Path) -> None:
    """Golden models and kernels know nothing of each other, estimates nothing of either."""
    found = {known(name) for name in imports(path)}
    assert found <= set(KNOWS[part_of(path.stem)])


def test_nothing_else_imports_a_family() -> None:
    strangers = [
        path.relative_to(ENGINE).as_posix()
        for path in ENGINE.rglob("*.py")
        if not path.is_relative_to(ROOT)
        and any(name.startswith("primitives.") for name in imports(path))
    ]
    assert not strangers
    assert fuseloom.dataflow.primitives.__name__ == PRIMITIVES


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(part, marks=[pytest.mark.deep] if part == "hardware" else [])  # Amaranth
        for part in KNOWS
    ],
)
def test_any_part_can_be_imported_first(part: str) -> None:
    """Though whatever it imports collects the parts of all families."""
    code = f"import {PRIMITIVES}.scanners.{part}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
