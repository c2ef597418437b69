"""The folder of text files that tensors lie in beside a protobuf graph.

Rules: ``docs/spec/comal.md`` §5.2.

One number per line: ``tensor_<T>_mode_<m>_seg`` and ``_crd`` per compressed level,
``tensor_<T>_mode_vals``, and ``tensor_<T>_mode_shape`` with the size of every dimension.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.errors import DataError
from fuseloom.program import regular_files
from fuseloom.program.formats import Format, LevelFormat
from fuseloom.program.levels import CompressedLevel
from fuseloom.program.limits import MAX_DIMENSION, MAX_RANK
from fuseloom.program.storage import StoredTensor
from fuseloom.program.types import Tensor
from fuseloom.wording import counted

MAX_FILE_BYTES = 1 << 30


@dataclass(frozen=True)
class TensorFolder:
    """A folder with tensors."""

    path: Path

    def shape(self, tensor: str) -> tuple[int, ...] | None:
        """Sizes of a tensor's dimensions; None if there is no such file."""
        name = f"tensor_{checked(tensor)}_mode_shape"
        if not regular_files.is_file(self.path / name):
            return None
        sizes = tuple(self._numbers(name, np.int64).tolist())
        if len(sizes) > MAX_RANK or not all(0 <= n <= MAX_DIMENSION for n in sizes):
            raise DataError(f"{self.path / name} is no shape",
                            hint=f"at most {MAX_RANK} sizes up to {MAX_DIMENSION:,}")  # fmt: skip
        return sizes

    def load(self, tensor: Tensor, files: str | None = None) -> StoredTensor:
        """A tensor's data, in the format and mode order of its declaration.

        Parameters
        ----------
        files : str, optional
            What the files call it; by default its name.

        Raises
        ------
        DataError
            If a file is missing or holds something else.
        """
        name = checked(files or tensor.name)
        levels = [
            None if fmt is LevelFormat.DENSE else (
                self._numbers(f"tensor_{name}_mode_{mode}_seg", np.int64),
                self._numbers(f"tensor_{name}_mode_{mode}_crd", np.int64),
            )
            for fmt, mode in zip(tensor.format.levels, tensor.format.mode_order, strict=True)
        ]  # fmt: skip
        values = self._numbers(f"tensor_{name}_mode_vals", np.float64)
        positions = 1
        for level, mode in zip(levels, tensor.format.mode_order, strict=True):
            positions = positions * tensor.shape[mode] if level is None else len(level[1])
        for edge in (16, 32, 64):
            if positions and len(values) == positions * edge * edge:
                raise DataError(
                    f"tensor {name} has {edge}x{counted(edge, 'block')} as values, which cannot "
                    "be run",
                    hint="block timing works on scalar data: one value per position",
                )
        return StoredTensor.from_levels(tensor, levels, values)

    def largest_coordinate(self, tensor: str, mode: int) -> int:
        """The largest coordinate of a compressed level, -1 if it has none."""
        crd = self._numbers(f"tensor_{checked(tensor)}_mode_{mode}_crd", np.int64)
        return int(crd.max(initial=-1))

    def _numbers(self, name: str, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        path = self.path / name
        try:
            words = regular_files.content(path, MAX_FILE_BYTES).decode("ascii").split()
            return np.array(words, dtype=dtype) if words else np.zeros(0, dtype=dtype)
        except DataError as problem:
            hint = "the folder holds a file per level, values and shape"
            raise DataError(problem.message, hint=hint) from None
        except (ValueError, OverflowError):
            raise DataError(f"{path} is not a list of numbers", hint="one per line") from None


def checked(tensor: str) -> str:
    """A tensor's name, if it can be part of a file name and of nothing else.

    Raises
    ------
    DataError
        If it could leave the folder.
    """
    if not tensor or len(tensor) > 100 or any(c in "/\\:\0" or c < " " for c in tensor):
        raise DataError(f"{tensor[:40]!r} cannot name a tensor's files")
    return tensor


def save_shape(folder: Path, name: str, shape: Sequence[int]) -> None:
    """Write the sizes of a tensor's dimensions."""
    write_lines(folder / f"tensor_{checked(name)}_mode_shape", shape)


def save_tensor(folder: Path, name: str, stored: StoredTensor) -> None:
    """Write a tensor's files; ``name`` is what they call it.

    The files know no singleton levels; such a tensor is stored compressed.
    """
    fmt = stored.tensor.format
    if LevelFormat.SINGLETON in fmt.levels:
        known = (LevelFormat.COMPRESSED if level is LevelFormat.SINGLETON else level
                 for level in fmt.levels)  # fmt: skip
        stored = stored.with_format(replace(fmt, levels=tuple(known)))
    save_shape(folder, name, stored.tensor.shape)
    for level, mode in zip(stored.levels, stored.tensor.format.mode_order, strict=True):
        if isinstance(level, CompressedLevel):
            write_lines(folder / f"tensor_{checked(name)}_mode_{mode}_seg", level.seg.tolist())
            write_lines(folder / f"tensor_{checked(name)}_mode_{mode}_crd", level.crd.tolist())
    values = (np.format_float_positional(v, trim="-") for v in stored.values)
    write_lines(folder / f"tensor_{checked(name)}_mode_vals", values)


def write_lines(path: Path, items: Iterable[object]) -> None:
    """Write a text file, whole or not at all."""
    regular_files.write_bytes(path, "".join(f"{item}\n" for item in items).encode())


def format_of(levels: Mapping[int, tuple[int, bool]], rank: int) -> Format:
    """A format from what is known of levels: ``level -> (dimension, dense)``.

    Levels nobody reads are dense (a locator goes past them); they take the dimensions left.
    """
    taken = {mode for mode, _ in levels.values()}
    free = [mode for mode in range(rank) if mode not in taken]
    order: list[int] = []
    kinds: list[LevelFormat] = []
    for level in range(rank):
        mode, dense = levels[level] if level in levels else (free.pop(0), True)
        order.append(mode)
        kinds.append(LevelFormat.DENSE if dense else LevelFormat.COMPRESSED)
    return Format(tuple(kinds), tuple(order))
