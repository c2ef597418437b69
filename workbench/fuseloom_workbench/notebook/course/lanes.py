"""Notebook 17: lanes, channels and deadlock, and a machine that has to be paid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Graph, StreamKind
from fuseloom.dataflow.sim.conformance.bench import bench
from fuseloom.dataflow.sim.program_runs import Run, simulate
from fuseloom.errors import FuseloomError
from fuseloom.models import Loaded, load_labelled
from fuseloom.program import parse
from fuseloom_workbench.notebook.building import (
    LIMITS,
    by_hand,
    compiled,
    contains,
    graph,
    machine,
)
from fuseloom_workbench.notebook.exercises import Exercise, number, primitive_of, tokens
from fuseloom_workbench.notebook.wiring import wired

Array = npt.NDArray[np.float64]
RELU = """program lanes
a: 8 compressed
y[i] = relu(a[i])
"""
RELU_BY_HAND = """start = root()
i, place = scan(start) tensor=a level=0
v = array(place) tensor=a
r = unary(v) fn=relu
crdwrite(i) tensor=y level=0
valwrite(r) tensor=y
"""
SHARES = """program shares
A: 8x8 dcsr
s[i] = A[i,j]
Y[i,j] = A[i,j] / s[i]
"""
"""Each element as a share of its row."""
SHARES_BY_HAND = """start = root()
i, rows = scan(start) tensor=A level=0
j, places = scan(rows) tensor=A level=1
v = array(places) tensor=A
s = reduce(v, i) fn=add
signal = repsig(j)
again = repeat(s, signal)
y = binary(v, again) fn=div
crdwrite(i) tensor=Y level=0
crdwrite(j) tensor=Y level=1
valwrite(y) tensor=Y
"""
FORKED = "4 7 9 S0 2 S1 D"
WHOLE = "fuse T1..Y"
FOUR = "fuse T1..H; fuse T5..Y; parallel i by 4"
"""Each layer a region, in four lanes."""
MOST_NODES, MOST_CYCLES = 240, 14_000
SLOTS, SHORT = 60, 2
"""Tokens that the channels may hold together, and that one holds if nothing is said of it."""
SMALL = 4
"""Capacity of each channel on the machine that is to deadlock."""
BUDGET, FAST = 500, 6_500
_PART, _REQUEST, _SLOT = 100, 5, 10


@cache
def network() -> Loaded:
    """The graph convolution of two layers on the Karate Club."""
    return load_labelled("gcn", "karate")


@cache
def ran(schedule: str) -> Run:
    """A run of the network under a schedule."""
    return simulate(compile_program(network().model.program, schedule), network().data)


def nodes(run: Run) -> int:
    """Count the nodes of all graphs of a run."""
    return sum(len(region.region.graph.nodes) for region in run.regions)


@cache
def shares() -> Compilation:
    """The program of shares, both statements in one region."""
    return compile_program(parse(SHARES), "fuse s..Y")


def with_capacities(text: str, capacities: Mapping[str, int]) -> Graph:
    """Return a graph that is written by hand, whose channels hold so many tokens.

    Copies of a stream are channels of their own, with the capacity that is given for its name;
    channels without one hold two tokens.
    """
    made = wired(text)
    sized = (replace(s, capacity=capacities.get(s.label, SHORT)) for s in made.streams)
    return replace(made, streams=tuple(sized))


def slots(made: Graph) -> int:
    """Tokens that all channels of a graph hold together."""
    return sum(stream.capacity or 0 for stream in made.streams)


def price(made: Machine) -> float:
    """Return the price of a machine, by its channels to the memory, its requests and its slots."""
    memory = made.memory
    channels = getattr(memory, "channels", 0)
    slots_each = inf if made.channel_capacity is None else made.channel_capacity
    return _PART * channels + _REQUEST * made.outstanding + _SLOT * slots_each


def _vectors() -> Mapping[str, Mapping[str, Array]]:
    return {
        "a vector with seven elements": {"a": np.array([1.0, 0, -2, 3, -1, 4, -5, 6])},
        "a vector with two elements": {"a": np.array([0.0, 0, -2, 0, 0, 4, 0, 0])},
        "an empty vector": {"a": np.zeros(8)},
    }


def _matrices() -> Mapping[str, Array]:
    return {
        "rows of eight elements": np.ones((8, 8)),
        "rows of one to eight elements": np.tril(np.ones((8, 8))),
        "rows of one element": np.eye(8),
    }


def _nested(run: Run) -> str:
    if len(run.regions) != 1:
        return f"it has {len(run.regions)} regions, and should have one: {WHOLE}"
    if (found := nodes(run)) > MOST_NODES:
        return f"its graph has {found} nodes, more than {MOST_NODES}"
    if run.cycles > MOST_CYCLES:
        return f"it takes {run.cycles:,} cycles, more than {MOST_CYCLES:,}"
    return ""


def _deadlocks(answer: Any) -> str:
    """Judge a matrix that no machine with short channels can divide by its rows' sums."""
    try:
        matrix = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        return "that is no matrix of numbers"
    if matrix.shape != (8, 8):
        return f"a matrix of {matrix.shape}, and not of (8, 8)"
    if not np.isfinite(matrix).all():
        return "it has an element that is no finite number"
    elements, fewest = int(np.count_nonzero(matrix)), _fewest()
    if not _stuck(matrix):
        return f"channels of {SMALL} tokens are enough for it: the run ends"
    return "" if elements <= fewest else f"it deadlocks, with {elements} elements: fewer will do"


def _stuck(matrix: Array) -> bool:
    try:
        simulate(shares(), {"A": matrix}, Machine.default(SMALL), limits=LIMITS)
    except FuseloomError as reason:
        return str(reason).startswith("deadlock")
    return False


@cache
def _fewest() -> int:
    """The length of the shortest row that deadlocks."""
    row = np.zeros((8, 8))
    for k in range(8):
        row[0, k] = 1.0
        if _stuck(row):
            return k + 1
    raise AssertionError("no row deadlocks")


def _capacities(answer: Any) -> str:
    """Judge the capacities of channels: within a budget, and enough for rows of any length."""
    if not isinstance(answer, Mapping):
        return "give a dict of names of streams to capacities"
    known = {stream.label for stream in wired(SHARES_BY_HAND).streams}
    for name, capacity in answer.items():
        if name not in known:
            return f"no stream is called {name!r}"
        if not isinstance(capacity, int) or isinstance(capacity, bool) or capacity < 1:
            return f"{name} holds {capacity!r}: a capacity is an integer, 1 or more"
    made = with_capacities(SHARES_BY_HAND, answer)
    if (found := slots(made)) > SLOTS:
        return f"the channels hold {found} tokens together, more than {SLOTS}"
    for what, matrix in _matrices().items():
        try:
            program = by_hand(parse(SHARES), made, "fuse s..Y")
            run = simulate(program, {"A": matrix}, limits=LIMITS)
        except FuseloomError as reason:
            return f"with {what}: {reason}"
        if not run.check().ok:
            return f"with {what}: {run.check()}"
    return ""


def _fast_enough(made: Machine) -> str:
    """Judge a machine by a run, if it differs from hbm2 only in what has a price."""
    base = Machine.preset("hbm2")
    memory: Any = base.memory
    if not isinstance(made.memory, type(memory)):
        return "keep the kind of memory that hbm2 has"
    memory = replace(memory, channels=getattr(made.memory, "channels", 0))
    like = replace(
        base,
        name=made.name,
        outstanding=made.outstanding,
        channel_capacity=made.channel_capacity,
        memory=memory,
    )
    if like != made:
        return "change only outstanding, channel_capacity and the memory's channels of hbm2"
    done = compile_program(network().model.program, FOUR)
    run = simulate(done, network().data, made, limits=LIMITS)
    return "" if run.cycles <= FAST else f"it takes {run.cycles:,} cycles, more than {FAST:,}"


EXERCISES = {
    "17.1": Exercise(
        "Which tokens does the second of two lanes get?",
        tokens(lambda: bench("fork", FORKED, outputs=2).tokens[1], StreamKind.REF),
        "elements are dealt in turn, and dealing goes on behind a stop; stops go to every lane",
    ),
    "17.2": Exercise(
        "Write the fork as a generator.",
        primitive_of("fork"),
        "remember whose turn it is; a number goes to that lane, anything else to all of them; "
        "the clock moves on after every token, the last one included",
    ),
    "17.3": Exercise(
        "Build the graph of relu in two lanes.",
        graph(
            lambda: (parse(RELU), _vectors()),
            contains("fork", 1),
            contains("array", 2, "each lane loads its own values"),
            contains("unary", 2, "each lane has a unit of its own"),
        ),
        "fork the references; the guide of ordered_join are the coordinates before the fork",
    ),
    "17.4": Exercise(
        "How many copies does the innermost part have, with i by 2 and k by 4?",
        number(lambda: 2 * 4, "copies"),
        "each lane of i has all lanes of k inside",
    ),
    "17.5": Exercise(
        f"Write a schedule for the network in one region, with at most {MOST_NODES} nodes and "
        f"{MOST_CYCLES:,} cycles.",
        compiled(lambda: (network().model.program, network().data), _nested),
        "'parallel' once for an outer index and once for an inner one",
    ),
    "17.6": Exercise(
        f"Give a matrix, with as few elements as possible, that deadlocks channels of {SMALL}.",
        _deadlocks,
        "the division waits for the sum of a row, and the elements of the row for the division",
    ),
    "17.7": Exercise(
        f"Give the channels capacities, {SLOTS} tokens together, with which no row deadlocks.",
        _capacities,
        "two streams wait while a row is added up; the error names the circle: first v, then j",
    ),
    "17.8": Exercise(
        "How many tokens do the channels hold together that the compiler has sized?",
        number(lambda: slots(shares().sized().regions[0].graph), "tokens"),
        "sum(stream.capacity for stream in shares().sized().regions[0].graph.streams)",
    ),
    "17.9": Exercise(
        f"Build a machine for at most {BUDGET} on which the network takes {FAST:,} cycles or "
        "fewer.",
        machine(price, BUDGET, _fast_enough),
        "a single channel to the memory is too slow; with few slots the graph deadlocks, so find "
        "out how many it needs; what is left buys requests",
    ),
}
