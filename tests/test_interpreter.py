"""Processes that the product starts: this Fuseloom, and nothing of the current folder."""

from __future__ import annotations

import ast
import os
import subprocess
from pathlib import Path

import pytest

import fuseloom
import fuseloom_workbench
from fuseloom import interpreter

ROOT = Path(__file__).parent.parent
STARTS = {"Popen", "run", "call", "check_call", "check_output", "execv", "execve", "execvp"}
OTHER_PROGRAMS = {
    "fuseloom/codegen/shared_objects.py": "compilers of C and C++",
    "fuseloom/cli/doctor.py": "compilers and other programs, for their versions",
    "fuseloom/experiments/report.py": "git",
    "fuseloom/exploration/store/lease.py": "ps",
    "fuseloom/dataflow/rtl/running.py": "simulators of Verilog, and what they make",
    "fuseloom/stitch/gpu/cuda_compiler.py": "nvcc",
    "fuseloom/stitch/gpu/triton_child.py": "what reads the resources of machine code",
    "fuseloom/stitch/gpu/job_files/run.py": "compilers of CUDA and C++",
    "fuseloom/cli/stitch_files.py": "a job, which knows nothing of Fuseloom",
    "fuseloom_workbench/serving/allocator.py": "the server itself once more, with its own options",
}
"""Modules that start something else than a Python with this Fuseloom."""


def test_a_process_imports_this_fuseloom_and_nothing_of_the_current_folder(tmp_path: Path) -> None:
    for name in ("fuseloom.py", "fuseloom_workbench.py", "numpy.py"):
        (tmp_path / name).write_text("raise SystemExit('hostile')")
    program = (
        "import numpy, fuseloom, fuseloom_workbench as w; print(fuseloom.__file__, w.__file__)"
    )
    done = subprocess.run(
        interpreter.command("-c", program),
        env=interpreter.environment(fuseloom_workbench),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [fuseloom.__file__, fuseloom_workbench.__file__]


def test_the_path_of_the_user_stays(monkeypatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    assert interpreter.environment()["PYTHONPATH"].split(os.pathsep)[-1] == "/somewhere"


def starting_modules() -> list[str]:
    """Modules with a call that starts a process, by the names of ``subprocess`` and ``os``."""
    names = []
    for root in (ROOT / "engine", ROOT / "workbench"):
        for path in sorted(root.rglob("*.py")):
            calls = (
                call.func
                for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                if isinstance(call, ast.Call)
            )
            if any(
                isinstance(f, ast.Attribute)
                and f.attr in STARTS
                and isinstance(f.value, ast.Name)
                and f.value.id in ("subprocess", "os")
                for f in calls
            ):
                names.append(path.relative_to(root).as_posix())
    return names


@pytest.mark.deep  # takes seconds
def test_every_python_process_is_started_with_that_command() -> None:
    names = starting_modules()
    assert "fuseloom/cli/serve.py" in names
    assert OTHER_PROGRAMS.keys() <= {*names}
    for name in {*names} - OTHER_PROGRAMS.keys():
        root = ROOT / ("engine" if name.startswith("fuseloom/") else "workbench")
        text = (root / name).read_text(encoding="utf-8")
        assert "interpreter.command(" in text, name
        assert "interpreter.environment(" in text or "process.fork(" in text, name
