"""Machine code: kept, used again, and made without a C compiler."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fuseloom.codegen import shared_objects
from fuseloom.codegen.compile import Backend, build
from fuseloom.codegen.imperative import (
    Add,
    ArrayParameter,
    ElementAccess,
    For,
    Int,
    Put,
    Routine,
    Var,
)
from fuseloom.codegen.shared_objects import C, find_compiler
from fuseloom.errors import LoweringError, ProgramError
from tests.codegen.adding import adds, result, script


@pytest.mark.parametrize("backend", list(Backend))
def test_what_was_compiled_is_used_again(
    backend: Backend, folder: Path, anew: Callable[[], None]
) -> None:
    first = build([adds(2.5)], backend)
    assert not first.reused
    assert build([adds(2.5)], backend).reused
    anew()
    again = build([adds(2.5)], backend)
    assert again.reused
    assert result(first) == result(again) == [2.5, 2.5, 0.0]
    other = build([adds(1.5)], backend)
    assert not other.reused
    assert result(other) == [1.5, 1.5, 0.0]


def test_other_flags_are_other_code(folder: Path) -> None:
    build([adds(1.0)], Backend.C, ("-O0",))
    assert not build([adds(1.0)], Backend.C, ("-O1",)).reused
    assert len(list(folder.glob("*.so"))) == 2
    assert not [path for path in folder.iterdir() if path.suffix != ".so"]


def test_processes_share_a_cache(folder: Path) -> None:
    text = (
        "from tests.codegen.adding import adds, result\n"
        "from fuseloom.codegen.compile import Backend, build\n"
        "print(result(build([adds(7.0)], Backend.C)))"
    )
    root = Path(__file__).parents[3]
    begun = [
        subprocess.Popen([sys.executable, "-c", text], cwd=root, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    assert {process.communicate()[0].strip() for process in begun} == {"[7.0, 7.0, 0.0]"}
    assert len(list(folder.iterdir())) == 1


def test_without_a_compiler_numba_makes_the_code(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_objects.shutil, "which", lambda name: None)
    assert find_compiler() is None
    built = build([adds(1.0)])
    assert built.backend is Backend.NUMBA
    assert built.said == "no C compiler is found (gcc, clang, cc): numba makes the code"
    assert result(built) == [1.0, 1.0, 0.0]
    with pytest.raises(ProgramError, match="no C compiler is found"):
        build([adds(1.0)], Backend.C)


def test_a_compiler_that_fails(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails = 'case "$1" in --version) echo broken 1;; *) echo "error: no disk" >&2; exit 1;; esac'
    monkeypatch.setenv(C.variable, script(tmp_path / "broken", fails))
    with pytest.raises(LoweringError, match="broken does not compile this: error: no disk"):
        build([adds(1.0)], Backend.C)
    built = build([adds(1.0)])
    assert built.backend is Backend.NUMBA
    assert "no disk: numba makes the code" in built.said
    assert not list(folder.glob("*.so"))
    makes = 'case "$1" in --version) echo strange 1;; *) while [ "$1" != -o ]; do shift; done;'
    monkeypatch.setenv(C.variable, script(tmp_path / "strange", f'{makes} echo no > "$2";; esac'))
    with pytest.raises(LoweringError, match="what strange made cannot be loaded"):
        build([adds(1.0)], Backend.C)


@pytest.mark.parametrize("backend", list(Backend))
def test_routines_on_shared_arrays_run_together(backend: Backend, folder: Path) -> None:
    """Arrays that stay live as long as what runs; given arrays are of any shape."""
    copied = (For("v0", Int(0), Int(4), (Put("r2", Var("v0"), ElementAccess("r0", Var("v0"))),)),)
    more = (For("v0", Int(0), Var("n0"), (Add("r1", Var("v0"), ElementAccess("r2", Var("v0"))),)),)
    r0, r1, r2 = (ArrayParameter(f"r{k}", True, k > 0) for k in range(3))
    routines = [Routine((), (r0, r2), (), copied), Routine(("n0",), (r1, r2), (), more)]
    built = build(routines, backend, together=("r0", "r1", "r2"))
    assert built.bind is not None
    run = built.bind(np.array([3]), 2, [np.empty(4)])
    gc.collect()
    result = np.ones((2, 2))
    for _ in range(2):
        run(np.arange(4.0), result)
    assert result.tolist() == [[1.0, 3.0], [5.0, 1.0]]
    assert build(routines, backend).bind is None
