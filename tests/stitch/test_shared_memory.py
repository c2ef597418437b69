"""Buffers in shared memory: a machine that runs the phases element by element, and what shrinks."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from fuseloom.errors import LimitError, ProgramError
from fuseloom.stitch.shared_memory import (
    BufferNeed,
    KernelDataflow,
    PhaseOrder,
    SharedBuffer,
    SharedMemoryPlan,
    SpaceSharing,
    plan_memory,
    wrong_reads,
)

ITEM = 4
LENGTH = 5
"""Elements of a block's part of a vector."""
ROOM = 10**6


def random_dataflow(random_: random.Random, count: int) -> tuple[KernelDataflow, dict[str, str]]:
    """Operations on vectors and single elements, each of a kind: ``add``, ``sum`` or ``turn``."""
    operands: dict[str, tuple[str, ...]] = {}
    kinds: dict[str, str] = {}
    for number in range(count):
        name = f"v{number}"
        chosen = random_.sample([*operands], min(len(operands), random_.randint(0, 3)))
        kinds[name] = random_.choice(["add", "add", "add", "sum", "turn"]) if chosen else "add"
        operands[name] = tuple(chosen)
    users = {name for given in operands.values() for name in given}
    roots = tuple(name for name in operands if name not in users or random_.random() < 0.05)
    needs = {}
    for name, kind in kinds.items():
        if kind == "sum":
            needs[name] = BufferNeed.DIRECT
        elif random_.random() < 0.6:
            needs[name] = random_.choice([*BufferNeed][:3])
    sizes = {name: ITEM * (1 if kinds[name] == "sum" else LENGTH) for name in needs}
    flow = KernelDataflow(
        operands, roots, sizes, needs, {name: count - n for n, name in enumerate(operands)},
        frozenset(name for name, kind in kinds.items() if kind == "add"),
    )  # fmt: skip
    return flow, kinds


class PhaseMachine:
    """Runs phases; the threads of one compute and write one element after another."""

    def __init__(
        self, flow: KernelDataflow, kinds: dict[str, str], plan: SharedMemoryPlan, seed: int = 0
    ) -> None:
        self.flow, self.kinds, self.plan = flow, kinds, plan
        self.memory = [np.full(size // ITEM, np.nan) for size in plan.slots]
        self.random = random.Random(seed)

    def run(self) -> dict[str, np.ndarray]:
        """The values of the roots."""
        outputs = {}
        for name in self.plan.phases:
            count = 1 if self.kinds[name] == "sum" else LENGTH
            made = np.empty(count)
            for element in self.random.sample(range(count), count):
                made[element] = self._computed(name, element)
                if name in self.plan.buffers:
                    self.memory[self.plan.buffers[name].slot][element] = made[element]
            if name in self.flow.roots:
                outputs[name] = made
        return outputs

    def _element(self, name: str, element: int) -> float:
        """An element of a vector; of a single element that one."""
        element = 0 if self.kinds[name] == "sum" else element
        if name in self.plan.buffers:
            return float(self.memory[self.plan.buffers[name].slot][element])
        return self._computed(name, element)

    def _computed(self, name: str, element: int) -> float:
        operands = self.flow.operands[name]
        number = int(name[1:])
        match self.kinds[name]:
            case "add":
                return number + element + sum(self._element(x, element) / 3 for x in operands)
            case "turn":
                turned = (element + 1) % LENGTH
                return number + sum(self._element(x, turned) / 3 for x in operands)
        return sum(self._element(x, n) / 3 for x in operands for n in range(LENGTH))


def alone(flow: KernelDataflow) -> SharedMemoryPlan:
    """A plan in which every operation has a buffer of its own."""
    buffers = {name: SharedBuffer(name, n, LENGTH * ITEM) for n, name in enumerate(flow.operands)}
    return SharedMemoryPlan(tuple(flow.operands), buffers, (LENGTH * ITEM,) * len(buffers))


@pytest.mark.parametrize(
    "seed",
    [
        *range(15),
        *(pytest.param(n, marks=pytest.mark.deep) for n in range(15, 150)),
        *(pytest.param(n, marks=pytest.mark.fuzz) for n in range(150, 500)),
    ],
)
def test_plans_of_random_kernels_give_the_same(seed: int) -> None:
    """Twenty kernels for each seed; sharing by liveness never needs more than by dominance."""
    random_ = random.Random(seed)
    for _ in range(20):
        flow, kinds = random_dataflow(random_, random_.randint(1, 14))
        expected = PhaseMachine(flow, kinds, alone(flow)).run()
        bytes_of = {}
        for sharing in SpaceSharing:
            plan = plan_memory(flow, ROOM, sharing)
            assert not list(wrong_reads(flow, plan))
            bytes_of[sharing] = plan.byte_size
            given = PhaseMachine(flow, kinds, plan, seed).run()
            assert {x: y.tolist() for x, y in given.items()} == {
                x: y.tolist() for x, y in expected.items()
            }
        assert (
            bytes_of[SpaceSharing.LIVENESS]
            <= bytes_of[SpaceSharing.DOMINANCE]
            <= bytes_of[SpaceSharing.NONE]
        )
        _shrunk(flow, kinds, expected, random_)


def _shrunk(flow, kinds, expected, random_) -> None:
    """With less room buffers are given up, in order, and results stay the same."""
    whole = plan_memory(flow, ROOM)
    if whole.byte_size < 2:
        return
    try:
        plan = plan_memory(flow, random_.randint(1, whole.byte_size - 1))
    except LimitError:
        direct = {n: need for n, need in flow.needs.items() if need is BufferNeed.DIRECT}
        assert plan_memory(replace(flow, needs=direct), ROOM).byte_size > 0
        return
    order = [(flow.needs[name], flow.spans[name]) for name in plan.recomputed]
    assert order == sorted(order)
    given = PhaseMachine(flow, kinds, plan).run()
    assert all(np.array_equal(given[name], expected[name]) for name in expected)


def test_the_verifier_finds_what_the_machine_finds() -> None:
    """Buffers at random: where the machine computes something else, there is a wrong read."""
    random_ = random.Random(7)
    wrong = 0
    for _ in range(300):
        flow, kinds = random_dataflow(random_, random_.randint(3, 9))
        plan = plan_memory(flow, ROOM, SpaceSharing.NONE)
        size = max(plan.slots, default=0)
        buffers = {
            name: replace(one, slot=random_.randrange(2)) for name, one in plan.buffers.items()
        }
        broken = replace(plan, buffers=buffers, slots=(size, size))
        expected = PhaseMachine(flow, kinds, alone(flow)).run()
        given = PhaseMachine(flow, kinds, broken).run()
        if any(not np.array_equal(given[name], expected[name]) for name in expected):
            wrong += 1
            assert list(wrong_reads(flow, broken))
    assert wrong > 50


SOFTMAX = KernelDataflow(
    {"max": (), "exp": ("max",), "sum": ("exp",), "div": ("exp", "sum"), "dot": ("div",)},
    ("dot",),
    {"max": 512, "exp": 16_384, "sum": 512, "div": 16_384},
    {"max": BufferNeed.DIRECT, "exp": BufferNeed.EXPENSIVE, "sum": BufferNeed.DIRECT,
     "div": BufferNeed.FOR_PRODUCT},
    {"max": 4, "exp": 3, "sum": 2, "div": 1, "dot": 0},
    frozenset({"exp", "div"}),
)  # fmt: skip


def test_the_example_of_the_paper() -> None:
    """A quotient lies where the power lay; by dominance the two reductions do not share."""
    live = plan_memory(SOFTMAX, 20_480)
    assert live.byte_size == 16_384 + 512
    assert (live.buffers["div"].shares, live.buffers["sum"].shares) == ("exp", "max")
    assert live.shared_bytes == 16_384 + 512
    dominated = plan_memory(SOFTMAX, 20_480, SpaceSharing.DOMINANCE)
    assert dominated.byte_size == 16_384 + 2 * 512
    assert (dominated.buffers["div"].shares, dominated.buffers["sum"].shares) == ("exp", "")
    assert PhaseOrder(SOFTMAX).names == ("max", "exp", "sum", "div", "dot")


def test_buffers_are_given_up_in_order() -> None:
    needs = {
        "cheap": BufferNeed.CHEAP, "near": BufferNeed.EXPENSIVE, "far": BufferNeed.EXPENSIVE,
        "product": BufferNeed.FOR_PRODUCT, "reduced": BufferNeed.DIRECT,
    }  # fmt: skip
    operands = {**dict.fromkeys(needs, ()), "root": tuple(needs)}
    spans = {"cheap": 9, "near": 1, "far": 5, "product": 1, "reduced": 1, "root": 0}
    flow = KernelDataflow(operands, ("root",), dict.fromkeys(needs, 1024), needs, spans)
    order = ("cheap", "near", "far", "product")
    for given_up in range(5):
        plan = plan_memory(flow, (5 - given_up) * 1024)
        assert plan.recomputed == order[:given_up]
    with pytest.raises(LimitError, match="need 1,024 bytes of shared memory, 1,024 of them for"):
        plan_memory(flow, 1023)
    with pytest.raises(LimitError, match="a block has 0 bytes"):
        plan_memory(flow, 0)


def test_what_is_no_dataflow_is_refused() -> None:
    with pytest.raises(ProgramError, match="a reads b, which is not before it"):
        KernelDataflow({"a": ("b",), "b": ()}, ("a",), {}, {}, {})
    with pytest.raises(ProgramError, match="the part of a has -4 bytes"):
        KernelDataflow({"a": ()}, ("a",), {"a": -4}, {"a": BufferNeed.CHEAP}, {})


def reads_of(order: PhaseOrder, name: str) -> frozenset[str]:
    """The buffers that an operation reads, by the definition."""
    found: set[str] = set()
    for operand in order.dataflow.operands[name]:
        found |= {operand} if operand in order.buffered else reads_of(order, operand)
    return frozenset(found)


def dominators(flow: KernelDataflow) -> dict[str, frozenset[str]]:
    """Per operation those that lie on every way from it to a root, by the definition."""
    found: dict[str, frozenset[str]] = {}
    for name in reversed([*flow.operands]):
        ways = [found[user] for user in flow.users[name]]
        ways += [frozenset()] if name in flow.roots else []
        found[name] = frozenset({name}).union(frozenset.intersection(*ways) if ways else ())
    return found


def planned_anew(flow: KernelDataflow, limit: int, sharing: SpaceSharing) -> SharedMemoryPlan:
    """The first plan that fits of those which give up one buffer after the other."""
    roomy = plan_memory(flow, ROOM, SpaceSharing.NONE)
    order = sorted(
        (need, flow.spans[name], name) for name, need in flow.needs.items()
        if need is not BufferNeed.DIRECT and name in roomy.buffers
    )  # fmt: skip
    for count in range(len(order) + 1):
        given_up = tuple(name for _, _, name in order[:count])
        kept = {name: need for name, need in flow.needs.items() if name not in given_up}
        plan = plan_memory(replace(flow, needs=kept), ROOM, sharing)
        if plan.byte_size <= limit:
            return replace(plan, recomputed=given_up)
    raise LimitError("nothing fits")


def test_reads_ways_and_the_least_room_are_those_of_the_definitions() -> None:
    random_ = random.Random(3)
    for _ in range(150):
        flow, _ = random_dataflow(random_, random_.randint(1, 14))
        given_up = tuple(name for name in flow.needs if random_.random() < 0.3)
        order = PhaseOrder(flow, given_up)
        assert all(order.reads(name) == reads_of(order, name) for name in flow.operands)
        last = {
            buffer: number for number, name in enumerate(order.names)
            for buffer in reads_of(order, name)
        }  # fmt: skip
        assert order.last_reads == last
        ways = dominators(flow)
        for name in flow.operands:
            assert {one for one in flow.operands if flow.dominates(one, name)} == ways[name]
        for sharing in SpaceSharing:
            assert PhaseOrder(flow).least_bytes <= plan_memory(flow, ROOM, sharing).byte_size


def test_buffers_that_are_given_up_are_those_of_planning_each_time_anew() -> None:
    random_ = random.Random(4)
    refused = 0
    for _ in range(300):
        flow, _ = random_dataflow(random_, random_.randint(2, 14))
        limit, sharing = random_.choice((1, 4, 8, 20, 24, 44, 64)), random_.choice([*SpaceSharing])
        try:
            expected = planned_anew(flow, limit, sharing)
        except LimitError:
            refused += 1
            with pytest.raises(LimitError):
                plan_memory(flow, limit, sharing)
            continue
        assert plan_memory(flow, limit, sharing) == expected
    assert 10 < refused < 200


@pytest.mark.parametrize("sharing", SpaceSharing)
def test_long_kernels_are_planned_without_recursion(sharing: SpaceSharing) -> None:
    names = [f"v{number}" for number in range(20_000)]
    operands = {name: tuple(names[max(at - 1, 0) : at]) for at, name in enumerate(names)}
    spans = {name: len(names) - at for at, name in enumerate(names)}
    needs = dict.fromkeys((names[0], names[10_000]), BufferNeed.DIRECT)
    flow = KernelDataflow(
        operands, (names[-1],), dict.fromkeys(needs, 8), needs, spans, frozenset(names)
    )  # fmt: skip
    plan = plan_memory(flow, 64, sharing)
    assert plan.phases == (names[0], names[10_000], names[-1])
    assert plan.slots == ((8, 8) if sharing is SpaceSharing.NONE else (8,))
    assert not list(wrong_reads(flow, plan))


def test_ways_that_part_and_meet_again_are_gone_once() -> None:
    """Each of 100 operations reads both of two that read the one before: 2 to the 100th ways."""
    operands: dict[str, tuple[str, ...]] = {"v0": ()}
    for number in range(100):
        operands |= {f"{side}{number}": (f"v{number}",) for side in "lr"}
        operands[f"v{number + 1}"] = (f"l{number}", f"r{number}")
    needs = dict.fromkeys(("v0", "v99"), BufferNeed.DIRECT)
    spans = dict.fromkeys(operands, 0)
    flow = KernelDataflow(
        operands, ("v100",), dict.fromkeys(needs, 8), needs, spans, frozenset(operands)
    )  # fmt: skip
    assert plan_memory(flow, 64).slots == (8,)
