"""Boxes in a plane, packed into a tree by sort-tile-recursive (Leutenegger et al. 1997)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fuseloom.errors import DataError, ProgramError

Boxes: TypeAlias = npt.NDArray[np.float64]
"""Least x and y, largest x and y along the last dimension; NaN where there is no box."""
Numbers: TypeAlias = npt.NDArray[np.int64]
Window: TypeAlias = tuple[float, float, float, float]
NODE_CAPACITY = 16


def boxes_meet(boxes: Boxes, window: Window) -> npt.NDArray[np.bool_]:
    """Tell of each box if it has a point in common with a window, borders included.

    Examples
    --------
    >>> boxes_meet(np.array([[0.0, 0, 1, 1], [2, 2, 3, 3]]), (1, 1, 1.5, 4)).tolist()
    [True, False]
    """
    left, bottom, right, top = window
    across = (boxes[..., 0] <= right) & (boxes[..., 2] >= left)
    return np.asarray(across & (boxes[..., 1] <= top) & (boxes[..., 3] >= bottom))


@dataclass(frozen=True, eq=False)
class TreePart:
    """Some leaves of a tree, one after another.

    Attributes
    ----------
    bounds : array
        The bounding box of each leaf.
    boxes : array
        Leaves × boxes × 4; NaN behind the last box.
    numbers : array
        Leaves × boxes: numbers of the items; -1 behind the last.
    """

    bounds: Boxes
    boxes: Boxes
    numbers: Numbers

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreePart) and all(
            np.array_equal(one, two, equal_nan=True)
            for one, two in zip(vars(self).values(), vars(other).values(), strict=True)
        )

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class TreeLevel:
    """The inner nodes of a tree that are equally far from its leaves.

    Attributes
    ----------
    bounds : array
        The bounding box of each node.
    children : array
        Nodes × children: numbers of nodes of the level below; -1 behind the last.
    """

    bounds: Boxes
    children: Numbers


class PackedTree:
    """A tree of boxes, packed by sort-tile-recursive (Leutenegger et al. 1997).

    On each level, boxes are sorted by the x of their centres and cut into vertical strips, and each
    strip is sorted by y and cut into nodes; every node but the last of a level is full.

    Parameters
    ----------
    boxes : array
        Items × 4: least x and y, largest x and y; NaN for an item that has no box.
    capacity : int
        The most children of a node.

    Attributes
    ----------
    bounds, boxes, numbers : array
        Of all leaves, as :class:`TreePart` has them.
    levels : tuple of TreeLevel
        The inner levels; the last has the root alone.

    Raises
    ------
    DataError
        If an array holds no boxes, or a node would have fewer than two children.

    Examples
    --------
    >>> corners = np.array([(x, y) for x in range(4) for y in range(4)], np.float64)
    >>> tree = PackedTree(np.hstack([corners, corners + 0.5]), capacity=4)
    >>> tree.nodes, tree.search((0.5, 0.5, 1.0, 1.0)).tolist()
    (4, [0, 1, 4, 5])
    >>> tree.leaves(1, 1).numbers
    array([[2, 6, 3, 7]])
    """

    def __init__(self, boxes: npt.ArrayLike, capacity: int = NODE_CAPACITY) -> None:
        given = np.asarray(boxes, dtype=np.float64)
        if given.ndim != 2 or given.shape[1] != 4:
            raise DataError(f"boxes are an array of items × 4, not of the shape {given.shape}")
        if np.isinf(given).any() or (given[:, 2:] < given[:, :2]).any():
            raise DataError("a box has finite numbers: least x and y, largest x and y")
        if capacity < 2:
            raise DataError(f"a node of {capacity} children makes no tree")
        self.capacity = capacity
        self.numbers = _packed(given, capacity)
        self.boxes = _gathered(given, self.numbers)
        self.bounds = _bounding(self.boxes)
        levels: list[TreeLevel] = []
        below = self.bounds
        while len(below) > 1:
            children = _packed(below, capacity)
            below = _bounding(_gathered(below, children))
            levels.append(TreeLevel(below, children))
        self.levels = tuple(levels)

    @classmethod
    def of_geometries(cls, geometries: Any, capacity: int = NODE_CAPACITY) -> PackedTree:
        """The tree of the bounding boxes of Shapely's geometries.

        Raises
        ------
        ProgramError
            If Shapely is not installed.

        Examples
        --------
        >>> import shapely
        >>> PackedTree.of_geometries([shapely.Point(2, 3), None]).search((0, 0, 5, 5))
        array([0])
        """
        try:
            import shapely
        except ImportError:
            raise ProgramError(
                "bounding boxes of geometries are computed by Shapely, which is not installed",
                hint="pip install 'fuseloom[calls]', or give boxes",
            ) from None
        return cls(np.reshape(shapely.bounds(geometries), (-1, 4)), capacity)

    @property
    def nodes(self) -> int:
        """The number of leaves."""
        return len(self.numbers)

    def leaves(self, start: int, count: int) -> TreePart:
        """Some leaves, in the order in which they were packed.

        Raises
        ------
        DataError
            If the tree does not have them.
        """
        if not 0 <= start <= start + count <= self.nodes:
            raise DataError(f"node {start} and nodes {count} are outside {self.nodes} leaves")
        chosen = slice(start, start + count)
        return TreePart(self.bounds[chosen], self.boxes[chosen], self.numbers[chosen])

    def arranged(self, values: npt.NDArray[Any], empty: Any) -> npt.NDArray[Any]:
        """Values of the items, in the order of the tree: leaves × boxes.

        Parameters
        ----------
        values : array
            One for each item.
        empty : object
            The value behind the last item.

        Examples
        --------
        >>> PackedTree(np.zeros((3, 4)), capacity=2).arranged(np.array([5, 6, 7]), -1)
        array([[ 5,  6],
               [ 7, -1]])
        """
        made = np.full(self.numbers.shape, empty, values.dtype)
        there = self.numbers >= 0
        made[there] = values[self.numbers[there]]
        return made

    def search(self, window: Window) -> Numbers:
        """Numbers of the items whose boxes meet a window, in ascending order.

        A node whose bounding box does not meet the window is left with all that is below it.
        """
        near = np.arange(len(self.levels[-1].bounds) if self.levels else self.nodes)
        for level in reversed(self.levels):
            children = level.children[near[boxes_meet(level.bounds[near], window)]]
            near = children[children >= 0]
        near = near[boxes_meet(self.bounds[near], window)]
        return np.sort(self.numbers[near][boxes_meet(self.boxes[near], window)])


def _packed(boxes: Boxes, capacity: int) -> Numbers:
    """Numbers of boxes, by nodes; -1 behind the last."""
    nodes = -(-len(boxes) // capacity)
    strips = math.isqrt(max(nodes - 1, 0)) + 1
    x, y = (boxes[:, :2] / 2 + boxes[:, 2:] / 2).T
    strip = np.empty(len(boxes), np.int64)
    strip[np.argsort(x, kind="stable")] = np.arange(len(boxes)) // (strips * capacity)
    made = np.full(nodes * capacity, -1, np.int64)
    made[: len(boxes)] = np.lexsort((y, strip))
    return made.reshape(nodes, capacity)


def _gathered(boxes: Boxes, numbers: Numbers) -> Boxes:
    """Boxes by nodes; NaN where there is none."""
    made = np.full((*numbers.shape, 4), np.nan)
    made[numbers >= 0] = boxes[numbers[numbers >= 0]]
    return made


def _bounding(boxes: Boxes) -> Boxes:
    """The bounding box of each node's boxes."""
    least, most = np.fmin.reduce(boxes[..., :2], axis=1), np.fmax.reduce(boxes[..., 2:], axis=1)
    return np.concatenate([least, most], axis=1)
