"""From program and schedule to graphs: orders chosen, regions cut, reasons told."""

from __future__ import annotations

import json
import logging
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import fuseloom as fl
from fuseloom import faults
from fuseloom.dataflow import compilation
from fuseloom.dataflow.compiler import compile_program, compile_region
from fuseloom.dataflow.fusion.classes import nest_classes
from fuseloom.dataflow.fusion.fuse import fuse
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.samml.lowering import lower
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.table.table import FusionTable
from fuseloom.errors import FuseloomError, InternalError, LoweringError, OrderError, ScheduleError
from fuseloom.program import Program, parse

SPMM = "A: 4x5 csr\nX: 5x3 dense\nT[i,j] = A[i,k] * X[k,j]\nH[i,j] = relu(T[i,j])"


def test_without_a_schedule_every_statement_is_a_region() -> None:
    compiled = compile_program(parse(SPMM))
    assert [r.name for r in compiled.regions] == ["T", "H"]
    assert compiled.schedule == Schedule()


def test_a_schedule_may_be_text() -> None:
    text = "fuse T..H; order T: i,k,j"
    (region,) = compile_program(parse(SPMM), text).regions
    assert region.order == ("i", "k", "j")
    assert compile_program(parse(SPMM), Schedule.parse(text)).regions[0].graph == region.graph


def test_an_order_is_the_given_one_or_the_first_that_can_be_built() -> None:
    (region,) = fuse(parse(SPMM), Schedule.parse("fuse T..H"))
    assert compile_region(region).order in set(region.pog.orders())
    for order in region.pog.orders():
        assert compile_region(region, order).order == order
    with pytest.raises(OrderError, match="k"):
        compile_region(region, ("k", "i", "j"))


def test_what_stands_in_the_way_is_named() -> None:
    with pytest.raises(FuseloomError, match="Z"):
        compile_program(parse(SPMM), "fuse T..Z")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fuse y..w", "names 'w', but no statement"),
        ("fuse y; fuse z..y", "'fuse z..y' runs backwards"),
        ("fuse y..z; fuse z", "both claim z"),
        ("fuse y..z; materialise q", "names 'q'"),
        ("fuse y..z; materialise z", "'materialise z' changes nothing"),
        ("order q: i", "'order q: i' names no statement"),
        ("order y: i,q", "y has no index q"),
        ("fuse y; order y..z: i", "'order y..z: i' names no region"),
        ("fuse y..z; order y..z: j,i", "i must stay outside j"),
        ("fuse y..z; parallel q by 2", "no region has an index q"),
        ("parallel y..z: i by 2", "names no region"),
        ("fuse y..z; permute Q to i", "no region has such a view over i"),
        ("fuse y..z; locate y..y: off", "names no region"),
        ("fuse y..z; block 3", "3"),
        ("fuse y..z; global z..y", "runs backwards"),
        ("fuse y..z; parallel i by 2; parallel i by 4", "i is parallelised twice"),
        ("fuse y..z; parallel i by 5000", "5000 lanes"),
    ],
)
def test_what_shows_late_has_the_place_of_its_directive(text: str, message: str) -> None:
    """The last directive of each text is at fault, but for one that two share."""
    program = parse("A: 4x4 csr\nx: 4 dense\ny[i] = A[i,j] * x[j]\nz[i] = relu(y[i])")
    schedule = Schedule.parse("# a comment\n " + text, source="a.sched")
    with pytest.raises(FuseloomError, match=message) as caught:
        compile_program(program, schedule)
    wanted = "parallel i by 2" if "by 4" in text else text.rpartition("; ")[2]
    column = 2 + text.index(wanted)
    place = {"source": "a.sched", "line": 2, "column": column}
    assert caught.value.place == place
    assert str(caught.value).startswith(f"a.sched: line 2, column {column}: ")


def test_a_program_without_regions_has_no_views_to_name() -> None:
    program = parse("A: 2x2 dense\nR: 4 dense\nR[a] = reshape(A[i,j])")
    for text in ("permute A to j,i", "locate off", "parallel i by 2"):
        with pytest.raises(ScheduleError, match=r"the program has no region \(hint: memory does"):
            compile_program(program, text)


UNBUILDABLE = """
    A: 5x5 csr
    B: 5x5 csr
    T[i,j] = 2 * A[i,j]
    x1[i,j] = T[i,j] * A[i,j]
    y1[i,j] = T[i,j] * B[i,j]
    T1[i,j] = x1[i,j] + y1[i,j]
    x2[i,j] = T1[i,j] * A[i,j]
    y2[i,j] = T1[i,j] * B[i,j]
    Y[i,j] = x2[i,j] + y2[i,j]
    """
CHAIN = "A: 5x5 csr\nT0[i,j] = 2 * A[i,j]\n"


def chain(length: int, text: str = "0.5 * {}[i,j]") -> Program:
    links = [f"T{k}[i,j] = {text.format(f'T{k - 1}')}" for k in range(1, length)]
    return parse(CHAIN + "\n".join(links))


@pytest.mark.deep
def test_a_program_may_be_as_deep_as_it_is_long() -> None:
    """No recursion on the depth of a program: a chain of 2,000 statements is one region."""
    for program in (chain(2_000), chain(300, "{0}[i,j] + A[i,j]"), chain(120, "{0}[i,k] * A[k,j]")):
        last = program.statements[-1].out.tensor
        (region,) = compile_program(program, f"fuse T0..{last}").regions
        assert len(region.region.statements) == len(program.statements)
        assert len(list(islice(nest_classes(region.region), 1))) == 1


@pytest.mark.deep  # takes seconds
def test_joins_that_lie_too_deep_are_refused_in_one_line() -> None:
    inputs = "".join(f"A{k}: 5x5 csr\n" for k in range(130))
    links = [f"T{k}[i,j] = T{k - 1}[i,j] {'+*'[k % 2]} A{k}[i,j]" for k in range(1, 130)]
    program = parse(inputs + "T0[i,j] = 2 * A0[i,j]\n" + "\n".join(links))
    with pytest.raises(LoweringError, match="more than 100 joins") as caught:
        compile_program(program, "fuse T0..T129")
    assert "\n" not in str(caught.value)


def test_a_chain_with_many_possible_cuts_compiles() -> None:
    """Two outputs written in different orders: each has its own copies (it took 4^n before)."""
    links = "\n".join(f"U{k}[i,j] = relu(U{k - 1}[i,j])" for k in range(1, 20))
    program = parse(
        "B: 5x5 compressed\nY: 5x5 compressed order 1,0\nU0[i,j] = relu(B[i,j])\n"
        f"{links}\nX[i,j] = relu(U19[i,j])\nY[i,j] = gelu(U19[i,j])"
    )
    compiled = compile_program(program, "fuse U0..Y")
    data = {"B": np.random.default_rng(0).normal(size=(5, 5))}
    assert simulate(compiled, data).check().ok
    assert len(compiled.regions) == 1


def test_blocked_and_unblocked_indices_of_one_name_are_two() -> None:
    program = parse("b: 4 compressed block 2\nC: 4x4 csr\nT0[k] = relu(b[k])\nT1[k] = C[j,k]")
    compiled = compile_program(program, "fuse T0..T1")
    rng = np.random.default_rng(0)
    data = {"b": rng.normal(size=4), "C": rng.normal(size=(4, 4))}
    assert simulate(compiled, data).check().ok


def test_where_nothing_can_be_built_a_cut_is_named() -> None:
    program = parse(UNBUILDABLE)
    with pytest.raises((OrderError, LoweringError)) as caught:
        compile_program(program, "fuse T..Y")
    hint = caught.value.hint or ""
    assert hint.startswith("cut the region after y2: fuse T..y2")
    cut = hint.partition(": ")[2].partition("; or")[0]
    assert len(compile_program(program, cut).regions) == 2


def test_fused_where_possible_is_as_few_regions_as_can_be_built() -> None:
    compiled = compile_program(parse(UNBUILDABLE), "fuse T..Y where possible")
    assert [r.name for r in compiled.regions] == ["T..y2", "Y"]


def _standardised(x: str, name: str) -> str:
    return f"""
        {name}t[i,j] = sum[k] {x}[i,j,k]
        {name}m[i,j] = {name}t[i,j] * 0.125
        {name}c[i,j,k] = {x}[i,j,k] - {name}m[i,j]
        {name}q[i,j,k] = {name}c[i,j,k] * {name}c[i,j,k]
        {name}s[i,j] = sum[k] {name}q[i,j,k]
        {name}r[i,j] = rsqrt({name}s[i,j])
        {name}[i,j,k] = {name}c[i,j,k] * {name}r[i,j]
        """


@pytest.mark.deep  # takes seconds
def test_a_region_that_takes_too_many_cuts_is_given_up_after_a_few_orders() -> None:
    program = parse(f"""
        X: 2x4x8 dense
        U: 12x8 dense
        V: 12x8 dense
        W: 8x12 dense
        {_standardised("X", "n")}
        a[i,j,l] = n[i,j,k] * U[l,k]
        b[i,j,l] = n[i,j,k] * V[l,k]
        g[i,j,l] = sigmoid(a[i,j,l])
        h[i,j,l] = g[i,j,l] * a[i,j,l]
        d[i,j,l] = h[i,j,l] * b[i,j,l]
        e[i,j,k] = d[i,j,l] * W[k,l]
        Y[i,j,k] = X[i,j,k] + e[i,j,k]
        {_standardised("Y", "m")}
    """)
    with pytest.raises(LoweringError, match=r"none of the \d kinds tried of") as caught:
        compile_program(program, "fuse nt..m")
    cut = (caught.value.hint or "").partition(": ")[2].partition("; or")[0]
    assert len(compile_program(program, cut).regions) > 1


def test_a_fault_inside_is_reported_and_another_order_tried(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    monkeypatch.setenv(faults.VARIABLE, str(tmp_path / "reports"))
    (region,) = fuse(parse(SPMM), Schedule.parse("fuse T..H"))
    first = compile_region(region).order

    def faulty(table: FusionTable) -> Graph:
        if table.order == first:
            raise KeyError("a fault")
        return lower(table)

    monkeypatch.setattr(compilation, "lower", faulty)
    with caplog.at_level(logging.WARNING, "fuseloom.faults"):
        assert compile_region(region).order != first
    (path,) = (tmp_path / "reports").iterdir()
    assert f"report: {path}" in caplog.records[0].getMessage()
    with pytest.raises(InternalError, match=r"internal error: order .* KeyError") as caught:
        compile_region(region, first)
    assert str(path) in str(caught.value)
    with faults.collected() as reports:
        program = compile_program(parse(SPMM), "fuse T..H")
    assert program.regions[0].order != first
    assert [report.path for report in reports] == [*set((tmp_path / "reports").iterdir()) - {path}]
    saved = json.loads(reports[0].path.read_text(encoding="utf-8"))
    assert saved["schedule"] == "fuse T..H"
    assert parse(saved["program"]) == parse(SPMM)
    assert saved["region"] == "T..H"
    assert saved["order"] == ",".join(first)
    assert 'KeyError("a fault")' in saved["traceback"]
    assert saved["versions"]["fuseloom"] == fl.__version__
