"""The energy of random runs, counted again from the tokens that their logs hold.

What each primitive does, and what that takes, is written down here a second time, by name: nothing
of the catalogue's work or of the machine's energies is asked.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import isclose, sqrt
from typing import Any

import numpy as np

import fuseloom as fl
from fuseloom.dataflow.dram import Dram
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.samml.tile_values import axes_of_streams
from fuseloom.dataflow.sim.binding import bind
from fuseloom.dataflow.sim.engines import Engine, run_graph
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.result import EngineResult
from fuseloom.dataflow.sim.tokens import DONE, Token, is_number
from tests.property.test_everything_at_once import draw
from tests.tiers import counts

SEED = 20_261_130
FUNCTIONS = {
    "add": ("add", "sub", "scalaradd"),
    "multiply": ("mul", "elemmul", "scalarmul"),
    "divide": ("div", "scalardiv"),
    "compare": ("max", "relu", "abs", "sign", "floor", "ceil", "trunc", "round"),
}
EACH = {"add": 0.9, "multiply": 3.7, "divide": 26.3, "compare": 0.9, "special": 23.0}
MEMORIES = {"hbm2": (3.48, 909.0), "ddr4": (5.75, 8 * 430.0)}


def recounted(result: EngineResult, copied: float, machine: Machine) -> Counter[str]:
    """Picojoules of a region's run by kind of action."""
    graph, log = result.graph, result.log
    assert log is not None
    streams: dict[int, list[Token]] = {s.id: [t for t, _ in log[s.id]] for s in graph.streams}
    edge = max((int(n.params["block"]) for n in graph.nodes if "tile" in n.params), default=1)
    widths = [edge ** len(axes) for axes in axes_of_streams(graph)]
    found: Counter[str] = Counter()
    for stream, tokens in streams.items():
        depth = graph.streams[stream].capacity or machine.channel_capacity or 64
        each = 2 * 5.0 * sqrt(4 * widths[stream] * depth / 8192)
        left = not tokens or tokens[-1] is not DONE  # by who knows the end from another input
        words = sum(np.size(t) if is_number(t) else 1 for t in tokens) + left
        found["channel"] += words * each
    asked = 0.0
    for node in graph.nodes:
        taken = [[t for t in streams[s] if is_number(t)] for s in node.inputs]
        put = [[t for t in streams[s] if is_number(t)] for s in node.outputs if s is not None]
        for kind, count in operations(node, taken, put, edge):
            found[kind] += EACH[kind] * count
        found["integer"] += 0.1 * integers(node.op, [len(t) for t in taken], made(put))
        if node.op.startswith("spacc") or node.op == "replay":
            entry = sum(widths[s] for s in node.outputs if s is not None)
            wrote = (2 if node.op != "replay" else 1) * len(taken[0 if node.op == "replay" else -1])
            found["buffer"] += 5.0 * sqrt(32768 / 8192) * entry * (wrote + made(put))
        asked += bytes_of(node, result.outputs.get(node.id, {}), taken, put, edge)
    bit, row = MEMORIES.get(machine.name, (3.48, 0.0))
    if (stats := result.memory) is not None:
        accesses = sum(c.reads + c.writes for c in stats.channels)
        dram = isinstance(machine.memory, Dram)
        asked = accesses * machine.access_bytes if dram else stats.requested
        found["activate"] += row * sum(c.activates for c in stats.channels)
    found["memory"] += 8 * bit * asked
    if copied:
        found["memory"] += 8 * bit * copied
        if isinstance(machine.memory, Dram):
            found["activate"] += row * copied / machine.memory.row_bytes
    return +found


def made(put: list[list[Token]]) -> int:
    """Values on the output that carries most of them."""
    return max((len(tokens) for tokens in put), default=0)


def operations(
    node: Node, taken: list[list[Token]], put: list[list[Token]], edge: int
) -> list[tuple[str, int]]:
    """Operations on values, by kind."""
    name = str(node.params.get("fn", "add"))
    kind = next((k for k, names in FUNCTIONS.items() if name in names), "special")
    numbers = sum(np.size(t) for tokens in put for t in tokens)
    axes = str(node.params.get("tile", ""))
    if node.op == "binary" and "->" in axes:
        points = edge ** len(set(axes) - set(",->")) * len(put[0] if put else ())
        if points > numbers:
            return [(kind, points), ("add", points - numbers)]
    if node.op in ("binary", "unary"):
        return [(kind, numbers)]
    if node.op == "tilefold":
        return [(kind, sum(np.size(t) for t in taken[0]) - numbers)]
    if node.op == "reduce":
        return [(kind, sum(np.size(t) for t in taken[0]))]
    if node.op.startswith("spacc"):
        return [(kind, sum(np.size(t) for t in taken[-1]))]
    return []


def integers(op: str, taken: list[int], made: int) -> int:
    """Operations on coordinates and references."""
    match op:
        case "scan" | "dense_scan":
            return taken[0] + made
        case "locate" | "flatten":
            return 2 * taken[0]
        case "search":
            return taken[1] + made
        case "intersect" | "union":
            return sum(taken[::2])
        case "crddrop":
            return taken[1]
        case "fiber_align":
            return taken[0] + taken[1]
        case "shift" | "crdmask":
            return taken[0]
        case "spacc1":
            return taken[1]
    return sum(taken[:-1]) if op.startswith("spacc") else 0


def bytes_of(
    node: Node, written: Any, taken: list[list[Token]], put: list[list[Token]], edge: int
) -> float:
    """Bytes that a node asks the memory for."""
    match node.op:
        case "scan" | "search":
            return 4 * made(put) + (0 if node.params.get("singleton") else 8 * len(taken[0]))
        case "array":
            axes = str(node.params.get("tile", "")).rpartition(">")[2]
            return 4 * edge ** len(axes) * len(taken[0])
        case "crdwrite":
            return 4.0 * (np.size(written["crd"]) + np.size(written["seg"]))
        case "valwrite":
            return 4.0 * sum(np.size(t) for t in taken[0])
    return 0.0


def search(first: int, wanted: int) -> Counter[str]:
    """Compare the energy of that many runs."""
    seen: Counter[str] = Counter()
    seed = first
    while seen["runs"] < wanted:
        case = draw(seed)
        seed += 1
        if case is None:
            continue
        machine = Machine.preset(("default", "hbm2", "ddr4", "ideal")[seed % 4])
        compilation = case.compilation
        if seed % 3 == 0:
            compilation = compilation.sized(2)
        run = simulate(compilation, case.data, machine)
        known = {**run.data, **run.outputs}
        total: Counter[str] = Counter()
        for region in run.regions:
            bound = bind(region.region.graph, known)
            logged = run_graph(bound, machine, engine=Engine.INTERPRETER, log=True)
            again = recounted(logged, region.copied, machine)
            told = region.energy.actions
            assert told.keys() == again.keys(), f"seed {seed - 1}, {region.name}"
            for kind, picojoules in again.items():
                assert isclose(told[kind], 1e-12 * picojoules, rel_tol=1e-9), (
                    f"seed {seed - 1}, {region.name}: {kind}"
                )
            total += again
        assert isclose(run.energy.joules, 1e-12 * total.total(), rel_tol=1e-9), f"seed {seed - 1}"
        assert run.energy.edp == run.energy.joules * run.energy.seconds
        assert isclose(run.energy.seconds, run.cycles / 1e9, rel_tol=1e-9)
        seen["runs"] += 1
        seen.update(total.keys())
        seen["tiles"] += any(t.format.blocked for t in case.program.tensors)
        seen["copies"] += any(r.copied for r in run.regions)
    print(f"seeds {first} to {seed - 1}: {dict(seen)}")
    return seen


@counts(small=10, deep=40, fuzz=200)
def test_energies_of_random_runs(count: int) -> None:
    seen = search(SEED, count)
    for kind in ("channel", "memory", "integer", "add", "multiply"):
        assert seen[kind] >= count // 4, kind
    if count >= 200:
        rare = ("buffer", "activate", "compare", "divide", "special", "tiles", "copies")
        assert all(seen[kind] for kind in rare), seen


@counts(small=6, deep=20, fuzz=100)
def test_energies_expected_of_known_coordinates_are_those_of_runs(count: int) -> None:
    """Without a memory all counts are known: the energy, too."""
    compared, seed = 0, SEED + 50_000
    while compared < count:
        case = draw(seed)
        seed += 1
        if case is None:
            continue
        machine = replace(Machine.default(), channel_capacity=None if seed % 2 else 1 << 20)
        run = simulate(case.compilation, case.data, machine)
        expected = fl.estimate(case.compilation, case.data, mode="exact", machine=machine)
        for ran, region in zip(run.regions, expected.regions, strict=True):
            told, found = ran.energy.actions, region.energy.actions
            assert told.keys() == found.keys(), f"seed {seed - 1}"
            assert all(isclose(told[k], found[k], rel_tol=1e-9) for k in told), f"seed {seed - 1}"
        compared += 1
