"""Geometries of Shapely and arrays of TileDB in fused calls."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import pytest

from fuseloom.calls.annotated import DataHandle, annotate
from fuseloom.calls.data_kinds import Matrix
from fuseloom.calls.fused import FusedFunction
from fuseloom.calls.library import LIBRARY
from fuseloom.calls.packed_tree import PackedTree
from fuseloom.calls.stored_kinds import TileDbMatrix
from fuseloom.errors import DataError

shapely = pytest.importorskip("shapely")
with np.printoptions():  # TileDB changes how NumPy prints
    tiledb = pytest.importorskip("tiledb")

NUMBERS = count()
PART = {"row": 1, "col": 2, "rows": 2, "cols": 3}


def schema(*sides: Any, attributes: Any = None, sparse: bool = False) -> Any:
    """A schema with the domains of its dimensions."""
    dimensions = [
        tiledb.Dim(name, domain=side, tile=2, dtype=np.dtype(type(side[0])))
        for name, side in zip("xyz", sides, strict=False)
    ]
    one = attributes or [tiledb.Attr("v", dtype=np.float64)]
    return tiledb.ArraySchema(domain=tiledb.Domain(*dimensions), attrs=one, sparse=sparse)


def test_numpy_prints_as_before() -> None:
    script = (
        "import numpy, fuseloom.calls.stored_kinds as kinds\n"
        "try: kinds.TileDbMatrix().whole(1)\n"
        "except Exception as error: print(error)\n"
        "print(repr(numpy.float32(1)))"
    )
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    assert told.stdout.splitlines() == [
        "an array of TileDB is wanted, not a int", "np.float32(1.0)"
    ]  # fmt: skip


def made(of: Any) -> str:
    """The place in memory of a new array with a schema."""
    place = f"mem://array{next(NUMBERS)}"
    tiledb.Array.create(place, of)
    return place


def matrix(values: np.ndarray[Any, Any]) -> str:
    """The place of a new array that holds values."""
    place = made(schema(*((0, extent - 1) for extent in values.shape)))
    with tiledb.open(place, "w") as array:
        array[:] = values
    return place


def test_a_slab_is_read() -> None:
    values = np.arange(30.0).reshape(5, 6)
    kind = TileDbMatrix()
    with tiledb.open(matrix(values)) as array:
        assert kind.whole(array) == {"row": 0, "col": 0, "rows": 5, "cols": 6}
        assert np.array_equal(kind.query(array, PART), values[1:3, 2:5])
        assert kind.query(array, {**PART, "rows": 0}).shape == (0, 3)
        with pytest.raises(DataError, match="outside an extent of 6"):
            kind.query(array, {**PART, "cols": 5})
        with pytest.raises(DataError, match="not open for writing"):
            kind.insert(array, PART, np.zeros((2, 3)))
    unnamed = tiledb.from_numpy("mem://unnamed", values)
    assert np.array_equal(kind.query(unnamed, PART), values[1:3, 2:5])


def test_a_slab_is_written() -> None:
    kind, place = TileDbMatrix(), matrix(np.zeros((5, 6)))
    with tiledb.open(place, "w") as array:
        assert kind.query(array, PART).shape == (2, 3)
        kind.insert(array, PART, np.arange(6.0).reshape(3, 2).T)
        kind.insert(array, {**PART, "rows": 0}, np.zeros((0, 3)))
        with pytest.raises(DataError, match="are put into a part of 2 × 3"):
            kind.insert(array, PART, np.zeros((3, 2)))
    with tiledb.open(place) as array:
        found = kind.query(array, kind.whole(array))
    assert found[1:3, 2:5].tolist() == [[0, 2, 4], [1, 3, 5]]
    assert found.sum() == 15


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: schema((0, 4), (0, 4), sparse=True), "is sparse"),
        (lambda: schema((0, 4)), "1 dimensions, not two"),
        (lambda: schema((0, 4), (0, 4), (0, 4)), "3 dimensions"),
        (lambda: schema((1, 4), (0, 4)), r"the domain \(.*1.*4.*\)"),
        (
            lambda: schema((0, 4), (0, 4), attributes=[tiledb.Attr(x) for x in "ab"]),
            "2 attributes, not one",
        ),
        (
            lambda: schema((0, 4), (0, 4), attributes=[tiledb.Attr("v", dtype=np.int32)]),
            "holds int32, and float64 is declared",
        ),
    ],
)
def test_other_arrays_are_refused(make: Callable[[], Any], words: str) -> None:
    with tiledb.open(made(make())) as array, pytest.raises(DataError, match=words):
        TileDbMatrix().whole(array)


def test_closed_arrays_and_others_are_refused() -> None:
    array = tiledb.open(matrix(np.zeros((2, 2))))
    array.close()
    with pytest.raises(DataError, match="is closed"):
        TileDbMatrix().query(array, PART)
    with pytest.raises(DataError, match="not a list"):
        TileDbMatrix().whole([])


@pytest.mark.parametrize("tiles", [{}, {"n": 2}, {"n": 3, "m": 4}])
def test_calls_from_array_to_array(tiles: dict[str, int]) -> None:
    values = np.random.default_rng(0).normal(size=(7, 9))
    one, other = (DataHandle(name, TileDbMatrix()) for name in ("A", "B"))
    between = DataHandle("t", Matrix())
    fused = FusedFunction([
        LIBRARY["exp_matrix"].annotated(one, between),
        LIBRARY["scale_matrix"].annotated(between, 2.0, other),
    ])  # fmt: skip
    source, result = matrix(values), matrix(np.zeros((7, 9)))
    with tiledb.open(source) as a, tiledb.open(result, "w") as b:
        fused(A=a, B=b, **tiles)
    with tiledb.open(result) as b:
        assert np.allclose(b[:]["v"], 2 * np.exp(values), rtol=1e-14)


@pytest.mark.parametrize("tile", [1, 4, 100])
def test_candidates_of_a_tree_and_an_exact_predicate(tile: int) -> None:
    rng = np.random.default_rng(0)
    geometries = shapely.buffer(shapely.points(rng.uniform(0, 100, (300, 2))), 2.0)
    window = shapely.Polygon([(10, 10), (90, 20), (30, 80)])
    tree = PackedTree.of_geometries(geometries, capacity=8)
    assert tree.search(window.bounds).tolist() == sorted(
        shapely.STRtree(geometries).query(shapely.box(*window.bounds))
    )

    def meets(candidates: Any, shapes: Any, capacity: int, out: Any) -> None:
        out[...] = False
        out[candidates] = shapely.intersects(shapes[candidates], window)

    rows = "{ row: i, col: 0, rows: n, cols: capacity }"
    exact = annotate(
        meets,
        f"n: Symbolic for i in [0, out.rows, n] {{ produces {{ out {rows} }} "
        f"when consumes {{ candidates {rows}, shapes {rows} }} }}",
    )
    leaves, near, shapes, found = (
        DataHandle("tree", LIBRARY["boxes_that_meet"].kinds["tree"]),
        *(DataHandle(name, Matrix(kind)) for name, kind in
          (("near", np.bool_), ("shapes", np.object_), ("found", np.bool_))),
    )  # fmt: skip
    fused = FusedFunction([
        LIBRARY["boxes_that_meet"].annotated(leaves, window.bounds, 8, near),
        exact(near, shapes, 8, found),
    ])  # fmt: skip
    result = np.zeros(tree.numbers.shape, np.bool_)
    fused(tree=tree, shapes=tree.arranged(geometries, None), found=result, n=tile)
    wanted = np.flatnonzero(shapely.intersects(geometries, window))
    assert sorted(tree.numbers[result]) == wanted.tolist()
    assert 0 < len(wanted) < len(tree.search(window.bounds))
