"""Generated Python: its lines and their nodes, kinds that are no arrays, threads."""

from __future__ import annotations

import threading
from itertools import pairwise

import numpy as np
import pytest

from fuseloom.calls.annotated import DataHandle, annotate
from fuseloom.calls.commands import Parallelize
from fuseloom.calls.data_kinds import Items, Matrix
from fuseloom.calls.emit_python import run_parallel
from fuseloom.calls.fused import FusedFunction
from fuseloom.calls.pipeline_nodes import ComputeNode

from .programs import EXP

A, B, C = (DataHandle(name, Matrix()) for name in "ABC")


def test_lines_lead_to_their_nodes() -> None:
    fused = FusedFunction([EXP(A, B), EXP(B, C)], [Parallelize(0)])
    nodes = list(fused.scheduled.nodes())
    for line in fused.code.lines:
        calls = line.text.strip().startswith("exp(")
        assert calls == (line.node is not None and isinstance(nodes[line.node], ComputeNode))


def test_functions_of_one_name_stay_apart() -> None:
    other = annotate(lambda a, out: np.negative(a, out=out), str(EXP.annotation), name="exp")
    fused = FusedFunction([EXP(A, B), other(B, C)])
    out = np.empty((2, 3))
    fused(A=np.zeros((2, 3)), C=out)
    assert (out == -1).all()


def test_names_of_data_hide_no_variable_and_no_function() -> None:
    """The loops of ``exp`` are over r and c, their sizes tr and tc."""
    names = ["r", "c", "tr", "exp", "kind_r", "tc_len", "r_rows", "r_part", "tile_r"]
    handles = [DataHandle(name, Matrix()) for name in names]
    calls = [EXP(x, y) for x, y in pairwise(handles)]
    out, data = np.empty((5, 4)), np.random.default_rng(0).random((5, 4))
    for commands in ([], [Parallelize(0)]):
        fused = FusedFunction(calls, commands, workers=2)
        sizes = dict.fromkeys(fused.scheduled.parameters, 2)
        fused(**{"r": data, "tile_r": out}, **sizes)
        expected = data
        for _ in calls:
            expected = np.exp(-expected)
        assert np.array_equal(out, expected)


def test_lists_are_queried_and_put_back() -> None:
    def upper(a, out):
        out[:] = [x.upper() for x in a]

    call = annotate(
        upper,
        "n: Symbolic for i in [0, out.len, n] { produces { out { start: i, len: n } }"
        " when consumes { a { start: i, len: n } } }",
    )
    a, b, c = (DataHandle(name, Items()) for name in "abc")
    out = [None] * 5
    FusedFunction([call(a, b), call(b, c)])(a=list("abcde"), c=out, n=2)
    assert out == list("ABCDE")


def test_parallel_loops_run_on_threads_one_within_another_on_one() -> None:
    names: set[str] = set()
    barrier = threading.Barrier(2, timeout=30)

    def inner(_: int) -> None:
        names.add(threading.current_thread().name)

    def outer(_: int) -> None:
        barrier.wait()
        run_parallel(inner, range(3), workers=2)

    run_parallel(outer, range(2), workers=2)
    assert len(names) == 2
    assert threading.current_thread().name not in names


def test_an_error_is_raised_and_threads_go_on() -> None:
    with pytest.raises(ZeroDivisionError):
        run_parallel(lambda n: 1 // n, range(2), workers=2)
    seen: list[int] = []
    run_parallel(seen.append, range(4), workers=2)
    assert sorted(seen) == [0, 1, 2, 3]
