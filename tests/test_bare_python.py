"""The core runs where the libraries with machine code, processes and threads are absent.

As in a browser: numba, llvmlite, pygraphviz, protobuf, psutil and rich cannot be imported, and
nothing can be started.  What ``pyproject.toml`` leaves out there is what is absent here.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
MODULES = {
    "numba": ("numba", "llvmlite"),
    "pygraphviz": ("pygraphviz",),
    "protobuf": ("google",),
    "psutil": ("psutil",),
    "rich": ("rich",),
}
"""The modules of each package that is left out."""
ABSENT = sorted({"multiprocessing", *(name for names in MODULES.values() for name in names)})
PROGRAM = f"""
import importlib.abc, os, subprocess, sys, threading

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {ABSENT}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

def refused(*_, **__):
    raise RuntimeError("can't start new thread")

sys.meta_path.insert(0, Absent())
threading.Thread.start = refused
subprocess.Popen.__init__ = refused
del os.fork

import fuseloom as fl
from fuseloom_workbench.notebook import check, fiber_tree, streams, tokens_of

for preset in ("partial", "full"):
    model, data = fl.load("gcn", "karate")
    compiled = fl.compile(model.program, model.presets[preset])
    expected = fl.estimate(compiled, data)
    run = fl.simulate(compiled, data)
    print(preset, run.cycles, run.check().ok, abs(expected.cycles - run.cycles) < 0.01 * run.cycles)
print(check("1.1", 4).ok, len(streams(tokens_of(compiled, data))._repr_html_()) > 1000)
print(sorted(set(map(lambda name: name.partition(".")[0], sys.modules)) & set({ABSENT})))
"""


def test_what_is_left_out_in_a_browser_is_what_is_absent_here():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needs = [Requirement(text) for text in project["dependencies"]]
    here = {"sys_platform": "emscripten", "platform_system": "Emscripten"}
    left_out = {r.name for r in needs if r.marker is not None and not r.marker.evaluate(here)}
    assert left_out == MODULES.keys()
    assert all(r.marker is None or r.marker.evaluate() for r in needs)  # here they are there


def test_gcn_from_its_program_to_checked_cycles():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "partial 14106 True True", "full 49474 True True", "True True", "[]",
    ]  # fmt: skip
