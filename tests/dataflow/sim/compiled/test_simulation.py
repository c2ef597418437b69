"""The compiled engine: growing rings, limits, errors, its cache of machine code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from engine.dataflow.compiler import compile_program
from engine.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from engine.dataflow.sim.bound import BoundGraph
from engine.dataflow.sim.compiled import cache, choice, warmup
from engine.dataflow.sim.compiled import simulation as compiled
from engine.dataflow.sim.machine import Machine
from engine.dataflow.sim.program_runs import simulate
from engine.dataflow.sim.reports import Limits
from engine.dataflow.sim.result import EngineResult
from engine.dataflow.sim.tokens import encode, parse_tokens
from engine.dataflow.sim.twins import interpreter
from engine.errors import DeadlockError, SimulationError
from engine.models import load

CRD, REF, VAL, SIG = StreamKind.CRD, StreamKind.REF, StreamKind.VAL, StreamKind.SIG
OURS = Machine.default()


def graph(streams: list[StreamKind], *nodes: tuple, **arrays: dict) -> BoundGraph:
    """Nodes are (op, inputs, outputs, parameters); ``arrays`` are named ``n`` + node id."""
    return BoundGraph(
        Graph(
            "test",
            tuple(
                Node(k, op, ins, outs, params) for k, (op, ins, outs, params) in enumerate(nodes)
            ),
            tuple(Stream(k, kind, 1) for k, kind in enumerate(streams)),
        ),
        {int(name[1:]): bound for name, bound in arrays.items()},
    )


def tokens(text: str, kind: StreamKind = CRD) -> dict[str, np.ndarray]:
    return {"tokens": encode(parse_tokens(text, kind))}


def softmax(rows: int, columns: int) -> BoundGraph:
    """Every row waits in a channel until its sum is known."""
    refs = {"dim": columns}
    return graph(
        [REF, CRD, REF, CRD, REF, CRD, CRD, VAL, VAL, VAL, VAL, SIG, VAL, VAL],
        ("root", (), (0,), {}),
        ("dense_scan", (0,), (1, 2), {"dim": rows}),
        ("dense_scan", (2,), (3, 4), refs),
        ("broadcast", (3,), (5, 6), {}),
        ("array", (4,), (7,), {"tensor": "A"}),
        ("broadcast", (7,), (8, 9), {}),
        ("reduce", (8,), (10,), {"fn": "add"}),
        ("repsig", (5,), (11,), {}),
        ("repeat", (10, 11), (12,), {}),
        ("binary", (9, 12), (13,), {"fn": "div"}),
        ("crdwrite", (1,), (), {"tensor": "T", "level": 0}),
        ("crdwrite", (6,), (), {"tensor": "T", "level": 1}),
        ("valwrite", (13,), (), {"tensor": "T"}),
        n4={"vals": np.linspace(1, 2, rows * columns, dtype=np.float32)},
    )


def assert_equal(a: EngineResult, b: EngineResult) -> None:
    for what in ("clocks", "stall_input", "stall_output", "first", "tokens", "values", "taken"):
        np.testing.assert_array_equal(getattr(a, what), getattr(b, what), err_msg=what)
    for node, arrays in a.outputs.items():
        for name, array in arrays.items():
            np.testing.assert_array_equal(array, b.outputs[node][name])


@pytest.mark.parametrize("capacity", [None, 1000])
def test_rings_grow_when_a_fiber_is_longer(capacity: int | None) -> None:
    bound = softmax(3, 700)
    machine = Machine.default(capacity)
    simulation = compiled.Simulation(bound, machine, ring=8)
    before = simulation.memory.bytes
    assert_equal(interpreter.run(bound, machine), simulation.run())
    assert simulation.memory.bytes > before


def test_rows_longer_than_the_default_ring() -> None:
    result = compiled.run(softmax(2, 100_000), OURS)
    sums = result.outputs[12]["vals"].reshape(2, -1).sum(axis=1)
    np.testing.assert_allclose(sums, 1, rtol=1e-2)
    assert result.tokens[13] == 2 * 100_001 + 1


def test_outputs_longer_than_a_writers_buffer() -> None:
    bound = softmax(300, 300)
    result = compiled.run(bound, OURS)
    np.testing.assert_array_equal(result.outputs[11]["seg"], np.arange(301) * 300)
    np.testing.assert_array_equal(result.outputs[11]["crd"], np.tile(np.arange(300), 300))


def test_memory_limit() -> None:
    with pytest.raises(SimulationError, match="MiB"):
        compiled.Simulation(softmax(1, 1_000_000), OURS, limits=Limits(memory=10 << 20)).run()


def test_token_limit() -> None:
    with pytest.raises(SimulationError, match="more than 1,000 tokens"):
        compiled.run(softmax(10, 100), OURS, limits=Limits(1000))


def test_progress_and_cancel() -> None:
    seen: list[tuple[int, float]] = []

    def watch(count: int, share: float) -> bool:
        seen.append((count, share))
        return len(seen) < 3

    with pytest.raises(SimulationError, match="cancelled"):
        compiled.run(softmax(2000, 1000), Machine.default(1024), progress=watch)
    assert len(seen) == 3
    assert seen == sorted(seen)


def test_deadlock_names_the_same_circle_as_the_twins() -> None:
    messages = []
    for engine in (interpreter, compiled):
        with pytest.raises(DeadlockError) as caught:
            engine.run(softmax(2, 20), Machine.default(8))
        messages.append(str(caught.value))
    assert "binary 9" in messages[1]
    assert "more capacity" in messages[1]
    assert messages[0].split(": ")[0] == messages[1].split(": ")[0]


@pytest.mark.parametrize(
    ("bound", "rule"),
    [
        (
            graph(
                [VAL, VAL, VAL],
                ("source", (), (0,), {"kind": "val"}),
                ("source", (), (1,), {"kind": "val"}),
                ("binary", (0, 1), (2,), {"fn": "add"}),
                ("sink", (2,), (), {}),
                n0=tokens("1 2 S0 D", VAL),
                n1=tokens("1 S0 D", VAL),
            ),
            "operands disagree",
        ),
        (
            graph(
                [REF, VAL],
                ("source", (), (0,), {"kind": "ref"}),
                ("array", (0,), (1,), {"tensor": "A"}),
                ("sink", (1,), (), {}),
                n0=tokens("0 7 S0 D"),
                n1={"vals": np.zeros(3, np.float32)},
            ),
            "outside",
        ),
        (
            graph(
                [REF, CRD, REF],
                ("source", (), (0,), {"kind": "ref"}),
                ("scan", (0,), (1, 2), {"tensor": "A", "level": 0}),
                ("sink", (1,), (), {}),
                ("sink", (2,), (), {}),
                n0=tokens("5 D"),
                n1={"seg": np.array([0, 1]), "crd": np.array([0])},
            ),
            "outside",
        ),
    ],
)
def test_contradicting_tokens(bound: BoundGraph, rule: str) -> None:
    with pytest.raises(SimulationError, match=rule):
        compiled.run(bound, OURS)


def test_segments_must_fit_their_coordinates() -> None:
    bound = graph(
        [REF, CRD, REF],
        ("root", (), (0,), {}),
        ("scan", (0,), (1, 2), {"tensor": "A", "level": 0}),
        ("sink", (1,), (), {}),
        ("sink", (2,), (), {}),
        n1={"seg": np.array([0, 9]), "crd": np.array([0])},
    )
    with pytest.raises(SimulationError, match="segments"):
        compiled.run(bound, OURS)


def test_an_unknown_primitive_is_refused() -> None:
    with pytest.raises(SimulationError, match="cannot run"):
        compiled.run(graph([REF], ("no such", (), (0,), {}), ("sink", (0,), (), {})), OURS)


def test_accumulator_with_a_huge_dimension_and_tiny_rows() -> None:
    """Rows of three scattered coordinates cost the same whatever the dimension."""
    rng = np.random.default_rng(0)
    dim, rows = 3_000_000, 2000
    columns = np.sort(rng.integers(0, dim, (rows, 3)), axis=1)
    inner = " ".join(f"{a} {b} {c} S1" for a, b, c in columns)
    inner = inner.removesuffix("S1") + "S2 D"
    outer = "0 S0 " * (rows - 1) + "0 S1 D"
    bound = graph(
        [CRD, CRD, VAL, CRD, VAL],
        ("source", (), (0,), {"kind": "crd"}),
        ("source", (), (1,), {"kind": "crd"}),
        ("source", (), (2,), {"kind": "val"}),
        ("spacc1", (0, 1, 2), (3, 4), {"fn": "add", "dim": dim}),
        ("crdwrite", (3,), (), {"tensor": "T", "level": 0}),
        ("valwrite", (4,), (), {"tensor": "T"}),
        n0=tokens(outer),
        n1=tokens(inner),
        n2=tokens(inner, VAL),
    )
    result = compiled.run(bound, OURS)
    np.testing.assert_array_equal(result.outputs[4]["crd"], columns.reshape(-1))
    assert_equal(interpreter.run(bound, OURS), result)


def test_the_cache_knows_what_it_has(tmp_path: Path) -> None:
    """A fresh directory has nothing; a process that compiles one kernel leaves it there."""
    script = (
        "from engine.dataflow.sim.compiled import warmup\n"
        "print(warmup.ready(['root']))\n"
        "warmup.KERNELS['root'].address\n"
        "print(warmup.ready(['root']), warmup.ready())\n"
    )
    for first in ("False", "True"):
        run = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, cache.ENVIRONMENT: str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout.split() == [first, "True", "False"]


def test_old_caches_are_pruned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.ENVIRONMENT, str(tmp_path))
    for k in range(6):
        path = tmp_path / "kernels" / f"{k:020x}"
        path.mkdir(parents=True)
        os.utime(path, (k, k))
    kept = tmp_path / "kernels" / "something else"
    kept.mkdir()
    cache.prune()
    left = sorted(path.name for path in (tmp_path / "kernels").iterdir())
    assert left == [*(f"{k:020x}" for k in (3, 4, 5)), "something else"]


def test_the_kernels_of_a_graph_are_all_it_needs() -> None:
    """What is prepared beforehand, with a progress line, is all that a run then compiles."""
    model, _ = load("gcn", "karate")
    graphs = [r.graph for r in compile_program(model.program, model.presets["full"]).regions]
    assert {node.op for graph in graphs for node in graph.nodes} >= {"reduce", "spacc1"}
    for graph in graphs:
        names = choice.kernels_of(graph, Machine.default())
        assert names >= {"scheduler", "guided_reduce"}
        assert "memory" not in names
        assert "memory" in choice.kernels_of(graph, Machine.preset("hbm2"))
        assert names <= set(cache.KERNELS)
        assert {choice.kernel_of(node, Machine.default()).name for node in graph.nodes} <= names


def test_a_run_can_be_cancelled_before_its_kernels_are_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, data = load("gcn", "karate")
    built = compile_program(model.program, model.presets["full"])
    monkeypatch.setattr(warmup, "ready", lambda _: False)
    monkeypatch.setattr(warmup, "warmup", lambda *_, **__: pytest.fail("compiled all the same"))
    with pytest.raises(SimulationError, match="cancelled while its kernels were compiled"):
        simulate(built, data, engine="compiled", progress=lambda _, text: "compiling" not in text)


def test_kernels_are_kept_in_their_versions_directory_or_nowhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Any other folder could hold the code of an older version of a helper."""
    root = cache.KERNELS["root"]
    (tmp_path / "file").write_text("no directory can be made below this")
    monkeypatch.setenv(cache.ENVIRONMENT, str(tmp_path / "file"))
    homeless = cache.Kernel(root.name, root.function, root.setup)
    assert not homeless.storable
    assert not homeless.ready
    monkeypatch.setenv(cache.ENVIRONMENT, str(tmp_path))
    assert cache.Kernel(root.name, root.function, root.setup).storable
