"""Work/span analysis: layers of a computation by their distance from its result.

Of the operations of a layer some are joined, and are roots of one kernel.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from fuseloom.stitch.contracted import ContractedGraph
from fuseloom.stitch.graph import DenseComputation, DenseModule, DenseOperation
from fuseloom.stitch.opcodes import (
    POINTWISE,
    OperationClass,
    ProductFusion,
    class_of,
    is_barrier,
    operation_class,
)

FRAME_ATTRIBUTES = (
    "condition", "body", "to_apply", "true_computation", "false_computation",
    "branch_computations",
)  # fmt: skip
"""Attributes of while loops, conditionals and calls whose values are computations that they run."""


@dataclass(frozen=True)
class SpanAnalysis:
    """The layers of a computation (section 3.1 of Long et al., 2018).

    Attributes
    ----------
    computation : DenseComputation
    spans : mapping
        Per operation, 0 for one that nothing reads, else 1 more than the largest of its users.
    barriers : frozenset of str
        Operations across whose layers nothing is fused: calls of libraries, control, and what is
        unknown.
    """

    computation: DenseComputation
    spans: Mapping[str, int]
    barriers: frozenset[str]

    @cached_property
    def layers(self) -> tuple[tuple[str, ...], ...]:
        """The operations of each span, in their order; none of a layer reads another of it."""
        made: list[list[str]] = [[] for _ in range(1 + max(self.spans.values()))]
        for operation in self.computation.operations:
            made[self.spans[operation.name]].append(operation.name)
        return tuple(map(tuple, made))

    @cached_property
    def barrier_layers(self) -> tuple[int, ...]:
        """The spans of the barriers, in order."""
        return tuple(sorted({self.spans[name] for name in self.barriers}))

    @property
    def critical_path(self) -> tuple[str, ...]:
        """A longest chain of operations, each of which reads the one before it."""
        deepest = max(self.spans, key=lambda name: self.spans[name])
        path = [deepest]
        while self.spans[path[-1]]:
            wanted = self.spans[path[-1]] - 1
            users = self.computation.users[path[-1]]
            path.append(next(user for user in users if self.spans[user] == wanted))
        return tuple(path)

    def roof(self, span: int) -> int:
        """The span of the next layer with a barrier, or one behind the last layer."""
        place = bisect_right(self.barrier_layers, span)
        behind = self.barrier_layers[place : place + 1]
        return behind[0] if behind else len(self.layers)


def analyse_spans(
    computation: DenseComputation, products: ProductFusion = ProductFusion.NEVER
) -> SpanAnalysis:
    """Assign the operations of a computation to layers.

    Parameters
    ----------
    computation : DenseComputation
    products : ProductFusion
        The dots that are no barriers.

    Examples
    --------
    >>> from fuseloom.stitch.shapes import TensorShape
    >>> shape = TensorShape("f32", (4, 4))
    >>> x = DenseOperation("x", "parameter", shape)
    >>> y = DenseOperation("y", "dot", shape, ("x", "x"))
    >>> z = DenseOperation("z", "add", shape, ("x", "y"))
    >>> made = analyse_spans(DenseComputation("f", (x, y, z), "z"))
    >>> made.layers, made.barrier_layers, made.critical_path
    ((('z',), ('y',), ('x',)), (1,), ('x', 'y', 'z'))
    """
    spans: dict[str, int] = {}
    for operation in reversed(computation.operations):
        users = computation.users[operation.name]
        spans[operation.name] = 1 + max((spans[user] for user in users), default=-1)
    barriers = frozenset(one.name for one in computation.operations if is_barrier(one, products))
    return SpanAnalysis(computation, spans, barriers)


def frames_of(operation: DenseOperation) -> tuple[str, ...]:
    """Return the computations that a while loop, a conditional or a call runs.

    Those that reductions apply to two elements are none.

    Examples
    --------
    >>> from fuseloom.stitch.shapes import TensorShape
    >>> shape = TensorShape("f32", ())
    >>> frames_of(DenseOperation("y", "while", shape, ("x",), {"condition": "c", "body": "b"}))
    ('c', 'b')
    """
    if class_of(operation.opcode) is not OperationClass.CONTROL:
        return ()
    found: list[str] = []
    for key in FRAME_ATTRIBUTES:
        value = operation.attributes.get(key, ())
        found += (value,) if isinstance(value, str) else value
    return tuple(dict.fromkeys(found))


def frames(module: DenseModule) -> tuple[DenseComputation, ...]:
    """Return the computations that are analysed each on its own: the entry, and what it runs.

    Examples
    --------
    >>> from fuseloom.stitch.shapes import TensorShape
    >>> shape = TensorShape("f32", ())
    >>> x = DenseOperation("x", "parameter", shape)
    >>> body = DenseComputation("body", (x,), "x")
    >>> call = DenseOperation("y", "call", shape, ("x",), {"to_apply": "body"})
    >>> both = {"body": body, "main": DenseComputation("main", (x, call), "y")}
    >>> [one.name for one in frames(DenseModule("m", both, "main"))]
    ['main', 'body']
    """
    found = [module.main]
    names = {module.main.name}
    for computation in found:
        for operation in computation.operations:
            for name in frames_of(operation):
                if name not in names:
                    found.append(module.computations[name])
                    names.add(found[-1].name)
    return tuple(found)


def joined_roots(
    computation: DenseComputation, layer: Sequence[str], graph: ContractedGraph, footprint: int
) -> list[tuple[str, ...]]:
    """Group the operations of a layer as elementwise fusion joins them (``ElementwiseFusion``).

    Elementwise operations of one shape are joined, and reductions of one array, each to the first
    group where that makes no cycle.

    Parameters
    ----------
    computation : DenseComputation
    layer : sequence of str
        Operations, none of which reads another.
    graph : ContractedGraph
        Of the computation; groups are joined in it, too.
    footprint : int
        Bytes that a group may read and write.

    Examples
    --------
    >>> from fuseloom.stitch.shapes import TensorShape
    >>> shape = TensorShape("f32", (4,))
    >>> made = DenseComputation("f", (
    ...     DenseOperation("x", "parameter", shape),
    ...     *(DenseOperation(name, "negate", shape, ("x",)) for name in "abc"),
    ...     DenseOperation("y", "tuple", shape, ("a", "b", "c")),
    ... ), "y")
    >>> graph = ContractedGraph({one.name: one.operands for one in made.operations})
    >>> joined_roots(made, ["a", "b", "c"], graph, 48)
    [('a', 'b'), ('c',)]
    """
    groups: list[_RootGroup] = []
    by_key: dict[object, list[_RootGroup]] = defaultdict(list)
    for name in layer:
        operation = computation.by_name[name]
        arrays = {
            one: computation.by_name[one].shape.byte_size for one in (name, *operation.operands)
        }
        key = _joins(operation)
        for group in by_key[key] if key else ():
            first = group.roots[0]
            fits = group.bytes_with(arrays) <= footprint
            if fits and not graph.reaches(first, name) and not graph.reaches(name, first):
                graph.join(first, name)
                group.add(name, arrays)
                break
        else:
            groups.append(_RootGroup())
            groups[-1].add(name, arrays)
            by_key[key].append(groups[-1])
    return [tuple(group.roots) for group in groups]


class _RootGroup:
    """Operations that are joined, and the bytes of all that they make or read."""

    def __init__(self) -> None:
        self.roots: list[str] = []
        self.arrays: set[str] = set()
        self.bytes = 0

    def bytes_with(self, arrays: Mapping[str, int]) -> int:
        """The bytes with more arrays, of these sizes."""
        return self.bytes + sum(size for one, size in arrays.items() if one not in self.arrays)

    def add(self, root: str, arrays: Mapping[str, int]) -> None:
        """Take in an operation that makes or reads these."""
        self.bytes = self.bytes_with(arrays)
        self.arrays.update(arrays)
        self.roots.append(root)


def _joins(operation: DenseOperation) -> object:
    """The key that operations of a layer share which are joined; None if they never are."""
    found = operation_class(operation)
    if found in POINTWISE:
        return operation.array.dims
    if found is OperationClass.REDUCE:  # as the baseline joins them: they read one array
        return (operation.array.dims, operation.operands[0], operation.attributes["dimensions"])
    return None
