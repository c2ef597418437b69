"""Sums of two operands: where they have elements, and how exact these are."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.program.functions import Op
from fuseloom.program.rounded.budget import EvaluationBudget, TooMuchError
from fuseloom.program.rounded.rounding import UNIT, Rounding
from fuseloom.program.rounded.tensors import Elements, Grid, Listed
from fuseloom.program.rounded.unions import Operand, union
from fuseloom.program.types import BroadcastAdd

ROOM = 1e9


def listed(points: dict[tuple[int, ...], float], bound: float | None = None) -> Listed:
    coords = np.array(list(points), dtype=np.int64).T
    values = np.array(list(points.values()))
    return Listed(coords, values, None if bound is None else np.full(len(values), bound))


def added(
    space: str,
    *operands: Operand,
    mode: BroadcastAdd = BroadcastAdd.SPARSE,
    op: Op = Op.ADD,
    sizes: int = 3,
) -> dict[tuple[int, ...], float]:
    extents = dict.fromkeys(space, sizes)
    made = union(
        tuple(space), operands, op, mode, extents, Rounding(), EvaluationBudget(ROOM, ROOM)
    )
    one = made.listed()
    return dict(zip(map(tuple, one.coords.T.tolist()), one.values.tolist(), strict=True))


MATRIX = {(0, 1): 1.0, (2, 0): 2.0, (2, 2): 3.0}


def test_equal_indices_are_the_plain_union() -> None:
    other = {(0, 1): 10.0, (1, 1): 20.0}
    want = {(0, 1): 11.0, (2, 0): 2.0, (2, 2): 3.0, (1, 1): 20.0}
    assert added("ij", (("i", "j"), listed(MATRIX)), (("i", "j"), listed(other))) == want
    turned = {(j, i): v for (i, j), v in other.items()}
    assert added("ij", (("i", "j"), listed(MATRIX)), (("j", "i"), listed(turned))) == want
    less = added("ij", (("i", "j"), listed(MATRIX)), (("i", "j"), listed(other)), op=Op.SUB)
    assert less == {(0, 1): -9.0, (2, 0): 2.0, (2, 2): 3.0, (1, 1): -20.0}
    other[1, 1] = -20.0
    pair = (("i", "j"), listed(MATRIX)), (("i", "j"), listed(other))
    want = {(0, 1): 10.0, (2, 0): 2.0, (2, 2): 3.0, (1, 1): -20.0}
    assert added("ij", *pair, op=Op.MAXIMUM) == want


@pytest.mark.parametrize("dense", [False, True])
def test_a_row_that_is_added_goes_where_rows_are(dense: bool) -> None:
    """Row 1 is empty: in the sparse mode it stays so."""
    row: Elements = listed({(0,): 10.0, (2,): 30.0})
    if dense:
        row = Grid((np.arange(3),), np.array([10.0, 20.0, 30.0]))
    got = added("ij", (("i", "j"), listed(MATRIX)), (("j",), row))
    columns = {0: 10.0, 2: 30.0} | ({1: 20.0} if dense else {})
    want = {(i, j): v for i in (0, 2) for j, v in columns.items()}
    for key, value in MATRIX.items():
        want[key] = want.get(key, 0.0) + value
    assert got == want


def test_a_column_that_is_added_has_only_the_elements_that_are_there() -> None:
    column = listed({(0,): 10.0, (1,): 20.0})
    got = added("ij", (("i", "j"), listed(MATRIX)), (("i",), column))
    assert got == {(0, 1): 11.0, (2, 0): 2.0, (2, 2): 3.0}  # row 1 has no column to be in


def test_in_the_dense_mode_every_row_has_it() -> None:
    row = listed({(0,): 10.0})
    mode = BroadcastAdd.DENSE
    got = added("ij", (("i", "j"), listed(MATRIX)), (("j",), row), mode=mode)
    assert got == {(0, 0): 10.0, (1, 0): 10.0, (2, 0): 12.0, (0, 1): 1.0, (2, 2): 3.0}
    outer = added("ij", (("i",), listed({(1,): 5.0})), (("j",), row), mode=mode)
    assert outer == {(0, 0): 10.0, (1, 0): 15.0, (2, 0): 10.0, (1, 1): 5.0, (1, 2): 5.0}


def test_a_scalar_goes_everywhere_where_the_other_is() -> None:
    scalar = Grid((), np.array(7.0))
    got = added("ij", (("i", "j"), listed(MATRIX)), ((), scalar))
    assert got == {key: value + 7 for key, value in MATRIX.items()}


def test_grids_stay_grids_where_their_coordinates_agree() -> None:
    axes = (np.arange(2), np.array([0, 4]))
    a, b = Grid(axes, np.ones((2, 2)), np.full((2, 2), 0.5)), Grid(axes[1:], np.array([1.0, 2.0]))
    extents = {"i": 2, "j": 5}
    for mode in BroadcastAdd:
        made = union(
            ("i", "j"), [(("i", "j"), a), (("j",), b)], Op.ADD, mode, extents, Rounding(),
            EvaluationBudget(ROOM, ROOM),
        )  # fmt: skip
        assert isinstance(made, Grid)
        assert made.values.tolist() == [[2, 3], [2, 3]]
        assert made.bounds is not None
        np.testing.assert_allclose(made.bounds, 0.5 + UNIT * (made.values + 0.5))
    wider = {"i": 3, "j": 5}  # in the dense mode b is in a row that a lacks
    made = union(
        ("i", "j"), [(("i", "j"), a), (("j",), b)], Op.ADD, BroadcastAdd.DENSE, wider, Rounding(),
        EvaluationBudget(ROOM, ROOM),
    )  # fmt: skip
    assert made.size == 6


def test_bounds_add_up() -> None:
    one, two = listed({(0,): 1.0, (1,): 1.0}, 1e-3), listed({(1,): 1.0, (2,): 1.0}, 1e-2)
    made = union(
        ("i",), [(("i",), one), (("i",), two)], Op.SUB, BroadcastAdd.SPARSE, {"i": 3}, Rounding(),
        EvaluationBudget(ROOM, ROOM),
    ).listed()  # fmt: skip
    assert made.bounds is not None
    found = dict(zip(made.coords[0].tolist(), made.bounds.tolist(), strict=True))
    assert found == pytest.approx({0: 1e-3, 1: 1.1e-2, 2: 1e-2}, rel=1e-3)


def test_the_larger_of_two_is_as_wrong_as_either_may_be() -> None:
    one, two = listed({(0,): 1.0, (1,): 1.0}, 1e-3), listed({(1,): 1.0, (2,): 1.0}, 1e-2)
    pair = [(("i",), one), (("i",), two)]
    made = union(
        ("i",),
        pair,
        Op.MAXIMUM,
        BroadcastAdd.SPARSE,
        {"i": 3},
        Rounding(),
        EvaluationBudget(ROOM, ROOM),
    ).listed()
    assert made.bounds is not None
    found = dict(zip(made.coords[0].tolist(), made.bounds.tolist(), strict=True))
    assert found == {0: 1e-3, 1: 1e-2, 2: 1e-2}


def test_a_sum_over_a_large_space_is_refused_before_it_is_made() -> None:
    row = (("j",), listed({(k,): 1.0 for k in range(100)}))
    one = (("i",), listed({(0,): 1.0}))
    with pytest.raises(TooMuchError):
        union(
            ("i", "j"), [one, row], Op.ADD, BroadcastAdd.DENSE, {"i": 10**6, "j": 100}, Rounding(),
            EvaluationBudget(1e6, ROOM),
        )  # fmt: skip
