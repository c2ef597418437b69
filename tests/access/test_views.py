"""Views against NumPy: the element that each index reads, without a copy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pytest

from fuseloom.access.kernels import apply
from fuseloom.access.meaning import evaluate, shapes_of
from fuseloom.access.shapes import AccessShape
from fuseloom.access.terms import Term, tensor
from fuseloom.access.views import (
    ElementView,
    added,
    aligned,
    elements,
    moved,
    of_buffer,
    offset,
    pairs,
    part_of,
    plus,
    reshaped,
    steps,
    strides,
    times,
)
from fuseloom.codegen.imperative import BinaryOperation, ElementAccess, Expr, Int, Var
from fuseloom.errors import LoweringError

DATA = np.arange(24.0).reshape(2, 3, 4)
BUFFERS = {"r0": DATA.ravel(), "r1": np.arange(100.0, 112.0)}
CUBE = of_buffer("r0", DATA.shape)


def _value(expr: Expr, indices: Mapping[str, int]) -> float:
    """An expression, computed."""
    match expr:
        case Int(value):
            return value
        case Var(name):
            return indices[name]
        case ElementAccess(name, index):
            return float(BUFFERS[name][int(_value(index, indices))])
        case BinaryOperation("+", left, right):
            return _value(left, indices) + _value(right, indices)
        case BinaryOperation("*", left, right):
            return _value(left, indices) * _value(right, indices)
    raise AssertionError(expr)


def _read(view: ElementView) -> npt.NDArray[np.float64]:
    """All elements of a view, by variables as indices, and by numbers."""
    names = [f"v{k}" for k in range(len(view.extents))]
    by_name, by_number = view.read([Var(name) for name in names]), np.empty(view.extents)
    made = np.empty(view.extents)
    for place in np.ndindex(*view.extents):
        made[place] = _value(by_name, dict(zip(names, place, strict=True)))
        by_number[place] = _value(view.read([Int(k) for k in place]), {})
    assert np.array_equal(made, by_number)
    return made


def test_a_buffer_is_read_in_order() -> None:
    assert np.array_equal(_read(CUBE), DATA)
    assert offset([Int(1), Var("i")], (2, 3)) == BinaryOperation("+", Int(3), Var("i"))
    assert plus(Var("i"), 0) == Var("i")


MOVED: Sequence[tuple[str, tuple[object, ...]]] = [
    ("transpose", ((2, 0, 1),)),
    ("slice", (2, 1, 3)),
    ("box", ((0, 1, 2), (2, 3, 4))),
    ("insert-axis", (1,)),
    ("windows", ((2, 2), (1, 2))),
]


@pytest.mark.parametrize(("construct", "attributes"), MOVED)
def test_what_moves_indices_reads_what_it_means(
    construct: str, attributes: tuple[object, ...]
) -> None:
    operand = apply("access", tensor("A", DATA.shape), 1)
    term = apply(construct, operand, *attributes)
    shapes = shapes_of(term)
    made = moved(term, CUBE, shapes[term].dims, shapes[operand])
    assert made.buffer == ""
    assert np.array_equal(_read(made), evaluate(term, {"A": DATA}))


@pytest.mark.parametrize(
    ("construct", "attributes"),
    [("squeeze", (0,)), ("broadcast", (AccessShape((5,), (3, 4)),))],
)
def test_extents_of_one_are_left_out_or_repeated(
    construct: str, attributes: tuple[object, ...]
) -> None:
    operand = apply("access", tensor("A", (1, 3, 4)), 1)
    term = apply(construct, operand, *attributes)
    shapes = shapes_of(term)
    made = moved(term, of_buffer("r0", (1, 3, 4)), shapes[term].dims, shapes[operand])
    assert np.array_equal(_read(made), evaluate(term, {"A": DATA[:1]}))


def test_other_constructs_are_refused() -> None:
    term = Term("pad", ("zero", 0, 1, 1), (tensor("A", (2,)),))
    view = moved(term, of_buffer("r0", (2,)), (4,), AccessShape((), (2,)))
    with pytest.raises(LoweringError, match="pad is not compiled"):
        view.read([Int(0)])


def test_pairs_are_a_cartesian_product() -> None:
    left, right = AccessShape((2, 3), (4,)), AccessShape((3,), (4,))
    made = pairs(CUBE, of_buffer("r1", right.dims), left, right)
    a, b = apply("access", tensor("A", left.dims), 2), apply("access", tensor("B", right.dims), 1)
    data = {"A": DATA, "B": BUFFERS["r1"].reshape(3, 4)}
    meant = evaluate(Term("cartProd", (), (a, b)), data)
    assert made.axis == 3
    for number, part in enumerate(made.parts):
        assert np.array_equal(_read(part), meant[:, :, :, number])


def test_elements_of_a_dimension() -> None:
    parts = elements(CUBE, 1)
    assert [np.array_equal(_read(part), DATA[:, k]) for k, part in enumerate(parts)] == [True] * 3


def test_what_is_reshaped_without_a_copy() -> None:
    flat = reshaped(CUBE, (6, 4))
    assert flat is not None
    assert flat.buffer == "r0"
    assert np.array_equal(_read(flat), DATA.reshape(6, 4))
    turned = ElementView((4, 2), lambda x: CUBE.read([x[1], Int(1), x[0]]))
    longer = reshaped(turned, (4, 1, 2, 1))
    assert longer is not None
    assert np.array_equal(_read(longer)[:, 0, :, 0], DATA[:, 1].T)
    back = reshaped(longer, (4, 2))
    assert back is not None
    assert np.array_equal(_read(back), DATA[:, 1].T)
    assert reshaped(turned, (4, 2)) is not None
    assert reshaped(turned, (2, 4)) is not None
    assert reshaped(ElementView((3, 4), lambda x: CUBE.read([Int(0), *x])), (4, 3)) is None


def test_what_is_flattened_runs_through_more_extents() -> None:
    turned = ElementView((4, 3, 2), lambda x: CUBE.read([x[2], x[1], x[0]]))
    flat = reshaped(turned, (4, 6))
    assert flat is not None
    assert (flat.dims, flat.groups, flat.extents) == ((4, 6), ((4,), (3, 2)), (4, 3, 2))
    wanted = DATA.transpose(2, 1, 0)
    assert np.array_equal(_read(flat).reshape(4, 6), wanted.reshape(4, 6))
    again = reshaped(flat, (12, 2))
    assert again is not None
    assert np.array_equal(_read(again).reshape(12, 2), wanted.reshape(12, 2))
    assert again.groups == ((4, 3), (2,))
    whole = reshaped(again, (4, 3, 2))
    assert whole is not None
    assert whole.groups == ()
    assert np.array_equal(_read(whole), wanted)


def test_views_by_the_same_indices() -> None:
    turned = reshaped(ElementView((4, 3, 2), lambda x: CUBE.read([x[2], x[1], x[0]])), (24,))
    other = reshaped(ElementView((12, 2), lambda x: CUBE.read([x[1], Int(0), Int(0)])), (24,))
    assert turned is not None
    assert other is not None
    made = aligned([turned, other])
    assert made is not None
    assert [view.extents for view in made] == [(4, 3, 2)] * 2
    assert np.array_equal(_read(made[0]), DATA.transpose(2, 1, 0))
    assert np.array_equal(_read(made[1]).ravel(), np.tile(DATA[:, 0, 0], 12))
    across = reshaped(ElementView((3, 8), lambda x: Int(0)), (24,))
    assert across is not None
    assert aligned([turned, across]) is None


def test_a_part_of_what_was_flattened() -> None:
    turned = ElementView((4, 3, 2), lambda x: CUBE.read([x[2], x[1], x[0]]))
    flat = reshaped(turned, (4, 6))
    assert flat is not None
    last = part_of(flat, (2, 6), 0, 2)
    assert last is not None
    assert last.extents == (2, 3, 2)
    assert np.array_equal(_read(last), DATA.transpose(2, 1, 0)[2:])
    assert part_of(flat, (4, 2), 1, 2) is None


def test_how_far_indices_move() -> None:
    turned = ElementView((4, 2), lambda x: CUBE.read([x[1], Int(1), x[0]]))
    product = ElementView((4, 2), lambda x: BinaryOperation("*", turned.read(x), CUBE.read(
        [Int(0), Int(0), x[0]])))  # fmt: skip
    assert steps(product) == [(1, 12), (1, 0)]
    assert [product.keeps_order(k) for k in range(2)] == [True, False]
    assert ElementView((5, 4), lambda x: turned.read([x[1], Int(0)])).uses() == [1]
    with pytest.raises(LoweringError, match="no sum of multiples"):
        strides(BinaryOperation("*", Var("i"), Var("j")))
    assert strides(plus(times(added(Var("i"), Var("j")), 3), 1)) == {"i": 3, "j": 3}
