"""Arrays and matrices that a pickle describes, built from their bytes after every check."""

from __future__ import annotations

from math import prod
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fuseloom.errors import DataError
from fuseloom.frontends.files.limits import MAX_DENSE
from fuseloom.frontends.files.pickles import PermittedName, PickledCall
from fuseloom.wording import counted


def array_of(call: Any, origin: str) -> npt.NDArray[Any]:
    """The array that a pickle describes.

    Raises
    ------
    DataError
        If it describes none of numbers, or its shape does not fit its data.
    """
    match call:
        case PickledCall(
            PermittedName.RECONSTRUCT,
            _,
            (int(), tuple(shape), PickledCall(PermittedName.DTYPE) as kind, order, data),
        ):
            pass
        case PickledCall(
            PermittedName.FROM_BUFFER,
            (data, PickledCall(PermittedName.DTYPE) as kind, tuple(shape), order),
        ):
            order = order == "F"
        case _:
            raise _unlike(origin, "an array")
    dtype = _dtype(kind, origin)
    sizes = [_integer(size) for size in shape]
    content = data.encode("latin-1", "replace") if isinstance(data, str) else data
    if not all(type(size) is int and size >= 0 for size in sizes) or not isinstance(content, bytes):
        raise _unlike(origin, "an array")
    if prod(sizes) > MAX_DENSE or prod(sizes) * dtype.itemsize != len(content):
        raise DataError(
            f"{origin}: an array of shape {'x'.join(map(str, sizes))[:80]} and dtype {dtype} "
            f"with {counted(len(content), 'byte')}",
            hint="the file may be damaged",
        )
    layout: Literal["F", "C"] = "F" if order else "C"
    return np.frombuffer(content, dtype).reshape(sizes, order=layout)


def csr_parts(call: Any, origin: str) -> dict[str, npt.NDArray[Any]]:
    """``data``, ``indices``, ``indptr`` and ``shape`` of the matrix that a pickle describes.

    Raises
    ------
    DataError
        If it describes none.
    """
    if not isinstance(call, PickledCall) or call.function is not PermittedName.CSR:
        raise _unlike(origin, "a csr matrix")
    state = call.state
    if not isinstance(state, dict) or not all(p in state for p in ("data", "indices", "indptr")):
        raise _unlike(origin, "a csr matrix")
    shape = state.get("_shape", state.get("shape"))
    sizes = [_integer(size) for size in shape] if isinstance(shape, tuple) else []
    if len(sizes) != 2 or not all(type(size) is int and 0 <= size < 2**31 for size in sizes):
        raise _unlike(origin, "the shape of a csr matrix")
    parts = {part: array_of(state[part], origin) for part in ("data", "indices", "indptr")}
    return {**parts, "shape": np.array(sizes)}


def _dtype(call: PickledCall, origin: str) -> np.dtype[Any]:
    """A dtype of real numbers."""
    code = call.arguments[0] if call.arguments else None
    order = call.state[1] if isinstance(call.state, tuple) and len(call.state) > 1 else "<"
    plain = code[1:] if isinstance(code, str) and code[:1] in ("<", ">", "|", "=") else code
    known = {"b1", *(f"{kind}{size}" for kind in "iu" for size in (1, 2, 4, 8)), "f2", "f4", "f8"}
    if not isinstance(plain, str) or plain not in known or order not in ("<", ">", "|", "="):
        raise _unlike(origin, "an array of real numbers")
    return np.dtype(plain).newbyteorder(">" if order == ">" else "<")


def _integer(given: Any) -> Any:
    """An integer that numpy kept as a scalar; anything else as it is."""
    match given:
        case PickledCall(
            PermittedName.SCALAR,
            (PickledCall(PermittedName.DTYPE) as kind, bytes() | str() as data),
        ):
            content = data.encode("latin-1", "replace") if isinstance(data, str) else data
            dtype = _dtype(kind, "scalar")
            if dtype.kind in "iu" and len(content) == dtype.itemsize:
                return int(np.frombuffer(content, dtype)[0])
    return given


def integer_of(given: Any, origin: str) -> int:
    """An integer.

    Raises
    ------
    DataError
        If a pickle holds anything else there.
    """
    value = _integer(given)
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise _unlike(origin, "an integer")
    return int(value)


def _unlike(origin: str, what: str) -> DataError:
    return DataError(
        f"{origin} does not hold {what} where one is expected",
        hint="only numbers are read, and nothing was executed",
    )
