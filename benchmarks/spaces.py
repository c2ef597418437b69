"""Spaces of schedules: every legal way to run a program on a matrix, simulated region by region.

A space has every cut of a program into regions, for each region every class of orders that gives a
graph of its own, and those again with the wishes that ``order T: ...`` lines can say of its
statements, which make permuted copies where nothing else helps.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, permutations, product

import networkx as nx
import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.compilation import CompiledRegion
from fuseloom.dataflow.compiler import compile_program, compile_region
from fuseloom.dataflow.fusion.classes import nest_classes
from fuseloom.dataflow.fusion.fuse import fuse
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.passes.buffers import size_buffers
from fuseloom.dataflow.sim.binding import bind
from fuseloom.dataflow.sim.engines import run_graph
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import FuseloomError
from fuseloom.program import Program, StoredTensor, parse
from fuseloom.program.inputs import check_data

Matrix = npt.NDArray[np.bool_]
Key = tuple[str, str]
"""Name and graph of a region."""

WISHES, CLASSES, SCHEDULES = 40, 24, 300
"""Most sets of order lines per region, classes of orders of each, and schedules of a space."""


def uniform(n: int, rng: np.random.Generator) -> Matrix:
    return rng.random((n, n)) < 3 / n


def power_law(n: int, rng: np.random.Generator) -> Matrix:
    """Hubs in rows and columns, at places of their own in each."""
    weight = 1 / np.arange(1, n + 1) ** 0.8
    chance = np.outer(weight, weight) * 5 * n / weight.sum() ** 2
    return (rng.random((n, n)) < chance)[rng.permutation(n)][:, rng.permutation(n)]


def banded(n: int, rng: np.random.Generator) -> Matrix:
    at = np.arange(n)
    return abs(at[:, None] - at) <= 3


def blocks(n: int, rng: np.random.Generator) -> Matrix:
    at = np.arange(n) // 8
    return at[:, None] == at


def clustered(n: int, rng: np.random.Generator) -> Matrix:
    """Patches anywhere: most rows are empty, and products of patches are dense."""
    made = np.zeros((n, n), dtype=bool)
    size = n // 5
    for _ in range(6):
        i, j = rng.integers(0, n - size, 2)
        made[i : i + size, j : j + size] |= rng.random((size, size)) < 0.6
    return made


def arrow(n: int, rng: np.random.Generator) -> Matrix:
    """Three full rows and columns, and a diagonal."""
    made = np.eye(n, dtype=bool)
    made[:3] |= rng.random((3, n)) < 0.8
    made[:, :3] |= rng.random((n, 3)) < 0.8
    return made


def bipartite(n: int, rng: np.random.Generator) -> Matrix:
    return rng.random((n, n // 3)) < 0.08


def karate(n: int, rng: np.random.Generator) -> Matrix:
    return np.asarray(nx.to_numpy_array(nx.karate_club_graph()) > 0)


def les_miserables(n: int, rng: np.random.Generator) -> Matrix:
    return np.asarray(nx.to_numpy_array(nx.les_miserables_graph()) > 0)


FAMILIES: dict[str, Callable[[int, np.random.Generator], Matrix]] = {
    "uniform": uniform,
    "power law": power_law,
    "banded": banded,
    "blocks": blocks,
    "clustered": clustered,
    "arrow": arrow,
    "bipartite": bipartite,
    "Karate": karate,
    "Les Misérables": les_miserables,
}

PROGRAMS = {
    "chain": """A: {n}x{m} csr
B: {m}x{n} csr
C: {n}x{m} csr
T[i,j] = A[i,k] * B[k,j]
Y[i,l] = T[i,j] * C[j,l]""",
    "masked": """A: {n}x{m} csr
B: {m}x{n} csr
M: {n}x{n} csr
T[i,j] = A[i,k] * B[k,j]
Y[i,j] = T[i,j] * M[i,j]""",
    "edge": """A: {n}x{m} csr
E: {n}x{m} csr
X: {m}x8 dense
T[i,j] = A[i,j] * E[i,j]
Y[i,l] = T[i,j] * X[j,l]""",
    "SDDMM X": """A: {n}x{m} csr
U: {n}x6 dense
V: {m}x6 dense
X: {m}x8 dense
S[i,j] = U[i,d] * V[j,d]
T[i,j] = A[i,j] * S[i,j]
Y[i,l] = T[i,j] * X[j,l]""",
    "GCN": """A: {n}x{n} csr
X: {n}x10 csr
W1: 10x6 csr
W2: 6x4 csr
T1[i,f] = A[i,k] * X[k,f]
T2[i,h] = T1[i,f] * W1[f,h]
H[i,h] = relu(T2[i,h])
T3[i,h] = A[i,k] * H[k,h]
Y[i,c] = T3[i,h] * W2[h,c]""",
}


def data_of(program: Program, matrix: Matrix, rng: np.random.Generator) -> dict[str, StoredTensor]:
    """The matrix, or its transpose, wherever it fits; E a part of it; numbers for the rest."""
    data = {}
    for name in program.inputs:
        shape = program.tensor(name).shape
        there = rng.random(shape) < (1.0 if program.tensor(name).format.all_dense else 0.4)
        if name in "ABCME":
            there = next(
                (m for m in (matrix, matrix.T) if m.shape == shape), rng.random(shape) < 0.06
            )
        if name == "E":
            there = there & (rng.random(shape) < 0.9)
        data[name] = there * (1 + rng.random(shape))
    return check_data(program, data)


@dataclass(frozen=True)
class ProgramSpace:
    """A program on a matrix, and all its schedules.

    Attributes
    ----------
    regions : mapping
        Every region under every order.
    schedules : tuple
        Regions that make the program, one after another.
    machine : Machine
        What they run on.
    """

    program: Program
    data: Mapping[str, StoredTensor]
    regions: Mapping[Key, CompiledRegion]
    schedules: tuple[tuple[Key, ...], ...]
    machine: Machine = field(default_factory=Machine.default)

    def sized(self, capacity: int) -> ProgramSpace:
        """The same with channels of that many tokens, or as many as no data can deadlock."""
        regions = {
            key: replace(r, graph=size_buffers(r.graph, r.region.extents, default=capacity))
            for key, r in self.regions.items()
        }
        return replace(self, regions=regions)

    @cached_property
    def simulated(self) -> dict[Key, int]:
        """Cycles of every region."""
        written = simulate(compile_program(self.program), self.data).outputs
        tensors = {**self.data, **written}
        return {
            key: run_graph(bind(region.graph, tensors), self.machine, "compiled").cycles
            for key, region in self.regions.items()
        }

    @cached_property
    def cycles(self) -> list[int]:
        """Of every schedule."""
        return [sum(self.simulated[key] for key in keys) for keys in self.schedules]


def space(program_name: str, family: str, n: int, seed: int = 0) -> ProgramSpace | None:
    """The space of a program on a matrix; None where the program wants a square one."""
    rng = np.random.default_rng(seed)
    matrix = FAMILIES[family](n, rng)
    rows, columns = matrix.shape
    if program_name == "GCN" and rows != columns:
        return None
    program = parse(PROGRAMS[program_name].format(n=rows, m=columns))
    chosen = random.Random(seed)
    regions: dict[Key, CompiledRegion] = {}
    schedules: list[tuple[Key, ...]] = []
    names = [s.out.tensor for s in program.statements]
    spans: dict[tuple[str, ...], list[Key]] = {}
    for cut in _cuts(names):
        for span in cut:
            if span not in spans:
                found = dict(_regions(program, span, chosen))
                spans[span] = list(found)
                regions |= found
        schedules += product(*(spans[span] for span in cut))
    if len(schedules) > SCHEDULES:
        schedules = chosen.sample(schedules, SCHEDULES)
    used = {key for keys in schedules for key in keys}
    regions = {key: region for key, region in regions.items() if key in used}
    return ProgramSpace(program, data_of(program, matrix, rng), regions, tuple(schedules))


def _cuts(names: list[str]) -> Iterator[list[tuple[str, ...]]]:
    """Every way to cut a list into runs."""
    for here in product([False, True], repeat=len(names) - 1):
        cut: list[tuple[str, ...]] = [(names[0],)]
        for name, new in zip(names[1:], here, strict=True):
            cut = [*cut, (name,)] if new else [*cut[:-1], (*cut[-1], name)]
        yield cut


def _regions(
    program: Program, span: tuple[str, ...], chosen: random.Random
) -> Iterator[tuple[Key, CompiledRegion]]:
    """A region of some statements, under every order and every wish that gives another graph."""
    alone = {region.name: region.indices for region in fuse(program)}
    lines = [["", *(f"order {s}: {','.join(o)}" for o in permutations(alone[s]))] for s in span]
    wishes = list(product(*lines))
    if len(wishes) > WISHES:
        wishes = [wishes[0], *chosen.sample(wishes[1:], WISHES - 1)]
    seen = set()
    for wish in wishes:
        together = f"fuse {span[0]}..{span[-1]}" if len(span) > 1 else ""
        text = "; ".join(line for line in (together, *wish) if line)
        try:
            found = fuse(program, Schedule.parse(text))
        except FuseloomError:
            continue
        name = f"{span[0]}..{span[-1]}" if len(span) > 1 else span[0]
        for region in found:
            if region.name != name:
                continue
            for stands_for in islice(nest_classes(region), CLASSES):
                try:
                    compiled = compile_region(region, stands_for.order)
                except FuseloomError:
                    continue
                key = name, str(compiled.graph.bare())
                if key not in seen:
                    seen.add(key)
                    yield key, compiled
