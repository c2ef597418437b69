"""The relation of an index to others."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from fuseloom.errors import ProgramError
from fuseloom.program.formats import Format, LevelFormat
from fuseloom.program.relations import Relation, affine_text, bounds, check_relation


@pytest.mark.parametrize(
    ("relation", "shape"),
    [
        (Relation(2, ((0, 2), (1, 1)), -1), (4, 3, 6)),
        (Relation(0, ((1, -1), (2, 3)), 2), (7, 4, 2)),
        (Relation(1, ((0, 1),), 0, (4, 0, 4)), (5, 6)),
        (Relation(1, ((2, -1),), 1, (1, 0)), (2, 3, 4)),
        (Relation(0, (), 3), (5,)),
        (Relation(0, (), 0, (1,)), (2, 3)),
    ],
)
def test_coordinates_are_those_for_which_it_holds(
    relation: Relation, shape: tuple[int, ...]
) -> None:
    def holds(point: tuple[int, ...]) -> bool:
        at = relation.offset + sum(c * point[d] for d, c in relation.terms)
        if relation.entries is not None:
            return 0 <= at < relation.length and point[relation.target] == relation.entries[at]
        return point[relation.target] == at

    wanted = {point for point in product(*map(range, shape)) if holds(point)}
    made = relation.coordinates(shape)
    assert {tuple(point) for point in made.tolist()} == wanted
    assert len(made) == len(wanted)
    assert relation.total(shape) == (len(wanted) == relation.elements(shape))


def test_bounds_and_text() -> None:
    assert bounds([(3, 2), (-2, 4)], 1) == (-5, 4)
    assert affine_text([(-1, "i"), (3, "k")], -4) == "-i + 3*k - 4"
    assert affine_text([], 0) == "0"
    assert Relation(1, ((0, 1),), 2, (5, 6)).text(("i", "j")) == "j = (5, 6)[i + 2]"


@pytest.mark.parametrize(
    ("relation", "shape", "message"),
    [
        (Relation(2, ((0, 1),)), (3, 3), "not different"),
        (Relation(1, ((1, 1),)), (3, 3), "not different"),
        (Relation(1, ((0, 1), (0, 2))), (3, 3), "not different"),
        (Relation(1, ((0, 0),)), (3, 3), "is 0 or larger"),
        (Relation(1, ((0, 1),), 2**31), (3, 3), "is 0 or larger"),
        (Relation(1, ((0, 1),), 0, ()), (3, 3), "is empty"),
        (Relation(1, ((0, 1),), 0, (0, -1)), (3, 3), "entry 1 of the list is -1"),
        (Relation(1, ((0, 1),)), (2**27, 3), "the limit is"),
    ],
)
def test_what_does_not_fit_is_refused(
    relation: Relation, shape: tuple[int, ...], message: str
) -> None:
    with pytest.raises(ProgramError, match=message):
        check_relation("S", relation, shape)


def test_sums_that_never_lie_inside_have_no_coordinates() -> None:
    assert Relation(1, ((0, 1),), 9).coordinates((3, 4)).shape == (0, 2)
    assert Relation(1, ((0, 1),), 9).coordinates((3, 4)).dtype == np.int64


@pytest.mark.parametrize("offset", [-1, 0, 1])
@pytest.mark.parametrize("places", [3, 4])
def test_levels_are_dense_where_each_place_has_a_coordinate(offset: int, places: int) -> None:
    relation, shape = Relation.of((1, 1), offset), (places, 2, 5)
    reached = len(relation.coordinates(shape))
    levels = relation.format(shape).levels
    assert levels[-1] is LevelFormat.COMPRESSED
    assert relation.total(shape) == (reached == places * 2)
    wanted = LevelFormat.DENSE if relation.total(shape) else LevelFormat.COMPRESSED
    assert set(levels[:-1]) == {wanted}


def test_a_relation_of_another_dimension_than_the_last_is_compressed() -> None:
    assert Relation(0, ((1, 2),), 0).format((6, 3)) == Format.compressed(2)
    assert Relation.of((2,), 0).format((3, None)).levels[0] is LevelFormat.DENSE, "it will fit"
