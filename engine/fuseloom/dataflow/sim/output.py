"""From what the writers collected to stored tensors (``docs/spec/machine.md`` §9.3)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.sim.result import EngineResult
from fuseloom.errors import SimulationError
from fuseloom.program.formats import Format, LevelFormat
from fuseloom.program.levels import CompressedLevel, DenseLevel, Level
from fuseloom.program.storage import StoredTensor
from fuseloom.program.tile_arrays import grid_shape
from fuseloom.program.types import Tensor
from fuseloom.wording import counted


def output_tensor(result: EngineResult, tensor: Tensor, key: str | None = None) -> StoredTensor:
    """The tensor a run wrote, in the mode order it was written in.

    Levels that have a writer are compressed; the others are dense by the tensor's declaration.

    Parameters
    ----------
    tensor : Tensor
        Its declaration.
    key : str, optional
        What the writers call it, as ``fuseloom.program.stored_views.view_key`` writes it; by
        default the tensor's name.

    Raises
    ------
    SimulationError
        If the run wrote no such tensor, a coordinate lies outside its shape, levels and values
        do not fit together, or a dense level lacks coordinates.

    Notes
    -----
    A level writer leaves out empty fibers, so a kept coordinate with an empty fiber is an
    error of the graph (a dropper is missing).  The one exception is an empty outermost level.
    """
    key = key or tensor.name
    order = key.partition("@")[2]
    mode_order = tuple(map(int, order.split(","))) if order else tensor.format.mode_order
    written = {
        node.params.get("level", "values"): result.outputs[node.id]
        for node in result.graph.nodes
        if node.id in result.outputs and node.params.get("tensor") == key
    }
    dense = [
        level is LevelFormat.DENSE and depth not in written
        for depth, level in enumerate(tensor.format.levels)
    ]
    parts: list[int | str] = [depth for depth in range(tensor.rank) if not dense[depth]]
    missing = [what for what in (*parts, "values") if what not in written]
    if missing:
        raise SimulationError(
            f"graph {result.graph.name} does not write {_part(key, missing[0])}",
            hint="give the tensor a writer per level and one for its values",
        )
    levels: list[Level] = []
    extents, parents = grid_shape(tensor), 1
    for depth in range(tensor.rank):
        if dense[depth]:
            levels.append(DenseLevel(extents[mode_order[depth]]))
            parents *= extents[mode_order[depth]]
            continue
        crd = written[depth]["crd"]
        _check_inside(key, depth, crd, extents[mode_order[depth]])
        seg = _segments(key, depth, written[depth]["seg"], parents)
        levels.append(CompressedLevel(seg, crd))
        if seg[-1] != len(crd):
            raise SimulationError(
                f"{_part(key, depth)} has {counted(len(crd), 'coordinate')}, "
                f"of which {seg[-1]:,} belong to its {counted(parents, 'fiber')}",
                hint="a coordinate of the level above got lost",
            )
        parents = len(crd)
    values = written["values"]["vals"]
    if not tensor.rank and not len(values):
        values = np.zeros(1, dtype=np.float32)  # nothing contributed to a scalar
    values = values.reshape(-1, *tensor.format.tile)  # an empty array has lost the tile's shape
    if len(values) != parents and any(dense):
        raise SimulationError(
            f"{key} has a dense level and so {counted(parents, 'place')}, but "
            f"{counted(len(values), 'value')}",
            hint="a level that may lack coordinates is to be stored compressed",
        )
    if len(values) != parents:
        raise SimulationError(
            f"{key} has {counted(parents, 'coordinate')}, but {counted(len(values), 'value')}",
            hint="empty values were written without dropping their coordinates",
        )
    formats = tuple(LevelFormat.DENSE if d else LevelFormat.COMPRESSED for d in dense)
    plain = Format(formats, mode_order)
    written_as = replace(tensor, format=plain.in_blocks(tensor.format.block, tensor.format.blocked))
    return StoredTensor(written_as, tuple(levels), values)


def in_declared_format(written: StoredTensor, tensor: Tensor) -> StoredTensor:
    """Return the tensor that a run wrote, in the format of its declaration.

    Dense levels hold zeros where nothing was written.

    Raises
    ------
    DataError
        If that format cannot hold it, or it would be too large.
    """
    if written.tensor.format == tensor.format:
        return written
    return written.with_format(tensor.format)


def _check_inside(key: str, depth: int, crd: npt.NDArray[np.int64], extent: int) -> None:
    if not len(crd) or (crd.dtype == np.int64 and crd.view(np.uint64).max() < extent):
        return  # negative numbers are the largest of those without a sign
    outside = crd[(crd < 0) | (crd >= extent)]
    if len(outside):
        raise SimulationError(
            f"{_part(key, depth)} has a coordinate {outside[0]:,}, but only "
            f"{counted(extent, 'place')}",
            hint="the graph and the declaration of the tensor, or its data, do not fit together",
        )


def _segments(
    key: str, depth: int, seg: npt.NDArray[np.int64], parents: int
) -> npt.NDArray[np.int64]:
    """The segments of ``parents`` fibers; only the outermost fiber may have left no trace."""
    if depth == 0 and len(seg) == 1:
        return np.zeros(2, dtype=np.int64)
    if len(seg) <= parents:
        raise SimulationError(
            f"{_part(key, depth)} has {counted(len(seg) - 1, 'fiber')} for "
            f"{counted(parents, 'coordinate')} above",
            hint="drop coordinates whose fiber is empty before writing (crddrop)",
        )
    return seg[: parents + 1]


def _part(key: str, part: str | int) -> str:
    return f"level {part} of {key}" if isinstance(part, int) else f"the {part} of {key}"
