"""Stored tensors in a file as they are, level by level, for other processes of this program."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fuseloom.errors import DataError
from fuseloom.program.arrays import read_npz
from fuseloom.program.inputs import made_tensor
from fuseloom.program.levels import arrays_of
from fuseloom.program.storage import StoredTensor
from fuseloom.program.types import Program


def write_tensors(path: Path, data: Mapping[str, StoredTensor]) -> None:
    """Write tensors to a ``.npz`` file that :func:`read_tensors` reads back.

    Arrays are called by the tensor's place among the sorted names, the level and the array's
    place there.  What is made is made again.

    Raises
    ------
    DataError
        If the file cannot be written.
    """
    arrays: dict[str, Any] = {}
    given = sorted(name for name, stored in data.items() if stored.tensor.made is None)
    for number, name in enumerate(given):
        stored = data[name]
        for depth, level in enumerate(stored.levels):
            for k, array in enumerate(arrays_of(level)):
                arrays[f"{number}.{depth}.{k}"] = array
        arrays[f"{number}"] = stored.values
    try:
        np.savez(path, **arrays)
    except OSError as problem:
        raise DataError(f"cannot write {path}: {problem.strerror}") from None


def read_tensors(path: Path, program: Program) -> dict[str, StoredTensor]:
    """A program's inputs from a file of :func:`write_tensors`.

    Raises
    ------
    DataError
        If it is no such file, or holds other tensors than the program has.
    """
    arrays = read_npz(path)
    found = {}
    try:
        for number, name in enumerate(sorted(program.given)):
            tensor = program.tensor(name)
            levels: list[Any] = []
            for depth in range(tensor.rank):
                parts = [
                    arrays[f"{number}.{depth}.{k}"] for k in range(_count(arrays, number, depth))
                ]
                levels.append(None if not parts else parts[0] if len(parts) == 1 else tuple(parts))
            found[name] = StoredTensor.from_levels(tensor, levels, arrays[f"{number}"])
    except KeyError as problem:
        raise DataError(
            f"{path} holds other tensors than the program has: no array {problem}",
            hint=f"inputs: {', '.join(program.given)}",
        ) from None
    made = [program.tensor(name) for name in program.inputs if name not in program.given]
    return {**found, **{tensor.name: made_tensor(tensor) for tensor in made}}


def _count(arrays: Mapping[str, Any], number: int, depth: int) -> int:
    return sum(f"{number}.{depth}.{k}" in arrays for k in (0, 1))
