"""Slices, pads, reversals and concatenations, by brute force."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

import pytest

from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.operand_schedules import PartMatch
from fuseloom.stitch.propagation import propagate
from fuseloom.stitch.schedules import BlockSchedule
from fuseloom.stitch.shapes import TensorShape
from tests.tiers import counts

from .brute_force import require_agreement, shaped

Case = tuple[DenseOperation, list[TensorShape]]


def sliced(dims: tuple[int, ...], cuts: tuple[tuple[int, int, int], ...]) -> Case:
    result = tuple(len(range(*cut)) for cut in cuts)
    return DenseOperation("y", "slice", shaped(*result), ("x",), {"slice": cuts}), [shaped(*dims)]


def padded(dims: tuple[int, ...], pads: tuple[tuple[int, int, int], ...]) -> Case | None:
    result = tuple(
        low + extent + (extent - 1) * inside + high
        for extent, (low, high, inside) in zip(dims, pads, strict=True)
    )
    if min(result, default=1) < 1:
        return None
    operation = DenseOperation("y", "pad", shaped(*result), ("x", "zero"), {"padding": pads})
    return operation, [shaped(*dims), shaped()]


def turned(dims: tuple[int, ...], over: tuple[int, ...]) -> Case:
    operation = DenseOperation("y", "reverse", shaped(*dims), ("x",), {"dimensions": over})
    return operation, [shaped(*dims)]


def joined(dims: tuple[int, ...], along: int, extents: tuple[int, ...]) -> Case:
    parts = [shaped(*dims[:along], extent, *dims[along + 1 :]) for extent in extents]
    result = shaped(*dims[:along], sum(extents), *dims[along + 1 :])
    names = tuple(f"x{number}" for number in range(len(parts)))
    return DenseOperation("y", "concatenate", result, names, {"dimensions": (along,)}), parts


def every_cut(extent: int) -> list[tuple[int, int, int]]:
    return [
        (start, limit, step)
        for start in range(extent)
        for limit in range(start + 1, extent + 1)
        for step in range(1, limit - start + 1)
    ]


def small_cases() -> Iterator[Case]:
    for extent in range(1, 7):
        yield from (sliced((extent,), (cut,)) for cut in every_cut(extent))
        for first in range(1, extent):
            yield joined((extent,), 0, (first, extent - first))
    for dims in product((1, 2, 3), repeat=2):
        for cuts in product(*map(every_cut, dims)):
            yield sliced(dims, cuts)
        for over in ((), (0,), (1,), (0, 1)):
            yield turned(dims, over)
        for along, other in product((0, 1), (1, 2, 3)):
            yield joined(dims, along, (dims[along], other))
    pads = list(product((-1, 0, 1, 2), (-1, 0, 1, 3), (0, 1)))
    for extent in range(1, 5):
        for pad in pads:
            if case := padded((extent,), (pad,)):
                yield case
        for pad in pads[::3]:
            for case in (
                padded((2, extent), ((0, 0, 0), pad)),
                padded((extent, 2), (pad, (0, 2, 0))),
            ):
                if case:
                    yield case


def random_case(draw: random.Random) -> Case | None:
    rank = draw.randint(1, 4)
    dims = tuple(draw.choice((1, 2, 3, 4, 6)) for _ in range(rank))
    kind = draw.choice(("slice", "pad", "reverse", "concatenate"))
    if kind == "slice":
        whole = [(0, extent, 1) for extent in dims]
        cuts = [
            draw.choice(every_cut(extent)) if draw.random() < 0.4 else cut
            for extent, cut in zip(dims, whole, strict=True)
        ]
        return sliced(dims, tuple(cuts))
    if kind == "reverse":
        return turned(dims, tuple(dim for dim in range(rank) if draw.random() < 0.4))
    if kind == "concatenate":
        along = draw.randrange(rank)
        return joined(dims, along, (dims[along], *draw.choices((1, 2, 3), k=draw.randint(1, 2))))
    pads = [
        (draw.randint(-1, 3), draw.randint(-1, 3), draw.randint(0, 1))
        if draw.random() < 0.4
        else (0, 0, 0)
        for _ in dims
    ]
    return padded(dims, tuple(pads))


def test_the_rules_equal_brute_force_on_all_small_arrays() -> None:
    for operation, shapes in small_cases():
        require_agreement(operation, shapes)


@counts(small=60, deep=1_600, fuzz=4_000)
def test_the_rules_equal_brute_force_on_random_arrays(count: int) -> None:
    draw = random.Random(11)
    for _ in range(count):
        if case := random_case(draw):
            require_agreement(*case)


def test_a_dimension_that_is_whole_may_be_cut() -> None:
    operation, shapes = sliced((8, 6), ((0, 8, 1), (1, 4, 1)))
    (verdict,) = propagate(operation, shapes, BlockSchedule(0, 4))
    assert (verdict.match, verdict.schedule) == (PartMatch.COVER, BlockSchedule(0, 4))
    (verdict,) = propagate(operation, shapes, BlockSchedule(1, 3))
    assert (verdict.match, verdict.dims) == (PartMatch.REFUSED, (1,))
    assert verdict.rule == "a dimension that is cut, moved or turned is split"


@pytest.mark.parametrize("kind", ["slice", "pad", "reverse", "concatenate"])
def test_operands_without_elements_are_refused(kind: str) -> None:
    attributes = {
        "slice": {"slice": ((0, 0, 1),)}, "pad": {"padding": ((1, 0, 0),)},
        "reverse": {"dimensions": (0,)}, "concatenate": {"dimensions": (0,)},
    }[kind]  # fmt: skip
    operation = DenseOperation("y", kind, shaped(1), ("x",), attributes)
    verdict = propagate(operation, [shaped(0)], BlockSchedule(0, 1))[0]
    assert (verdict.match, verdict.rule) == (PartMatch.REFUSED, "the operand has no elements")
