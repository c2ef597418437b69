"""When graphs are done: phases, latencies, lanes and the bound, worked out and as they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import estimate
from fuseloom.dataflow.cost.exact.execution import ElementBudget, Execution, Memo, execute
from fuseloom.dataflow.cost.exact.patterns import Patterns
from fuseloom.dataflow.cost.exact.timing import timed
from fuseloom.dataflow.dram import Ideal
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.program import parse
from fuseloom.program.inputs import check_data

PRODUCT = "A: 6x5 csr\nX: 5x4 csr\nT[i,j] = A[i,k] * X[k,j]"


STANDING = (
    "A: 150x150 csr\nx: 150 dense\ny[i] = A[i,j] * x[j]",
    "A: 150x150 csr\nB: 150x150 csr\nC[i,j] = A[i,j] + B[i,j]",
    "A: 60x60 csr\nB: 60x60 csr\nC[i,j] = A[i,k] * B[k,j]",
)


def sparse(seed: int, *shape: int, density: float = 0.4) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.random(shape) * (rng.random(shape) < density)


def executed(compilation: Compilation, data: Mapping[str, Any]) -> list[Execution]:
    found = Patterns(compilation.program, check_data(compilation.program, data))
    made, memo = [], Memo()
    for region in compilation.regions:
        made.append(execute(region.graph, found, memo, ElementBudget(1e7)))
        found.note(made[-1])
    return made


def ops(execution: Execution, *names: str) -> list[int]:
    return [node.id for node in execution.graph.nodes if node.op in names]


def test_a_pipeline_takes_its_tokens_and_its_depth() -> None:
    """y = relu(x) of 10 numbers: every node has a token a cycle, one behind the other.

    The reference comes to the scan at 1, and 10 coordinates and a stop take it until 12.  Load and
    relu are each a cycle behind the node in front, and work for 11 cycles too.  The writer takes
    the last value at 13 and the end at 15, which is a step of its own.
    """
    text = "x: 10 dense\ny[i] = relu(x[i])"
    compilation = compile_program(parse(text))
    (execution,) = executed(compilation, {"x": np.ones(10)})
    when = timed(execution)
    run = simulate(compilation, {"x": np.ones(10)})
    assert [when.ends[n] for n in sorted(when.ends)] == run.regions[0].result.clocks.tolist()
    (scan,) = ops(execution, "dense_scan")
    (load,) = ops(execution, "array")
    (relu,) = ops(execution, "unary")
    assert when.work[scan] == when.work[load] == when.work[relu] == 11
    assert (when.ends[scan], when.ends[load], when.ends[relu]) == (12, 13, 14)
    assert when.cycles == 16


@pytest.mark.parametrize("n", [1, 4, 9])
def test_what_closes_the_outermost_index_starts_a_phase(n: int) -> None:
    """Of an outer product the sums come when all is read: what is behind works after it."""
    text = f"A: {n}x{n} dense\nX: {n}x{n} dense\nT: {n}x{n} dense\nT[i,j] = A[i,k] * X[k,j]"
    data = {"A": np.ones((n, n)), "X": np.ones((n, n))}
    (execution,) = executed(compile_program(parse(text), "order T: k,i,j"), data)
    when = timed(execution)
    (accumulator,) = ops(execution, "spacc2")
    (writer,) = ops(execution, "valwrite")
    assert when.work[accumulator] == n * n * n + n * n + 1
    assert when.ends[writer] > when.ends[accumulator] + n * n
    # Beside each other: of the product by rows only the last row comes after the sums.
    (rows,) = executed(compile_program(parse(text), "order T: i,k,j"), data)
    beside = timed(rows)
    (by_row,) = ops(rows, "spacc1")
    assert beside.ends[ops(rows, "valwrite")[0]] <= beside.ends[by_row] + n + 4


ORDERS = ["i,k,j", "k,i,j; permute A to k,i", "i,j,k; permute X to j,k"]
CASES = [
    (PRODUCT, f"order T: {order}", {"A": sparse(1, 6, 5), "X": sparse(2, 5, 4)}) for order in ORDERS
]
CASES += [
    (PRODUCT + "\nY[i,j] = relu(T[i,j])", "fuse T..Y", CASES[0][2]),
    (
        "A: 6x6 csr\nB: 6x6 csr\nT[i,j] = A[i,j] + B[i,j]",
        "",
        {"A": np.eye(6), "B": sparse(5, 6, 6)},
    ),
    (
        "A: 6x6 csr\nB: 6x6 csr\nT[i,j] = A[i,j] * B[i,j]",
        "",
        {"A": np.eye(6), "B": sparse(5, 6, 6)},
    ),
    ("A: 6x6 csr\nx: 6 dense\ny[i] = A[i,j] * x[j]", "", {"A": sparse(7, 6, 6), "x": np.ones(6)}),
    (PRODUCT, "parallel i by 2", CASES[0][2]),
    (PRODUCT, "order T: i,k,j", {"A": np.zeros((6, 5)), "X": sparse(2, 5, 4)}),
]


@pytest.mark.parametrize(("text", "schedule", "data"), CASES)
def test_clocks_of_small_runs(text: str, schedule: str, data: Mapping[str, Any]) -> None:
    """Nearly those of the machine, node by node; and none before its bound."""
    compilation = compile_program(parse(text), schedule)
    run = simulate(compilation, data)
    for execution, region in zip(executed(compilation, data), run.regions, strict=True):
        clocks = region.result.clocks.tolist()
        when, least = timed(execution), timed(execution, bound=True)
        for node, clock in enumerate(clocks):
            assert least.ends[node] <= clock
            assert abs(when.ends[node] - clock) <= 2
        assert least.cycles <= when.cycles


def test_latencies_and_intervals_of_a_machine() -> None:
    data = {"A": sparse(1, 6, 5), "X": sparse(2, 5, 4)}
    compilation = compile_program(parse(PRODUCT), "order T: i,k,j")
    (execution,) = executed(compilation, data)
    for machine in (
        Machine(load_latency=7),
        Machine(alu_latency=9),
        Machine(alu_interval=3),
        Machine(load_latency=4, alu_latency=5, alu_interval=2),
    ):
        run = simulate(compilation, data, machine=machine)
        when, least = timed(execution, machine), timed(execution, machine, bound=True)
        assert [when.work[n] for n in sorted(when.work)] == run.regions[0].result.busy.tolist()
        assert when.cycles == pytest.approx(run.cycles, rel=0.05)
        assert least.cycles <= run.cycles
        assert when.cycles > timed(execution).cycles


def test_a_lane_waits_for_no_other() -> None:
    """With a row's work in each of four lanes, four rows take little longer than one."""
    n = 40
    text = f"A: 4x{n} csr\nx: {n} dense\ny[i] = A[i,j] * x[j]"
    data = {"A": np.ones((4, n)), "x": np.ones(n)}
    (one,) = executed(compile_program(parse(text)), data)
    lanes_of = compile_program(parse(text), "parallel i by 4")
    (lanes,) = executed(lanes_of, data)
    assert timed(one).cycles > 4 * n
    assert timed(lanes).cycles < 1.6 * n
    assert timed(lanes).cycles == pytest.approx(simulate(lanes_of, data).cycles, abs=4)


def test_rows_that_wait_for_each_other() -> None:
    """A heavy first row keeps what is behind waiting; a heavy last one is waited for at the end.

    Both have the same counts, so only when they come tells the schedules apart.
    """
    n = 30
    first, last = np.eye(n), np.eye(n)
    first[0], last[-1] = 1, 1
    text = f"A: {n}x{n} csr\nB: {n}x{n} csr\nT[i,j] = A[i,k] * B[k,j]"
    compilation = compile_program(parse(text), "order T: i,k,j")
    for a, b in ((first, first), (first, last), (last, first), (last, last)):
        data = {"A": a, "B": b}
        (execution,) = executed(compilation, data)
        run = simulate(compilation, data)
        assert timed(execution).cycles == pytest.approx(run.cycles, rel=0.01)
        assert timed(execution, bound=True).cycles <= run.cycles


def test_rows_that_meet_late() -> None:
    """The nodes behind a join begin only after the first match, and after the end of a sum.

    Every row of A meets the rows of X at its end only, so each waits for some 20 steps.
    """
    n = 24
    text = f"A: {n}x{n} csr\nX: {n}x4 dcsr\nT[i,j] = A[i,k] * X[k,j]"
    compilation = compile_program(parse(text), "order T: i,k,j")
    late = np.zeros((n, 4))
    late[-4:] = 1
    for data in ({"A": np.ones((n, n)), "X": late}, {"A": np.ones((n, n)), "X": late[::-1]}):
        (execution,) = executed(compilation, data)
        run = simulate(compilation, data)
        assert run.cycles * 0.995 <= timed(execution, bound=True).cycles <= run.cycles
        assert timed(execution).cycles == pytest.approx(run.cycles, rel=0.005)


def test_rows_that_come_all_at_once() -> None:
    """A row of sums leaves in one cycle; what is behind works through it a token at a time."""
    n = 30
    text = f"A: 1x{n} csr\nB: {n}x{n} csr\nT[i,j] = A[i,k] * B[k,j]\nY[i,j] = relu(T[i,j])"
    compilation = compile_program(parse(text), "fuse T..Y")
    data = {"A": np.ones((1, n)), "B": np.ones((n, n))}
    (execution,) = executed(compilation, data)
    run = simulate(compilation, data)
    assert timed(execution).cycles == pytest.approx(run.cycles, abs=3)
    assert timed(execution, bound=True).cycles <= run.cycles


def test_shifted_operands_of_a_concat() -> None:
    """The operands that a concat shifts are at their new coordinates, subtrees included.

    Taken at the old ones, the stop of the second operand's first row is waited for too long, and
    the bound is above the run.
    """
    text = (
        "A: 3x3 csr\nB: 3x3 csr\nT[i,j] = A[i,k] * B[k,j]\nV[i,j] = relu(T[i,j])\n"
        "U[c,j] = concat[c](T[c,j], V[c,j])"
    )
    data = {"A": sparse(1, 3, 3, density=0.7), "B": sparse(2, 3, 3, density=0.7)}
    compilation = compile_program(parse(text), "fuse T..U")
    (execution,) = executed(compilation, data)
    run = simulate(compilation, data)
    assert timed(execution, bound=True).cycles <= run.cycles
    assert timed(execution).cycles == pytest.approx(run.cycles, abs=1)


def test_no_nodes() -> None:
    (execution,) = executed(compile_program(parse("x: 1 dense\ny[i] = relu(x[i])")), {"x": [1.0]})
    empty = Execution(type(execution.graph)("nothing", (), ()), {}, {})
    assert timed(empty).cycles == 0


ROWS = "A: 40x40 csr\nX: 40x40 csr\nT[i,j] = A[i,k] * X[k,j]"


def test_rows_wait_for_room_in_short_channels() -> None:
    """An accumulator puts a row at once; into four places it goes as fast as it is taken."""
    rng = np.random.default_rng(5)
    data = {name: rng.random((40, 40)) * (rng.random((40, 40)) < 0.2) for name in "AX"}
    compilation = compile_program(parse(ROWS), "order T: i,k,j")
    free = estimate(compilation, data).cycles
    short = compilation.sized(4)
    run = simulate(short, data)
    expected = estimate(short, data)
    assert run.cycles > 1.1 * free
    assert expected.cycles == pytest.approx(run.cycles, rel=0.05)
    assert expected.least is not None
    assert expected.least <= run.cycles


def test_dependent_reads_wait_for_one_another() -> None:
    """A level's coordinates are asked for when its segments have come."""
    data = {"A": np.eye(8), "x": np.ones(8)}
    compilation = compile_program(parse("A: 8x8 dcsr\nx: 8 dense\ny[i] = A[i,j] * x[j]"))
    fast = estimate(compilation, data).cycles
    machine = replace(Machine.default(), memory=Ideal(latency=100))
    slow = estimate(compilation, data, machine=machine).cycles
    assert slow - fast == pytest.approx(500, abs=5)  # two levels of two reads each, and a value
    run = simulate(compilation, data, machine=machine)
    assert slow == pytest.approx(run.cycles, rel=0.2)


def test_nothing_moves_faster_than_the_memory() -> None:
    data = {"x": np.ones(4000)}
    compilation = compile_program(parse("x: 4000 compressed\ny[i] = 2 * x[i]"))
    narrow = replace(Machine.preset("hbm2"), clock_hz=1e12)
    expected = estimate(compilation, data, machine=narrow)
    assert narrow.memory is not None
    assert expected.cycles >= expected.bytes / narrow.memory.peak_per_cycle(1e12)


def test_a_fold_takes_its_time_for_nothing_too() -> None:
    """The empty sum of a row without elements passes as late as any other sum of blocks."""
    text = "A: 16x16 csr\nB: 16x16 csr\nT[i,j] = A[i,k] * B[k,j]"
    compilation = compile_program(parse(text), "block 8; order T: i,j,k; permute B to j,k")
    left, right = np.zeros((16, 16)), np.zeros((16, 16))
    left[:8, 8:], right[:8] = 1, 1  # no k has both
    (execution,) = executed(compilation, {"A": left, "B": right})
    run = simulate(compilation, {"A": left, "B": right})
    assert timed(execution).cycles == pytest.approx(run.cycles, rel=0.1)
    assert timed(execution, bound=True).cycles <= run.cycles


def test_a_bound_has_the_latencies_that_are_certain() -> None:
    """Of a vector every value is the only one of its coordinate, so that all are waited for."""
    compilation = compile_program(parse("x: 5 dense\ny[i] = relu(x[i])"))
    data = {"x": np.ones(5)}
    (execution,) = executed(compilation, data)
    machine = Machine(load_latency=30, alu_latency=20)
    cycles = simulate(compilation, data, machine=machine).cycles
    assert cycles > 50
    assert cycles - 1 <= timed(execution, machine, bound=True).cycles <= cycles


def test_the_empty_token_waits_for_nothing() -> None:
    """Of a vector without elements nothing is loaded."""
    compilation = compile_program(parse("x: 5 csf\ny[i] = relu(x[i])"))
    (execution,) = executed(compilation, {"x": np.zeros(5)})
    machine = Machine(load_latency=30)
    cycles = simulate(compilation, {"x": np.zeros(5)}, machine=machine).cycles
    assert cycles < 30
    assert timed(execution, machine).cycles == pytest.approx(cycles, abs=1)


@pytest.mark.parametrize("lanes", ["", "parallel i by 2"])
@pytest.mark.parametrize("text", STANDING, ids=lambda text: text.splitlines()[-1])
def test_nodes_stand_still_for_a_memory_with_queues(text: str, lanes: str) -> None:
    """Within 2 %, where a run takes several times as long as without the memory."""
    machine = Machine.preset("comal-hbm")
    compilation = compile_program(parse(text), lanes)
    data = {
        name: sparse(k, *compilation.program.tensor(name).shape, density=0.1)
        for k, name in enumerate(compilation.program.inputs)
    }
    run = simulate(compilation, data, machine=machine)
    expected = estimate(compilation, data, machine=machine)
    assert run.cycles > 3 * simulate(compilation, data, machine=Machine.preset("comal")).cycles
    assert expected.cycles == pytest.approx(run.cycles, rel=0.02)
    assert expected.low <= run.cycles <= expected.high
