"""Modules made operation by operation, for those that come from no HLO text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.stitch.graph import DenseComputation, DenseModule, DenseOperation
from fuseloom.stitch.hlo.attributes import WindowDimension
from fuseloom.stitch.shapes import TensorShape, TupleShape, ValueShape

STARTS: Mapping[str, float] = {
    "add": 0, "multiply": 1, "maximum": -np.inf, "minimum": np.inf, "or": 0, "and": 1
}  # fmt: skip
"""Operations that reductions combine elements by, and what floats start from."""


class ModuleBuilder:
    """Adds operations to the computation of a module that is run, and the others that it calls.

    Methods that add an operation return its name.  It begins with ``prefix``, and ends with a
    point and a number.

    Parameters
    ----------
    name : str
        Of the module.

    Attributes
    ----------
    prefix : str
        The beginning of names of operations that are added.

    Examples
    --------
    >>> builder = ModuleBuilder("norms")
    >>> x = builder.parameter("x", TensorShape("f32", (2, 3)))
    >>> sums = builder.reduce("add", builder.binary("multiply", x, x), (1,))
    >>> module = builder.module([builder.unary("sqrt", sums)])
    >>> [str(operation) for operation in module.main.operations][-1]
    'v.4 = f32[2] sqrt(v.3)'
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.prefix = "v"
        self._operations: dict[str, DenseOperation] = {}
        self._combiners: dict[str, DenseComputation] = {}
        self._scalars: dict[tuple[str, bytes], str] = {}
        self._parameters = 0
        self._numbers: dict[str, int] = {}

    def shape(self, name: str) -> TensorShape:
        """The shape of what an operation makes."""
        return self._operations[name].array

    def dims(self, name: str) -> tuple[int, ...]:
        """The extents of what an operation makes."""
        return self.shape(name).dims

    def element(self, name: str) -> str:
        """The type of elements of what an operation makes."""
        return self.shape(name).element

    def parameter(self, name: str, shape: TensorShape) -> str:
        """Add the next parameter, with the name given."""
        self._operations[name] = DenseOperation(
            name, "parameter", shape, attributes={"number": self._parameters}
        )
        self._parameters += 1
        return name

    def add(
        self,
        opcode: str,
        shape: ValueShape,
        operands: Iterable[str] = (),
        attributes: Mapping[str, Any] | None = None,
        literal: npt.NDArray[Any] | None = None,
    ) -> str:
        """Add an operation.

        Parameters
        ----------
        opcode : str
        shape : TensorShape or TupleShape
        operands : iterable of str
        attributes : mapping, optional
        literal : array, optional
        """
        number = self._numbers.get(self.prefix, 0)
        name = ""
        while not name or name in self._operations:
            number += 1
            name = f"{self.prefix}.{number}"
        self._numbers[self.prefix] = number
        self._operations[name] = DenseOperation(
            name, opcode, shape, tuple(operands), dict(attributes or {}), literal
        )
        return name

    def rename_last(self, old: str, new: str) -> str:
        """Give the operation that was added last, with the current prefix, another name.

        Returns
        -------
        str
            The new name; the old one if it is none of that operation, or the new one is taken.
        """
        last = next(reversed(self._operations), None)
        if last != old or new in self._operations or not old.startswith(f"{self.prefix}."):
            return old
        made = self._operations[old]
        if made.opcode == "constant":  # others take it, too
            return old
        del self._operations[old]
        self._operations[new] = DenseOperation(
            new, made.opcode, made.shape, made.operands, made.attributes, made.literal
        )
        return new

    # Values without operands ------------------------------------------------------------------

    def constant(self, value: Any, element: str) -> str:
        """Add an array that is given; a scalar that was added before is taken again."""
        shape = TensorShape(element, np.shape(value))
        literal = np.asarray(value).astype(shape.dtype)
        if shape.rank:
            return self.add("constant", shape, literal=literal)
        key = (element, literal.tobytes())
        if key not in self._scalars:
            self._scalars[key] = self.add("constant", shape, literal=literal)
        return self._scalars[key]

    def filled(self, value: Any, shape: TensorShape) -> str:
        """Add an array of one number."""
        return self.broadcast(self.constant(value, shape.element), shape.dims, ())

    def iota(self, shape: TensorShape, along: int) -> str:
        """Add the coordinates of elements in one dimension."""
        return self.add("iota", shape, (), {"iota_dimension": along})

    # Elementwise operations -------------------------------------------------------------------

    def unary(self, opcode: str, x: str) -> str:
        """Add a function of one element."""
        return self.add(opcode, self.shape(x), (x,))

    def binary(self, opcode: str, x: str, y: str) -> str:
        """Add a function of two elements of arrays of one shape."""
        return self.add(opcode, self.shape(x), (x, y))

    def with_number(self, opcode: str, x: str, number: Any) -> str:
        """Add a function of an element and a number behind it."""
        return self.binary(opcode, x, self.filled(number, self.shape(x)))

    def compare(self, x: str, y: str, direction: str) -> str:
        """Add a comparison, such as ``LT``."""
        shape = TensorShape("pred", self.dims(x))
        return self.add("compare", shape, (x, y), {"direction": direction})

    def select(self, predicate: str, true: str, false: str) -> str:
        """Add a choice between two arrays."""
        return self.add("select", self.shape(true), (predicate, true, false))

    def convert(self, x: str, element: str) -> str:
        """Add a conversion, unless the elements are of that type."""
        if self.element(x) == element:
            return x
        return self.add("convert", TensorShape(element, self.dims(x)), (x,))

    # Operations that move elements ------------------------------------------------------------

    def broadcast(self, x: str, dims: Sequence[int], at: Sequence[int]) -> str:
        """Add a broadcast to extents, unless it has them; ``at`` has its dimensions there."""
        shape = TensorShape(self.element(x), tuple(dims))
        if self.dims(x) == shape.dims and tuple(at) == tuple(range(shape.rank)):
            return x
        return self.add("broadcast", shape, (x,), {"dimensions": tuple(at)})

    def transpose(self, x: str, order: Sequence[int]) -> str:
        """Add a transposition, unless the order is that of the dimensions."""
        if tuple(order) == tuple(range(len(order))):
            return x
        shape = TensorShape(self.element(x), tuple(self.dims(x)[k] for k in order))
        return self.add("transpose", shape, (x,), {"dimensions": tuple(order)})

    def reshape(self, x: str, dims: Sequence[int]) -> str:
        """Add a reshape, unless it has these extents."""
        if self.dims(x) == tuple(dims):
            return x
        return self.add("reshape", TensorShape(self.element(x), tuple(dims)), (x,))

    def concatenate(self, parts: Sequence[str], along: int) -> str:
        """Add a concatenation."""
        dims = list(self.dims(parts[0]))
        dims[along] = sum(self.dims(part)[along] for part in parts)
        shape = TensorShape(self.element(parts[0]), tuple(dims))
        return self.add("concatenate", shape, parts, {"dimensions": (along,)})

    def slice(self, x: str, bounds: Sequence[tuple[int, int, int]]) -> str:
        """Add a slice, unless it has all elements; bounds are starts, stops and steps."""
        dims = self.dims(x)
        if all((a, b, c) == (0, n, 1) for (a, b, c), n in zip(bounds, dims, strict=True)):
            return x
        shape = TensorShape(self.element(x), tuple(len(range(*one)) for one in bounds))
        return self.add("slice", shape, (x,), {"slice": tuple(bounds)})

    # Operations that combine elements ---------------------------------------------------------

    def combiner(self, opcode: str, element: str) -> str:
        """The name of a computation that combines two scalars by one operation."""
        name = f"{opcode}.{element}"
        if name not in self._combiners:
            shape = TensorShape(element, ())
            x = DenseOperation("x", "parameter", shape, attributes={"number": 0})
            y = DenseOperation("y", "parameter", shape, attributes={"number": 1})
            made = DenseOperation("made", opcode, shape, ("x", "y"))
            self._combiners[name] = DenseComputation(name, (x, y, made), "made")
        return name

    def start(self, opcode: str, element: str) -> str:
        """The number that a reduction starts from."""
        shape = TensorShape(element, ())
        value: Any = STARTS[opcode]
        if not np.isfinite(value) and shape.dtype.kind in "iu":
            limits = np.iinfo(shape.dtype.name)
            value = limits.min if value < 0 else limits.max
        return self.constant(value, element)

    def reduce(self, opcode: str, x: str, dims: Sequence[int]) -> str:
        """Add a reduction over dimensions, unless there are none.

        Parameters
        ----------
        opcode : str
            A key of :data:`STARTS`.
        x : str
        dims : sequence of int
        """
        if not dims:
            return x
        element = self.element(x)
        left = tuple(n for k, n in enumerate(self.dims(x)) if k not in dims)
        attributes = {
            "dimensions": tuple(sorted(dims)), "to_apply": self.combiner(opcode, element)
        }  # fmt: skip
        start = self.start(opcode, element)
        return self.add("reduce", TensorShape(element, left), (x, start), attributes)

    def dot(
        self,
        left: str,
        right: str,
        contracting: tuple[Sequence[int], Sequence[int]],
        batch: tuple[Sequence[int], Sequence[int]] = ((), ()),
    ) -> str:
        """Add a product that sums over dimensions of both operands.

        Dimensions of the result are those of the batch, of the left operand, of the right one.

        Parameters
        ----------
        left, right : str
        contracting, batch : tuple
            Dimensions of the left operand and those of the right one that go with them.

        Examples
        --------
        >>> builder = ModuleBuilder("product")
        >>> x = builder.parameter("x", TensorShape("f32", (2, 3)))
        >>> y = builder.parameter("y", TensorShape("f32", (4, 3)))
        >>> builder.dims(builder.dot(x, y, ((1,), (1,))))
        (2, 4)
        """
        sides = zip((left, right), contracting, batch, strict=True)
        free = [
            [n for k, n in enumerate(self.dims(x)) if k not in (*summed, *shared)]
            for x, summed, shared in sides
        ]
        dims = [self.dims(left)[k] for k in batch[0]]
        attributes = {
            "lhs_batch_dims": tuple(batch[0]), "lhs_contracting_dims": tuple(contracting[0]),
            "rhs_batch_dims": tuple(batch[1]), "rhs_contracting_dims": tuple(contracting[1]),
        }  # fmt: skip
        if not dims:
            del attributes["lhs_batch_dims"], attributes["rhs_batch_dims"]
        shape = TensorShape(self.element(left), (*dims, *free[0], *free[1]))
        return self.add("dot", shape, (left, right), attributes)

    def reduce_window(self, opcode: str, x: str, window: Sequence[WindowDimension]) -> str:
        """Add a reduction of windows, one dimension of which goes with each of the operand's."""
        element = self.element(x)
        dims = tuple(one.outputs(n) for one, n in zip(window, self.dims(x), strict=True))
        attributes = {"window": tuple(window), "to_apply": self.combiner(opcode, element)}
        start = self.start(opcode, element)
        return self.add("reduce-window", TensorShape(element, dims), (x, start), attributes)

    # The module -------------------------------------------------------------------------------

    def module(self, outputs: Sequence[str]) -> DenseModule:
        """The module with what was added; several results are a tuple.

        Parameters
        ----------
        outputs : sequence of str
            Names of operations that make the results.
        """
        operations = dict(self._operations)
        root = outputs[0] if len(outputs) == 1 else "results"
        if len(outputs) != 1:
            while root in operations:
                root += "_"
            shape = TupleShape(tuple(self.shape(name) for name in outputs))
            operations[root] = DenseOperation(root, "tuple", shape, tuple(outputs))
        kept = _needed(operations, root)
        main = DenseComputation("main", kept, root)
        used = {one.attributes.get("to_apply") for one in kept}
        combiners = {name: one for name, one in self._combiners.items() if name in used}
        return DenseModule(self.name, {**combiners, "main": main}, "main")


def _needed(operations: Mapping[str, DenseOperation], root: str) -> tuple[DenseOperation, ...]:
    """The parameters, and what the root reads, in order."""
    needed = {root}
    for operation in reversed(tuple(operations.values())):
        if operation.name in needed:
            needed.update(operation.operands)
    return tuple(
        one for one in operations.values() if one.name in needed or one.opcode == "parameter"
    )
