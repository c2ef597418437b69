"""Tensors of any rank in FROSTT files (``.tns``, ``.tns.gz``).

One element per line: its coordinates, counted from 1, then its value.  Source: http://frostt.io
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from engine.errors import DataError
from engine.frontends.files.lines import blocks
from engine.frontends.files.table import read_rows
from engine.frontends.files.tensor import CoordinateTensor
from engine.program.limits import MAX_DIMENSION, MAX_RANK


def read_frostt(path: str | Path, shape: tuple[int, ...] | None = None) -> CoordinateTensor:
    """A tensor of the rank of its first line.

    Parameters
    ----------
    shape : tuple of int, optional
        By default the largest coordinate along each axis, as the file does not say.

    Raises
    ------
    DataError
        Names the line: not numbers, an element out of range, not finite or given twice.
    """
    rows = read_rows(Path(path), blocks(Path(path)))
    rank = rows.values.shape[1] - 1
    if not len(rows) or not 1 <= rank <= MAX_RANK:
        raise DataError(
            f"{path} holds no tensor of rank 1 to {MAX_RANK}",
            hint="one element per line: its coordinates, then its value",
        )
    if shape is not None and len(shape) != rank:
        raise DataError(f"{path} has rank {rank}, not {len(shape)}", hint="give a size per axis")
    sizes = shape or (MAX_DIMENSION,) * rank
    columns = [rows.integers(k, "a coordinate", 1, sizes[k]) - 1 for k in range(rank)]
    found = shape or tuple(int(column.max()) + 1 for column in columns)
    coords = np.stack(columns, axis=1)
    return CoordinateTensor.of(coords, rows.values[:, rank], found, str(path), place=rows.error)
