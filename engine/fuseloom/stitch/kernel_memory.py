"""Buffers of kernels of deep fusion: the operations with reasons for one, and if they fit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

from fuseloom.errors import LimitError
from fuseloom.stitch.copies import with_copies
from fuseloom.stitch.fusion import SHARED_MEMORY
from fuseloom.stitch.graph import DenseComputation, DenseOperation
from fuseloom.stitch.opcodes import (
    ELEMENTWISE,
    OperationClass,
    ProductFusion,
    operation_class,
)
from fuseloom.stitch.schedules import BlockSchedule, work_space
from fuseloom.stitch.shapes import BF16_BYTES
from fuseloom.stitch.shared_memory import (
    BufferNeed,
    KernelDataflow,
    SharedMemoryPlan,
    SpaceSharing,
    plan_memory,
)
from fuseloom.stitch.stitched import StitchedKernel

_PASSED = (OperationClass.CHEAP, OperationClass.MODULATION)
"""Classes of operations through which a product reads what is expensive."""


def part_bytes(operation: DenseOperation, schedule: BlockSchedule) -> int:
    """Return the bytes of a block's part of the value of an operation.

    Examples
    --------
    >>> from fuseloom.stitch.shapes import TensorShape
    >>> rows = DenseOperation("x", "negate", TensorShape("f32", (8, 4)), ("y",))
    >>> part_bytes(rows, BlockSchedule(0, 4))
    32
    """
    dims = work_space(operation.array.dims)
    counts = schedule.parts(operation.array.dims)
    item = BF16_BYTES if operation.array.element == "bf16" else operation.array.dtype.itemsize
    return item * prod(extent // count for extent, count in zip(dims, counts, strict=True))


def dataflow_of(computation: DenseComputation, kernel: StitchedKernel) -> KernelDataflow:
    """Find the reasons for buffers of the operations of a kernel, and their sizes.

    Of the operations that a schedule divides,

    * reductions and dots that others of the kernel read, or that are no roots, are ``DIRECT``,
    * expensive elementwise ones whose elements a dot reads, itself or through cheap ones and
      such as move elements, are ``FOR_PRODUCT``,
    * other elementwise ones that several of the kernel read are ``EXPENSIVE`` or ``CHEAP``.

    Parameters
    ----------
    computation : DenseComputation
        The one that was fused, with copies of light operations.
    kernel : StitchedKernel
        With a schedule.

    Examples
    --------
    >>> from fuseloom.stitch.fusion import fuse
    >>> from fuseloom.stitch.shapes import TensorShape
    >>> rows, row = TensorShape("f32", (64, 512)), TensorShape("f32", (64,))
    >>> made = fuse(DenseComputation("softmax", (
    ...     DenseOperation("x", "parameter", rows),
    ...     DenseOperation("zero", "constant", TensorShape("f32", ())),
    ...     DenseOperation("e", "exponential", rows, ("x",)),
    ...     DenseOperation("s", "reduce", row, ("e", "zero"), {"dimensions": (1,)}),
    ...     DenseOperation("wide", "broadcast", rows, ("s",), {"dimensions": (0,)}),
    ...     DenseOperation("y", "divide", rows, ("e", "wide")),
    ... ), "y"))
    >>> flow = dataflow_of(made.computation, made.kernels[0])
    >>> {name: (need.name, flow.bytes[name]) for name, need in flow.needs.items()}
    {'e': ('EXPENSIVE', 2048), 's': ('DIRECT', 4)}
    """
    inside = frozenset(kernel.operations)
    operations = {name: computation.by_name[name] for name in kernel.operations}
    operands = {
        name: tuple(one for one in operation.operands if one in inside)
        for name, operation in operations.items()
    }  # fmt: skip
    users = {
        name: [user for user in computation.users[name] if user in inside] for name in operations
    }
    needs: dict[str, BufferNeed] = {}
    sizes: dict[str, int] = {}
    roots = frozenset(kernel.roots)
    for_products = _read_by_products(operations)
    for name, operation in operations.items():
        schedule = kernel.parts[name].schedule
        if schedule is None:
            continue
        need = _need(operation, len(users[name]), name in for_products, name in roots)
        if need is not None:
            needs[name] = need
            sizes[name] = part_bytes(operation, schedule)
    elementwise = frozenset(
        name for name, operation in operations.items() if operation.opcode in ELEMENTWISE
    )
    spans: dict[str, int] = {}
    for name in reversed(kernel.operations):
        spans[name] = 1 + max((spans[user] for user in users[name]), default=-1)
    return KernelDataflow(operands, kernel.roots, sizes, needs, spans, elementwise)


def memory_of(
    computation: DenseComputation,
    kernel: StitchedKernel,
    limit: int = SHARED_MEMORY,
    sharing: SpaceSharing = SpaceSharing.LIVENESS,
) -> SharedMemoryPlan:
    """Plan the buffers of a kernel.

    Parameters
    ----------
    computation : DenseComputation
        The one that was fused, with copies of light operations.
    kernel : StitchedKernel
        With a schedule.
    limit : int
        Bytes of shared memory that a block may have.
    sharing : SpaceSharing

    Raises
    ------
    LimitError
        If what reductions and dots need does not fit.
    """
    return plan_memory(dataflow_of(computation, kernel), limit, sharing)


def memory_check(
    computation: DenseComputation,
    products: ProductFusion = ProductFusion.NEVER,
    limit: int = SHARED_MEMORY,
    sharing: SpaceSharing = SpaceSharing.LIVENESS,
) -> MemoryCheck:
    """Return a check that objects to kernels whose buffers do not fit, for ``fuse``.

    Parameters
    ----------
    computation : DenseComputation
        The one that is given to ``fuse``.
    products : ProductFusion
        As given there.
    limit : int
        Bytes of shared memory that a block may have.
    sharing : SpaceSharing
    """
    return MemoryCheck(computation, products, limit, sharing)


@dataclass(frozen=True)
class MemoryCheck:
    """A check of kernels that objects to those whose buffers do not fit.

    Attributes
    ----------
    computation : DenseComputation
        Without copies of light operations.
    products : ProductFusion
    limit : int
    sharing : SpaceSharing
    """

    computation: DenseComputation
    products: ProductFusion
    limit: int
    sharing: SpaceSharing

    def __call__(self, kernel: StitchedKernel) -> str:
        """The objection to a kernel; an empty text if there is none."""
        if kernel.schedule is None:
            return ""
        try:
            memory_of(self._copied, kernel, self.limit, self.sharing)
        except LimitError as error:
            return error.message
        return ""

    def has_room(self, direct_bytes: int) -> bool:
        """Tell if there is no objection to kernels whose reductions and dots take so many bytes.

        All other buffers can be given up, and sharing space never takes more than not to share.
        """
        return self.limit > 0 and direct_bytes <= self.limit

    @cached_property
    def _copied(self) -> DenseComputation:
        return with_copies(self.computation, self.products).computation


def _need(
    operation: DenseOperation, users: int, for_product: bool, is_root: bool
) -> BufferNeed | None:
    found = operation_class(operation)
    if found in (OperationClass.REDUCE, OperationClass.PRODUCT):
        return BufferNeed.DIRECT if users or not is_root else None
    if for_product and found is OperationClass.EXPENSIVE:
        return BufferNeed.FOR_PRODUCT
    if users > 1 and found is OperationClass.EXPENSIVE:
        return BufferNeed.EXPENSIVE
    return BufferNeed.CHEAP if users > 1 and found is OperationClass.CHEAP else None


def _read_by_products(operations: dict[str, DenseOperation]) -> set[str]:
    """Operations that dots read, themselves or through others that cost little."""
    found: set[str] = set()
    for name in reversed(operations):
        operation = operations[name]
        kind = operation_class(operation)
        if kind is OperationClass.PRODUCT or (name in found and kind in _PASSED):
            found |= {one for one in operation.operands if one in operations}
    return found
