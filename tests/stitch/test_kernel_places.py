"""Places of a kernel: digits of the number of a block, and where a block's part begins."""

from __future__ import annotations

from fuseloom.stitch.fusion import fuse
from fuseloom.stitch.kernel_memory import memory_of
from fuseloom.stitch.kernel_places import KernelPlaces
from fuseloom.stitch.opcodes import ProductFusion
from fuseloom.stitch.positions import AtomRule, substituted, variable

from .figure3 import figure3
from .stitched_modules import GraphMaker, module_of


def places(graph: GraphMaker) -> KernelPlaces:
    module = graph.module()
    made = fuse(module.main, ProductFusion.ALL)
    (kernel,) = made.kernels
    assert kernel.schedule is not None
    blocks = kernel.schedule.blocks(made.computation.by_name[kernel.name].array.dims)
    plan = memory_of(made.computation, kernel)
    return KernelPlaces(module, made.computation, kernel, plan, blocks)


def test_a_part_of_rows_begins_where_the_block_does() -> None:
    graph = GraphMaker()
    graph.add("tanh", (64, 32), graph.parameter(64, 32))
    found = places(graph)
    assert found.digits == (("b0", 64, 1),)
    at = found.block.times(32).plus(variable("i", 32))
    assert str(found.local("tanh.1", at)) == "0 + 1*i"
    rows, columns = found.box(graph.operations[1])
    assert (rows.extent, columns.extent) == (1, 32)
    assert substituted(rows.start, {"b0": 5}) == 5


def test_a_part_of_columns_leaves_out_what_others_have() -> None:
    graph = GraphMaker()
    zero = graph.parameter()
    x = graph.add("tanh", (32, 64), graph.parameter(32, 64))
    graph.add("reduce", (64,), x, zero, dimensions=(0,), to_apply="sum")
    found = places(graph)
    assert found.digits == (("b0", 64, 1),)
    assert found.position_digits(x) == ((32, 0), (64, 1))
    at = variable("i", 32).times(64).plus(found.block)
    assert str(found.local(x, at)) == "0 + 1*i"


def test_digits_are_fixed_within_a_block() -> None:
    module = module_of(figure3())
    made = fuse(module.main, ProductFusion.BATCHED)
    (kernel,) = made.kernels
    plan = memory_of(made.computation, kernel)
    found = KernelPlaces(module, made.computation, kernel, plan, 512)
    assert [atom.rule for atom, _ in found.block.terms] == [AtomRule.FIXED]
    assert found.position_digits("Divide.1") == ((512, 1), (4096, 0))
