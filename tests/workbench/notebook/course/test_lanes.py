"""Notebook 17: right answers are accepted, three wrong ones of each refused with a reason."""

from __future__ import annotations

import numpy as np

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.golden.registry import IMPLEMENTATIONS
from fuseloom.dataflow.sim.tokens import DONE
from fuseloom_workbench.notebook.course.lanes import (
    EXERCISES,
    RELU_BY_HAND,
    SHARES_BY_HAND,
    price,
    ran,
    shares,
    slots,
    with_capacities,
)
from fuseloom_workbench.notebook.exercises import check

from .answers import tried

TWO = """
start = root()
i, place = scan(start) tensor=a level=0
left, right = fork(place)
vl = array(left) tensor=a
vr = array(right) tensor=a
rl = unary(vl) fn=relu
rr = unary(vr) fn=relu
y = ordered_join(i, rl, rr) levels=0
crdwrite(i) tensor=y level=0
valwrite(y) tensor=y
"""
NESTED = "fuse T1..Y; parallel i by 2; parallel k by 2"
MACHINE = """
base = "hbm2"
name = "mine"
outstanding = 8
channel_capacity = 24
[memory]
channels = 2
"""


def again_from_the_first(node):
    """A fork that begins with the first lane after each stop."""
    turn = 0
    while True:
        token = yield node.inputs[0].take
        if isinstance(token, int):
            yield node.outputs[turn].put(token)
            turn = (turn + 1) % len(node.outputs)
        else:
            turn = 0
            for out in node.outputs:
                yield out.put(token)
        node.clock += 1
        if token is DONE:
            return


def row(elements: int, value: float = 1.0) -> np.ndarray:
    made = np.zeros((8, 8))
    made[3, :elements] = value
    return made


ANSWERS = {
    "17.1": (
        "7 S0 2 S1 D",
        [("7 S0 S1 D", "token 3 is not S1"), ("7 2 S0 S1 D", "token 2 is not 2"),
         (7, "is no stream")],
    ),
    "17.2": (
        IMPLEMENTATIONS["fork"].generator,
        [(again_from_the_first, "output, token"), (IMPLEMENTATIONS["broadcast"].generator, "token"),
         (None, "no answer yet")],
    ),
    "17.3": (
        TWO,
        [(RELU_BY_HAND, "it has 0 nodes fork, and should have 1"),
         (TWO.replace("ordered_join(i, rl, rr)", "ordered_join(i, rr, rl)"), "on a vector with"),
         (TWO.replace("vr = array(right)", "vr = array(left)"), "on a vector with seven")],
    ),
    "17.4": (8, [(6, "6 copies are too few"), (16, "too many"), ("8", "8 is no number")]),
    "17.5": (
        NESTED,
        [("fuse T1..Y; parallel i by 2", "it takes 26,260 cycles, more than 14,000"),
         ("fuse T1..Y; parallel k by 8", "its graph has 326 nodes, more than 240"),
         ("fuse T1..H; fuse T5..Y; parallel i by 2", "it has 2 regions, and should have one")],
    ),
    "17.6": (
        row(5),
        [(row(4), "channels of 4 tokens are enough for it"),
         (row(8), "it deadlocks, with 8 elements: fewer will do"),
         (np.ones((4, 4)), "a matrix of (4, 4), and not of (8, 8)")],
    ),
    "17.7": (
        {"v": 9, "j": 3},
        [({"v": 8, "j": 3}, "with rows of eight elements: deadlock"),
         ({"v": 9}, "deadlock: scan j waits for copy j to free a slot of stream j"),
         ({"v": 16, "j": 16}, "hold 116 tokens together, more than 60")],
    ),
    "17.8": (114, [(60, "60 tokens are too few"), (200, "are too many"), ([], "is no number")]),
    "17.9": (
        MACHINE,
        [('base = "hbm2"', "its channels are unbounded"),
         (MACHINE.replace("channels = 2", "channels = 1"), "it takes 8,633 cycles, more than"),
         (MACHINE.replace("= 24", "= 16"), "deadlock")],
    ),
}  # fmt: skip

test_every_exercise_is_tried, test_right_and_wrong = tried(EXERCISES, ANSWERS)


def test_other_answers_about_channels():
    assert check("17.7", {"v": 9, "j": 4}).ok
    assert "no stream is called" in check("17.7", {"w": 9}).problem
    assert "an integer" in check("17.7", {"v": 0}).problem
    assert "give a dict" in check("17.7", 9).problem
    assert check("17.6", row(5, -2.0)).ok
    assert "no matrix" in check("17.6", "five").problem
    assert "no finite number" in check("17.6", row(5, np.inf)).problem


def test_only_what_has_a_price_may_differ():
    faster = MACHINE.replace("channels = 2", 'channels = 2\nname = "x"\nread_queue = 64')
    assert "change only outstanding" in check("17.9", faster).problem
    assert "it costs 1,140" in check("17.9", MACHINE.replace("= 2\n", "= 8\n").replace(
        "channel_capacity = 24", "channel_capacity = 30")).problem  # fmt: skip
    assert "kind of memory" in check("17.9", 'base = "default"\nchannel_capacity = 4').problem
    assert "is no machine" in check("17.9", 5).problem
    assert price(Machine.preset("hbm2")) == np.inf


def test_runs_are_right():
    assert ran(NESTED).check().ok
    assert len(shares().regions) == 1
    assert slots(with_capacities(SHARES_BY_HAND, {})) == 32
