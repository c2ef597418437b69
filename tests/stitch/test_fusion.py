"""Deep fusion: Fig. 3 of the paper, worked cases, and properties of random graphs."""

from __future__ import annotations

import random

import numpy as np
import pytest

from fuseloom.stitch.contracted import ContractedGraph, acyclic
from fuseloom.stitch.fusion import FusionSettings, fuse
from fuseloom.stitch.graph import DenseComputation, DenseOperation
from fuseloom.stitch.opcodes import OperationClass, ProductFusion, is_launched, operation_class
from fuseloom.stitch.propagation import table_passes
from fuseloom.stitch.schedules import BlockSchedule, schedules_of
from fuseloom.stitch.shapes import TupleShape
from fuseloom.stitch.stitched import DeepFusion, StitchedKernel
from fuseloom.stitch.xla_rules import xla_fusion
from tests.tiers import counts

from .brute_force import every_schedule, reads, shaped
from .figure3 import SPANS, figure3
from .random_graphs import computed_value, evaluated, random_computation

TIGHT = FusionSettings(enough_blocks=4, block_elements=6)
FREE = FusionSettings(enough_blocks=16, block_elements=8, call_layers=False, give_up=False)


SUMMED = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (0,)}


def computation(root: str, *operations: DenseOperation) -> DenseComputation:
    return DenseComputation("made", operations, root)


def operation(name: str, opcode: str, dims: tuple[int, ...], *operands: str, **attributes: object):
    return DenseOperation(name, opcode, shaped(*dims), operands, attributes)


def parameter(name: str, *dims: int) -> DenseOperation:
    return operation(name, "parameter", dims)


def groups(made: DeepFusion) -> set[tuple[str, ...]]:
    return {kernel.operations for kernel in made.kernels}


def test_figure_3_is_one_kernel_of_512_blocks() -> None:
    made = fuse(figure3(), ProductFusion.BATCHED)
    assert {name: made.analysis.spans[name] for name in SPANS} == SPANS
    (kernel,) = made.kernels
    assert kernel.roots == ("Dot.1",)
    assert set(kernel.operations) == SPANS.keys() - {"Parameter.1"}
    dims = made.computation.by_name["Dot.1"].array.dims
    assert len(schedules_of(dims)) == 48
    assert kernel.satisfiable == tuple(BlockSchedule(0, 1 << n) for n in range(9, -1, -1))
    assert kernel.schedule == BlockSchedule(0, 512)
    assert kernel.schedule.blocks(dims) == 512
    assert None not in kernel.schedules.values()
    assert kernel.schedules["Exponential.1"] == BlockSchedule(1, 64)
    assert made.computation.by_name["Exponential.1"].array.byte_size // 512 == 16_384


def test_table_1_as_printed_passes_the_same_10_schedules_of_figure_3() -> None:
    made = figure3()
    dot = made.by_name["Dot.1"]
    shapes = [made.by_name[name].shape for name in dot.operands]
    printed = [one for one in schedules_of(dot.array.dims) if table_passes(dot, shapes, one)]
    (kernel,) = fuse(made, ProductFusion.BATCHED).kernels
    assert set(printed) == set(kernel.satisfiable)
    assert len(printed) == 10


def test_figure_3_takes_a_call_and_one_kernel_where_dots_are_not_fused() -> None:
    made = fuse(figure3())
    softmax, dot = made.kernels
    assert dot.is_call
    assert dot.operations == ("Dot.1",)
    assert dot.schedule is None
    assert softmax.roots == ("Divide.1",)
    assert made.count == 1
    baseline = xla_fusion(figure3())
    assert baseline.count == 4  # largest, exponential, sum, quotient
    assert made.ratio(baseline) == 0.25


def test_without_shared_memory_reductions_stay_apart() -> None:
    made = fuse(figure3(), ProductFusion.BATCHED, shared_memory=0)
    assert acyclic(made.computation, made.kernels)
    assert {kernel.name for kernel in made.kernels} == {"Dot.1", "Reduce.1", "Reduce.2"}
    assert any("of shared memory" in rule for rule in made.rules)
    little = fuse(figure3(), ProductFusion.BATCHED, shared_memory=300)
    assert len(little.kernels) == 2


def test_a_check_of_kernels_stops_their_growth() -> None:
    asked: list[StitchedKernel] = []

    def few(kernel: StitchedKernel) -> str:
        asked.append(kernel)
        return "it has more than three operations" if len(kernel.operations) > 3 else ""

    made = fuse(figure3(), ProductFusion.BATCHED, consistent=few)
    assert max(len(kernel.operations) for kernel in made.kernels) == 3
    assert made.rules["it has more than three operations"]
    assert all(
        kernel.schedule and kernel.parts.keys() == set(kernel.operations) for kernel in asked
    )
    assert acyclic(made.computation, made.kernels)


def test_a_check_may_choose_the_schedule() -> None:
    def at_most_64(kernel: StitchedKernel) -> str:
        assert kernel.schedule
        return "" if kernel.schedule.sword <= 64 else "too many parts"

    (kernel,) = fuse(figure3(), ProductFusion.BATCHED, consistent=at_most_64).kernels
    assert kernel.schedule == BlockSchedule(0, 64)


def test_kernels_of_one_layer_do_not_take_in_what_the_other_reads() -> None:
    """Layers alone would allow: p in the first kernel, which reads q of the second one."""
    made = fuse(
        computation(
            "out",
            parameter("x", 4, 6),
            operation("q", "negate", (4, 6), "x"),
            operation("p", "abs", (4, 6), "q"),
            operation("r", "tanh", (4, 6), "q"),
            DenseOperation("zero", "constant", shaped()),
            operation("first", "reduce", (4,), "p", "zero", dimensions=(1,)),
            operation("s", "add", (4, 6), "p", "r"),
            operation("second", "reduce", (6,), "s", "zero", dimensions=(0,)),
            DenseOperation("out", "tuple", TupleShape((shaped(4), shaped(6))), ("first", "second")),
        ),
        settings=FusionSettings(give_up=False),
    )
    assert acyclic(made.computation, made.kernels)
    assert sum(len(kernel.operations) for kernel in made.kernels) == 6


def test_what_would_lie_around_a_call_is_not_taken_in() -> None:
    graph = computation(
        "y",
        parameter("x", 8, 8),
        operation("e", "exponential", (8, 8), "x"),
        operation(
            "d", "dot", (8, 8), "e", "e", lhs_contracting_dims=(1,), rhs_contracting_dims=(0,)
        ),
        operation("y", "add", (8, 8), "e", "d"),
    )
    assert groups(fuse(graph)) == {("e",), ("d",), ("y",)}
    free = fuse(graph, settings=FusionSettings(call_layers=False, give_up=False))
    assert groups(free) == {("e",), ("d",), ("y",)}
    assert free.rules["another kernel would lie between"] == 1
    (kernel,) = fuse(graph, ProductFusion.ALL).kernels
    assert kernel.satisfiable == (BlockSchedule(0, 1),)


def test_elementwise_operations_of_a_layer_are_grouped_under_the_footprint() -> None:
    operations = []
    for number in range(6):
        dims = (4, 6) if number < 4 else (24,)
        w, g, n = (f"{letter}{number}" for letter in "wgn")
        operations += [parameter(w, *dims), parameter(g, *dims)]
        operations.append(operation(n, "subtract", dims, w, g))
    parts = TupleShape(tuple(one.array for one in operations[2::3]))
    names = tuple(f"n{number}" for number in range(6))
    graph = computation("out", *operations, DenseOperation("out", "tuple", parts, names))
    assert groups(fuse(graph)) == {("n0", "n1", "n2", "n3"), ("n4", "n5")}
    assert groups(fuse(graph, footprint=600)) == {("n0", "n1"), ("n2", "n3"), ("n4", "n5")}
    assert len(fuse(graph, footprint=0).kernels) == 6
    kernel = fuse(graph).kernels[0]
    assert kernel.reason == "4 of layer 1 from layer 1 up to layer 2"


def test_refusals_have_the_rule_the_operation_and_its_dimensions() -> None:
    dims = (256, 256)
    own = (
        parameter("x", *dims),
        operation("e", "exponential", dims, "x"),
        operation("m", "multiply", dims, "e", "e"),
        operation("t", "transpose", dims, "m", dimensions=(1, 0)),
        operation("y", "add", dims, "t", "m"),
    )
    made = fuse(computation("y", *own))
    assert groups(made) == {("m", "t", "y"), ("e",)}
    (refusal,) = made.refused
    assert (refusal.operation, refusal.root, refusal.reader) == ("e", "y", "m")
    assert refusal.rule == "its reader is inlined, and it is too expensive to compute again"
    both = DenseOperation("out", "tuple", TupleShape((shaped(*dims),) * 2), ("y", "m"))
    made = fuse(computation("out", *own, both))
    assert groups(made) == {("t", "y"), ("e", "m")}
    (refusal,) = [one for one in made.refused if one.operation == "m"]
    assert (refusal.root, refusal.reader, refusal.dims) == ("y", "t", (0, 1))
    rule = "blocks of the operand are in another order, and others read it, too"
    assert refusal.rule == rule


def test_kernels_with_too_few_blocks_do_not_grow() -> None:
    dims = (512, 512)
    graph = computation(
        "y",
        parameter("x", *dims),
        DenseOperation("zero", "constant", shaped()),
        operation("e", "exponential", dims, "x"),
        operation("s", "reduce", (), "e", "zero", dimensions=(0, 1)),
        operation("wide", "broadcast", dims, "s", dimensions=()),
        operation("y", "divide", dims, "e", "wide"),
    )
    made = fuse(graph)
    assert groups(made) == {("wide", "y"), ("e", "s")}
    assert "several blocks read the same elements" in {one.rule for one in made.refused}
    one = fuse(graph, settings=FusionSettings(block_elements=512 * 512))
    assert groups(one) == {("e", "s", "wide", "y")}
    assert one.kernels[0].schedule == BlockSchedule(0, 1)


def test_trivial_operations_are_bypassed() -> None:
    """A reversal fits no schedule of rows but one; what it reads is computed where it is read."""
    graph = computation(
        "y",
        parameter("x", 4096, 8),
        operation("n", "negate", (4096, 8), "x"),
        operation("r", "reverse", (4096, 8), "n", dimensions=(0,)),
        operation("y", "abs", (4096, 8), "r"),
    )
    (kernel,) = fuse(graph).kernels
    assert kernel.schedules["r"] == kernel.schedule
    assert kernel.schedules["n"] is None
    assert kernel.schedule
    assert kernel.schedule.blocks((4096, 8)) == 1024


def test_what_has_no_elements_and_what_is_a_kernel_of_its_own() -> None:
    graph = computation(
        "out",
        parameter("x", 4),
        operation("nothing", "slice", (0,), "x", slice=((0, 0, 1),)),
        operation("none", "negate", (0,), "nothing"),
        operation("noise", "rng", (4,)),
        operation("odd", "some-new-thing", (4,), "noise"),
        operation("y", "negate", (4,), "odd"),
        DenseOperation("out", "tuple", TupleShape((shaped(4), shaped(0))), ("y", "none")),
    )
    made = fuse(graph)
    assert [kernel.operations for kernel in made.kernels] == [("noise",), ("odd",), ("y",)]
    assert made.kernels[1].reason == "some-new-thing is a kernel of its own"
    assert made.count == 3


def check_partition(graph: DenseComputation, made: DeepFusion) -> None:
    names = [name for kernel in made.kernels for name in kernel.operations]
    assert len(names) == len(set(names))
    for one in made.computation.operations:
        original = made.originals.get(one.name, one.name)
        assert original in graph.by_name
        if is_launched(made.computation, one):
            assert one.name in made.kernel_of


def check_kernel(made: DeepFusion, kernel: StitchedKernel) -> None:
    """Each block has what it reads: by brute force, for every operation and operand."""
    if kernel.schedule is None:
        assert len(kernel.operations) == 1
        return
    known = made.computation.by_name
    assert kernel.schedule in kernel.satisfiable
    blocks = kernel.schedule.blocks(known[kernel.name].array.dims)
    for name in kernel.operations:
        part, one = kernel.parts[name], known[name]
        if part.schedule is None:
            assert name not in kernel.roots
            found = operation_class(one)
            assert found not in (OperationClass.REDUCE, OperationClass.PRODUCT)
        else:
            assert part.schedule.blocks(one.array.dims) == blocks
        shapes = [known[operand].array for operand in one.operands]
        for number, operand in enumerate(one.operands):
            if operand not in kernel.parts:
                continue
            its = kernel.parts[operand].schedule
            if its is None:
                continue
            assert part.schedule is not None
            mine = dict(every_schedule(one.array.dims))[part.schedule]
            other = dict(every_schedule(known[operand].array.dims))[its]
            own, read = reads(one, shapes, number)
            assert np.array_equal(mine[own], other[read])


def check_values(made: DeepFusion, graph: DenseComputation) -> None:
    """Kernels run one after another, and each reads roots of those before it only."""
    expected = evaluated(graph)
    kinds = ("parameter", "constant")
    stored = {one.name: expected[one.name] for one in graph.operations if one.opcode in kinds}
    known = made.computation.by_name

    def load(name: str) -> np.ndarray:
        if name not in stored:
            assert not is_launched(made.computation, known[name])
            inputs = {operand: load(operand) for operand in known[name].operands}
            stored[name] = computed_value(known[name], inputs)
        return stored[name]

    for kernel in made.kernels:
        inside: dict[str, np.ndarray] = {}
        for name in kernel.operations:
            inputs = {x: inside[x] if x in inside else load(x) for x in known[name].operands}
            inside[name] = computed_value(known[name], inputs)
        stored |= {root: inside[root] for root in kernel.roots}
    for name in graph.outputs:
        assert np.array_equal(load(name), expected[name])


@pytest.mark.parametrize(
    "settings", [FusionSettings(), TIGHT, FREE], ids=["usual", "tight", "free"]
)
@pytest.mark.parametrize("products", ProductFusion)
@counts(small=34, deep=100, fuzz=223)
def test_random_graphs(count: int, products: ProductFusion, settings: FusionSettings) -> None:
    """Nine times as many graphs in all: no cycle, all in one kernel, values and blocks right."""
    draw = random.Random(f"{products} {settings}")
    for _ in range(count):
        graph = random_computation(draw, draw.randint(4, 24))
        made = fuse(graph, products, settings=settings, shared_memory=draw.choice((0, 64, 20_480)))
        assert acyclic(made.computation, made.kernels)
        check_partition(graph, made)
        check_values(made, graph)
        for kernel in made.kernels:
            check_kernel(made, kernel)


@counts(small=300, deep=500, fuzz=2_000)
def test_no_graph_of_kernels_has_a_cycle(count: int) -> None:
    draw = random.Random(count)
    ratios = []
    for _ in range(count):
        graph = random_computation(draw, draw.randint(8, 40))
        products = draw.choice([*ProductFusion])
        made = fuse(graph, products, settings=draw.choice((FusionSettings(), TIGHT, FREE)))
        assert acyclic(made.computation, made.kernels)
        baseline = xla_fusion(graph)
        assert acyclic(graph, baseline.kernels)
        ratios.append(made.ratio(baseline))
    assert np.mean(ratios) < 0.9


def test_a_kernel_asks_for_what_it_reads_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 40 chains that cannot be joined, each is gone through once."""
    asked: list[str] = []

    def counted(graph: ContractedGraph, first: str, second: str) -> bool:
        asked.append(second)
        return makes_cycle(graph, first, second)

    makes_cycle = ContractedGraph.makes_cycle
    monkeypatch.setattr(ContractedGraph, "makes_cycle", counted)
    chains = [
        operation(f"c{chain}.{n}", "negate", (8,), f"c{chain}.{n - 1}" if n else "x")
        for chain in range(40) for n in range(5)
    ]  # fmt: skip
    ends = tuple(f"c{chain}.4" for chain in range(40))
    result = DenseOperation("out", "tuple", TupleShape((shaped(8),) * 40), ends)
    graph = computation("out", parameter("x", 8), *chains, result)
    made = fuse(graph, footprint=64)
    assert groups(made) == {tuple(f"c{chain}.{n}" for n in range(5)) for chain in range(40)}
    assert len(asked) == 160
