"""Critical paths of random graphs: without gaps, true to the run, and honest about gains.

Both engines must tell the same one.  The golden models also note every wait, so that the path of
these is exact; the path read from the log knows nothing of primitives and must nevertheless hold.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from fuseloom.dataflow.dram import Ideal, hbm2
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.machine.timing import binary_timing, load_timing, unary_timing
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.compiled import simulation as compiled
from fuseloom.dataflow.sim.explain.causes import LoggedCauses
from fuseloom.dataflow.sim.explain.critical import CriticalPath, PathCause, critical_path
from fuseloom.dataflow.sim.golden import interpreter
from fuseloom.dataflow.sim.observe import Observe
from fuseloom.dataflow.sim.ports import with_ports
from fuseloom.dataflow.sim.result import EngineResult
from fuseloom.errors import SimulationError
from tests.property.noted_causes import exact_path
from tests.property.random_graphs import random_graph
from tests.property.test_kernels_equal_golden import outcome
from tests.property.test_observation import CAPACITIES, machines
from tests.tiers import counts

SEED = 20_261_122
LOGGED = Observe(log=True)


def check_path(path: CriticalPath, result: EngineResult) -> None:
    """The segments are contiguous, and each of them happened in the run."""
    assert path.start == 0
    assert path.cycles == result.cycles
    assert result.observed is not None
    assert result.observed.log is not None
    clock = 0
    for s in path.segments:
        assert s.start == clock
        assert s.stop > s.start
        clock = s.stop
        if s.why is PathCause.WORK:
            assert s.stop <= result.clocks[s.node]
            continue
        assert s.stream is not None
        log = result.observed.log[s.stream]
        if s.why is PathCause.ROOM:
            assert result.graph.producer[s.stream] == s.node
            assert log.capacity is not None
            assert s.start in log.takes.expanded()
            assert s.cycles == 1
        else:
            reader = s.other if s.why is PathCause.LATENCY else s.node
            assert result.graph.consumer[s.stream] == reader
            assert s.stop in log.puts.expanded()
            assert s.cycles == (1 if s.why is PathCause.TOKEN else log.latency)
    assert clock == path.cycles
    assert sum(share.cycles for share in path.summary()) == path.cycles


def check_waits(path: CriticalPath, golden: EngineResult) -> int:
    """Count the waits of the path that the golden models did not note, with or without cycles."""
    assert golden.observed is not None
    assert golden.observed.waits is not None
    noted = [{(w.until, w.room, w.stream) for w in waits} for waits in golden.observed.waits]
    unknown = 0
    for s in path.segments:
        if s.why is not PathCause.WORK:
            waiting = s.other if s.why is PathCause.LATENCY else s.node
            assert waiting is not None
            unknown += (s.stop, s.why is PathCause.ROOM, s.stream) not in noted[waiting]
    return unknown


def unseen_waits(golden: EngineResult) -> int:
    """Count the waits that a node's next action depends on and the log does not show.

    A wait right behind which the node waited again, without doing anything, hides behind that.
    """
    assert golden.observed is not None
    assert golden.observed.waits is not None
    causes = LoggedCauses(golden.graph, golden.observed)
    unseen = 0
    for node, noted in enumerate(golden.observed.waits):
        waits = [w for w in noted if w.until > w.since]
        hidden = {w.since for w in waits}
        for wait in waits:
            if wait.until not in hidden:
                seen = causes.last_wait(node, wait.until)
                unseen += seen is None or seen.until != wait.until
    return unseen


@counts(small=16, deep=40, fuzz=150)
def test_paths_hold_and_agree(count: int) -> None:
    print(f"seeds from {SEED}")
    kinds: Counter[str] = Counter()
    for seed in range(SEED, SEED + count):
        bound = random_graph(seed, searching=seed % 2 == 1)
        for capacity in CAPACITIES:
            on = machines(seed, capacity)
            golden = outcome(lambda bound=bound, on=on: interpreter.run(bound, on, observe=LOGGED))
            if isinstance(golden, SimulationError):
                continue
            kernel = compiled.run(bound, on, observe=LOGGED)
            exact, logged = exact_path(golden), critical_path(golden)
            for path in (exact, logged):
                check_path(path, golden)
            assert logged == critical_path(kernel), "of equal paths each engine chose its own"
            assert check_waits(exact, golden) == 0
            kinds["runs"] += 1
            kinds["waits"] += sum(s.why is not PathCause.WORK for s in logged.segments)
            kinds["coincidences"] += check_waits(logged, golden)
            if seed % 2 == 0:  # the others have searchers; see below
                kinds["unseen"] += unseen_waits(golden)
            kinds["unseen beside searchers"] += seed % 2 and unseen_waits(golden)
            kinds["same path"] += exact.segments == logged.segments
    print(kinds)
    assert kinds["runs"] > 3.8 * count
    assert kinds["coincidences"] == 0
    assert kinds["unseen"] == 0
    assert (
        kinds["unseen beside searchers"] <= 1 + count // 75
    )  # an accumulator's, found with these graphs


@counts(small=16, deep=60)
def test_both_engines_tell_the_same_path_on_machines_with_memory(count: int) -> None:
    """Real waits for the memory, and paths of one length among them."""
    kinds: Counter[str] = Counter()
    for seed in range(SEED, SEED + count):
        plain = random_graph(seed)
        for memory in (Ideal(1), Ideal(9), hbm2()):
            on = replace(machines(seed, CAPACITIES[seed % len(CAPACITIES)]), memory=memory)
            bound = with_ports(plain, on)
            golden = outcome(lambda bound=bound, on=on: interpreter.run(bound, on, observe=LOGGED))
            if isinstance(golden, SimulationError):
                continue
            path = critical_path(golden)
            assert path == critical_path(compiled.run(bound, on, observe=LOGGED)), seed
            kinds["runs"] += 1
            kinds["memory"] += any(s.why is PathCause.MEMORY for s in path.segments)
    print(kinds)
    assert kinds["runs"] > 1.5 * count
    assert kinds["memory"] > 0.7 * count


def twice_as_fast(bound: BoundGraph, number: int, on: Machine) -> BoundGraph:
    """The graph with latency and interval of one node halved, rounded up."""
    node = bound.graph.nodes[number]
    timing = {"array": load_timing, "binary": binary_timing, "unary": unary_timing}[node.op]
    now = timing(node, on)
    params = {"latency": -(-now.latency // 2), "ii": -(-now.interval // 2)}
    nodes = list(bound.graph.nodes)
    nodes[number] = replace(node, params={**node.params, **params})
    return replace(bound, graph=replace(bound.graph, nodes=tuple(nodes)))


@counts(small=25, deep=100)
def test_gains_stay_within_their_bounds(count: int) -> None:
    """A node off the path gains nothing, one on it at most half of its own cycles there."""
    tried: Counter[str] = Counter()
    for seed in range(SEED, SEED + count):
        bound = random_graph(seed)
        for capacity in (1, 3, None):
            on = replace(Machine.default(capacity), alu_latency=7, alu_interval=4, load_latency=6)
            golden = outcome(lambda bound=bound, on=on: interpreter.run(bound, on, observe=LOGGED))
            if isinstance(golden, SimulationError):
                continue
            for path in (exact_path(golden), critical_path(golden)):
                for node in bound.graph.nodes:
                    if node.op not in ("array", "binary", "unary"):
                        continue
                    faster = interpreter.run(twice_as_fast(bound, node.id, on), on).cycles
                    guess = path.what_if(node.id)
                    assert guess.cycles <= faster <= path.cycles, f"{seed}, {capacity}, {node}"
                    tried["off the path" if guess.own == 0 else "on the path"] += 1
                    tried["gain"] += faster < path.cycles
    print(tried)
    assert tried["off the path"] > 100
    assert tried["gain"] > 15
