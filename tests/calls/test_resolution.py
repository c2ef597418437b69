"""Parts that calls need of each other, worked by hand, and what cannot be resolved."""

from __future__ import annotations

import pytest

from fuseloom.calls.annotated import DataHandle, IntegerArgument, annotate
from fuseloom.calls.composition import compose
from fuseloom.calls.data_kinds import Matrix, Vector
from fuseloom.calls.parts import superset
from fuseloom.calls.polynomials import Polynomial
from fuseloom.calls.resolution import resolve, whole_parts
from fuseloom.errors import ProgramError

from .programs import ADD, COLUMN_SUMS, DOWN, EXP, ROW_MAX, ROW_SUMS, SUBTRACT

A, B, C, D = (DataHandle(name, Matrix()) for name in "ABCD")
V = DataHandle("v", Vector())


def texts(fields) -> dict[str, str]:
    return {name: str(value) for name, value in fields.items()}


def test_halos_add_up_backwards() -> None:
    first, second, last = resolve(
        compose([ROW_SUMS(A, B), COLUMN_SUMS(B, C), ROW_SUMS(C, D)])
    ).parts
    assert texts(last.produced) == {
        "row": "r", "col": "c", "rows": "tr_len", "cols": "tc_len"
    }  # fmt: skip
    assert texts(second.produced)["rows"] == "tr_len + 1"
    assert texts(first.produced)["cols"] == "tc_len + 2"
    assert texts(first.consumed[0][1])["rows"] == "tr_len + 2"


def test_halving_is_turned_round() -> None:
    first, _ = resolve(compose([DOWN(A, B), EXP(B, C)])).parts
    assert texts(first.consumed[0][1]) == {
        "row": "2*r", "col": "c", "rows": "2*tr_len", "cols": "tc_len"
    }  # fmt: skip
    double = annotate(
        lambda a, out: None,
        "n: Symbolic for r in [0, out.len, n] { produces { out { start: 2*r, len: 2*n } }"
        " when consumes { a { start: r, len: n } } }",
    )
    a, b, c = (DataHandle(name, Vector()) for name in "abc")
    first, _ = resolve(compose([double(a, b), double(b, c)])).parts
    assert texts(first.produced) == {
        "start": "2*(r / 2)",
        "len": "2*((n_len + r + 1) / 2) - 2*(r / 2)",
    }


def test_a_fork_needs_the_smallest_part_that_holds_both() -> None:
    width = IntegerArgument("width")
    parts = resolve(compose([EXP(A, B), ROW_MAX(B, width, V), SUBTRACT(B, V, C)])).parts
    assert texts(parts[0].produced) == {
        "row": "r", "rows": "tr_len", "col": "0", "cols": "max(c + tc_len, width)"
    }  # fmt: skip


def test_what_is_provably_larger_is_not_asked_for_twice() -> None:
    parts = resolve(compose([EXP(A, B), ROW_SUMS(B, C), ROW_SUMS(A, D)])).parts
    assert len(parts) == 1
    first, *_ = resolve(compose([EXP(A, B), ROW_SUMS(B, C), ROW_SUMS(C, D)])).parts
    assert texts(first.produced)["rows"] == "tr_len + 2"
    both = resolve(compose([EXP(A, B), COLUMN_SUMS(B, C), DOWN(C, D)])).parts
    assert texts(both[0].produced)["rows"] == "2*tr_len"


def test_whole_parts_are_those_of_one_tile() -> None:
    whole = whole_parts(compose([ROW_SUMS(A, B), ROW_SUMS(B, C)]))
    assert texts(whole[B]) == {"row": "0", "rows": "C.rows + 1", "col": "0", "cols": "C.cols"}


def test_supersets_of_parts_that_differ_in_a_field_that_is_no_bound_are_refused() -> None:
    class Rings(Vector):
        name = "rings"
        exact = ("ring",)

    handle = DataHandle("g", Rings())
    one, two = (
        {"start": Polynomial.of("x"), "len": Polynomial.of(1), "ring": Polynomial.of(n)}
        for n in (1, 2)
    )
    assert superset(handle, [one, one]) == one
    with pytest.raises(ProgramError, match="differ in ring"):
        superset(handle, [one, {**two, "len": Polynomial.of(2)}])


@pytest.mark.parametrize(
    ("annotation", "says"),
    [
        ("n: Symbolic m: Symbolic for r in [0, out.len, n] { produces { out { start: r, len: n } }"
         " when consumes { a { start: r, len: m } } }", "m of f is the step of no loop"),
        ("n: Symbolic for r in [0, out.len, n] { produces { out { start: 0, len: n } }"
         " when consumes { a { start: r, len: n } } }", "does not say which part it computes"),
    ],
)  # fmt: skip
def test_loops_that_make_no_tiles_are_refused(annotation: str, says: str) -> None:
    function = annotate(lambda a, out: None, annotation, name="f")
    with pytest.raises(ProgramError, match=says):
        resolve(compose([function(DataHandle("a", Vector()), DataHandle("b", Vector()))]))


@pytest.mark.parametrize(
    ("annotation", "says"),
    [
        ("n: Symbolic for r in [0, out.len, n] { produces { out { start: r, len: n } }"
         " when consumes { a { start: 0, len: a.len } } }", "an intermediate of which only parts"),
        ("n: Symbolic for r in [0, out.len, n] { produces { out { start: r*r, len: n } }"
         " when consumes { a { start: r, len: n } } }", "is no variable times and plus numbers"),
        ("n: Symbolic for r in [0, out.len, n] { produces { out { start: 4 - r, len: n } }"
         " when consumes { a { start: r, len: n } } }", "is no variable times and plus numbers"),
    ],
)  # fmt: skip
def test_parts_that_are_not_solved_are_refused(annotation: str, says: str) -> None:
    exp = annotate(
        lambda a, out: None,
        "t: Symbolic for x in [0, out.len, t] { produces { out { start: x, len: t } }"
        " when consumes { a { start: x, len: t } } }",
    )
    function = annotate(lambda a, out: None, annotation, name="f")
    a, b, c, d = (DataHandle(name, Vector()) for name in "abcd")
    with pytest.raises(ProgramError, match=says):
        resolve(compose([exp(a, b), function(b, c), exp(c, d)]))


def test_an_add_reads_both_of_its_inputs_alike() -> None:
    (part,) = resolve(compose([ADD(A, B, C)])).parts
    assert part.consumed[0][1] == part.consumed[1][1]
