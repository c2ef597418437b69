"""Compositions of calls that need other packages: PyTorch's layers, geometries, stored arrays."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np

from fuseloom.calls.annotated import DataHandle, FunctionCall, annotate
from fuseloom.calls.data_kinds import ImageTensor, Matrix
from fuseloom.calls.library import LIBRARY
from fuseloom.calls.library.elementwise import sigmoid
from fuseloom.calls.library.networks import BY_ROWS, PER_CHANNEL, POINTWISE
from fuseloom.calls.packed_tree import PackedTree
from fuseloom.calls.pipelines import PIPELINES, PipelineCase
from fuseloom.calls.stored_kinds import DatabaseRows, TileDbMatrix, TreeLeaves

NODE_CAPACITY = 16
COLUMNS = tuple(f"c{number}" for number in range(8))
"""Of the table of SQLite."""
TILE_ROWS = 64
"""Rows of what TileDB stores together."""
_NUMBERS = count()


@dataclass
class PackagedCase:
    """A composition, and the same by the library's own composed calls.

    Attributes
    ----------
    case : PipelineCase
    library : callable or None
        Gives the result, as the library does without Fuseloom.
    arguments : dict
        All data structures by name, the result's room among them.
    """

    case: PipelineCase
    library: Callable[[], Any] | None = None
    arguments: dict[str, Any] = field(default_factory=dict)


def torch_bias_add(a: Any, v: Any, channels: int, out: Any) -> None:
    """Each channel plus its bias, by PyTorch."""
    import torch

    torch.add(torch.from_numpy(a), torch.from_numpy(v), out=torch.from_numpy(out))


def torch_tanh(a: Any, channels: int, out: Any) -> None:
    """The hyperbolic tangent of each element, by PyTorch."""
    import torch

    torch.tanh(torch.from_numpy(a), out=torch.from_numpy(out))


BY_TORCH = {
    "conv2d": LIBRARY["torch_conv2d"].annotated,
    "bias_add": annotate(torch_bias_add, PER_CHANNEL),
    "relu_images": LIBRARY["torch_relu"].annotated,
    "max_pool": LIBRARY["torch_max_pool"].annotated,
}
"""PyTorch's function in the place of each of NumPy."""
TANH = annotate(torch_tanh, POINTWISE)


def torch_layers(extents: Mapping[str, int], last: str) -> PackagedCase:
    """A convolution with bias and ReLU by PyTorch, and layers behind it.

    Parameters
    ----------
    extents : mapping
        Of the composition ``conv-pool``.
    last : str
        The last layer: ``relu``, ``pool`` or ``tanh``.
    """
    import torch
    from torch.nn.functional import conv2d, max_pool2d

    case = PIPELINES["conv-pool"].make(extents)
    case.calls = [FunctionCall(BY_TORCH[call.function.name], call.arguments) for call in case.calls]
    image, weights = (
        torch.from_numpy(case.given[name]).permute(0, 3, 1, 2) for name in ("A", "weights")
    )
    bias = torch.from_numpy(case.given["bias"])

    def composed() -> Any:
        with torch.no_grad():
            made = torch.relu_(conv2d(image, weights, bias))
            if last != "relu":
                made = max_pool2d(made, 2)
            return torch.tanh_(made) if last == "tanh" else made

    if last == "relu":
        del case.calls[-1]
        case.expected = np.ascontiguousarray(composed().permute(0, 2, 3, 1).numpy())
    elif last == "tanh":
        output = DataHandle("squashed", ImageTensor(np.float32))
        case.calls.append(TANH(case.calls[-1].output, len(weights), output))
        case.expected = np.tanh(case.expected)
    case.result = np.empty_like(case.expected)
    return PackagedCase(case, composed, dict(case.arguments))


def shapely_intersects(candidates: Any, shapes: Any, window: Any, capacity: int, out: Any) -> None:
    """True for each candidate that has a point in common with a geometry, by Shapely."""
    import shapely

    out[...] = False
    out[candidates] = shapely.intersects(window, shapes[candidates])


def geometries_in_a_window(number: int, seed: int = 0) -> PackagedCase:
    """Boxes of a tree that meet a window's, and then its exact predicate.

    Parameters
    ----------
    number : int
        Of polygons, which are all over a square; the window is a star in its middle.
    """
    import shapely

    rng = np.random.default_rng(seed)
    centres = rng.uniform(0, 1000, (number, 2))
    geometries = shapely.buffer(shapely.points(centres), 300 / np.sqrt(number), quad_segs=4)
    angles = np.linspace(0, 2 * np.pi, 128, endpoint=False)
    radii = np.where(np.arange(128) % 2, 200, 450)
    star = 500 + np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)
    window = shapely.Polygon(star)
    shapely.prepare(window)
    tree = PackedTree.of_geometries(geometries, NODE_CAPACITY)
    near, found = (DataHandle(name, Matrix(np.bool_)) for name in ("near", "found"))
    handle = DataHandle("tree", TreeLeaves())
    shapes = DataHandle("shapes", Matrix(np.object_))
    row = "{ row: i, col: 0, rows: n, cols: capacity }"
    exact = annotate(
        shapely_intersects,
        BY_ROWS.replace("width", "capacity").replace(f"a {row}", f"candidates {row}, shapes {row}"),
    )
    search = LIBRARY["boxes_that_meet"].annotated
    case = PipelineCase([
        search(handle, tuple(window.bounds), NODE_CAPACITY, near),
        exact(near, shapes, window, NODE_CAPACITY, found),
    ])  # fmt: skip
    case.result = np.zeros(tree.numbers.shape, np.bool_)
    case.expected = tree.arranged(shapely.intersects(window, geometries), False)
    stored = {"tree": tree, "shapes": tree.arranged(geometries, None), "found": case.result}
    other = shapely.STRtree(geometries, NODE_CAPACITY)
    return PackagedCase(case, lambda: other.query(window, predicate="intersects"), stored)


def array_of_tiledb(rows: int, columns: int, seed: int = 0) -> PackagedCase:
    """The logistic function of each element of an array of TileDB that lies in memory."""
    with np.printoptions():  # TileDB changes how NumPy prints
        import tiledb

    values = np.random.default_rng(seed).normal(size=(rows, columns))
    place = f"mem://call-experiments-{next(_NUMBERS)}"
    tiles = (min(TILE_ROWS, rows), columns)
    dimensions = [
        tiledb.Dim(name, domain=(0, extent - 1), tile=tile, dtype=np.int64)
        for name, extent, tile in zip(("row", "col"), values.shape, tiles, strict=True)
    ]
    attribute = tiledb.Attr("value", dtype=np.float64)
    schema = tiledb.ArraySchema(domain=tiledb.Domain(*dimensions), attrs=[attribute])
    tiledb.Array.create(place, schema)
    with tiledb.open(place, "w") as array:
        array[:] = values
    call = annotate(sigmoid, LIBRARY["exp_matrix"].annotation)
    case = PipelineCase([call(DataHandle("A", TileDbMatrix()), DataHandle("B", Matrix()))])
    return _stored(case, tiledb.open(place), values)


def table_of_sqlite(rows: int, seed: int = 0) -> PackagedCase:
    """The logistic function of each number of a table of SQLite that lies in memory."""
    values = np.random.default_rng(seed).normal(size=(rows, len(COLUMNS)))
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE measured (number INTEGER PRIMARY KEY, {', '.join(COLUMNS)})")
    marks = ", ".join("?" * (len(COLUMNS) + 1))
    numbered = ((number, *row) for number, row in enumerate(values.tolist()))
    connection.executemany(f"INSERT INTO measured VALUES ({marks})", numbered)
    table = DataHandle("A", DatabaseRows("measured", COLUMNS, "number"))
    call = LIBRARY["sigmoid_of_table"].annotated
    case = PipelineCase([call(table, len(COLUMNS), DataHandle("B", Matrix()))])
    return _stored(case, connection, values)


def _stored(case: PipelineCase, source: Any, values: Any) -> PackagedCase:
    case.expected = 1 / (1 + np.exp(-values))
    case.result = np.empty_like(case.expected)
    return PackagedCase(case, None, {"A": source, "B": case.result})
