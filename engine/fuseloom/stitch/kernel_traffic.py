"""Bytes that kernels read from memory and write to it: unfused, by XLA's rules, by deep fusion.

A kernel reads each array that others have made once, and writes its roots.  Of an array that it
only takes slices or rows of, it reads these.  Bitcasts and parts of tuples name what is in memory
already, and a constant of one element is part of the code.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fuseloom.stitch.frames import FusedFrame
from fuseloom.stitch.graph import DenseComputation, DenseOperation
from fuseloom.stitch.opcodes import is_bitcast, is_launched, is_library_call
from fuseloom.stitch.shapes import TensorShape

_CHOOSING = ("slice", "dynamic-slice", "gather")
"""Opcodes that read as many elements of their first operand as they make."""


@dataclass(frozen=True)
class KernelTraffic:
    """Bytes that a kernel moves.

    Attributes
    ----------
    read, written : int
    """

    read: int
    written: int

    @property
    def moved(self) -> int:
        """Bytes in both directions."""
        return self.read + self.written


@dataclass(frozen=True)
class TrafficTotal:
    """Kernels of a computation, and the bytes that they move.

    Attributes
    ----------
    kernels : int
        Without calls of libraries.
    calls : int
    read, written : int
        Bytes of both.
    """

    kernels: int
    calls: int
    read: int
    written: int

    @property
    def moved(self) -> int:
        """Bytes in both directions."""
        return self.read + self.written

    def __add__(self, other: TrafficTotal) -> TrafficTotal:
        return TrafficTotal(
            self.kernels + other.kernels, self.calls + other.calls,
            self.read + other.read, self.written + other.written,
        )  # fmt: skip


@dataclass(frozen=True)
class FrameTraffic:
    """Kernels and bytes of a frame by three ways to fuse it.

    Attributes
    ----------
    unfused : TrafficTotal
        Each operation that is launched is a kernel.
    baseline : TrafficTotal
        By XLA's rules of 2018.
    fused : TrafficTotal
        By deep fusion.
    """

    unfused: TrafficTotal
    baseline: TrafficTotal
    fused: TrafficTotal


def kernel_traffic(
    computation: DenseComputation, operations: Iterable[str], roots: Sequence[str]
) -> KernelTraffic:
    """Count the bytes that operations move if they are one kernel.

    Parameters
    ----------
    computation : DenseComputation
    operations : iterable of str
        Those of the kernel.
    roots : sequence of str
        Those whose values it writes.

    Examples
    --------
    >>> from fuseloom.stitch.shapes import TensorShape
    >>> shape = TensorShape("f32", (8, 4))
    >>> graph = DenseComputation("f", (
    ...     DenseOperation("x", "parameter", shape),
    ...     DenseOperation("y", "exponential", shape, ("x",)),
    ...     DenseOperation("z", "add", shape, ("x", "y")),
    ... ), "z")
    >>> kernel_traffic(graph, ["y"], ["y"]), kernel_traffic(graph, ["y", "z"], ["z"])
    (KernelTraffic(read=128, written=128), KernelTraffic(read=128, written=128))
    """
    inside = {*operations}
    sources: dict[str, set[str]] = {}  # arrays in memory, and the names by which they are read
    for name in inside:
        for operand in computation.by_name[name].operands:
            if operand not in inside:
                sources.setdefault(_source(computation, operand), set()).add(operand)
    read = 0
    for source, names in sources.items():
        array = computation.by_name[source]
        if not _is_in_code(array):
            touched = sum(_touched(computation, name, inside) for name in names)
            read += min(touched, array.shape.byte_size)
    written = sum(computation.by_name[name].shape.byte_size for name in dict.fromkeys(roots))
    return KernelTraffic(read, written)


def frame_traffic(frame: FusedFrame) -> FrameTraffic:
    """Count kernels and bytes of a frame that was fused.

    Examples
    --------
    >>> from fuseloom.stitch.examples.models import read_example
    >>> from fuseloom.stitch.frames import fuse_module
    >>> found = frame_traffic(fuse_module(read_example("attention")).frames[0])
    >>> found.fused.kernels, found.baseline.kernels, found.baseline.calls, found.unfused.kernels
    (1, 4, 1, 9)
    >>> found.fused.moved < found.baseline.moved < found.unfused.moved
    True
    """
    given, copied = frame.computation, frame.fusion.computation
    alone = [one for one in given.operations if is_launched(given, one)]
    return FrameTraffic(
        _total(given, [((one.name,), (one.name,), is_library_call(one)) for one in alone]),
        _total(given, [(one.operations, one.roots, one.is_call) for one in frame.baseline.kernels]),
        _total(copied, [(one.operations, one.roots, one.is_call) for one in frame.fusion.kernels]),
    )


def _total(
    computation: DenseComputation, kernels: Sequence[tuple[Sequence[str], Sequence[str], bool]]
) -> TrafficTotal:
    moved = [kernel_traffic(computation, operations, roots) for operations, roots, _ in kernels]
    calls = sum(is_call for _, _, is_call in kernels)
    read, written = sum(one.read for one in moved), sum(one.written for one in moved)
    return TrafficTotal(len(kernels) - calls, calls, read, written)


def _source(computation: DenseComputation, name: str) -> str:
    """The operation whose value in memory an operand is, or is a part of."""
    while True:
        operation = computation.by_name[name]
        if operation.opcode == "get-tuple-element":
            made = computation.by_name[operation.operands[0]]
            if made.opcode != "tuple":
                return name
            name = made.operands[int(operation.attributes["index"])]
        elif is_bitcast(computation, operation):
            name = operation.operands[0]
        else:
            return name


def _touched(computation: DenseComputation, name: str, inside: set[str]) -> int:
    """Bytes of a value that operations of a kernel read."""
    touched: dict[str, int] = {}
    waiting = [name]
    while waiting:
        one = waiting.pop()
        users = [user for user in computation.users[one] if user in inside]
        views = [user for user in users if is_bitcast(computation, computation.by_name[user])]
        if any(user not in touched for user in views):
            waiting += [one, *(user for user in views if user not in touched)]
            continue
        own, found = computation.by_name[one].shape.byte_size, 0
        for user in users:
            reader = computation.by_name[user]
            chosen = reader.opcode in _CHOOSING and one not in reader.operands[1:]
            found += touched.get(user, reader.shape.byte_size if chosen else own)
        touched[one] = min(found, own)
    return touched[name]


def _is_in_code(operation: DenseOperation) -> bool:
    """Tell if an operation is a constant of one element."""
    shape = operation.shape
    return (
        operation.opcode == "constant" and isinstance(shape, TensorShape) and shape.elements == 1
    )  # fmt: skip
