"""Operations at places that are values, and those that call others."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tests.stitch.meaning.cases.arrays import HYPOT, MOST, SUM
from tests.stitch.meaning.cases.operation_case import (
    I,
    OperationCase,
    case,
    floats,
    integers,
)

SECOND = "second {\n  p = f32[] parameter(0)\n  ROOT q = f32[] parameter(1)\n}\n"


def indexing() -> Iterable[tuple[str, OperationCase]]:
    x = floats(5, 6)
    for name, i, j in (("", 1, 3), (" beyond the end", 4, 99), (" before the start", -3, -1)):
        at = {"i": np.int32(i), "j": np.int32(j)}
        yield (
            f"dynamic-slice{name}",
            case("ROOT r = f32[2,3] dynamic-slice(x, i, j), dynamic_slice_sizes={2,3}", x=x, **at),
        )
        yield (
            f"dynamic-update-slice{name}",
            case(
                "ROOT r = f32[5,6] dynamic-update-slice(x, y, i, j)",
                x=x,
                y=floats(2, 3, seed=1),
                **at,
            ),
        )
    rows = np.int32([0, 4, 2, 2, -1, 7])
    yield (
        "gather",
        case(
            "ROOT r = f32[6,6] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, "
            "start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}",
            x=x,
            i=rows,
        ),
    )
    pairs = integers(4, 3, 2, most=6)
    yield (
        "gather windows",
        case(
            "ROOT r = f32[2,4,3,3] gather(x, i), offset_dims={0,3}, collapsed_slice_dims={}, "
            "start_index_map={1,0}, index_vector_dim=2, slice_sizes={2,3}",
            x=x,
            i=pairs,
        ),
    )
    yield (
        "gather by vectors in front",
        case(
            "ROOT r = f32[4,3,1] gather(x, i), offset_dims={2}, collapsed_slice_dims={1}, "
            "start_index_map={0,1}, index_vector_dim=0, slice_sizes={1,1}",
            x=x,
            i=np.moveaxis(pairs, -1, 0).copy(),
        ),
    )
    yield (
        "gather in batches",
        case(
            "ROOT r = f32[4,5,2] gather(x, i), offset_dims={2}, collapsed_slice_dims={}, "
            "start_index_map={1}, operand_batching_dims={0}, start_indices_batching_dims={1}, "
            "index_vector_dim=2, slice_sizes={1,2}",
            x=x,
            i=integers(4, 5, most=7),
        ),
    )
    for name, regions, apply in (
        ("scatter", SUM, "sum"),
        ("scatter the most", MOST, "most"),
        ("scatter in place", SECOND, "second"),
        ("scatter with another region", HYPOT, "hypot"),
    ):
        unique = np.int32([3, 0, -1, 9, 2]) if apply == "second" else rows[:5]
        yield (
            name,
            case(
                "ROOT r = f32[5,6] scatter(x, i, y), update_window_dims={1}, "
                "inserted_window_dims={0}, "
                f"scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply={apply}",
                regions,
                x=x,
                i=unique,
                y=floats(5, 6, seed=1),
            ),
        )
    yield (
        "scatter windows",
        case(
            "ROOT r = f32[5,6] scatter(x, i, y), update_window_dims={0,2}, "
            "inserted_window_dims={}, "
            "scatter_dims_to_operand_dims={1,0}, index_vector_dim=1, to_apply=sum",
            SUM,
            x=x,
            i=np.int32([[0, 0], [4, 3], [5, 1], [2, 2], [-1, 0]]),
            y=floats(2, 5, 3, seed=1),
        ),
    )
    yield (
        "scatter in batches",
        case(
            "ROOT r = f32[5,6] scatter(x, i, y), update_window_dims={}, inserted_window_dims={1}, "
            "scatter_dims_to_operand_dims={1}, input_batching_dims={0}, "
            "scatter_indices_batching_dims={0}, index_vector_dim=2, to_apply=sum",
            SUM,
            x=x,
            i=integers(5, 3, most=6),
            y=floats(5, 3, seed=1),
        ),
    )


LOOP = """under {
  s = (s32[], f32[3]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  n = s32[] constant(5)
  ROOT r = pred[] compare(k, n), direction=LT
}
next {
  s = (s32[], f32[3]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  x = f32[3] get-tuple-element(s), index=1
  one = s32[] constant(1)
  more = s32[] add(k, one)
  y = f32[3] sine(x)
  ROOT r = (s32[], f32[3]) tuple(more, y)
}
"""
BRANCHES = "".join(
    f"{name} {{\n  p = f32[3] parameter(0)\n  ROOT r = f32[3] {opcode}(p)\n}}\n"
    for name, opcode in (("exp", "exponential"), ("neg", "negate"), ("sin", "sine"))
)


def control() -> Iterable[tuple[str, OperationCase]]:
    x = floats(3)
    yield "tuple", case("ROOT r = (f32[3], s32[2]) tuple(x, y)", x=x, y=I[:2])
    yield (
        "get-tuple-element",
        case(
            "t = (f32[3], s32[2]) tuple(x, y)\nROOT r = s32[2] get-tuple-element(t), index=1",
            x=x,
            y=I[:2],
        ),
    )
    yield (
        "opt-barrier",
        case("t = (f32[3], f32[3]) tuple(x, x)\nROOT r = (f32[3], f32[3]) opt-barrier(t)", x=x),
    )
    yield "call", case("ROOT r = f32[3] call(x), to_apply=exp", BRANCHES, x=x)
    for start in (0, 4, 5):
        yield (
            f"while from {start}",
            case(
                "s = (s32[], f32[3]) tuple(k, x)\n"
                "ROOT r = (s32[], f32[3]) while(s), condition=under, body=next",
                LOOP,
                k=np.int32(start),
                x=x,
            ),
        )
    for choice in (-1, 0, 1, 2, 3):
        yield (
            f"conditional with {choice}",
            case(
                "ROOT r = f32[3] conditional(k, x, x, x), branch_computations={exp, neg, sin}",
                BRANCHES,
                k=np.int32(choice),
                x=x,
            ),
        )
    for truth in (False, True):
        yield (
            f"conditional with {truth}",
            case(
                "ROOT r = f32[3] conditional(k, x, x), true_computation=exp, false_computation=neg",
                BRANCHES,
                k=np.array(truth),
                x=x,
            ),
        )
