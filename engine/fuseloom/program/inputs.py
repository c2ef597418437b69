"""The data of a program's inputs: those that are given, checked, and those that are made."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from fuseloom.errors import DataError
from fuseloom.program.formats import suggestion
from fuseloom.program.late import is_scipy
from fuseloom.program.levels import shape_text
from fuseloom.program.storage import StoredTensor
from fuseloom.program.types import Program, Tensor


def check_data(
    program: Program, data: Mapping[str, Any], besides: Collection[str] = ()
) -> dict[str, StoredTensor]:
    """The program's inputs in their declared formats.

    Parameters
    ----------
    data : mapping
        Per input name a StoredTensor, an array or a ``scipy.sparse`` array.
    besides : collection of str
        Inputs of which something else is known; they need no data.

    Raises
    ------
    DataError
        An input is missing, a name is unknown, or data contradict their declaration.
    """
    for name in (*data, *besides):
        if name not in program.inputs:
            computed = name in program.producers
            raise DataError(
                f"{name!r} is computed by the program"
                if computed
                else f"no input is called {name!r}",
                hint="leave it out" if computed else suggestion(str(name), program.given),
            )
    wanted = [name for name in program.inputs if name not in besides]
    made = {name: made_tensor(program.tensor(name)) for name in wanted if name not in program.given}
    missing = [name for name in wanted if name not in data and name not in made]
    if missing:
        raise DataError(
            f"data of input {missing[0]} are missing", hint=f"inputs: {', '.join(program.given)}"
        )
    found = {n: as_stored(program.tensor(n), data[n]) for n in wanted if n in data}
    for name, stored in made.items():
        if name in found and found[name].content_hash() != stored.content_hash():
            raise DataError(
                f"the data of {name} follow from its declaration, and others are given",
                hint="leave them out",
            )
    return {name: made[name] if name in made else found[name] for name in wanted}


@lru_cache(maxsize=32)
def made_tensor(tensor: Tensor) -> StoredTensor:
    """The data of a tensor that is made: a one at every coordinate of its relation.

    Raises
    ------
    ValueError
        The tensor is not made.

    Examples
    --------
    >>> from fuseloom.program.parser import parse
    >>> program = parse("x: 5 dense\\ny[i] = x[2*i + 1]")
    >>> made_tensor(program.tensor("x_at")).to_dense()
    array([[0., 1., 0., 0., 0.],
           [0., 0., 0., 1., 0.]])
    """
    if tensor.made is None:
        raise ValueError(f"{tensor.name} is not made")
    coords = tensor.made.coordinates(tensor.shape)
    return StoredTensor.from_coo(tensor, coords, np.ones(len(coords)))


def as_stored(tensor: Tensor, given: Any) -> StoredTensor:
    """Store given data of a tensor in its declared format.

    Parameters
    ----------
    given : StoredTensor, array or ``scipy.sparse`` array

    Raises
    ------
    DataError
        It has another shape, or values that are none.
    """
    if not isinstance(given, StoredTensor):
        if is_scipy(given):
            return StoredTensor.from_scipy(tensor, given)
        return StoredTensor.from_dense(tensor, given)
    if given.tensor.shape != tensor.shape:
        raise DataError(
            f"tensor {tensor.name} has shape {shape_text(tensor.shape)}, "
            f"its data {shape_text(given.tensor.shape)}",
            hint="build the data for this program's sizes",
        )
    stored: StoredTensor = given
    stored.verify()
    if stored.tensor.format != tensor.format:
        stored = stored.with_format(tensor.format)
    return stored if stored.tensor == tensor else replace(stored, tensor=tensor)
