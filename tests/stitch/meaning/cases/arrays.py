"""Operations that move, combine and order elements."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tests.stitch.meaning.cases.operation_case import (
    Halves,
    N,
    OperationCase,
    X,
    case,
    floats,
    integers,
    region,
)


def shape_changes() -> Iterable[tuple[str, OperationCase]]:
    x = floats(2, 3, 4)
    yield "constant", case("ROOT r = f32[2,2] constant({ { 1, -inf }, { nan, 0.1 } })")
    yield "constant of pred", case("ROOT r = pred[3] constant({true, false, true})")
    yield (
        "parameter",
        OperationCase(
            "HloModule case\nENTRY main {\n  ROOT r = f32[2,3,4] parameter(0)\n}\n", {"r": x}
        ),
    )
    yield "iota", case("ROOT r = s32[3,4] iota(), iota_dimension=1")
    yield "iota of rows", case("ROOT r = f32[3,4] iota(), iota_dimension=0")
    yield "broadcast", case("ROOT r = f32[3,5,2] broadcast(x), dimensions={0,2}", x=floats(3, 2))
    yield "broadcast of a scalar", case("ROOT r = f32[2,2] broadcast(x), dimensions={}", x=X[2])
    yield "reshape", case("ROOT r = f32[4,6] reshape(x)", x=x)
    yield "transpose", case("ROOT r = f32[4,2,3] transpose(x), dimensions={2,0,1}", x=x)
    yield "reverse", case("ROOT r = f32[2,3,4] reverse(x), dimensions={0,2}", x=x)
    yield (
        "concatenate",
        case("ROOT r = f32[2,8,4] concatenate(x, y, x), dimensions={1}", x=x, y=floats(2, 2, 4)),
    )
    yield "slice", case("ROOT r = f32[1,2,2] slice(x), slice={[1:2], [0:3:2], [1:3]}", x=x)
    zero = {"z": np.float32(-1)}
    for name, body, value in (
        ("pad", "ROOT r = f32[3,8] pad(x, z), padding=1_0x2_1_1", floats(2, 3)),
        ("pad by less", "ROOT r = f32[3,7] pad(x, z), padding=-1_2x1_-4_2", floats(2, 4)),
        ("pad the inside", "ROOT r = f32[1] pad(x, z), padding=-3_-3_1", floats(4)),
        ("pad nothing", "ROOT r = f32[3] pad(x, z), padding=1_2_1", floats(0)),
    ):
        yield name, case(body, x=value, **zero)


SUM, MOST = region("sum", "add"), region("most", "maximum")
ZERO = "z = f32[] constant(0)"
LEAST = "z = f32[] constant(-inf)"
ARGMAX = """argmax {
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  more = pred[] compare(a, b), direction=GT
  same = pred[] compare(a, b), direction=EQ
  before = pred[] compare(i, j), direction=LT
  both = pred[] and(same, before)
  first = pred[] or(more, both)
  c = f32[] select(first, a, b)
  k = s32[] select(first, i, j)
  ROOT r = (f32[], s32[]) tuple(c, k)
}
"""
HYPOT = """hypot {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  a = f32[] multiply(p, p)
  b = f32[] multiply(q, q)
  c = f32[] add(a, b)
  ROOT r = f32[] sqrt(c)
}
"""


def reductions() -> Iterable[tuple[str, OperationCase]]:
    x = floats(3, 4, 5)
    for opcode, start in (("add", 0), ("multiply", 1), ("maximum", 0.5), ("minimum", 0)):
        yield (
            f"reduce with {opcode}",
            case(
                f"z = f32[] constant({start})\n"
                "ROOT r = f32[4] reduce(x, z), dimensions={0,2}, to_apply=f",
                region("f", opcode),
                x=x,
            ),
        )
        yield (
            f"reduce s32 with {opcode}",
            case(
                f"z = s32[] constant({int(start)})\n"
                "ROOT r = s32[2] reduce(x, z), dimensions={1}, to_apply=f",
                region("f", opcode, "s32"),
                x=integers(2, 40, most=2**30),
            ),
        )
    for opcode in ("and", "or", "xor"):
        yield (
            f"reduce pred with {opcode}",
            case(
                f"z = pred[] constant({'true' if opcode == 'and' else 'false'})\n"
                "ROOT r = pred[4] reduce(x, z), dimensions={0}, to_apply=f",
                region("f", opcode, "pred"),
                x=x[:, :, 0] > -0.8,
            ),
        )
    yield (
        "reduce nothing",
        case(
            f"{LEAST}\nROOT r = f32[2] reduce(x, z), dimensions={{1}}, to_apply=most",
            MOST,
            x=floats(2, 0),
        ),
    )
    yield (
        "reduce with another region",
        case(
            f"{ZERO}\nROOT r = f32[3,5] reduce(x, z), dimensions={{1}}, to_apply=hypot", HYPOT, x=x
        ),
    )
    yield (
        "reduce in order",
        case(
            "z = f32[] constant(1)\nROOT r = f32[3] reduce(x, z), dimensions={1,2}, to_apply=f",
            region("f", "subtract"),
            x=x,
        ),
    )
    yield (
        "reduce bf16",
        case(
            "z = bf16[] constant(0)\nROOT r = bf16[3] reduce(x, z), dimensions={1}, to_apply=f",
            region("f", "maximum", "bf16"),
            x=Halves(floats(3, 9)),
        ),
    )
    ties = np.float32([[1, 3, 3, 2], [5, 0, 5, 5]])
    yield (
        "reduce two arrays",
        case(
            f"{LEAST}\nn = s32[] constant(0)\ni = s32[2,4] iota(), iota_dimension=1\n"
            "ROOT r = (f32[2], s32[2]) reduce(x, i, z, n), dimensions={1}, to_apply=argmax",
            ARGMAX,
            x=ties,
        ),
    )
    image = floats(1, 6, 7, 2)
    for name, window, dims in (
        ("reduce-window", "size=1x2x3x1 stride=1x2x2x1", "1,3,3,2"),
        (
            "reduce-window with padding",
            "size=1x3x3x1 stride=1x2x2x1 pad=0_0x0_1x1_1x0_0",
            "1,3,4,2",
        ),
        ("reduce-window with holes", "size=1x2x2x1 rhs_dilate=1x3x2x1", "1,3,5,2"),
        (
            "reduce-window, moved apart",
            "size=1x3x1x1 pad=0_0x2_0x0_0x0_0 lhs_dilate=1x2x1x1",
            "1,11,7,2",
        ),
    ):
        for kind, start, regions in (("sum", ZERO, SUM), ("most", LEAST, MOST)):
            yield (
                f"{name}: {kind}",
                case(
                    f"{start}\nROOT r = f32[{dims}] reduce-window(x, z), window={{{window}}}, "
                    f"to_apply={kind}",
                    regions,
                    x=image,
                ),
            )
    yield (
        "reduce-window of a running sum",
        case(
            f"{ZERO}\nROOT r = f32[9] reduce-window(x, z), window={{size=9 pad=8_0}}, to_apply=sum",
            SUM,
            x=floats(9),
        ),
    )
    yield (
        "map",
        case(
            "ROOT r = f32[2,3] map(x, y), dimensions={0,1}, to_apply=hypot",
            HYPOT,
            x=floats(2, 3),
            y=floats(2, 3, seed=1),
        ),
    )
    select = region("ge", "compare", more=", direction=GE")
    for name, window, dims in (
        ("select-and-scatter", "size=2x2 stride=2x2", (3, 3)),
        ("select-and-scatter with overlap", "size=3x3 stride=2x1 pad=1_0x1_1", (3, 6)),
    ):
        yield (
            name,
            case(
                f"z = f32[] constant(0.5)\nROOT r = f32[6,6] select-and-scatter(x, y, z), "
                f"window={{{window}}}, select=ge, scatter=sum",
                select + SUM,
                x=integers(6, 6, most=3).astype(np.float32),
                y=floats(*dims, seed=1),
            ),
        )
    yield (
        "select-and-scatter s32",
        case(
            "z = s32[] constant(1)\nROOT r = s32[6] select-and-scatter(x, y, z), "
            "window={size=3 stride=1}, select=g, scatter=m",
            region("g", "compare", "s32", ", direction=GE") + region("m", "multiply", "s32"),
            x=integers(6),
            y=integers(4, seed=1),
        ),
    )


PAIR = """by_first {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT
}
"""


def ordering() -> Iterable[tuple[str, OperationCase]]:
    less = region("less", "compare", more=", direction=LT, type=TOTALORDER")
    yield "sort", case(f"ROOT r = f32[{N}] sort(x), dimensions={{0}}, to_apply=less", less, x=X)
    yield (
        "sort backwards",
        case(
            "ROOT r = s32[3,17] sort(x), dimensions={1}, is_stable=true, to_apply=more",
            region("more", "compare", "s32", ", direction=GT"),
            x=integers(3, 17),
        ),
    )
    yield (
        "sort pairs",
        case(
            "ROOT r = (s32[37,2], f32[37,2]) sort(x, y), dimensions={0}, is_stable=true, "
            "to_apply=by_first",
            PAIR,
            x=integers(37, 2, most=4),
            y=floats(37, 2),
        ),
    )
    yield (
        "topk",
        case(
            "ROOT r = (f32[2,3], s32[2,3]) topk(x), k=3, largest=true",
            x=np.float32([[1, 5, 5, 2, -1], [0, np.inf, 3, 3, 9]]),
        ),
    )
    yield (
        "topk of s32",
        case("ROOT r = (s32[4], s32[4]) topk(x), k=4, largest=true", x=integers(20, most=5)),
    )
