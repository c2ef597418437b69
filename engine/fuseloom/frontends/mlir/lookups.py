"""Reading tables at places that tensors hold: products with selections, which are data.

``table[ids[i], j]`` is ``ids_at[i,n] * table[n,j]``, where ``ids_at`` has a 1 wherever ``n`` is
``ids[i]``.  What is computed of ``ids`` before it is a place is a program of its own, which is
evaluated when the selection is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.errors import DataError
from fuseloom.frontends.algebra.selections import check_entries, selection_of
from fuseloom.frontends.mlir.collected import Input, Made
from fuseloom.program import Program, StoredTensor, Tensor, evaluate
from fuseloom.program.float32 import EXACT_INTEGERS
from fuseloom.program.formats import suggestion
from fuseloom.program.late import is_scipy
from fuseloom.program.levels import shape_text


@dataclass(frozen=True, eq=False)
class Lookup:
    """An input of the program that is made of index tensors.

    Attributes
    ----------
    tensor : Tensor
        The selection.
    source : str
        The tensor that holds the places.
    indices : tuple of str
        Index tensors that are to be given.
    program : Program or None
        What computes ``source``; None where it is given itself.
    constants : mapping
        Inputs of that program that the file holds.
    """

    tensor: Tensor
    source: str
    indices: tuple[str, ...]
    program: Program | None
    constants: Mapping[str, StoredTensor]

    def made(self, given: Mapping[str, Any]) -> StoredTensor:
        """The selection.

        Raises
        ------
        DataError
            Places outside of the table, or no integers.
        """
        given = {**self.constants, **given}
        if self.program is None:
            values = dense(given[self.source])
        else:
            read = {name: given[name] for name in self.program.given}
            values = evaluate(self.program, read)[self.source].dense()
        label = ", ".join(self.indices) or self.source
        return selection_of(self.tensor, places_of(values, label, self.tensor.shape[-1]))


def places_of(values: npt.NDArray[np.float64], label: str, size: int) -> npt.NDArray[np.int64]:
    """Values as places along a dimension.

    Raises
    ------
    DataError
        If some are none.
    """
    whole = np.isfinite(values) & (np.rint(values) == values)
    if not whole.all():
        raise DataError(
            f"index {label} holds {values[~whole].ravel()[0]:g}",
            hint="places are integers: give an array of integers",
        )
    clipped = np.clip(values, -EXACT_INTEGERS, None)
    entries = np.minimum(clipped, float(2**62)).astype(np.int64)
    check_entries(entries, size, label)
    return entries


def dense(given: Any) -> npt.NDArray[np.float64]:
    """An index tensor as an array."""
    if isinstance(given, StoredTensor):
        return given.to_dense()
    if is_scipy(given):
        given = given.toarray()
    try:
        array = np.asarray(given)
        if array.dtype.kind not in "biufO":
            raise TypeError(f"an array of {array.dtype}")
        found: npt.NDArray[np.float64] = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError(
            "an index tensor is an array of integers", hint="e.g. np.array([0, 2, 1])"
        ) from None
    return found


def checked(name: str, shape: tuple[int, ...], given: Any) -> npt.NDArray[np.float64]:
    """An index tensor in the shape that the file says.

    Raises
    ------
    DataError
        If it has another one.
    """
    values = dense(given)
    if values.shape != shape:
        raise DataError(
            f"tensor {name} has shape {shape_text(shape)}, the array {shape_text(values.shape)}",
            hint="reshape the array, or import the file again with its shape",
        )
    return values


def bound(
    program: Program,
    lookups: Sequence[Lookup],
    indices: Mapping[str, tuple[int, ...]],
    tensors: Mapping[str, Any],
) -> dict[str, Any]:
    """Data of a program: what is given, and the selections that follow from it.

    Parameters
    ----------
    indices : mapping
        Shapes of the index tensors by name.
    tensors : mapping
        Inputs of the program, and index tensors, by name.

    Raises
    ------
    DataError
        Names that are unknown, index tensors of other shapes, or places outside of a table.
    """
    known = (*program.given, *indices)
    for name in tensors:
        if name not in known:
            raise DataError(f"no input is called {name!r}", hint=suggestion(str(name), known))
    given: dict[str, Any] = {
        name: checked(name, indices[name], value) if name in indices else value
        for name, value in tensors.items()
    }
    found = {name: value for name, value in tensors.items() if name in program.inputs}
    for lookup in lookups:
        missing = [name for name in lookup.indices if name not in given]
        if len(missing) == len(lookup.indices):
            continue
        if missing:
            raise DataError(
                f"{lookup.tensor.name} needs {missing[0]}, too",
                hint=f"give {', '.join(lookup.indices)} together",
            )
        made = lookup.made(given)
        given[lookup.tensor.name] = made
        if lookup.tensor.name in program.inputs:
            found[lookup.tensor.name] = made
    return found


def drawn(
    lookups: Sequence[Lookup], indices: Mapping[str, tuple[int, ...]], seed: int
) -> dict[str, npt.NDArray[np.int64]]:
    """Random index tensors: places that all tables have."""
    rng = np.random.default_rng(seed)
    least = {
        name: min(x.tensor.shape[-1] for x in lookups if name in x.indices) for name in indices
    }
    return {name: rng.integers(0, max(1, least[name]), shape) for name, shape in indices.items()}


class Origins:
    """Which tensors are computed alike of the same inputs: they have one number."""

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}
        self._of: dict[str, int] = {}

    def number(self, name: str, inputs: Mapping[str, Input], made: Mapping[str, Made]) -> int:
        """The number of a tensor."""
        if name in self._of:
            return self._of[name]
        if name in inputs:
            data = inputs[name].data
            key: object = name if data is None else (id(data.literal), data.permutation)
        else:
            s = made[name].statement
            numbered: dict[str, int] = {}
            for access in (*s.operands, s.out):
                for x in access.indices:
                    numbered.setdefault(x, len(numbered))
            reads = tuple(
                (self.number(a.tensor, inputs, made), tuple(numbered[x] for x in a.indices))
                for a in s.operands
            )
            axis = None if s.axis is None else numbered[s.axis]
            out = tuple(numbered[x] for x in s.out.indices)
            sizes = tuple(x.identity if x.value is None else -x.value for x in made[name].sizes)
            key = s.op, s.constant, axis, reads, out, sizes
        self._of[name] = self._numbers.setdefault(key, len(self._numbers))
        return self._of[name]
