"""Calls of ATen operators, with their arguments by name, while a module is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from fuseloom.stitch.module_builder import ModuleBuilder
from fuseloom.stitch.shapes import TensorShape

ELEMENT_OF: Mapping[str, str] = {
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
    "complex64": "c64", "complex128": "c128", "bool": "pred", "uint8": "u8",
    "int8": "s8", "int16": "s16", "int32": "s32", "int64": "s64",
}  # fmt: skip
"""Types of elements by PyTorch's names of theirs."""
KINDS = "biufc"
"""Kinds of numbers, from those that are converted to those of others."""


class UnknownCaseError(Exception):
    """Arguments of an operator that no operations are known for."""


@dataclass(frozen=True)
class TensorValue:
    """An array that an operation of the module makes.

    Attributes
    ----------
    name : str
        Of the operation.
    """

    name: str


@dataclass(frozen=True)
class AtenCall:
    """A call of an operator.

    Attributes
    ----------
    builder : ModuleBuilder
    given : mapping
        Arguments by the names of parameters: numbers, lists and :class:`TensorValue`; those that
        were left out have their defaults.
    results : tuple of TensorShape
        Shapes of the arrays that it makes.

    Examples
    --------
    >>> builder = ModuleBuilder("m")
    >>> shape = TensorShape("f32", (2, 3))
    >>> x = TensorValue(builder.parameter("x", shape))
    >>> call = AtenCall(builder, {"self": x, "other": 2}, (shape,))
    >>> builder.dims(call.operand("other")), call.dimensions((-1,), rank=2)
    ((2, 3), (1,))
    """

    builder: ModuleBuilder
    given: Mapping[str, Any]
    results: tuple[TensorShape, ...]

    @property
    def result(self) -> TensorShape:
        """The shape of its first result."""
        return self.results[0]

    def __getitem__(self, name: str) -> Any:
        return self.given.get(name)

    def tensor(self, name: str) -> str:
        """The operation that makes an argument which is a tensor.

        Raises
        ------
        UnknownCaseError
            If it is none.
        """
        value = self.given.get(name)
        if not isinstance(value, TensorValue):
            raise UnknownCaseError(name)
        return value.name

    def tensors(self, name: str) -> list[str]:
        """The operations that make an argument which is a list of tensors."""
        values = self.given.get(name)
        if not isinstance(values, list | tuple):
            raise UnknownCaseError(name)
        if not all(isinstance(one, TensorValue) for one in values):
            raise UnknownCaseError(name)
        return [one.name for one in values]

    def operand(self, name: str, shape: TensorShape | None = None) -> str:
        """A tensor or a number as an array of a shape: converted, and repeated as NumPy does.

        Parameters
        ----------
        name : str
            Of the argument.
        shape : TensorShape, optional
            By default that of the result.
        """
        shape = shape or self.result
        value = self.given.get(name)
        if isinstance(value, bool | int | float | complex):
            return self.builder.filled(value, shape)
        return self.fitted(self.tensor(name), shape)

    def fitted(self, x: str, shape: TensorShape) -> str:
        """An array converted, and repeated as NumPy does."""
        return expanded(self.builder, self.builder.convert(x, shape.element), shape.dims)

    def common(self, *names: str) -> TensorShape:
        """The shape that operands are brought to: of the result's extents, and their common type.

        Arrays without dimensions, and numbers, matter only by the kind of their numbers.
        """
        ranked: list[str] = []
        others: list[str] = []
        for name in names:
            value = self.given.get(name)
            if isinstance(value, TensorValue):
                shape = self.builder.shape(value.name)
                (ranked if shape.rank else others).append(shape.element)
            else:
                others.append(_element_of_number(value))
        found = _promoted(ranked) if ranked else _promoted(others)
        if ranked and others:
            beside = _promoted(others)
            kinds = [KINDS.index(TensorShape(x, ()).dtype.kind) for x in (found, beside)]
            found = found if kinds[0] >= kinds[1] else beside
        return TensorShape(found, self.result.dims)

    def dimensions(self, given: Any, rank: int) -> tuple[int, ...]:
        """Dimensions counted from the first one; all of them if none are given."""
        if given is None or given == []:
            return tuple(range(rank))
        several = [given] if isinstance(given, int) else list(given)
        return tuple(k % rank if rank else k for k in several if rank)


Handler: TypeAlias = Callable[[AtenCall], str | Sequence[str]]
"""Adds the operations of a call, and returns the names of those that make its results."""


def expanded(builder: ModuleBuilder, x: str, dims: Sequence[int]) -> str:
    """An array repeated to extents as NumPy does: dimensions are aligned at the last one.

    Examples
    --------
    >>> builder = ModuleBuilder("m")
    >>> x = builder.parameter("x", TensorShape("f32", (3, 1)))
    >>> builder.dims(expanded(builder, x, (2, 3, 4)))
    (2, 3, 4)
    """
    have = builder.dims(x)
    offset = len(dims) - len(have)
    if offset < 0 or any(n not in (1, dims[offset + k]) for k, n in enumerate(have)):
        raise UnknownCaseError(f"{have} does not fit {tuple(dims)}")
    kept = [k for k, n in enumerate(have) if n == dims[offset + k]]
    x = builder.reshape(x, [have[k] for k in kept])
    return builder.broadcast(x, dims, [offset + k for k in kept])


def _element_of_number(value: Any) -> str:
    if isinstance(value, bool):
        return "pred"
    return "s64" if isinstance(value, int) else "c64" if isinstance(value, complex) else "f32"


def _promoted(elements: Sequence[str]) -> str:
    """The type that several are converted to.

    Halves beside each other, and floats beside integers, are as PyTorch has them.
    """
    found = elements[0]
    for one in elements[1:]:
        kinds = [KINDS.index(TensorShape(x, ()).dtype.kind) for x in (found, one)]
        if found == one:
            continue
        if {found, one} == {"f16", "bf16"}:
            found = "f32"
        elif max(kinds) > KINDS.index("u") and kinds[0] != kinds[1]:
            found = found if kinds[0] > kinds[1] else one
        elif "bf16" in (found, one):
            found = one if found == "bf16" else found
        else:
            types = [TensorShape(x, ()).dtype for x in (found, one)]
            wanted = np.promote_types(types[0], types[1])
            found = next(
                x for x in ELEMENT_OF.values() if x != "bf16" and TensorShape(x, ()).dtype == wanted
            )
    return found
