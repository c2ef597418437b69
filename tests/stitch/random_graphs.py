"""Random dense computations of small shapes, and a tiny NumPy evaluation of them."""

from __future__ import annotations

import random
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.stitch.graph import DenseComputation, DenseModule, DenseOperation
from fuseloom.stitch.shapes import TensorShape, TupleShape

Dims = tuple[int, ...]
UNARY = {
    "negate": np.negative, "abs": np.abs, "exponential": np.exp, "tanh": np.tanh, "copy": np.copy,
}  # fmt: skip
"""Elementwise operations of one operand; exponentials are taken of what tanh makes."""
BINARY = {
    "add": np.add, "multiply": np.multiply, "subtract": np.subtract, "maximum": np.maximum,
    "divide": np.divide,
}  # fmt: skip
"""Those of two; what is divided by is an exponential."""
KINDS = (
    "unary", "unary", "binary", "binary", "binary", "broadcast", "reduce", "reduce", "transpose",
    "reshape", "dot", "concatenate", "slice", "plain dot",
)  # fmt: skip
EXTENTS = (1, 2, 3, 4, 6)
MOST_ELEMENTS = 400


class RandomGraph:
    """Makes a computation, operation by operation.

    Parameters
    ----------
    draw : random.Random
    count : int
        About as many operations that compute something.
    kinds : tuple of str
        Those to choose from; what is there more often is made more often.
    """

    def __init__(self, draw: random.Random, count: int, kinds: tuple[str, ...] = KINDS) -> None:
        self.draw = draw
        self.operations: list[DenseOperation] = []
        for _ in range(draw.randint(1, 3)):
            self.parameter(self.dims(draw.randint(1, 3)))
        self.zero = self.constant()
        for _ in range(count):
            getattr(self, f"make_{draw.choice(kinds).replace(' ', '_')}")()

    def computation(self) -> DenseComputation:
        """The result: all that nothing reads, with one or two other values."""
        used = {operand for one in self.operations for operand in one.operands}
        ends = [one.name for one in self.operations if one.name not in used]
        ends = [name for name in ends if name != self.zero] or [self.operations[-1].name]
        ends += [one.name for one in self.draw.sample(self.computed, min(len(self.computed), 2))
                 if self.draw.random() < 0.3 and one.name not in ends]  # fmt: skip
        if len(ends) > 1:
            parts = tuple(one.array for name in ends for one in self.operations if one.name == name)
            self.operations.append(
                DenseOperation("result", "tuple", TupleShape(parts), tuple(ends))
            )  # fmt: skip
        root = self.operations[-1].name if len(ends) > 1 else ends[0]
        return DenseComputation("random", tuple(self.operations), root)

    @property
    def computed(self) -> list[DenseOperation]:
        return [one for one in self.operations if one.opcode not in ("parameter", "constant")]

    def dims(self, rank: int) -> Dims:
        return tuple(self.draw.choice(EXTENTS) for _ in range(rank))

    def add(self, opcode: str, dims: Dims, operands: tuple[str, ...], **attributes: Any) -> str:
        name = f"{opcode}.{len(self.operations)}"
        shape = TensorShape("f32", dims)
        self.operations.append(DenseOperation(name, opcode, shape, operands, attributes))
        return name

    def parameter(self, dims: Dims) -> str:
        number = sum(one.opcode == "parameter" for one in self.operations)
        return self.add("parameter", dims, (), number=number)

    def constant(self) -> str:
        self.operations.append(
            DenseOperation("zero", "constant", TensorShape("f32", ()), literal=np.float32(0))
        )
        return "zero"

    def any(self, least_rank: int = 0) -> DenseOperation:
        """A value; those that were made last are chosen more often."""
        chosen = [one for one in self.operations
                  if one.name != self.zero and one.array.rank >= least_rank]  # fmt: skip
        if not chosen:
            self.parameter(self.dims(max(least_rank, 1)))
            return self.operations[-1]
        return self.draw.choice(chosen[-6:] if self.draw.random() < 0.7 else chosen)

    def fitted(self, dims: Dims, other: str) -> str:
        """A value of given dimensions, another than one if there is one."""
        found = [one.name for one in self.operations if one.array.dims == dims]
        others = [name for name in found if name not in (other, self.zero)]
        return self.draw.choice(others) if others else self.parameter(dims)

    def make_unary(self) -> None:
        one = self.any()
        opcode = self.draw.choice([*UNARY])
        if opcode == "exponential":
            self.bounded(one)
        else:
            self.add(opcode, one.array.dims, (one.name,))

    def bounded(self, one: DenseOperation) -> str:
        """The exponential of a value between -1 and 1."""
        small = self.add("tanh", one.array.dims, (one.name,))
        return self.add("exponential", one.array.dims, (small,))

    def make_binary(self) -> None:
        one = self.any()
        opcode = self.draw.choice([*BINARY])
        other = self.fitted(one.array.dims, one.name)
        if opcode == "divide":
            other = self.bounded(next(x for x in self.operations if x.name == other))
        both = [one.name, other]
        if opcode != "divide":
            self.draw.shuffle(both)
        self.add(opcode, one.array.dims, tuple(both))

    def make_broadcast(self) -> None:
        one = self.any()
        rank = one.array.rank
        wide = min(rank + self.draw.randint(1, 2), 4)
        if wide <= rank:
            return
        places = sorted(self.draw.sample(range(wide), rank))
        dims = [self.draw.choice(EXTENTS) for _ in range(wide)]
        for place, extent in zip(places, one.array.dims, strict=True):
            dims[place] = extent
        if prod(dims) <= MOST_ELEMENTS:
            self.add("broadcast", tuple(dims), (one.name,), dimensions=tuple(places))

    def make_reduce(self) -> None:
        one = self.any(1)
        rank = one.array.rank
        reduced = sorted(self.draw.sample(range(rank), self.draw.randint(1, min(rank, 2))))
        dims = tuple(e for dim, e in enumerate(one.array.dims) if dim not in reduced)
        self.add("reduce", dims, (one.name, self.zero), dimensions=tuple(reduced), to_apply="sum")

    def make_transpose(self) -> None:
        one = self.any(2)
        order = [*range(one.array.rank)]
        self.draw.shuffle(order)
        dims = tuple(one.array.dims[old] for old in order)
        self.add("transpose", dims, (one.name,), dimensions=tuple(order))

    def make_reshape(self) -> None:
        one = self.any(1)
        left, dims = one.array.elements, []
        while left > 1 and len(dims) < 3:
            extent = self.draw.choice([e for e in range(2, left + 1) if left % e == 0])
            dims.append(extent)
            left //= extent
        dims += [left] if left > 1 else []
        self.draw.shuffle(dims)
        self.add("reshape", tuple(dims), (one.name,))

    def make_dot(self) -> None:
        one = self.any(3)
        if one.array.rank != 3:
            return
        batch, rows, summed = one.array.dims
        other = self.fitted((batch, summed, self.draw.choice(EXTENTS)), one.name)
        columns = next(x for x in self.operations if x.name == other).array.dims[2]
        self.add(
            "dot", (batch, rows, columns), (one.name, other), lhs_batch_dims=(0,),
            rhs_batch_dims=(0,), lhs_contracting_dims=(2,), rhs_contracting_dims=(1,),
        )  # fmt: skip

    def make_plain_dot(self) -> None:
        one = self.any(2)
        if one.array.rank != 2:
            return
        rows, summed = one.array.dims
        other = self.fitted((summed, rows), one.name)
        self.add(
            "dot", (rows, rows), (one.name, other),
            lhs_contracting_dims=(1,), rhs_contracting_dims=(0,),
        )  # fmt: skip

    def make_concatenate(self) -> None:
        one = self.any(1)
        along = self.draw.randrange(one.array.rank)
        dims = list(one.array.dims)
        dims[along] *= 2
        if prod(dims) <= MOST_ELEMENTS:
            other = self.fitted(one.array.dims, one.name)
            self.add("concatenate", tuple(dims), (one.name, other), dimensions=(along,))

    def make_slice(self) -> None:
        one = self.any(1)
        cuts = []
        for extent in one.array.dims:
            start = self.draw.randrange(extent) if self.draw.random() < 0.3 else 0
            cuts.append((start, self.draw.randint(start + 1, extent) if start else extent, 1))
        self.add("slice", tuple(len(range(*cut)) for cut in cuts), (one.name,), slice=tuple(cuts))


def random_computation(
    draw: random.Random, count: int = 12, kinds: tuple[str, ...] = KINDS
) -> DenseComputation:
    """A random computation of about so many operations; its reductions apply ``sum``."""
    return RandomGraph(draw, count, kinds).computation()


def random_module(
    draw: random.Random, count: int = 12, kinds: tuple[str, ...] = KINDS
) -> DenseModule:
    """A module of a random computation, and the sum of two elements that its reductions apply."""
    one = TensorShape("f32", ())
    both = [DenseOperation(f"p{n}", "parameter", one, (), {"number": n}) for n in range(2)]
    total = DenseOperation("total", "add", one, ("p0", "p1"))
    applied = DenseComputation("sum", (*both, total), "total")
    made = random_computation(draw, count, kinds)
    return DenseModule("random", {"sum": applied, made.name: made}, made.name)


def computed_value(
    operation: DenseOperation, values: Mapping[str, npt.NDArray[Any]]
) -> npt.NDArray[Any]:
    """The value of an operation that random computations have, of values in double precision."""
    given = [values[name] for name in operation.operands]
    attributes = operation.attributes
    if operation.opcode in UNARY:
        return np.asarray(UNARY[operation.opcode](*given))
    if operation.opcode in BINARY:
        return np.asarray(BINARY[operation.opcode](*given))
    if operation.opcode == "broadcast":
        wide = [1] * operation.array.rank
        for place, extent in zip(attributes["dimensions"], given[0].shape, strict=True):
            wide[place] = extent
        return np.broadcast_to(given[0].reshape(wide), operation.array.dims)
    if operation.opcode == "reduce":
        return np.asarray(given[0].sum(axis=tuple(attributes["dimensions"])) + given[1])
    if operation.opcode == "transpose":
        return np.transpose(given[0], attributes["dimensions"])
    if operation.opcode == "reshape":
        return given[0].reshape(operation.array.dims)
    if operation.opcode == "dot":
        return np.matmul(*given)
    if operation.opcode == "concatenate":
        return np.concatenate(given, axis=attributes["dimensions"][0])
    if operation.opcode == "slice":
        return given[0][tuple(slice(*cut) for cut in attributes["slice"])]
    assert operation.opcode == "constant"
    return np.asarray(operation.literal)


def evaluated(computation: DenseComputation, seed: int = 0) -> dict[str, npt.NDArray[Any]]:
    """The values of all operations but tuples, from random parameters in double precision."""
    rng = np.random.default_rng(seed)
    values: dict[str, npt.NDArray[Any]] = {}
    for operation in computation.operations:
        if operation.opcode == "parameter":
            values[operation.name] = rng.standard_normal(operation.array.dims)
        elif operation.opcode != "tuple":
            values[operation.name] = computed_value(operation, values)
    return values
