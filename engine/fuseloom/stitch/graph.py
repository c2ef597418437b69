"""Dense graphs: operations on arrays, each of which makes one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.errors import LimitError, ProgramError
from fuseloom.stitch.shapes import TensorShape, TupleShape, ValueShape

MOST_RANDOM = 2**32
"""Bytes of random inputs."""


@dataclass(frozen=True)
class DenseOperation:
    """An operation, and the value that it makes.

    Attributes
    ----------
    name : str
    opcode : str
        As HLO has it, such as ``add``, ``reduce`` or ``dot``.
    shape : TensorShape or TupleShape
        Of its value.
    operands : tuple of str
        Names of the operations whose values it reads, in order; one may stand there twice.
    attributes : mapping
        What else decides on its value: integers, tuples of integers, texts, names of computations.
    literal : array, optional
        The value of a constant.
    line : int
        Of the text that it was read from; 0 if it was not read.
    """

    name: str
    opcode: str
    shape: ValueShape
    operands: tuple[str, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    literal: npt.NDArray[Any] | None = field(default=None, compare=False)
    line: int = field(default=0, compare=False)

    @property
    def array(self) -> TensorShape:
        """Its shape, which is that of an array.

        Raises
        ------
        ProgramError
            If it makes a tuple.
        """
        if isinstance(self.shape, TupleShape):
            raise ProgramError(f"{self.name} makes a tuple, not an array")
        return self.shape

    def __str__(self) -> str:
        return f"{self.name} = {self.shape} {self.opcode}({', '.join(self.operands)})"


@dataclass(frozen=True)
class DenseComputation:
    """Operations, one of which makes the result.

    Attributes
    ----------
    name : str
    operations : tuple of DenseOperation
        Each behind those whose values it reads.
    root : str
        The operation that makes the result.

    Raises
    ------
    ProgramError
        If two operations have one name, one reads what is not before it, or there is no root.

    Examples
    --------
    >>> shape = TensorShape("f32", (4,))
    >>> x = DenseOperation("x", "parameter", shape, attributes={"number": 0})
    >>> double = DenseOperation("y", "add", shape, ("x", "x"))
    >>> made = DenseComputation("double", (x, double), "y")
    >>> made.users["x"], [one.name for one in made.parameters]
    (('y',), ['x'])
    """

    name: str
    operations: tuple[DenseOperation, ...]
    root: str

    def __post_init__(self) -> None:
        known: set[str] = set()
        for operation in self.operations:
            if operation.name in known:
                raise ProgramError(f"two operations of {self.name} have the name {operation.name}")
            for operand in operation.operands:
                if operand not in known:
                    raise ProgramError(
                        f"{operation.name} of {self.name} reads {operand}, which is not before it"
                    )
            known.add(operation.name)
        if self.root not in known:
            raise ProgramError(f"{self.name} has no operation {self.root} to be its root")

    @cached_property
    def by_name(self) -> Mapping[str, DenseOperation]:
        """Its operations by name."""
        return {operation.name: operation for operation in self.operations}

    @cached_property
    def users(self) -> Mapping[str, tuple[str, ...]]:
        """The operations that read each value, each once, in order."""
        found: dict[str, list[str]] = {operation.name: [] for operation in self.operations}
        for operation in self.operations:
            for operand in dict.fromkeys(operation.operands):
                found[operand].append(operation.name)
        return {name: tuple(users) for name, users in found.items()}

    @cached_property
    def parameters(self) -> tuple[DenseOperation, ...]:
        """Its parameters, in order of their numbers."""
        found = [one for one in self.operations if one.opcode == "parameter"]
        return tuple(sorted(found, key=lambda one: int(one.attributes.get("number", 0))))

    @property
    def outputs(self) -> tuple[str, ...]:
        """What it returns: the root, or the parts of a tuple that is the root."""
        root = self.by_name[self.root]
        return root.operands if root.opcode == "tuple" else (root.name,)


@dataclass(frozen=True)
class DenseModule:
    """Computations, one of which is run.

    Attributes
    ----------
    name : str
    computations : mapping
        By name; each behind those that it calls.
    entry : str
    """

    name: str
    computations: Mapping[str, DenseComputation]
    entry: str

    @property
    def main(self) -> DenseComputation:
        """The computation that is run."""
        return self.computations[self.entry]


def random_inputs(computation: DenseComputation, seed: int = 0) -> dict[str, npt.NDArray[Any]]:
    """Values for the parameters, by name: normal numbers, small integers, or truth values.

    Raises
    ------
    ProgramError
        If a parameter is a tuple.
    LimitError
        If they take too much memory.

    Examples
    --------
    >>> x = DenseOperation("x", "parameter", TensorShape("s32", (3,)), attributes={"number": 0})
    >>> random_inputs(DenseComputation("same", (x,), "x"))["x"].dtype
    dtype('int32')
    """
    size = sum(parameter.array.byte_size for parameter in computation.parameters)
    if size > MOST_RANDOM:
        raise LimitError(
            f"the parameters of {computation.name} take {size:,} bytes, more than {MOST_RANDOM:,}",
            hint="give a module of smaller arrays",
        )
    rng = np.random.default_rng(seed)
    made: dict[str, npt.NDArray[Any]] = {}
    for parameter in computation.parameters:
        shape = parameter.array
        if shape.dtype.kind in "fc":
            made[parameter.name] = rng.standard_normal(shape.dims).astype(shape.dtype)
        else:
            made[parameter.name] = rng.integers(0, 2, shape.dims).astype(shape.dtype)
    return made
