"""C++ that runs: errors of routines, functions of C, and functions that share their code."""

from __future__ import annotations

import ctypes
import gc
import subprocess
from pathlib import Path

import numpy as np
import pytest

from fuseloom.calls.annotated import DataHandle, annotate
from fuseloom.calls.c_routines import CRoutine
from fuseloom.calls.commands import Parallelize
from fuseloom.calls.data_kinds import Matrix
from fuseloom.calls.fused import CodeLanguage, FusedFunction
from fuseloom.codegen import shared_objects
from fuseloom.errors import DataError, ProgramError

from . import programs

TEXT = str(programs.EXP.annotation)
A, B, C = (DataHandle(name, Matrix()) for name in "abc")


def compiled(function, commands=(), name="routine"):
    call = annotate(function, TEXT, ["a", "out"], name)
    return FusedFunction([call(A, B)], commands, 2, CodeLanguage.CPP)


@pytest.mark.parametrize("commands", [(), (Parallelize(0),)])
def test_an_error_of_a_routine_is_raised(commands) -> None:
    def fails(a, out):
        if a[0, 0] >= 4:
            raise RuntimeError("this routine fails")
        np.copyto(out, a)

    fused = compiled(fails, commands)
    rows = np.repeat(np.arange(8.0), 3).reshape(8, 3)
    with pytest.raises(RuntimeError, match="this routine fails"):
        fused(a=rows, b=np.empty_like(rows), tr=2)
    out = np.empty((4, 3))
    fused(a=rows[:4], b=out, tr=2)
    assert np.array_equal(out, rows[:4])


def test_functions_whose_code_is_the_same() -> None:
    data, outs = np.ones((3, 4)), [np.empty((3, 4)) for _ in range(2)]
    both = [
        compiled(lambda a, out: np.add(a, 1, out=out)),
        compiled(lambda a, out: np.add(a, 2, out=out)),
    ]
    for _ in range(2):
        for fused, out in zip(both, outs, strict=True):
            fused(a=data, b=out)
        assert [out[0, 0] for out in outs] == [2, 3]


def test_functions_that_share_code_outlive_each_other() -> None:
    def doubles(a, out):
        if a[0, 0] < 0:
            raise RuntimeError("a negative number")
        np.multiply(a, 2, out=out)

    data, out = np.ones((3, 4)), np.empty((3, 4))
    first, second = compiled(doubles), compiled(doubles)
    for fused in (first, second):
        fused(a=data, b=out)
    with pytest.raises(RuntimeError, match="a negative number"):
        first(a=-data, b=out)
    del second, fused
    gc.collect()
    out.fill(0)
    first(a=data, b=out)
    assert (out == 2).all()


def test_a_routine_of_c_is_called_without_python(tmp_path: Path) -> None:
    source, made = tmp_path / "negate.c", tmp_path / "negate.so"
    source.write_text(
        "#include <stdint.h>\n"
        "typedef struct { double *data; int64_t extents[2], strides[2]; } Part;\n"
        "void negate(const Part *a, const Part *out) {\n"
        "  for (int64_t i = 0; i < out->extents[0]; i++)\n"
        "    for (int64_t j = 0; j < out->extents[1]; j++)\n"
        "      out->data[i * out->strides[0] + j * out->strides[1]] =\n"
        "          -a->data[i * a->strides[0] + j * a->strides[1]];\n"
        "}\n"
    )
    compiler = shared_objects.find_compiler()
    assert compiler is not None
    subprocess.run(
        [compiler.path, "-shared", "-fPIC", "-O1", "-o", made, source], check=True, timeout=60
    )
    negate = annotate(CRoutine(ctypes.CDLL(str(made)).negate), TEXT, ["a", "out"], "negate")
    data = np.random.default_rng(0).standard_normal((9, 7))
    for language in CodeLanguage:
        out = np.empty_like(data)
        calls = [negate(A, B), programs.EXP(B, C)]
        FusedFunction(calls, [Parallelize(0)], 2, language)(a=data, c=out, tr=2, tc=3)
        assert np.array_equal(out, np.exp(data))


def test_parts_that_lie_outside_are_refused() -> None:
    """The extents of generated code are checked in C++, too."""
    text = "for x in [0, 1, 1] { produces { out { row: x, col: 0, rows: 1, cols: 4 } } when "
    call = annotate(
        lambda a, out: None,
        text + "consumes { a { row: x + a.rows, col: 0, rows: 1, cols: 4 } } }",
        ["a", "out"], "beyond",
    )  # fmt: skip
    fused = FusedFunction([call(A, B)], (), 1, CodeLanguage.CPP)
    run = fused.code.compile()
    with pytest.raises(DataError, match="a part lies outside of its array"):
        run(np.zeros((3, 4)), np.zeros((1, 4)))


def test_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_objects.shutil, "which", lambda name: None)
    fused = compiled(np.negative)
    assert "routines::routine" in fused.source
    with pytest.raises(ProgramError, match="no compiler of C"):
        fused(a=np.ones((2, 2)), b=np.ones((2, 2)))
