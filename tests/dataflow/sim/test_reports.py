"""Progress, cancelling and limits of long runs."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp

import fuseloom as fl
from fuseloom.cli import main
from fuseloom.cli.limits import size
from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.binding import bind
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.compiled import simulation as compiled
from fuseloom.dataflow.sim.golden import interpreter
from fuseloom.dataflow.sim.ports import with_ports
from fuseloom.dataflow.sim.reports import InputStreams, Limits, Reports
from fuseloom.errors import AbandonedError, SimulationError
from fuseloom.models import gcn, karate, random_data, spmm
from fuseloom.program import check_data
from tests.dataflow.sim.compiled.graphs import softmax

ENGINES = {"interpreter": interpreter, "compiled": compiled}


def product(rows: int, columns: int) -> tuple[Compilation, dict[str, object]]:
    """A sparse matrix of 3 numbers per row times a dense one."""
    rng = np.random.default_rng(0)
    program = fl.parse(
        f"""
        B: {rows}x{rows} csr
        C: {rows}x{columns} dense
        T[i,j] = B[i,k] * C[k,j]
        output T
        """
    )
    at = np.repeat(np.arange(rows), 3), rng.integers(rows, size=3 * rows)
    matrix = sp.csr_matrix((np.ones(3 * rows, np.float32), at), (rows, rows))
    matrix.sum_duplicates()
    dense = rng.standard_normal((rows, columns), dtype=np.float32)
    return fl.compile(program), {"B": matrix, "C": dense}


def bound_product(rows: int, columns: int) -> BoundGraph:
    compilation, data = product(rows, columns)
    stored = check_data(compilation.program, data)
    return bind(compilation.regions[0].graph, stored)


@pytest.mark.parametrize("machine", [Machine.default(), Machine.preset("hbm2")])
def test_the_streams_that_carry_the_outermost_level(machine: Machine) -> None:
    bound = with_ports(bound_product(20, 4), machine)
    inputs = InputStreams.of(bound)
    graph = bound.graph
    assert set(inputs.expected.tolist()) == {20}
    result = interpreter.run(bound, machine)
    taken = result.taken[inputs.streams]
    assert ((taken == 21) | (taken == 22)).all()  # a stop and, for most, the end
    consumers = {graph.nodes[graph.consumer[s]].op for s in inputs.streams.tolist()}
    assert not consumers & {"broadcast", "mem_read"}
    assert inputs.share(result.taken) == 1.0
    assert inputs.share(np.zeros_like(result.taken)) == 0.0
    assert 0.5 <= inputs.share(result.taken // 2) <= 0.55


def test_a_graph_without_scanners_has_no_share() -> None:
    assert InputStreams.of(BoundGraph(softmax(2, 2).graph)).share(np.zeros(99, np.int64)) == 0.0


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("engine", ENGINES)
def test_the_share_of_the_input_grows_to_the_end(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fuseloom.dataflow.sim.reports.PERIOD", 1e-4)
    monkeypatch.setattr("fuseloom.dataflow.sim.golden.interpreter.MOVES_PER_REPORT", 100)
    bound = bound_product(2_000 if engine == "compiled" else 100, 64)
    shares: list[float] = []
    ENGINES[engine].run(bound, Machine.default(64), progress=lambda n, s: shares.append(s))
    assert shares == sorted(shares)
    assert shares[0] < 0.1
    assert shares[-1] > 0.9
    if engine == "compiled":
        middle = [s for s in shares if 0.1 < s < 0.9]
        assert len(set(middle)) > 20
        assert max(np.diff(shares)) < 0.2


def test_regions_share_the_bar() -> None:
    model = gcn()
    compilation = fl.compile(model.program, model.presets["unfused"])
    seen: list[tuple[float, str]] = []
    fl.simulate(
        compilation, karate(), engine="interpreter", progress=lambda *told: seen.append(told)
    )
    shares = [share for share, _ in seen]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert any((8 * share) % 1 > 0.01 for share in shares)


@pytest.mark.parametrize("engine", ENGINES)
def test_cancelled_runs_say_so(engine: str) -> None:
    told: list[int] = []

    def progress(tokens: int, share: float) -> bool:
        told.append(tokens)
        return len(told) < 3

    with pytest.raises(SimulationError, match=r"run cancelled after [\d,]+ tokens"):
        ENGINES[engine].run(bound_product(5_000, 64), Machine.default(64), progress=progress)
    assert len(told) == 3


def test_reports_keep_their_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a step costs, the stride settles where one report takes a period."""
    clock = 0.0
    monkeypatch.setattr("fuseloom.dataflow.sim.reports.time.perf_counter", lambda: clock)
    for cost in (1e-6, 1e-4, 1e-2, 1.0):
        reports = Reports(BoundGraph(softmax(1, 1).graph), None, Limits(), first=16, most=1 << 16)
        taken = np.zeros(0, np.int64)
        for _ in range(20):
            clock += cost * reports.stride
            reports.tell(0, taken)
        assert reports.stride == max(1, min(1 << 16, round(0.03 / cost)))


@pytest.mark.parametrize("engine", ENGINES)
def test_too_many_tokens(engine: str) -> None:
    bound = bound_product(50, 8)
    whole = ENGINES[engine].run(bound, Machine.default())
    total = whole.total_tokens
    same = ENGINES[engine].run(bound, Machine.default(), limits=Limits(total))
    assert same.cycles == whole.cycles
    with pytest.raises(SimulationError, match=f"more than {total - 1:,} tokens") as caught:
        ENGINES[engine].run(bound, Machine.default(), limits=Limits(total - 1))
    assert "raise the limit" in str(caught.value.hint)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_beyond_its_cycles_is_abandoned(engine: str) -> None:
    compiled_program, data = product(60, 60)
    run = fl.simulate(compiled_program, data, engine=engine)
    same = fl.simulate(compiled_program, data, engine=engine, limits=Limits(cycles=run.cycles))
    assert same.cycles == run.cycles
    with pytest.raises(AbandonedError, match="more than 100 cycles"):
        fl.simulate(compiled_program, data, engine=engine, limits=Limits(cycles=100))


@pytest.mark.parametrize("engine", ENGINES)
def test_too_much_memory_for_channels(engine: str) -> None:
    """A softmax holds its whole row in an unbounded channel."""
    with pytest.raises(SimulationError, match="needs more than 8 MiB") as caught:
        ENGINES[engine].run(softmax(1, 400_000), Machine.default(), limits=Limits(memory=8 << 20))
    assert "bound the channels" in str(caught.value.hint)


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("engine", ENGINES)
def test_too_much_memory_for_outputs(engine: str) -> None:
    """The channels are short; what is written counts as well."""
    size = (3_000, 512) if engine == "compiled" else (300, 100)
    bound = bound_product(*size)
    machine = Machine.default(64)
    enough = Limits(memory=96 << 20)
    mebi = 8 if engine == "compiled" else 1
    with pytest.raises(SimulationError, match=f"needs more than {mebi} MiB"):
        ENGINES[engine].run(bound, machine, limits=Limits(memory=mebi << 20))
    if engine == "compiled":
        compiled.run(bound, machine, limits=enough)


def test_memory_is_refused_before_it_is_taken() -> None:
    """Trees, pools and rings ask first."""
    bound = softmax(1, 300_000)
    simulation = compiled.Simulation(bound, Machine.default(), limits=Limits(memory=10 << 20))
    with pytest.raises(SimulationError):
        simulation.run()
    assert simulation.memory.bytes <= 10 << 20


def test_a_limit_that_is_no_limit() -> None:
    with pytest.raises(SimulationError, match="-1 token"):
        Limits(-1)
    with pytest.raises(SimulationError, match="0 bytes"):
        Limits(memory=0)
    with pytest.raises(SimulationError, match="0 tokens"):
        Limits(0)


@pytest.mark.parametrize(
    ("text", "count"),
    [("4096", 4096), ("1KiB", 1024), ("1.5 MiB", 3 << 19), ("2G", 2 << 30), ("3gb", 3 << 30)],
)
def test_sizes(text: str, count: int) -> None:
    assert size(text) == count


@pytest.mark.parametrize("text", ["", "0", "-1", "much", "1 XB", "0.0001"])
def test_no_sizes(text: str) -> None:
    with pytest.raises(Exception, match="is no size"):
        size(text)


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize(
    ("option", "message"),
    [("--token-limit=100", "more than 100 tokens"), ("--memory-limit=1K", "needs more than 0 MiB")],
)
def test_limits_of_the_command_line(
    option: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", "--model", "gcn", "--engine", "compiled", option]) == 2
    assert message in capsys.readouterr().err
    assert main(["simulate", "--model", "spmm", "--memory-limit=1GiB", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["check"]["ok"]


def test_the_default_is_generous() -> None:
    assert random_data(spmm())
    assert Limits().tokens is None
