"""Tensor data in level storage: segments and coordinates, checked before anything runs.

The layout is the one of the SAM abstract machine and TACO: a compressed level keeps, for each
position of the level above, a segment of sorted coordinates; a dense level keeps its size.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.errors import DataError
from fuseloom.program.compressed_matrices import by_coordinates, is_sound, levels_of_matrix
from fuseloom.program.formats import Format, LevelFormat, format_text
from fuseloom.program.level_checks import (
    as_float32,
    as_integers,
    check_coordinates,
    check_duplicates,
    check_format,
    check_storage,
)
from fuseloom.program.levels import (
    WORD_BYTES,
    CompressedLevel,
    DenseLevel,
    Ints,
    Level,
    SingletonLevel,
    arrays_of,
    build_levels,
    check_size,
    coordinates,
    grouped,
    level_text,
    shape_text,
    sorting,
    stored_shape,
)
from fuseloom.program.tile_arrays import (
    block_coordinates,
    element_coordinates,
    from_tiles,
    grid_shape,
    to_tiles,
)
from fuseloom.program.types import Tensor
from fuseloom.wording import counted, described

_ARRAYS = {LevelFormat.DENSE: 0, LevelFormat.COMPRESSED: 2, LevelFormat.SINGLETON: 1}
_LEVELS_HINT = "give (seg, crd) per compressed level, crd per singleton and None per dense level"


@dataclass(frozen=True, eq=False)
class StoredTensor:
    """A tensor with its data.

    Attributes
    ----------
    tensor : Tensor
        Name, logical shape and format.
    levels : tuple of DenseLevel, CompressedLevel or SingletonLevel
        In storage order, outermost first.
    values : array of float32, of shape (n, ...) with the tile
        One per position of the last level; one value for rank 0.  A blocked tensor has blocks
        of shape ``tensor.format.tile``, their axes in logical order; all their elements count
        as stored.

    Examples
    --------
    >>> import fuseloom as fl
    >>> import numpy as np
    >>> tensor = fl.load("spmv", rows=3, columns=3)[0].program.tensor("A")
    >>> stored = fl.StoredTensor.from_dense(tensor, np.array([[0, 2, 0], [0, 0, 0], [5, 0, 3]]))
    >>> stored.nnz
    3
    >>> stored.levels[1].crd
    array([1, 0, 2])
    >>> stored.to_dense()[2]
    array([5., 0., 3.])
    """

    tensor: Tensor
    levels: tuple[Level, ...]
    values: npt.NDArray[np.float32]

    def __repr__(self) -> str:
        return described(
            self,
            f"{self.tensor.name}: {shape_text(self.tensor.shape)} "
            f"{format_text(self.tensor.format)}, {counted(self.nnz, 'stored element')}",
        )

    @classmethod
    def from_dense(
        cls, tensor: Tensor, array: npt.ArrayLike, keep_zeros: bool = False
    ) -> StoredTensor:
        """Store an array in logical order; zeros are stored only where the format must.

        Parameters
        ----------
        array : array_like, shape ``tensor.shape``
            Values; they are rounded to float32.
        keep_zeros : bool
            Store every coordinate, whatever the format.

        Raises
        ------
        DataError
            Wrong shape, not numeric, not finite, or too large.
        """
        given = _array(tensor, array)
        if given.shape != tensor.shape:
            raise DataError(
                f"tensor {tensor.name} has shape {shape_text(tensor.shape)}, "
                f"the array {shape_text(given.shape)}",
                hint="transpose or reshape the array, or change the declaration",
            )
        check_format(tensor)
        if tensor.format.all_dense:
            check_size(tensor, given.size)
            return _full(tensor, as_float32(tensor, given))
        tiles = to_tiles(tensor, as_float32(tensor, given))
        inside = tuple(range(tensor.rank, tiles.ndim))
        stored = (tiles != 0).any(axis=inside) | keep_zeros
        return _packed(tensor, np.argwhere(stored), tiles[stored])

    @classmethod
    def from_coo(
        cls,
        tensor: Tensor,
        coords: npt.ArrayLike,
        values: npt.ArrayLike,
        *,
        computed: bool = False,
    ) -> StoredTensor:
        """Store elements given by coordinates, in any order.

        Dense levels are expanded; what a dense innermost level or a block adds gets an explicit
        0.

        Parameters
        ----------
        coords : array_like of int, shape (nnz, rank)
            Logical coordinates.
        values : array_like, shape (nnz,)
        computed : bool
            The values are results of a run, which may be infinite or no numbers.

        Raises
        ------
        DataError
            Coordinates out of range or given twice, or any rule of :meth:`verify`.
        """
        check_format(tensor)
        given = _array(tensor, values)
        data = np.atleast_1d(given.astype(np.float32) if computed else as_float32(tensor, given))
        points = _array(tensor, coords)
        if points.size == 0:
            points = np.zeros((len(data), tensor.rank), dtype=np.int64)
        if points.shape != (len(data), tensor.rank):
            raise DataError(
                f"tensor {tensor.name} needs coordinates of shape {len(data)}x{tensor.rank}, "
                f"found {shape_text(points.shape)}",
                hint="give one row of coordinates per value",
            )
        stored = as_integers(tensor, "coordinates", points)[:, list(tensor.format.mode_order)]
        check_coordinates(tensor, stored)
        check_size(tensor, len(data))
        if tensor.rank:
            extents = tuple(tensor.shape[axis] for axis in tensor.format.mode_order)
            stored = stored[sorting(stored, extents)]
        check_duplicates(tensor, stored)
        blocks = block_coordinates(tensor, points.astype(np.int64), data)
        return _packed(tensor, *blocks)

    @classmethod
    def from_scipy(cls, tensor: Tensor, matrix: Any) -> StoredTensor:
        """Store a ``scipy.sparse`` array; as in SciPy, entries given twice are added.

        Explicit zeros stay stored.
        """
        if matrix.shape != tensor.shape:
            raise DataError(
                f"tensor {tensor.name} has shape {shape_text(tensor.shape)}, "
                f"the matrix {shape_text(matrix.shape)}",
                hint="transpose the matrix, or change the declaration",
            )
        check_format(tensor)
        if not is_sound(matrix):
            raise DataError(
                f"the matrix given for {tensor.name} is broken: its indices lie outside its shape, "
                "or do not fit its rows",
                hint="build it anew, e.g. scipy.sparse.csr_array(dense)",
            )
        taken = levels_of_matrix(tensor, matrix)
        if taken is not None:
            levels, numbers = taken
            words = sum(len(array) for level in levels for array in arrays_of(level))
            check_size(tensor, words + len(numbers))
            return cls(tensor, levels, as_float32(tensor, numbers))
        coo = by_coordinates(matrix)
        coords = np.stack([np.asarray(axis, dtype=np.int64) for axis in coo.coords], axis=1)
        values = coo.data
        if len(coords):
            check_coordinates(tensor, coords[:, list(tensor.format.mode_order)])
            order = sorting(coords, tensor.shape)
            ordered = coords[order]
            new = np.any(ordered[1:] != ordered[:-1], axis=1)
            first = np.flatnonzero(np.concatenate(([True], new)))
            if len(first) < len(order):
                values = np.add.reduceat(values[order], first)
                coords = ordered[first]
        return cls.from_coo(tensor, coords, values)

    @classmethod
    def from_levels(
        cls,
        tensor: Tensor,
        levels: Sequence[tuple[npt.ArrayLike, npt.ArrayLike] | npt.ArrayLike | None],
        values: npt.ArrayLike,
    ) -> StoredTensor:
        """Take storage as it is.

        Parameters
        ----------
        levels : sequence
            ``(seg, crd)`` per compressed level, ``crd`` per singleton, None per dense level.

        Raises
        ------
        DataError
            Any rule of :meth:`verify`.
        """
        check_format(tensor)
        if len(levels) != tensor.rank:
            raise DataError(
                f"tensor {tensor.name} has {counted(tensor.rank, 'level')}, found {len(levels)}",
                hint=_LEVELS_HINT,
            )
        built: list[Level] = []
        for depth, (given, fmt, size) in enumerate(
            zip(levels, tensor.format.levels, stored_shape(tensor), strict=True)
        ):
            arrays = () if given is None else (given,)
            if fmt is LevelFormat.COMPRESSED and isinstance(given, tuple):
                arrays = given
            if len(arrays) != _ARRAYS[fmt]:
                raise DataError(
                    f"{level_text(tensor, depth)} is {fmt.value}, but the data are not",
                    hint=_LEVELS_HINT,
                )
            parts = ("seg", "crd")[2 - len(arrays) :]
            built.append(
                _level(
                    size,
                    *(
                        as_integers(tensor, f"{part} of level {depth}", np.asarray(array))
                        for part, array in zip(parts, arrays, strict=True)
                    ),
                )
            )
        data = np.atleast_1d(as_float32(tensor, np.asarray(values)))
        stored = cls(tensor, tuple(built), data)
        stored.verify()
        return stored

    def verify(self) -> None:
        """Refuse storage that breaks a rule of its format.

        Raises
        ------
        DataError
            Names tensor, level and position, the rule, and the way out.
        """
        check_storage(self.tensor, self.levels, self.values)

    @property
    def nnz(self) -> int:
        """Number of stored elements, explicit zeros and all elements of blocks included."""
        return self.values.size

    @cached_property
    def scanned(self) -> tuple[Level, ...]:
        """The levels as scanners walk them: coordinates of a fiber unique, no singletons."""
        return grouped(self.levels)

    @property
    def bytes(self) -> int:
        """Bytes in the machine's memory: 4 per coordinate, segment entry and value."""
        words = sum(len(array) for level in self.levels for array in arrays_of(level))
        return WORD_BYTES * (words + self.values.size)

    def to_coo(self) -> tuple[Ints, npt.NDArray[np.float32]]:
        """Logical coordinates, shape (nnz, rank), and values of the stored elements.

        In storage order, explicit zeros included, block after block.
        """
        positions = coordinates(self.tensor, self.levels)
        return element_coordinates(self.tensor, positions), self.values.reshape(-1)

    def to_dense(self) -> npt.NDArray[np.float64]:
        """Array of the tensor's shape in logical order, 0 where nothing is stored."""
        return self._spread(self.values).astype(np.float64)

    def pattern(self) -> npt.NDArray[np.bool_]:
        """True, in logical order, where an element is stored, an explicit zero included."""
        return self._spread(np.ones(self.values.shape, dtype=bool))

    def _spread(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """An array of the tensor's shape from an entry per stored element, 0 elsewhere."""
        tensor, tile = self.tensor, self.tensor.format.tile
        if tensor.format.all_dense:
            inside = range(tensor.rank, tensor.rank + len(tile))
            order = (*np.argsort(tensor.format.mode_order).tolist(), *inside)
            grid = values.reshape((*stored_shape(tensor), *tile))
            return from_tiles(tensor, grid.transpose(order))
        spread = np.zeros((*grid_shape(tensor), *tile), dtype=values.dtype)
        spread[tuple(coordinates(tensor, self.levels).T)] = values
        return from_tiles(tensor, spread)

    def with_mode_order(self, mode_order: Sequence[int]) -> StoredTensor:
        """The same elements stored in another mode order; level formats stay in place."""
        order = tuple(mode_order)
        if sorted(order) != list(range(self.tensor.rank)):
            raise DataError(
                f"mode order {','.join(map(str, order))} is not a permutation of the "
                f"{counted(self.tensor.rank, 'dimension')} of {self.tensor.name}",
                hint="name each dimension once",
            )
        if order == self.tensor.format.mode_order:
            return self
        return self.with_format(replace(self.tensor.format, mode_order=order))

    def with_format(self, fmt: Format) -> StoredTensor:
        """The same elements stored in another format."""
        tensor = replace(self.tensor, format=fmt)
        if tensor.format.all_dense:
            return _full(tensor, self.to_dense().astype(np.float32))
        return StoredTensor.from_coo(tensor, *self.to_coo(), computed=True)

    def content_hash(self) -> str:
        """SHA-256 of shape, format and data; the name does not count."""
        fmt = self.tensor.format
        digest = hashlib.sha256(
            repr(
                (
                    self.tensor.shape,
                    [f.value for f in fmt.levels],
                    fmt.mode_order,
                    *([fmt.block, fmt.blocked] if fmt.blocked else []),
                )
            ).encode()
        )
        for level in self.levels:
            arrays = arrays_of(level)
            # Lengths keep arrays apart that concatenate to the same bytes.
            if arrays:
                digest.update((",".join(str(len(array)) for array in arrays) + ";").encode())
            for array in arrays:
                digest.update(np.ascontiguousarray(array, dtype="<i8").tobytes())
        digest.update(np.ascontiguousarray(self.values, dtype="<f4").tobytes())
        return digest.hexdigest()


def _level(size: int, *arrays: Ints) -> Level:
    """A level of its arrays: segments and coordinates, coordinates alone, or none."""
    match arrays:
        case (seg, crd):
            return CompressedLevel(seg, crd)
        case (crd,):
            return SingletonLevel(crd)
        case _:
            return DenseLevel(size)


def _array(tensor: Tensor, given: npt.ArrayLike) -> npt.NDArray[Any]:
    """Data as an array, of whatever kind its elements are."""
    try:
        return np.asarray(given)
    except ValueError as problem:  # rows of several lengths
        raise DataError(
            f"the data of tensor {tensor.name} are no array: {problem}",
            hint=f"give an array of shape {shape_text(tensor.shape)}",
        ) from None


def _full(tensor: Tensor, array: npt.NDArray[np.float32]) -> StoredTensor:
    """Storage of an array in logical order whose levels are all dense."""
    tiles = to_tiles(tensor, array)
    inside = tuple(range(tensor.rank, tiles.ndim))
    values = np.transpose(tiles, (*tensor.format.mode_order, *inside))
    levels = tuple(map(DenseLevel, stored_shape(tensor)))
    return StoredTensor(tensor, levels, values.reshape(-1, *tensor.format.tile))


def _packed(tensor: Tensor, coords: Ints, values: npt.NDArray[np.float32]) -> StoredTensor:
    """Storage of values (of whole blocks) at logical coordinates (of blocks), each given once.

    Format, coordinates and values have been checked; levels built of them keep every rule.
    """
    stored = coords[:, list(tensor.format.mode_order)]
    if tensor.rank:
        order = sorting(stored, stored_shape(tensor))
        stored, values = stored[order], values[order]
    levels, positions, count = build_levels(tensor, stored)
    packed = np.zeros((count, *tensor.format.tile), dtype=np.float32)
    packed[positions] = values
    return StoredTensor(tensor, levels, packed)
