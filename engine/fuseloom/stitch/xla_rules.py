"""The baseline: kernels of XLA's fusion for GPUs in 2018, by static rules restated here.

Instruction fusion takes a producer into each of its consumers if

* both are fusible: elementwise, shape modulation, or a consumer that reduces rows,
* the producer is no reduction and no dot, whose loops differ from those of their consumers,
* an expensive producer has one user, and that does not reuse its elements,
* a producer of several users is fused into all of them, or reads at most one array of its size.

A producer that all users have taken, and that is no result, is no kernel.  Then multi-output fusion
joins kernels of the same shape that read a common array, where this makes no cycle.

The paper counts reductions of columns, dots, and transpositions among the exceptions, which are
kernels of their own; :class:`XlaRules` has switches for these readings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from fuseloom.stitch.contracted import ContractedGraph
from fuseloom.stitch.graph import DenseComputation, DenseOperation
from fuseloom.stitch.opcodes import (
    POINTWISE,
    OperationClass,
    is_bitcast,
    is_launched,
    is_library_call,
    operation_class,
    reuses_operands,
)


@dataclass(frozen=True)
class XlaRules:
    """Readings of the rules.

    Attributes
    ----------
    column_reduces : bool
        True if producers are fused into reductions of columns.
    transposes : bool
        True if transpositions are fused as other shape modulations are.
    multi_output : bool
        True if kernels of the same shape that read a common array are joined.
    """

    column_reduces: bool = False
    transposes: bool = False
    multi_output: bool = True


@dataclass(frozen=True)
class XlaKernel:
    """A kernel of the baseline.

    Attributes
    ----------
    operations : tuple of str
        In order; what is computed for several kernels is in each of them.
    roots : tuple of str
        Operations whose values it writes.
    is_call : bool
        True if it is a call of a library.
    """

    operations: tuple[str, ...]
    roots: tuple[str, ...]
    is_call: bool = False


@dataclass(frozen=True)
class XlaRefusal:
    """A producer that is not fused into a consumer.

    Attributes
    ----------
    producer, consumer : str
    rule : str
        The reason.
    """

    producer: str
    consumer: str
    rule: str


@dataclass(frozen=True)
class XlaFusion:
    """The kernels of a computation.

    Attributes
    ----------
    computation : DenseComputation
    kernels : tuple of XlaKernel
        In the order of their first roots.
    refused : tuple of XlaRefusal
    """

    computation: DenseComputation
    kernels: tuple[XlaKernel, ...]
    refused: tuple[XlaRefusal, ...]

    @property
    def count(self) -> int:
        """The number of kernels without calls of libraries."""
        return sum(not kernel.is_call for kernel in self.kernels)

    @cached_property
    def reasons(self) -> dict[str, tuple[XlaRefusal, ...]]:
        """Per producer the refusals."""
        found: dict[str, list[XlaRefusal]] = defaultdict(list)
        for refusal in self.refused:
            found[refusal.producer].append(refusal)
        return {name: tuple(of_one) for name, of_one in found.items()}


def xla_fusion(computation: DenseComputation, rules: XlaRules | None = None) -> XlaFusion:
    """Fuse a computation by the rules of the baseline.

    Parameters
    ----------
    computation : DenseComputation
    rules : XlaRules, optional

    Examples
    --------
    Rows minus their largest: the reduction is a kernel, and what reads it another.

    >>> from fuseloom.stitch.shapes import TensorShape
    >>> rows, row = TensorShape("f32", (8, 4)), TensorShape("f32", (8,))
    >>> made = xla_fusion(DenseComputation("f", (
    ...     DenseOperation("x", "parameter", rows),
    ...     DenseOperation("low", "constant", TensorShape("f32", ())),
    ...     DenseOperation("half", "negate", rows, ("x",)),
    ...     DenseOperation("top", "reduce", row, ("half", "low"), {"dimensions": (1,)}),
    ...     DenseOperation("wide", "broadcast", rows, ("top",), {"dimensions": (0,)}),
    ...     DenseOperation("y", "subtract", rows, ("half", "wide")),
    ... ), "y"))
    >>> [kernel.operations for kernel in made.kernels]
    [('half', 'top'), ('half', 'wide', 'y')]
    >>> [refusal.rule for refusal in made.reasons["top"]]
    ['a reduction is the root of its kernel']
    """
    return _XlaFuser(computation, rules or XlaRules()).fused()


def is_row_reduce(computation: DenseComputation, operation: DenseOperation) -> bool:
    """Tell if a reduction sums what lies together in memory: its last dimensions.

    Examples
    --------
    >>> from fuseloom.stitch.shapes import TensorShape
    >>> x = DenseOperation("x", "parameter", TensorShape("f32", (8, 4)))
    >>> zero = DenseOperation("zero", "constant", TensorShape("f32", ()))
    >>> sums = DenseOperation("y", "reduce", TensorShape("f32", (4,)), ("x", "zero"),
    ...                       {"dimensions": (0,)})
    >>> is_row_reduce(DenseComputation("f", (x, zero, sums), "y"), sums)
    False
    """
    dims = computation.by_name[operation.operands[0]].array.dims
    reduced = operation.attributes["dimensions"]
    kept = [dim for dim, extent in enumerate(dims) if dim not in reduced and extent != 1]
    counted = [dim for dim in reduced if dims[dim] != 1]
    return not kept or not counted or max(kept) < min(counted)


class _XlaFuser:
    def __init__(self, computation: DenseComputation, rules: XlaRules) -> None:
        self.computation = computation
        self.rules = rules
        self.outputs = {*computation.outputs, computation.root}
        self.places = {one.name: place for place, one in enumerate(computation.operations)}
        self.refused: list[XlaRefusal] = []

    def fused(self) -> XlaFusion:
        """All kernels, after both passes."""
        taken = self._taken()
        groups: dict[str, set[str]] = {}
        homes: dict[str, set[str]] = {}  # per operation the roots of kernels that compute it
        views: set[str] = set()  # bitcasts of what is in memory
        for operation in reversed(self.computation.operations):
            name = operation.name
            users = self.computation.users[name]
            found = {home for user in users if (name, user) in taken for home in homes[user]}
            stored = name in self.outputs or not users
            stored |= any((name, user) not in taken or user in views for user in users)
            if stored and is_launched(self.computation, operation):
                found.add(name)
            elif stored:
                views.add(name)
            homes[name] = found
            for home in found:
                groups.setdefault(home, set()).add(name)
        roots: list[tuple[str, ...]] = [(root,) for root in reversed(groups)]
        if self.rules.multi_output:
            roots = self._joined(groups)
        kernels = tuple(self._kernel(of_one, groups) for of_one in roots)
        return XlaFusion(self.computation, kernels, tuple(self.refused))

    def _kernel(self, roots: tuple[str, ...], groups: dict[str, set[str]]) -> XlaKernel:
        names = {name for root in roots for name in groups[root]}
        order = tuple(sorted(names, key=self.places.__getitem__))
        return XlaKernel(order, roots, is_library_call(self.computation.by_name[roots[0]]))

    def _taken(self) -> set[tuple[str, str]]:
        """Pairs of a producer and a consumer that takes it in."""
        taken: set[tuple[str, str]] = set()
        for producer in self.computation.operations:
            if operation_class(producer) in (OperationClass.VALUE, OperationClass.CONTROL):
                continue
            users = self.computation.users[producer.name]
            rules = {user: self._refusal(producer, user) for user in users}
            kept = [user for user, rule in rules.items() if rule]
            if kept and len(users) > 1 and not self._is_unary(producer):
                for user in users:
                    rules[user] = rules[user] or f"{kept[0]} does not take it in, and would read it"
            for user, rule in rules.items():
                if not rule:
                    taken.add((producer.name, user))
                elif self._is_kernel(user):
                    self.refused.append(XlaRefusal(producer.name, user, rule))
        return taken

    def _refusal(self, producer: DenseOperation, user: str) -> str:
        """Say why a producer is not fused into a consumer; empty if it is."""
        consumer = self.computation.by_name[user]
        if rule := self._unfusible(producer):
            return rule
        if not self._takes_in(consumer):
            return f"nothing is fused into {_article(consumer)}"
        if operation_class(producer) is OperationClass.EXPENSIVE:
            if len(self.computation.users[producer.name]) > 1:
                return "it is expensive, and would be computed for each of its users"
            if reuses_operands(self.computation, consumer):
                return f"it is expensive, and {_article(consumer)} reuses its elements"
        return ""

    def _is_kernel(self, name: str) -> bool:
        return is_launched(self.computation, self.computation.by_name[name])

    def _unfusible(self, producer: DenseOperation) -> str:
        found = operation_class(producer)
        if found is OperationClass.REDUCE:
            return "a reduction is the root of its kernel"
        if self._is_moved(producer):
            return "a transposition is a kernel of its own"
        if found in POINTWISE or found is OperationClass.INDEXED:
            return ""
        return f"{_article(producer)} is a kernel of its own"

    def _takes_in(self, consumer: DenseOperation) -> bool:
        found = operation_class(consumer)
        if found is OperationClass.REDUCE:
            return self.rules.column_reduces or is_row_reduce(self.computation, consumer)
        fusible = found in POINTWISE or found is OperationClass.INDEXED
        return fusible and not self._is_moved(consumer)

    def _is_moved(self, operation: DenseOperation) -> bool:
        """Tell if an operation is a transposition that moves elements, and is kept alone."""
        if operation.opcode != "transpose" or self.rules.transposes:
            return False
        return not is_bitcast(self.computation, operation)

    def _is_unary(self, producer: DenseOperation) -> bool:
        """Tell if a producer reads at most one array of its own size: copies of it are cheap."""
        if operation_class(producer) is OperationClass.EXPENSIVE:
            return False
        large = {
            operand
            for operand in producer.operands
            if self.computation.by_name[operand].shape.byte_size >= producer.shape.byte_size
        }
        return len(large) <= 1

    def _joined(self, groups: dict[str, set[str]]) -> list[tuple[str, ...]]:
        """Join kernels of the same shape that read a common array."""
        reads = {root: self._reads(root, names) for root, names in groups.items()}
        order = [one.name for one in self.computation.operations]
        graph = ContractedGraph(
            {name: sorted(reads[name]) if name in reads else self._operands(name) for name in order}
        )
        kernels: list[list[str]] = []
        readers: dict[object, list[int]] = defaultdict(list)  # kernels of a shape, per array
        for root in reversed(groups):
            key = self._joins(self.computation.by_name[root])
            arrays = [(key, name) for name in reads[root] if self._is_large(name)] if key else []
            for number in sorted({one for array in arrays for one in readers[array]}):
                first = kernels[number][0]
                if not graph.reaches(first, root) and not graph.reaches(root, first):
                    graph.join(first, root)
                    kernels[number].append(root)
                    break
            else:
                number = len(kernels)
                kernels.append([root])
            for array in arrays:
                if readers[array][-1:] != [number]:
                    readers[array].append(number)
        return [tuple(kernel) for kernel in kernels]

    def _operands(self, name: str) -> tuple[str, ...]:
        return self.computation.by_name[name].operands

    def _reads(self, root: str, names: Iterable[str]) -> set[str]:
        inside = {*names}
        return {one for name in inside for one in self._operands(name) if one not in inside}

    def _is_large(self, name: str) -> bool:
        return self.computation.by_name[name].shape.byte_size > 16

    def _joins(self, root: DenseOperation) -> object:
        """The shape that decides which kernels are joined; None for those that never are."""
        found = operation_class(root)
        if found is OperationClass.REDUCE:
            if not self._takes_in(root):
                return None
            source = self.computation.by_name[root.operands[0]].array
            return ("reduce", source.dims, root.attributes["dimensions"])
        if found in POINTWISE and self._takes_in(root):
            return ("loop", root.array.dims)
        return None


def _article(operation: DenseOperation) -> str:
    return f"{'an' if operation.opcode[0] in 'aeiou' else 'a'} {operation.opcode}"
