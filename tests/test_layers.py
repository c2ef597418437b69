"""Imports go one way and in no circle, and the linter refuses what breaks that."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import grimp
import networkx as nx
import pytest

ROOT = Path(__file__).parent.parent
CONFIGURATION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LAYERED = [
    contract
    for contract in CONFIGURATION["tool"]["importlinter"]["contracts"]
    if contract["type"] == "layers"
]


def layers_of(contract: dict) -> list[list[str]]:
    """The packages of each layer that exist, from the top, by their full names."""
    (inside,) = contract.get("containers", [""])
    made = []
    for layer in contract["layers"]:
        names = [name.strip(" ()") for name in layer.split("|")]
        whole = [f"{inside}.{name}" if inside else name for name in names]
        there = [name for name in whole if path_of(name) is not None]
        if there:
            made.append(there)
    return made


def path_of(module: str) -> Path | None:
    """The file that importing the module runs; none if there is no such module."""
    base = Path(*module.split("."))
    for path in (base / "__init__.py", base.with_suffix(".py")):
        for root in ("engine", "workbench"):
            if (ROOT / root / path).is_file():
                return root / path
    return None


def forbidden() -> list[tuple[str, str]]:
    """For each layer an import of the one above, and for packages beside each other, each way."""
    pairs = []
    for contract in LAYERED:
        for above, below in pairwise(layers_of(contract)):
            pairs += [(low, high) for low in below for high in above]
        for beside in layers_of(contract):
            pairs += [(a, b) for a in beside for b in beside if a != b]
    return pairs


@pytest.fixture(scope="module")
def broken_copy(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the linter's output for a copy in which every package imports a forbidden one."""
    copy = tmp_path_factory.mktemp("architecture")
    for folder in ("engine", "workbench"):
        shutil.copytree(
            ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__", "*.js")
        )
    shutil.copy(ROOT / "pyproject.toml", copy)
    for lower, higher in forbidden():
        path = path_of(lower)
        assert path is not None
        with (copy / path).open("a", encoding="utf-8") as file:
            file.write(f"\nimport {higher}\n")
    roots = (str(copy / "engine"), str(copy / "workbench"))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(roots)}
    linter = str(Path(sys.executable).with_name("lint-imports"))
    done = subprocess.run(
        [linter, "--no-cache"],
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    return " ".join(done.stdout.split())


@pytest.mark.parametrize(("lower", "higher"), forbidden(), ids=" ".join)
def test_an_arrow_upward_is_refused(lower: str, higher: str, broken_copy: str) -> None:
    assert f"{lower} is not allowed to import {higher}:" in broken_copy


def test_every_package_is_in_the_contract() -> None:
    known = {name for contract in LAYERED for layer in layers_of(contract) for name in layer}
    packages = {
        f"fuseloom.{path.stem}"
        for path in (ROOT / "engine" / "fuseloom").iterdir()
        if (path / "__init__.py").is_file() or path.suffix == ".py"
    }
    assert packages - known == {"fuseloom.__init__", "fuseloom.__main__"}
    inside = {
        f"fuseloom.dataflow.{path.stem}"
        for path in (ROOT / "engine" / "fuseloom" / "dataflow").iterdir()
        if (path / "__init__.py").is_file() or path.suffix == ".py"
    }
    assert inside - known == {"fuseloom.dataflow.__init__"}


def test_the_only_circle_is_that_of_programs_and_their_text() -> None:
    """A program prints itself, and the printer knows programs."""
    imports = grimp.build_graph("fuseloom", "fuseloom_workbench")
    arrows = nx.DiGraph()
    for module in imports.modules:
        for other in imports.find_modules_directly_imported_by(module):
            arrows.add_edge(module, other)
    circles = [c for c in nx.strongly_connected_components(arrows) if len(c) > 1]
    assert circles == [{"fuseloom.program.types", "fuseloom.program.printer"}]
