"""The narration of each primitive, on streams worked by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.catalogue import CATALOGUE
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.conformance.bench import bench_graph
from fuseloom.dataflow.sim.ports import with_ports
from fuseloom.dataflow.sim.steps import Doing, record, story
from fuseloom.dataflow.sim.steps.scene import NARRATORS
from fuseloom.errors import SimulationError
from tests.property.random_graphs import random_graph


def told(op: str, *inputs: str, machine: Machine | None = None, **more: Any) -> list[str]:
    """Return the narration of a primitive, act by act."""
    recording = record(bench_graph(op, *inputs, **more), machine or Machine.default())
    assert recording.complete, recording.note
    return [moment.text for moment in story(recording, 0) if moment.doing is Doing.ACTS]


def test_every_primitive_has_words() -> None:
    assert set(NARRATORS) == set(CATALOGUE)


ADD, MAX = {"fn": "add"}, {"fn": "max"}
LEVEL = {"seg": [0, 2, 2, 5], "crd": [3, 7, 1, 4, 6]}
CASES: dict[str, tuple[tuple[str, ...], dict[str, Any], tuple[str, ...]]] = {
    "root": ((), {}, ("put reference 0, with which the traversal starts",)),
    "scan": (
        ("0 1 S0 D",),
        {"arrays": LEVEL, "params": {"tensor": "A", "level": 0}},
        (
            "took reference 0 and put coordinate 3 and reference 0: element 1 of the fiber of "
            "reference 0",
            "put coordinate 7 and reference 1: element 2 of the fiber of reference 0",
            "put S0, which ends the fiber",
            "took reference 1 and put S1, which ends the fiber and the one around it: reference 1 "
            "has no elements",
            "put D and ended: there is nothing left to do",
        ),
    ),
    "dense_scan": (
        ("2 D",),
        {"params": {"dim": 3}},
        (
            "took reference 2 and put coordinate 0 and reference 6 = 2 × 3 + 0",
            "put coordinate 1 and reference 7 = 2 × 3 + 1",
        ),
    ),
    "locate": (
        ("3 S0 D", "2 S0 D"),
        {"params": {"dim": 10}},
        ("looked coordinate 3 up under reference 2: 2 × 10 + 3 = 23", "passed S0 on"),
    ),
    "search": (
        ("0 S0 D", "3 5 S1 D"),
        {"arrays": LEVEL, "params": {"tensor": "A", "level": 0}},
        (
            "looked for coordinate 3 under reference 0: stored, so it put it with reference 0",
            "looked for coordinate 5 under reference 0: not stored, so it put nothing",
        ),
    ),
    "sam_locate": (
        ("4 S0 D", "3 S0 D"),
        {},
        ("passed coordinate 3 on as reference 3, beside reference 4", "passed S0 on"),
    ),
    "repsig": (
        ("4 S0 D",),
        {},
        (
            "took coordinate 4: put R, repeat once more",
            "took S0: put S, the fiber to repeat along has ended",
        ),
    ),
    "repeat": (
        ("4 D", "R R S D"),
        {},
        (
            "took R: put reference 4",
            "took R: put reference 4 a second time",
            "took S: let go of reference 4 and put S0, which ends the fiber",
        ),
    ),
    "replay": (
        ("5 S0 D", "0 1 S0 D"),
        {"params": {"levels": 1}},
        ("put coordinate 5 once more, from its buffer",),
    ),
    "intersect": (
        ("0 3 S0 D", "0 1 S0 D", "3 4 S0 D", "0 1 S0 D"),
        {"outputs": 3},
        (
            "dropped coordinate 0 of its first operand: the second is already at coordinate 3",
            "took coordinate 3 from both operands: equal, so it passed coordinate 3 and their "
            "references",
            "dropped coordinate 4 of its second operand: the first has come to the end of its "
            "fiber",
            "took S0 from both operands and put it: it ends the fiber",
        ),
    ),
    "union": (
        ("0 3 S0 D", "0 1 S0 D", "3 4 S0 D", "0 1 S0 D"),
        {"outputs": 3, "params": {"gate": 0}},
        (
            "put coordinate 0 of its first operand, with N for the others: the second is already "
            "at coordinate 3",
            "put coordinate 4 of its second operand, with N for the others: the first has come to "
            "the end of its fiber",
        ),
    ),
    "array": (
        ("1 S0 D",),
        {"arrays": {"vals": [1.5, 2.5]}, "params": {"tensor": "A"}},
        ("loaded A at reference 1: 2.5", "passed S0 on: it ends the fiber"),
    ),
    "binary": (
        ("2 N S0 D", "3 4 S0 D"),
        {"params": {"fn": "sub"}},
        ("computed 2 − 3 = −1", "computed 0 (absent) − 4 = −4", "passed S0 on: it ends the fiber"),
    ),
    "unary": (
        ("2 S0 D",),
        {"params": {"fn": "scalarmul", "scalar": 4.0}},
        ("computed 2 × 4 = 8",),
    ),
    "reduce": (
        ("1 2.5 S0 S0 3 S1 D",),
        {"params": ADD},
        (
            "began the sum with 1",
            "added 2.5 to the sum: now 3.5",
            "took S0: put the sum 3.5",
            "took S0: the fiber has no values, put N",
            "took S1: put the sum 3",
        ),
    ),
    "spacc1": (
        ("0 1 S0 D", "5 7 S0 5 S1 D", "1 2 S0 2.5 S1 D"),
        {"params": {**ADD, "dim": 9}},
        (
            "began the sum for coordinate 5 with 1",
            "added 2.5 to the sum for coordinate 5: now 3.5",
            "all has been added up: put 3.5 for coordinate 5 and 2 for coordinate 7, and S0",
        ),
    ),
    "spacc2": (
        ("0 1 S0 D", "3 S0 3 S1 D", "1 S1 1 S2 D", "1 S1 2 S2 D"),
        {"params": ADD},
        (
            "began the sum for coordinates (3, 1) with 1",
            "added 2 to the sum for coordinates (3, 1): now 3",
            "all has been added up: put 3 for coordinates (3, 1), and S1",
        ),
    ),
    "crddrop": (
        ("5 6 S0 S1 D", "0 1 S0 D"),
        {},
        ("dropped coordinate 1: its fiber is empty",),
    ),
    "valdrop": (
        ("2 N S0 D", "0 1 S0 D"),
        {},
        (
            "kept coordinate 0 with value 2",
            "dropped coordinate 1 with N: nothing there",
            "passed S0 on: it ends the fiber",
        ),
    ),
    "zerodrop": (
        ("2 0 S0 D", "0 1 S0 D"),
        {},
        ("kept coordinate 0 with value 2", "dropped coordinate 1 with value 0: it is zero"),
    ),
    "stopdrop": (("S0 4 S0 D",), {}, ("dropped S0: nothing came since the last stop",)),
    "crdmask": (
        ("0 3 S1 D", "2 S0 D", "0 1 S1 D"),
        {},
        (
            "dropped coordinate 0: coordinate 2 is greater",
            "kept coordinate 3: coordinate 2 is not greater",
        ),
    ),
    "crdhold": (("5 S1 D", "2 S0 D"), {}, ("put coordinate 5, and beside it coordinate 2",)),
    "flatten": (("5 S1 D", "2 S0 D"), {"params": {"factor": 10}}, ("merged 2 × 10 + 5 = 25",)),
    "shift": (
        ("5 S0 D",),
        {"params": {"offset": 3, "dim": 9}},
        ("shifted coordinate 5 by 3: 8", "passed S0 on: it ends the fiber"),
    ),
    "fork": (
        ("4 5 S0 D",),
        {"outputs": 2},
        ("dealt coordinate 4 to lane 1 of 2", "dealt coordinate 5 to lane 2 of 2"),
    ),
    "join": (
        ("4 S0 D", "5 S0 D"),
        {},
        ("took coordinate 5 from lane 2 of 2 and put coordinate 5",),
    ),
    "broadcast": (("4 S0 D",), {"outputs": 2}, ("copied coordinate 4 to both its readers",)),
    "crdwrite": (
        ("4 S0 S0 D",),
        {"params": {"tensor": "X", "level": 0}},
        (
            "wrote coordinate 4, coordinate 1 of its level",
            "took S0: noted that the fiber ends after 1",
            "ignored S0: no coordinate came since the last stop",
        ),
    ),
    "valwrite": (
        ("0.5 S0 D",),
        {"params": {"tensor": "X"}},
        ("wrote 0.5, value 1 of the result", "took S0: nothing to write"),
    ),
}


@pytest.mark.parametrize("op", CASES)
def test_what_it_says(op: str) -> None:
    inputs, more, expected = CASES[op]
    said = told(op, *inputs, **more)
    for sentence in expected:
        assert any(sentence in each for each in said), said


def test_a_maximum() -> None:
    said = told("reduce", "1 2 S0 D", params=MAX)
    assert said[:2] == ["began the maximum with 1", "compared 2 with the maximum: now 2"]


def test_ordered_join_and_aligner() -> None:
    said = told("ordered_join", "0 1 S0 D", "4 S0 D", "5 S0 D", params={"levels": 0})
    assert any("from lane 2 of 2" in each for each in said)
    said = told("fiber_align", "0 2 S0 D", "2 S0 D", "4 S0 5 S1 D", params={"levels": 1})
    assert any("coordinate 0 was dropped by the join" in each for each in said)
    assert any("coordinate 2 is still there: its subtree passes" in each for each in said)


def test_a_folded_tile() -> None:
    params = {"fn": "add", "tile": "im->i", "block": 2}
    assert told("tilefold", "S0 D", params=params)[0] == "passed S0 on: it ends the fiber"


def test_ports_of_the_memory() -> None:
    machine = Machine.preset("hbm2")
    bound = bench_graph("array", "0 1 S0 D", arrays={"vals": [1, 2]}, params={"tensor": "A"})
    recording = record(bound, machine)
    port = next(node for node in recording.graph.nodes if node.op == "mem_read")
    said = [moment.text for moment in story(recording, port.id)]
    assert "took reference 0: it passes once the memory has its 4 bytes" in said
    assert any("passed reference 0 and" in each or "passed reference 0," in each for each in said)
    assert any(each == "waits: the memory has not answered" for each in said)
    bound = bench_graph("valwrite", "0.5 S0 D", params={"tensor": "X"})
    recording = record(bound, machine)
    port = next(node for node in recording.graph.nodes if node.op == "mem_write")
    said = [moment.text for moment in story(recording, port.id)]
    assert "took value 0.5, 4 bytes to be written, and passed it on" in said
    assert len(with_ports(bound, machine).graph.nodes) == len(recording.graph.nodes)


@pytest.mark.parametrize("seed", range(100, 160))
@pytest.mark.parametrize("machine", ["default", "comal"])
def test_on_random_graphs_every_act_is_told(seed: int, machine: str) -> None:
    """Of any node on any machine; sums told are those that leave."""
    made = Machine.default() if machine == "default" else Machine.comal()
    bound = random_graph(seed, searching=seed % 2 == 0)
    bound = BoundGraph(bound.graph.with_capacity((None, 3)[seed % 2]), bound.arrays)
    try:
        recording = record(bound, made)
    except SimulationError:
        return  # the graph is not one for that machine
    for node in bound.graph.nodes:
        moments = list(story(recording, node.id))
        acts = [moment for moment in moments if moment.doing is Doing.ACTS]
        assert [moment.cycle for moment in acts] == recording.acts(node.id).tolist()
        assert all(moment.text.strip(" ;,") == moment.text != "" for moment in moments), moments
        cycles = [moment.cycle for moment in moments]
        assert cycles == sorted(set(cycles))


def test_sums_told_are_those_put() -> None:
    rng = np.random.default_rng(7)
    values = rng.normal(size=9).astype(np.float32)
    said = told("reduce", " ".join(map(repr, map(float, values))) + " S0 D", params=ADD)
    assert said[-3].split("now ")[1] == said[-2].split("sum ")[1]
