"""The checker: what it finds in calls that misbehave, and in annotations that are changed."""

from __future__ import annotations

from itertools import count, islice
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from fuseloom.calls.annotated import AnnotatedFunction, annotate
from fuseloom.calls.checker import CallCheck, CallFinding, CallProblem, check
from fuseloom.calls.data_kinds import Fields, Items, Matrix, Vector
from fuseloom.calls.library import LIBRARY, LibraryCall
from fuseloom.errors import DataError, ProgramError
from tests.calls.mutants import SEEDS, means_the_same, mutants

ELEMENTS = """t: Symbolic
for x in [0, out.len, t] {
  produces { out { start: x, len: t } } when consumes { a { start: x, len: t } }
}"""
KINDS = {"a": Vector(), "out": Vector()}


def values(seed: int = 0) -> dict[str, Any]:
    return {"a": np.random.default_rng(seed).normal(size=17), "out": np.zeros(17)}


def found(function: Any, text: str = ELEMENTS, **more: Any) -> CallCheck:
    """The check of a function on vectors."""
    parameters = more.pop("parameters", ["a", "out"])
    return check(annotate(function, text, parameters, "f"), KINDS, {**values(), **more})


def double(a: Any, out: Any) -> None:
    np.multiply(a, 2, out=out)


def test_a_sound_call_has_no_findings_and_leaves_its_data_alone() -> None:
    data = values()
    before = {name: value.copy() for name, value in data.items()}
    report = check(annotate(double, ELEMENTS), KINDS, data, parts=30, seed=3)
    assert report.ok
    assert (report.parts, report.problems, report.hints) == (30, frozenset(), ())
    assert str(report) == "double: no fault found in 30 parts"
    assert all(np.array_equal(before[name], data[name]) for name in data)


def test_infinities_and_gaps_pass_through() -> None:
    data = values()
    data["a"][[0, 5, 16]] = np.inf, np.nan, -np.inf
    assert check(annotate(double, ELEMENTS), KINDS, data).ok


@pytest.mark.parametrize(
    "function",
    [np.cumsum, np.cumprod, lambda a, out: np.copyto(out, np.sort(a)),
     lambda a, out: np.copyto(out, np.fft.fft(a).real),
     lambda a, out: np.copyto(out, a[::-1]), lambda a, out: np.divide(a, a.max(), out=out),
     lambda a, out: np.copyto(out, np.gradient(np.append(a, a))[: len(a)]),
     lambda a, out: np.copyto(out, np.arange(len(a)))],
)  # fmt: skip
def test_a_call_that_needs_more_than_it_says(function: Any) -> None:
    report = found(lambda a, out: function(a, out=out))
    assert CallProblem.RESULT in report.problems
    assert "and not" in str(report)


def before_the_part(a: Any, out: Any) -> None:
    double(a, out)
    as_strided(out, (len(out) + 1,), out.strides)[-1] = 3.0


def test_a_call_that_writes_outside_its_part() -> None:
    report = found(before_the_part)
    assert report.problems == {CallProblem.BANDS}
    (finding,) = report.findings
    assert 10 < finding.parts <= 20 + 1, "parts that were drawn twice count once"
    assert finding.text == "on the whole, {start: 0, len: 17}"
    assert str(finding).endswith(f"(in {finding.parts} parts)")


def test_a_call_that_reads_outside_its_part() -> None:
    def reads(a: Any, out: Any) -> None:
        beyond = as_strided(a, (len(a) + 1,), a.strides)
        np.add(beyond[1:], beyond[:-1], out=out)

    assert CallProblem.RESULT in found(reads).problems


def test_a_call_that_counts_its_runs() -> None:
    counter = count()
    report = found(lambda a, out: np.add(a, next(counter), out=out))
    assert CallProblem.REPEATED in report.problems


def test_a_call_that_draws_random_numbers() -> None:
    rng = np.random.default_rng(0)
    report = found(lambda a, out: np.multiply(a, rng.random(len(a)) < 0.5, out=out))
    assert CallProblem.REPEATED in report.problems


def test_a_call_that_writes_into_its_input() -> None:
    def in_place(a: Any, out: Any) -> None:
        np.multiply(a, 2, out=a)
        np.copyto(out, a)

    report = found(in_place)
    assert report.problems == {CallProblem.INPUT}
    assert report.findings[0].text.startswith("a, ")


def test_a_call_that_adds_to_its_output() -> None:
    assert CallProblem.HELD in found(lambda a, out: np.add(out, a, out=out)).problems


def test_a_call_that_leaves_elements_unwritten() -> None:
    report = found(lambda a, out: np.copyto(out, a, where=a > 0))
    assert report.problems == {CallProblem.HELD}
    assert "not written" in str(report)


def test_a_call_that_fails_on_some_parts() -> None:
    def even(a: Any, out: Any) -> None:
        if len(a) % 2 == 0:
            raise ValueError("an odd number is wanted")
        double(a, out)

    report = found(even)
    assert report.problems == {CallProblem.RAISED}
    assert 0 < report.parts < 20
    assert "ValueError: an odd number is wanted" in str(report)


def test_a_call_that_fails_on_the_whole() -> None:
    report = found(lambda a, out: np.add(a[:-1], a[1:], out=out))
    assert report.problems == {CallProblem.RAISED}
    assert "on the whole" in str(report)
    assert report.parts == 0


@pytest.mark.parametrize(
    ("old", "new", "problem", "words"),
    [
        ("[0, out.len, t]", "[0, out.len - 1, t]", CallProblem.TILES, "1 of 17 elements of out"),
        ("[0, out.len, t]", "[1, out.len, t]", CallProblem.TILES, "such as [0]"),
        ("[0, out.len, t]", "[0, out.len, 2*t]", CallProblem.ANNOTATION, "step of no loop"),
        ("[0, out.len, t]", "[4, 4, t]", CallProblem.TILES, "the loop over x is empty: [4, 4"),
        ("out { start: x,", "out { start: 2*x,", CallProblem.OUTSIDE, "out {start: "),
        ("out { start: x, len: t", "out { start: x, len: 1", CallProblem.TILES, "in no part"),
        ("a { start: x", "a { start: x - 1", CallProblem.OUTSIDE, "a {start: -1"),
        ("a { start: x", "a { start: x + 1", CallProblem.OUTSIDE, "of {start: 0, len: 17}"),
        ("a { start", "a { begin", CallProblem.ANNOTATION, "no field begin"),
        ("out.len", "out.rows", CallProblem.ANNOTATION, "no field rows"),
        ("t: Symbolic", "t: Symbolic u: Symbolic", CallProblem.ANNOTATION, "u is the step of no"),
    ],
)
def test_annotations_that_do_not_fit(old: str, new: str, problem: CallProblem, words: str) -> None:
    report = found(double, ELEMENTS.replace(old, new))
    assert problem in report.problems
    assert words in str(report)
    assert not report.ok


def test_loops_of_fixed_steps() -> None:
    fixed = ELEMENTS.replace("t: Symbolic", "").replace(", t]", ", 4]").replace("len: t", "len: 4")
    assert CallProblem.OUTSIDE in found(double, fixed).problems, "4 does not divide 17"
    data = {"a": np.arange(16.0), "out": np.zeros(16)}
    assert check(annotate(double, fixed), KINDS, data).ok
    overlapping = annotate(double, fixed.replace(", 4]", ", 2]"))
    report = check(overlapping, KINDS, {"a": np.arange(18.0), "out": np.zeros(18)})
    assert CallProblem.OUTSIDE in report.problems
    several = annotate(double, fixed.replace("out.len, 4]", "out.len - 2, 2]"))
    assert "in several parts" in str(check(several, KINDS, data))


def test_one_size_for_two_loops() -> None:
    text = LIBRARY["relu_matrix"].annotation.replace("cols, m]", "cols, n]").replace("m: S", "k: S")
    text = text.replace("cols: m", "cols: n").replace("k: Symbolic", "")
    row = LIBRARY["relu_matrix"]
    made = annotate(row.function, text, row.parameters)
    assert "n is the step of 2 loops" in str(check(made, row.kinds, row.example()))


def test_a_hint_where_half_of_an_input_is_enough() -> None:
    row = LIBRARY["max_rows"]

    def two_columns(a: Any, width: int, out: Any) -> None:
        np.add(a[:, 0], a[:, 1], out=out)

    made = annotate(two_columns, row.annotation, row.parameters)
    report = check(made, row.kinds, row.example())
    assert report.ok
    assert len(report.hints) == 1
    assert "the first half of cols of a gave the same results" in str(report)


def test_integers_and_booleans_are_compared() -> None:
    kinds = {"a": Vector(np.int16), "out": Vector(np.bool_)}
    data = {"a": np.arange(-9, 9, dtype=np.int16), "out": np.zeros(18, np.bool_)}
    assert check(annotate(lambda a, out: np.greater(a, 2, out=out), ELEMENTS), kinds, data).ok
    later = ELEMENTS.replace("a { start: x, len: t", "a { start: 0, len: t")
    wrong = annotate(lambda a, out: np.greater(a, 2, out=out), later)
    assert check(wrong, kinds, data).problems == {CallProblem.RESULT}


def test_lists_that_grow_are_seen() -> None:
    def grows(a: list[int], out: list[int]) -> None:
        out[:] = [2 * x for x in a]
        out.append(0)

    kinds = {"a": Items(), "out": Items()}
    data = {"a": list(range(9)), "out": [0] * 9}
    assert CallProblem.BANDS in check(annotate(grows, ELEMENTS), kinds, data).problems
    shorter = annotate(lambda a, out: out.__setitem__(0, a[0]), ELEMENTS)
    assert CallProblem.RESULT in check(shorter, kinds, data).problems


class Layered(Vector):
    """A vector in layers; a part lies in one of them."""

    name = "layered vector"
    exact = ("layer",)

    def query(self, value: Any, fields: Fields) -> Any:
        return super().query(value[fields["layer"]], fields)

    def whole(self, value: Any) -> Fields:
        return {**super().whole(value[0]), "layer": 0}


def test_kinds_with_exact_fields() -> None:
    text = ELEMENTS.replace("a { start: x", "a { layer: chosen, start: x")
    kinds = {"a": Layered(), "out": Vector()}
    data = {"a": values()["a"][:16].reshape(2, 8), "chosen": 0, "out": np.zeros(8)}
    made = annotate(lambda a, chosen, out: double(a, out), text, ["a", "chosen", "out"], "f")
    assert check(made, kinds, data).ok
    assert check(made, kinds, {**data, "chosen": 1}).problems == {CallProblem.RESULT}
    without = annotate(lambda a, chosen, out: double(a, out), ELEMENTS, ["a", "chosen", "out"])
    assert "does not say layer of a" in str(check(without, kinds, data))


def test_a_tolerance_is_for_the_order_of_additions() -> None:
    row = LIBRARY["gemm"]
    data = {**row.example(2), "a": row.example(2)["a"] * 1e3}
    assert check(row.annotated, row.kinds, data, tolerance=1e-12).ok
    off = annotate(
        lambda a, b, depth, out: np.copyto(out, a @ b * (1 + 1e-6 * len(out))),
        row.annotation, row.parameters,
    )  # fmt: skip
    assert check(off, row.kinds, data, tolerance=1e-12).problems == {CallProblem.RESULT}


def test_the_same_seed_gives_the_same_report() -> None:
    def odd(a: Any, out: Any) -> None:
        np.multiply(a, len(a) % 3, out=out)

    first, second = found(odd), found(odd)
    assert first == second
    assert str(first) == str(second)


def test_what_is_missing_is_asked_for() -> None:
    made = annotate(double, ELEMENTS)
    with pytest.raises(ProgramError, match="without a value for out"):
        check(made, KINDS, {"a": np.zeros(3)})
    with pytest.raises(ProgramError, match="without the kind of out"):
        check(made, {"a": Vector()}, values())
    with pytest.raises(ProgramError, match="0 parts"):
        check(made, KINDS, values(), parts=0)
    with pytest.raises(DataError, match="dimensions"):
        check(made, {**KINDS, "a": Matrix()}, values())


def test_a_finding_says_in_how_many_parts_it_was_seen() -> None:
    assert str(CallFinding(CallProblem.INPUT, "a", 3)).endswith("input: a (in 3 parts)")


def caught(row: LibraryCall, mutant: AnnotatedFunction) -> bool:
    return any(
        not check(mutant, row.kinds, row.example(seed), 10, seed, row.tolerance).ok
        for seed in SEEDS
    )


def different() -> list[LibraryCall]:
    """A row for each annotation of the library."""
    rows = {row.annotation: row for row in LIBRARY.values() if row.needs is None}
    return list(rows.values())


def count_of_caught(rows: list[LibraryCall], every: int) -> tuple[int, int, list[str]]:
    """How many changes mean something else, how many of these are caught, and which are not."""
    wrong, missed = 0, []
    changed = ((row, *mutant) for row in rows for mutant in mutants(row))
    for row, words, mutant in islice(changed, 0, None, every):
        if caught(row, mutant):
            wrong += 1
        elif not means_the_same(row, mutant):
            wrong += 1
            missed.append(f"{row.name}: {words}")
    return wrong, wrong - len(missed), missed


def test_changed_annotations_are_caught() -> None:
    wrong, found_out, missed = count_of_caught(different(), every=9)
    assert wrong >= 300
    assert found_out >= 0.95 * wrong, missed


@pytest.mark.deep  # thousands of checks
@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.fuzz)])
def test_all_changed_annotations_are_caught(every: int) -> None:
    wrong, found_out, missed = count_of_caught(different(), every)
    assert wrong >= 3_000 // every
    assert found_out >= 0.99 * wrong, missed


def test_no_right_annotation_counts_as_wrong() -> None:
    """What the mutants are measured by: changes that mean the same, and rows as they are."""
    for row in different():
        assert means_the_same(row, row.annotated)
        assert not caught(row, row.annotated)
