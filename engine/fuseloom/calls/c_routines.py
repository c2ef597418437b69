"""Functions of C on parts of arrays, and arrays of NumPy as such parts."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.errors import DataError

Array = npt.NDArray[Any]


@cache
def part_structure(dimensions: int) -> type[ctypes.Structure]:
    """The structure of a part of an array, ``ArrayPart`` of generated C++.

    Its fields are ``data``, an address, and ``extents`` and ``strides``, in elements.
    """
    fields = [
        ("data", ctypes.c_void_p),
        ("extents", ctypes.c_int64 * dimensions),
        ("strides", ctypes.c_int64 * dimensions),
    ]
    return type(f"ArrayPart{dimensions}", (ctypes.Structure,), {"_fields_": fields})


def part_of_array(array: Array) -> ctypes.Structure:
    """An array as a part, whose memory stays that of the array.

    Raises
    ------
    DataError
        If its strides are no multiples of the size of an element.

    Examples
    --------
    >>> part = part_of_array(np.zeros((4, 6))[:, ::2])
    >>> list(part.extents), list(part.strides)
    ([4, 3], [6, 2])
    """
    size = array.itemsize
    if any(stride % size for stride in array.strides):
        raise DataError(
            f"elements of an array lie {array.strides} bytes apart, which are no multiples of "
            f"their {size}",
            hint="give a copy of it",
        )
    n = array.ndim
    extents = (ctypes.c_int64 * n)(*array.shape)
    strides = (ctypes.c_int64 * n)(*(stride // size for stride in array.strides))
    return part_structure(n)(array.ctypes.data, extents, strides)


def array_of_part(part: Any, dtype: np.dtype[Any]) -> Array:
    """A part as an array, whose memory stays that of the part.

    Examples
    --------
    >>> whole = np.arange(6.0).reshape(2, 3)
    >>> array_of_part(part_of_array(whole[:, ::-1]), whole.dtype)
    array([[2., 1., 0.],
           [5., 4., 3.]])
    """
    extents, size = tuple(part.extents), dtype.itemsize
    if 0 in extents:
        return np.empty(extents, dtype)
    strides = [size * stride for stride in part.strides]
    ends = [(n - 1) * stride for n, stride in zip(extents, strides, strict=True)]
    before = -sum(end for end in ends if end < 0)
    length = before + sum(end for end in ends if end > 0) + size
    memory = (ctypes.c_char * length).from_address(part.data - before)
    return np.ndarray(extents, dtype, memory, before, strides)


class CRoutine:
    """A C function that computes a part of its output from parts of its inputs.

    It takes a pointer to a structure per array (:func:`part_structure`), and ``int64_t``,
    ``double`` or ``bool`` per number, and returns nothing.  Generated C++ calls it directly,
    generated Python through this object.

    Parameters
    ----------
    function : ctypes function

    Examples
    --------
    >>> @ctypes.CFUNCTYPE(None, ctypes.POINTER(part_structure(1)), ctypes.c_int64)
    ... def fill(part, value):
    ...     array_of_part(part.contents, np.dtype(np.int32))[:] = value
    >>> numbers = np.zeros(3, np.int32)
    >>> CRoutine(fill)(numbers, 7)
    >>> numbers
    array([7, 7, 7], dtype=int32)
    """

    def __init__(self, function: Any) -> None:
        self.function = function
        self.__name__ = str(getattr(function, "__name__", "routine"))

    @property
    def address(self) -> int:
        """The address of its machine code."""
        return ctypes.cast(self.function, ctypes.c_void_p).value or 0

    def __call__(self, *arguments: Any) -> None:
        given: list[Any] = []
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                given.append(ctypes.byref(part_of_array(argument)))
            else:
                given.append(c_number(argument))
        self.function(*given)


def c_number(value: Any) -> Any:
    """A number as C takes it: ``bool``, ``int64_t`` or ``double``.

    Examples
    --------
    >>> c_number(True), c_number(3), c_number(0.5)
    (c_bool(True), c_long(3), c_double(0.5))
    """
    if isinstance(value, (bool, np.bool_)):
        return ctypes.c_bool(value)
    if isinstance(value, (int, np.integer)):
        return ctypes.c_int64(int(value))
    return ctypes.c_double(value)
