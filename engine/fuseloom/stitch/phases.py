"""Phases of a kernel: loops over a block's part of a value, and what each element is computed of.

They say what the code of a kernel does, whatever language it is in.  A phase computes an operation
that has a buffer, or a root, for all elements of a block's part; what has no buffer is computed
where it is read.  Reductions and dots have loops of their own within.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from fuseloom.errors import LoweringError
from fuseloom.stitch.graph import DenseComputation, DenseModule, DenseOperation
from fuseloom.stitch.kernel_places import KernelPlaces
from fuseloom.stitch.meaning.evaluation import Evaluation
from fuseloom.stitch.meaning.reductions import UFUNCS
from fuseloom.stitch.moved_elements import MOVES
from fuseloom.stitch.opcodes import ELEMENTWISE
from fuseloom.stitch.phase_values import (
    ElementChoice,
    ElementLoad,
    ElementNumber,
    ElementPosition,
    ElementResult,
    FixedPosition,
    KernelPhase,
    PhaseLoop,
    PhaseReduction,
    PhaseStore,
    PhaseValue,
    RangeTest,
)
from fuseloom.stitch.positions import (
    AtomRule,
    LoopDivisionError,
    PositionAtom,
    PositionSum,
    digits_of,
    row_strides,
    strided,
    variable,
)
from fuseloom.stitch.shared_memory import SharedMemoryPlan
from fuseloom.stitch.stitched import StitchedKernel

MOST_VALUES = 20_000
"""Values of a phase."""
MOST_ATOMS = 5_000
"""Numbers that a position is computed of."""
MOST_NESTED = 200
"""Operations that are computed within each other."""


@dataclass(frozen=True, eq=False)
class PhasedKernel:
    """The phases of a kernel.

    Attributes
    ----------
    kernel : StitchedKernel
    plan : SharedMemoryPlan
    blocks : int
    digits : tuple of (str, int, int)
        Digits of the number of a block: name, number of values, and what it grows by with it.
    phases : tuple of KernelPhase
    inputs : tuple of DenseOperation
        Those of other kernels that it reads, parameters and constants among them.
    outputs : tuple of DenseOperation
        Its roots.
    """

    kernel: StitchedKernel
    plan: SharedMemoryPlan
    blocks: int
    digits: tuple[tuple[str, int, int], ...]
    phases: tuple[KernelPhase, ...]
    inputs: tuple[DenseOperation, ...]
    outputs: tuple[DenseOperation, ...]


def phases_of(
    module: DenseModule,
    computation: DenseComputation,
    kernel: StitchedKernel,
    plan: SharedMemoryPlan,
) -> PhasedKernel:
    """Find the phases of a kernel.

    Parameters
    ----------
    module : DenseModule
        Has the computations that reductions apply.
    computation : DenseComputation
        The one that was fused, with copies of light operations.
    kernel : StitchedKernel
    plan : SharedMemoryPlan
        Its buffers.

    Raises
    ------
    LoweringError
        If the kernel has no schedule, or an operation is none that phases are made of.

    Examples
    --------
    >>> from fuseloom.stitch.fusion import fuse
    >>> from fuseloom.stitch.kernel_memory import memory_of
    >>> from fuseloom.stitch.shapes import TensorShape
    >>> tall = TensorShape("f32", (64, 32))
    >>> x = DenseOperation("x", "parameter", TensorShape("f32", (32, 64)))
    >>> turned = DenseOperation("y", "transpose", tall, ("x",), {"dimensions": (1, 0)})
    >>> graph = DenseComputation("f", (x, turned), "y")
    >>> made = phases_of(DenseModule("m", {"f": graph}, "f"), graph,
    ...                  (kernel := fuse(graph).kernels[0]), memory_of(graph, kernel))
    >>> (phase,) = made.phases
    >>> made.blocks, phase.loops, str(phase.value.at), str(phase.stores[0].at)
    (64, (PhaseLoop(name='i1', extent=32),), '0 + 1*b0 + 64*i1', '0 + 32*b0 + 1*i1')
    """
    if kernel.schedule is None:
        raise LoweringError(f"{kernel.name} has no schedule: {kernel.reason}")
    blocks = kernel.schedule.blocks(computation.by_name[kernel.roots[0]].array.dims)
    shared = KernelPlaces(module, computation, kernel, plan, blocks)
    phases = tuple(_phase(shared, computation.by_name[name]) for name in plan.phases)
    outputs = tuple(computation.by_name[name] for name in kernel.roots)
    return PhasedKernel(
        kernel, plan, blocks, shared.digits, phases, tuple(shared.inputs.values()), outputs
    )


def _phase(shared: KernelPlaces, operation: DenseOperation) -> KernelPhase:
    sizes: dict[str, list[int]] = {}
    while True:
        try:
            return _PhaseBuilder(shared, operation, sizes).phase()
        except LoopDivisionError as asked:
            loop, _, place = asked.loop.partition("_")
            at = int(place or 0)
            sizes[loop][at : at + 1] = [sizes[loop][at] // asked.inner, asked.inner]


class _PhaseBuilder:
    """Makes a phase with some loops; fails if one of these has to be divided first."""

    def __init__(
        self, shared: KernelPlaces, operation: DenseOperation, sizes: dict[str, list[int]]
    ) -> None:
        self.shared = shared
        self.operation = operation
        self.sizes = sizes
        self.values: list[PhaseValue] = []
        self.known: dict[tuple[str, PositionSum], PhaseValue] = {}
        self.fixed: dict[str, FixedPosition] = {}
        self.nested = 0

    def phase(self) -> KernelPhase:
        operation, shared = self.operation, self.shared
        at, place, loops = PositionSum(), PositionSum(), list[PhaseLoop]()
        for number, digit in enumerate(shared.position_digits(operation.name)):
            if digit.stride:
                value = shared.block_digit(digit)
            else:
                value = self._loop(f"i{number}", digit.size, loops)
                place = place.times(digit.size).plus(value)
            at = at.times(digit.size).plus(value)
        reduction: PhaseReduction | None = None
        if operation.opcode == "reduce":
            value_, reduction = self._reduce(at)
        elif operation.opcode == "dot":
            value_, reduction = self._dot(at)
        else:
            value_ = self._computed(operation, at)
        stores = []
        if operation.name in shared.plan.buffers:
            stores.append(PhaseStore(True, place))
        if operation.name in shared.kernel.roots:
            stores.append(PhaseStore(False, at))
        return KernelPhase(
            operation, shared.box(operation), tuple(loops), tuple(self.values), value_, reduction,
            tuple(stores), self.fixed,
        )  # fmt: skip

    def _loop(self, name: str, size: int, loops: list[PhaseLoop]) -> PositionSum:
        """The variable of a loop, or of those that it has been divided into."""
        sizes = self.sizes.setdefault(name, [size])
        found = PositionSum()
        for place, extent in enumerate(sizes):
            own = name if len(sizes) == 1 else f"{name}_{place}"
            loops.append(PhaseLoop(own, extent))
            found = found.times(extent).plus(variable(own, extent))
        return found

    def _operand(self, operation: DenseOperation, number: int) -> DenseOperation:
        return self.shared.computation.by_name[operation.operands[number]]

    def _reduce(self, at: PositionSum) -> tuple[PhaseValue, PhaseReduction]:
        if len(self.operation.operands) != 2:
            raise _no_phase(self.operation, "reduces several arrays")
        opcode = _reducer(self.shared.module, self.operation)
        source, start = self._operand(self.operation, 0), self._operand(self.operation, 1)
        dims, strides = source.array.dims, row_strides(source.array.dims)
        if not source.array.elements:
            raise _no_phase(self.operation, "reduces an array without elements")
        reduced = sorted(self.operation.attributes["dimensions"])
        loops: list[PhaseLoop] = []
        inner = self._loop("r", prod(dims[dim] for dim in reduced), loops)
        kept = [dim for dim in range(len(dims)) if dim not in reduced]
        read = strided(at, [dims[dim] for dim in kept], [strides[dim] for dim in kept]).plus(
            strided(inner, [dims[dim] for dim in reduced], [strides[dim] for dim in reduced])
        )
        first = self._value(start, PositionSum())
        return self._value(source, read), PhaseReduction(opcode, tuple(loops), first)

    def _dot(self, at: PositionSum) -> tuple[PhaseValue, PhaseReduction]:
        operation = self.operation
        loops: list[PhaseLoop] = []
        summed = operation.attributes.get("lhs_contracting_dims", ())
        left = self._operand(operation, 0).array.dims
        extents = [left[dim] for dim in summed]
        if not prod(extents):
            raise _no_phase(operation, "sums nothing")
        inner = self._loop("r", prod(extents), loops)
        factors = []
        for number, side in enumerate(("lhs", "rhs")):
            source = self._operand(operation, number)
            batch = operation.attributes.get(f"{side}_batch_dims", ())
            summed = operation.attributes.get(f"{side}_contracting_dims", ())
            strides = row_strides(source.array.dims)
            free = [d for d in range(source.array.rank) if d not in batch and d not in summed]
            own = [0] * operation.array.rank
            first = len(batch) if number == 0 else operation.array.rank - len(free)
            for place, dim in [*enumerate(batch), *enumerate(free, first)]:
                own[place] = strides[dim]
            read = strided(at, operation.array.dims, own).plus(
                strided(inner, extents, [strides[dim] for dim in summed])
            )
            factors.append(self._value(source, read))
        element = "f32" if operation.array.element == "bf16" else operation.array.element
        for place, factor in enumerate(factors):
            if factor.element != element:
                factors[place] = self._put(ElementResult("convert", (factor,), element))
        product = self._put(ElementResult("multiply", tuple(factors), element))
        return product, PhaseReduction("add", tuple(loops))

    def _put(self, value: PhaseValue) -> PhaseValue:
        if len(self.values) >= MOST_VALUES:
            raise _no_phase(self.operation, f"is computed of more than {MOST_VALUES:,} values")
        self.values.append(value)
        return value

    def _value(self, operation: DenseOperation, at: PositionSum) -> PhaseValue:
        """The element of an operation at a position: read, or computed here."""
        if at.count > MOST_ATOMS:
            raise _no_phase(operation, "is moved so often that its positions have no short form")
        key = (operation.name, at)
        if key in self.known:
            return self.known[key]
        shared, element = self.shared, operation.array.element
        if operation.name in shared.plan.buffers:
            place = shared.local(operation.name, at)
            made = self._put(ElementLoad(operation.name, True, place, element))
        elif operation.name in shared.inside:
            self.nested += 1
            if self.nested > MOST_NESTED:
                raise _no_phase(operation, f"lies behind {MOST_NESTED} others without a buffer")
            made = self._computed(operation, at)
            self.nested -= 1
        elif (
            operation.opcode == "constant"
            and operation.literal is not None
            and operation.array.elements == 1
            and operation.array.dtype.kind in "bifu"
        ):
            made = self._put(ElementNumber(operation.literal.reshape(()).item(), element))
        else:
            shared.inputs[operation.name] = operation
            made = self._put(ElementLoad(operation.name, False, at, element))
        self.known[key] = made
        return made

    def _computed(self, operation: DenseOperation, at: PositionSum) -> PhaseValue:
        opcode, shape = operation.opcode, operation.array
        if opcode in ELEMENTWISE:
            return self._elementwise(operation, at)
        if opcode == "iota":
            digits = digits_of(at, shape.dims)
            index = digits[operation.attributes["iota_dimension"]]
            return self._put(ElementPosition(index, shape.element))
        if opcode == "concatenate":
            return self._concatenate(operation, at)
        if opcode == "pad":
            return self._pad(operation, at)
        if opcode == "dynamic-slice":
            return self._dynamic_slice(operation, at)
        if opcode == "dynamic-update-slice":
            return self._dynamic_update(operation, at)
        if opcode == "gather":
            return self._gather(operation, at)
        if opcode in ("reduce", "dot") or opcode not in MOVES:
            raise _no_phase(operation, f"is {opcode}, which has no scalar form here")
        source = self._operand(operation, 0)
        if source.array.element != shape.element or "layout" in operation.attributes:
            raise _no_phase(operation, "does not keep elements row by row")
        return self._value(source, MOVES[opcode](operation, source.array.dims, at))

    def _elementwise(self, operation: DenseOperation, at: PositionSum) -> PhaseValue:
        shape = operation.array
        operands = []
        for number in range(len(operation.operands)):
            source = self._operand(operation, number)
            one = at if source.array.dims == shape.dims else PositionSum()
            operands.append(self._value(source, one))
        return self._put(
            ElementResult(operation.opcode, tuple(operands), shape.element, operation.attributes)
        )

    def _concatenate(self, operation: DenseOperation, at: PositionSum) -> PhaseValue:
        (along,) = operation.attributes["dimensions"]
        dims = operation.array.dims
        tail = prod(dims[along + 1 :])
        before, index, behind = digits_of(at, (prod(dims[:along]), dims[along], tail))
        made: PhaseValue | None = None
        end = dims[along]
        for number in range(len(operation.operands) - 1, -1, -1):
            source = self._operand(operation, number)
            extent = source.array.dims[along]
            local = index.plus(extent - end)
            if extent and local.most >= 0 and local.least < extent:
                place = before.times(extent).plus(local.clamped(extent)).times(tail).plus(behind)
                value = self._value(source, place)
                tests = (RangeTest(index, end),)
                made = value if made is None else self._choice(tests, value, made)
            end -= extent
        assert made is not None
        return made

    def _choice(
        self, tests: Sequence[RangeTest], inside: PhaseValue, outside: PhaseValue
    ) -> PhaseValue:
        """One of two values, or the first if no index can be outside of its range."""
        left = tuple(
            test for test in tests
            if test.step > 1 or test.at.least < 0 or test.at.most >= test.extent
        )  # fmt: skip
        if not left:
            return inside
        return self._put(ElementChoice(left, inside, outside, inside.element))

    def _pad(self, operation: DenseOperation, at: PositionSum) -> PhaseValue:
        source = self._operand(operation, 0)
        if not source.array.elements:
            raise _no_phase(operation, "pads an array without elements")
        place, tests = PositionSum(), []
        for index, extent, stride, (low, _, interior) in zip(
            digits_of(at, operation.array.dims), source.array.dims,
            row_strides(source.array.dims), operation.attributes["padding"], strict=True,
        ):  # fmt: skip
            test = RangeTest(index.plus(-low), (extent - 1) * (interior + 1) + 1, interior + 1)
            tests.append(test)
            old, _ = test.at.clamped(test.extent).divided(test.step)
            place = place.plus(old.times(stride))
        inside = self._value(source, place)
        return self._choice(tests, inside, self._value(self._operand(operation, 1), PositionSum()))

    def _dynamic_slice(self, operation: DenseOperation, at: PositionSum) -> PhaseValue:
        source, dims = self._operand(operation, 0), operation.array.dims
        strides = row_strides(source.array.dims)
        place = strided(at, dims, strides)
        for start, stride in zip(self._starts(operation, 1, dims), strides, strict=True):
            place = place.plus(start.times(stride))
        return self._value(source, place)

    def _dynamic_update(self, operation: DenseOperation, at: PositionSum) -> PhaseValue:
        source, update = self._operand(operation, 0), self._operand(operation, 1)
        dims = update.array.dims
        if not update.array.elements:
            return self._value(source, at)
        place, tests = PositionSum(), []
        starts = self._starts(operation, 2, dims)
        indices = digits_of(at, operation.array.dims)
        for index, start, extent, stride in zip(
            indices, starts, dims, row_strides(dims), strict=True
        ):
            test = RangeTest(index.plus(start.times(-1)), extent)
            tests.append(test)
            place = place.plus(test.at.clamped(extent).times(stride))
        return self._choice(tests, self._value(update, place), self._value(source, at))

    def _starts(
        self, operation: DenseOperation, first: int, part: Sequence[int]
    ) -> list[PositionSum]:
        """Positions that are known only when the kernel runs, at which a part begins."""
        whole = self._operand(operation, 0).array.dims
        if len(operation.operands) != first + len(whole):
            raise _no_phase(operation, "has no number for each dimension")
        made = []
        for number, (extent, own) in enumerate(zip(whole, part, strict=True), first):
            if extent == own:
                made.append(PositionSum())
                continue
            value = self._value(self._operand(operation, number), PositionSum())
            made.append(self._fixed(value, extent - own))
        return made

    def _fixed(self, value: PhaseValue, most: int) -> PositionSum:
        """A position that is a value, within its range."""
        name = f"start{len(self.fixed)}"
        self.fixed[name] = FixedPosition(value, most)
        atom = PositionAtom(name, most + 1, AtomRule.FIXED, through=value.names)
        return PositionSum(((atom, 1),))

    def _gather(self, operation: DenseOperation, at: PositionSum) -> PhaseValue:
        source, indices = self._operand(operation, 0), self._operand(operation, 1)
        more = operation.attributes
        if more.get("operand_batching_dims"):
            raise _no_phase(operation, "has dimensions of batches of its operand")
        into, along, sizes = more["start_index_map"], more["index_vector_dim"], more["slice_sizes"]
        window = [d for d in range(source.array.rank) if d not in more["collapsed_slice_dims"]]
        strides, steps = row_strides(source.array.dims), row_strides(indices.array.dims)
        batch = [steps[dim] for dim in range(len(steps)) if dim != along]
        place, vector = PositionSum(), PositionSum()
        for dim, digit in enumerate(digits_of(at, operation.array.dims)):
            if dim in more["offset_dims"]:
                place = place.plus(digit.times(strides[window.pop(0)]))
            else:
                vector = vector.plus(digit.times(batch.pop(0)))
        for number, dim in enumerate(into):
            most = source.array.dims[dim] - sizes[dim]
            if most:
                step = steps[along] if along < len(steps) else 0
                start = self._value(indices, vector.plus(number * step))
                place = place.plus(self._fixed(start, most).times(strides[dim]))
        return self._value(source, place)


def _no_phase(operation: DenseOperation, words: str) -> LoweringError:
    return LoweringError(f"{operation.name} {words}", hint="it is evaluated with NumPy")


def _reducer(module: DenseModule, operation: DenseOperation) -> str:
    """The opcode of the computation that a reduction applies."""
    found = Evaluation(module).combiner(operation.attributes["to_apply"])
    if found is None or found not in UFUNCS:
        raise _no_phase(operation, "applies a computation of several operations")
    return found
