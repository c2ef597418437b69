"""Trees of boxes: how they are packed, and searches compared with brute force."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from fuseloom.calls.packed_tree import PackedTree, boxes_meet
from fuseloom.errors import DataError, ProgramError


def random_boxes(count: int, seed: int = 0) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    corners = rng.uniform(-50, 50, (count, 2))
    return np.hstack([corners, corners + rng.exponential(3.0, (count, 2))])


@pytest.mark.parametrize("count", [0, 1, 2, 7, 64, 65, 1000])
@pytest.mark.parametrize("capacity", [2, 3, 8])
def test_searches_find_what_brute_force_finds(count: int, capacity: int) -> None:
    boxes = random_boxes(count, seed=count + capacity)
    tree = PackedTree(boxes, capacity)
    assert tree.nodes == -(-count // capacity)
    assert sorted(tree.numbers[tree.numbers >= 0]) == list(range(count))
    rng = np.random.default_rng(1)
    for _ in range(20):
        x, y, wide, high = *rng.uniform(-60, 60, 2), *rng.exponential(20.0, 2)
        window = (x, y, x + wide, y + high)
        wanted = [number for number, box in enumerate(boxes) if boxes_meet(box, window)]
        assert tree.search(window).tolist() == wanted


def test_every_box_lies_within_its_nodes() -> None:
    tree = PackedTree(random_boxes(500), capacity=4)
    below = tree.bounds
    assert (tree.boxes[:-1, :, :2] >= tree.bounds[:-1, None, :2]).all()
    for level in tree.levels:
        for bounds, children in zip(level.bounds, level.children, strict=True):
            inside = below[children[children >= 0]]
            assert (inside[:, :2] >= bounds[:2]).all()
            assert (inside[:, 2:] <= bounds[2:]).all()
        below = level.bounds
    assert [len(level.bounds) for level in tree.levels] == [32, 8, 2, 1]


def test_leaves_are_tiles_of_strips() -> None:
    """Sixteen points on a grid and leaves of four: squares of two by two."""
    points = np.array([(x, y) for x in range(4) for y in range(4)], np.float64)
    tree = PackedTree(np.hstack([points, points]), capacity=4)
    assert tree.bounds.tolist() == [
        [0, 0, 1, 1], [0, 2, 1, 3], [2, 0, 3, 1], [2, 2, 3, 3]
    ]  # fmt: skip


def test_what_does_not_meet_is_left_with_all_below_it() -> None:
    points = np.random.default_rng(0).uniform(0, 100, (4096, 2))
    tree = PackedTree(np.hstack([points, points]), capacity=8)
    tree.boxes = np.where(boxes_meet(tree.bounds, (0, 0, 5, 5))[:, None, None], tree.boxes, np.nan)
    wanted = np.flatnonzero((points <= 5).all(axis=1))
    assert tree.search((0, 0, 5, 5)).tolist() == wanted.tolist(), "no other leaf was looked at"


def test_items_without_boxes_meet_nothing() -> None:
    boxes = random_boxes(9)
    boxes[[0, 4]] = np.nan
    tree = PackedTree(boxes, capacity=2)
    assert tree.search((-1e9, -1e9, 1e9, 1e9)).tolist() == [1, 2, 3, 5, 6, 7, 8]


def test_borders_meet() -> None:
    assert boxes_meet(np.array([0.0, 0, 1, 1]), (1, 1, 2, 2))
    assert not boxes_meet(np.array([0.0, 0, 1, 1]), (1.01, 1, 2, 2))


def test_parts_of_the_leaves() -> None:
    tree = PackedTree(random_boxes(10), capacity=4)
    part = tree.leaves(1, 2)
    assert part == tree.leaves(1, 2)
    assert part != tree.leaves(0, 2)
    assert part != tree.leaves(1, 1)
    assert part.numbers.tolist()[1][2:] == [-1, -1]
    assert tree.leaves(3, 0).boxes.shape == (0, 4, 4)
    with pytest.raises(DataError, match="node 2 and nodes 2 are outside 3 leaves"):
        tree.leaves(2, 2)


@pytest.mark.parametrize(
    ("boxes", "capacity", "words"),
    [
        (np.zeros((3, 3)), 4, "items × 4"), (np.zeros(4), 4, "items × 4"),
        ([[0, 0, np.inf, 1]], 4, "finite numbers"), ([[1, 0, 0, 1]], 4, "least x and y"),
        (np.zeros((3, 4)), 1, "a node of 1 children"),
    ],
)  # fmt: skip
def test_what_is_no_tree(boxes: Any, capacity: int, words: str) -> None:
    with pytest.raises(DataError, match=words):
        PackedTree(boxes, capacity)


def test_geometries_need_shapely(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shapely", None)
    with pytest.raises(ProgramError, match="Shapely, which is not installed") as told:
        PackedTree.of_geometries([])
    assert told.value.hint == "pip install 'fuseloom[calls]', or give boxes"
