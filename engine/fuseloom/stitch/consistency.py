"""Consistency of schedules: the schedules of all operations of a kernel, from that of its root.

Each operation of a kernel is either *scheduled*, so that block *b* of the kernel computes block *b*
of its value, or *inlined*: its elements are computed wherever they are read, however often.  It is
scheduled if all its readers ask for the same schedule.  Otherwise (of what a trivial operation that
no schedule fits reads, of what is broadcast to several blocks, or where readers disagree) it is
inlined, unless it is a reduction or a dot, is expensive and would be computed several times, or is
read outside of the kernel.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil

from fuseloom.stitch.graph import DenseComputation, DenseOperation
from fuseloom.stitch.opcodes import OperationClass, operation_class, reuses_operands, work_of
from fuseloom.stitch.operand_schedules import OperandSchedule
from fuseloom.stitch.propagation import propagate
from fuseloom.stitch.schedules import BlockSchedule, divisions_of

MOST_REPEATS = 8
"""Times that an inlined operation may be computed for an element of the root."""
SMALL_ELEMENTS = 32
"""Elements of a value that every block may compute, even if that is expensive."""


@dataclass(frozen=True)
class OperationPart:
    """The part of a kernel that an operation has.

    Attributes
    ----------
    schedule : BlockSchedule, optional
        None if it is inlined.
    copies : int
        The number of places where it is computed.
    reused : bool
        True if an element is computed for several elements of what reads it.
    """

    schedule: BlockSchedule | None
    copies: int = 1
    reused: bool = False


@dataclass(frozen=True)
class InconsistentPart:
    """The reason why an operation has no part in a kernel.

    Attributes
    ----------
    rule : str
    reader : str
        The operation of the kernel that asks for what is not possible.
    dims : tuple of int
        The dimensions of the reader that are in the way.
    """

    rule: str
    reader: str
    dims: tuple[int, ...] = ()


@dataclass
class ScheduleTrial:
    """A schedule of the roots, and what follows for the operations of a kernel.

    Attributes
    ----------
    schedule : BlockSchedule
    blocks : int
    parts : dict
        Per operation its part.
    direct_bytes : int
        Bytes of shared memory that reductions and dots take in a block, if none is shared.
    """

    schedule: BlockSchedule
    blocks: int
    parts: dict[str, OperationPart]
    direct_bytes: int = 0


class ScheduleConsistency:
    """Finds the parts of operations in kernels of a computation.

    Parameters
    ----------
    computation : DenseComputation

    Examples
    --------
    >>> from fuseloom.stitch.shapes import TensorShape
    >>> x = DenseOperation("x", "parameter", TensorShape("f32", (2, 3)))
    >>> e = DenseOperation("e", "exponential", TensorShape("f32", (2, 3)), ("x",))
    >>> zero = DenseOperation("zero", "constant", TensorShape("f32", ()))
    >>> s = DenseOperation("s", "reduce", TensorShape("f32", (2,)), ("e", "zero"),
    ...                    {"dimensions": (1,)})
    >>> checker = ScheduleConsistency(DenseComputation("f", (x, e, zero, s), "s"))
    >>> one, two = checker.trials(("s",))
    >>> two.blocks, str(checker.part(two, "e", is_output=False).schedule)
    (2, 'row 0/2')
    """

    def __init__(self, computation: DenseComputation) -> None:
        self.computation = computation
        self._parts: dict[BlockSchedule, OperationPart] = {}
        self._made: dict[object, dict[BlockSchedule, tuple[OperandSchedule, ...]]] = defaultdict(
            dict
        )  # of operations that are alike
        self._by_operation: dict[str, dict[BlockSchedule, tuple[OperandSchedule, ...]]] = {}

    def trials(self, roots: tuple[str, ...]) -> list[ScheduleTrial]:
        """The divisions of roots of one shape; none if that has no elements."""
        dims = self.computation.by_name[roots[0]].array.dims
        return [
            ScheduleTrial(one, one.blocks(dims), {root: OperationPart(one) for root in roots})
            for one in divisions_of(dims)
        ]

    def part(
        self, trial: ScheduleTrial, name: str, is_output: bool
    ) -> OperationPart | InconsistentPart:
        """The part that an operation would have in a kernel that has all its readers.

        Parameters
        ----------
        trial : ScheduleTrial
        name : str
        is_output : bool
            True if it is read outside of the kernel, or is a result.
        """
        operation = self.computation.by_name[name]
        asked: list[BlockSchedule | None] = []
        copies, reused = 0, False
        why: InconsistentPart | None = None
        for reader, operand in self._reads[name]:
            part = trial.parts.get(reader.name)
            if part is None:
                continue
            copies += part.copies
            if part.schedule is None:
                asked.append(None)
                reused |= part.reused or reuses_operands(self.computation, reader)
                why = why or InconsistentPart("its reader is inlined", reader.name)
                continue
            made = self._propagated(reader, part.schedule)[operand]
            if made.computed_in_block:
                asked.append(made.schedule)
                continue
            rule = made.rule or "several blocks read the same elements"
            why = why or InconsistentPart(rule, reader.name, made.dims)
            if operation_class(reader) is OperationClass.PRODUCT:
                return InconsistentPart(rule, reader.name, made.dims)
            asked.append(None)
            reused |= reuses_operands(self.computation, reader)
        first = asked[0]
        if first is not None and all(one is first or one == first for one in asked):
            return self._parts.setdefault(first, OperationPart(first))
        why = why or InconsistentPart("its readers ask for different schedules", _last(trial))
        return self._inlined(operation, why, OperationPart(None, copies, reused), is_output)

    def direct_bytes(self, operation: DenseOperation, blocks: int) -> int:
        """Bytes of shared memory of a block that an operation takes if it is not the root."""
        return ceil(operation.shape.byte_size / blocks) if operation.name in self._direct else 0

    @cached_property
    def _direct(self) -> frozenset[str]:
        return frozenset(
            one.name for one in self.computation.operations
            if operation_class(one) in (OperationClass.REDUCE, OperationClass.PRODUCT)
        )  # fmt: skip

    def _inlined(
        self, operation: DenseOperation, why: InconsistentPart, part: OperationPart, stored: bool
    ) -> OperationPart | InconsistentPart:
        found = operation_class(operation)
        if stored:
            return InconsistentPart(f"{why.rule}, and others read it, too", why.reader, why.dims)
        if found in (OperationClass.REDUCE, OperationClass.PRODUCT):
            return why
        small = operation.array.elements <= SMALL_ELEMENTS
        if found is OperationClass.EXPENSIVE and not small and (part.copies > 1 or part.reused):
            return InconsistentPart(
                f"{why.rule}, and it is too expensive to compute again", why.reader, why.dims
            )
        if part.copies > MOST_REPEATS:
            return InconsistentPart(
                f"{why.rule}, and it would be computed {part.copies} times", why.reader, why.dims
            )
        return part

    @cached_property
    def _reads(self) -> Mapping[str, list[tuple[DenseOperation, int]]]:
        """Per operation those that read it, and the numbers of their operands that it is."""
        found: dict[str, list[tuple[DenseOperation, int]]] = {
            one.name: [] for one in self.computation.operations
        }
        for reader in self.computation.operations:
            for number, operand in enumerate(reader.operands):
                found[operand].append((reader, number))
        return found

    def _propagated(
        self, operation: DenseOperation, schedule: BlockSchedule
    ) -> tuple[OperandSchedule, ...]:
        made = self._by_operation.get(operation.name)
        if made is None:
            made = self._made[self._kind(operation)]
            self._by_operation[operation.name] = made
        if schedule not in made:
            shapes = [self.computation.by_name[name].shape for name in operation.operands]
            made[schedule] = propagate(operation, shapes, schedule)
        return made[schedule]

    def _kind(self, operation: DenseOperation) -> object:
        """A key of operations that ask the same of their operands."""
        shapes = tuple(self.computation.by_name[name].shape for name in operation.operands)
        kind = (operation.opcode, operation.shape, shapes, (*operation.attributes.items(),))
        try:
            hash(kind)
        except TypeError:  # an attribute is a list
            return operation.name
        return kind

    @cached_property
    def work(self) -> Mapping[str, int]:
        """Per operation the elements that it makes or reads."""
        return {one.name: work_of(self.computation, one) for one in self.computation.operations}


def _last(trial: ScheduleTrial) -> str:
    return next(iter(trial.parts))
