"""Places of a kernel: digits of the number of a block, and of positions of what blocks compute."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

from fuseloom.stitch.graph import DenseComputation, DenseModule, DenseOperation
from fuseloom.stitch.phase_values import BoxSide
from fuseloom.stitch.positions import AtomRule, PositionSum, digits_of, variable
from fuseloom.stitch.schedules import Digits, IndexDigit, dimension_digits, merged_digits
from fuseloom.stitch.shared_memory import SharedMemoryPlan
from fuseloom.stitch.stitched import StitchedKernel


class KernelPlaces:
    """Places that the phases of a kernel share: digits of the block, and where values lie.

    Parameters
    ----------
    module : DenseModule
    computation : DenseComputation
    kernel : StitchedKernel
    plan : SharedMemoryPlan
    blocks : int

    Attributes
    ----------
    inputs : dict
        Operations of other kernels that phases have been found to read.
    """

    def __init__(
        self,
        module: DenseModule,
        computation: DenseComputation,
        kernel: StitchedKernel,
        plan: SharedMemoryPlan,
        blocks: int,
    ) -> None:
        self.module = module
        self.computation = computation
        self.kernel = kernel
        self.plan = plan
        self.blocks = blocks
        self.inside = frozenset(kernel.operations)
        self.inputs: dict[str, DenseOperation] = {}

    @cached_property
    def digits(self) -> tuple[tuple[str, int, int], ...]:
        """Digits of the number of a block that all its parts are divided by, if there are."""
        marks = {1, self.blocks}
        for name in self.kernel.operations:
            for size, stride in self.position_digits(name):
                marks |= {stride, stride * size} if stride else set()
        order = sorted(marks)
        if any(after % before for before, after in pairwise(order)):
            order = sorted({1, self.blocks})
        return tuple(
            (f"b{place}", after // before, before)
            for place, (before, after) in enumerate(pairwise(order))
        )

    @cached_property
    def block(self) -> PositionSum:
        """The number of the block."""
        found = PositionSum()
        for name, size, stride in self.digits:
            found = found.plus(variable(name, size, AtomRule.FIXED).times(stride))
        return found

    def position_digits(self, name: str) -> Digits:
        """Digits of positions of an operation that has a schedule; none if it has not."""
        schedule = self.kernel.parts[name].schedule
        if schedule is None:
            return ()
        dims = self.computation.by_name[name].array.dims
        return merged_digits(one for of_one in dimension_digits(schedule, dims) for one in of_one)

    def block_digit(self, digit: IndexDigit) -> PositionSum:
        """The value of a digit that grows with the number of the block."""
        return self.block.divided(digit.stride)[0].divided(digit.size)[1]

    def local(self, name: str, at: PositionSum) -> PositionSum:
        """The place of an element within its block's part."""
        digits = self.position_digits(name)
        found = PositionSum()
        for value, (size, stride) in zip(
            digits_of(at, [size for size, _ in digits]), digits, strict=True
        ):
            if not stride:
                found = found.times(size).plus(value)
        return found

    def box(self, operation: DenseOperation) -> tuple[BoxSide, ...]:
        """A block's part of each dimension."""
        schedule = self.kernel.parts[operation.name].schedule
        assert schedule is not None
        made = []
        for part, inner in dimension_digits(schedule, operation.array.dims):
            start = self.block_digit(part) if part.stride else PositionSum()
            made.append(BoxSide(start.times(inner.size), inner.size))
        return tuple(made)
