"""Integers of few bits, with and without a sign: what NumPy computes of them, or refused."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import FuseloomError
from fuseloom.frontends.mlir import from_mlir
from fuseloom.program import evaluate

from .files import generic, result

WIDTHS = (8, 16, 32, 64)
MAP = "(i) -> (i)"
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "maxsi": np.maximum,
    "minsi": np.minimum,
    "divsi": lambda a, b: np.trunc(a / b),
    "floordivsi": lambda a, b: a // b,
    "ceildivsi": lambda a, b: -(-a // b),
    "remsi": np.fmod,
    **{f"cmpi {x},": f for x, f in {
        "eq": np.equal, "ne": np.not_equal, "slt": np.less, "sle": np.less_equal,
        "sgt": np.greater, "sge": np.greater_equal,
    }.items()},
}  # fmt: skip
UNSIGNED: dict[str, Callable[[Any, Any], Any]] = {
    "maxui": np.maximum,
    "minui": np.minimum,
    "divui": lambda a, b: a // b,
    "ceildivui": lambda a, b: -(-a // b),
    "remui": np.mod,
    **{f"cmpi {x},": f for x, f in {
        "ult": np.less, "ule": np.less_equal, "ugt": np.greater, "uge": np.greater_equal,
    }.items()},
}  # fmt: skip
"""Operations on the numbers that the bits are without a sign."""


def values(bits: int, without_zero: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of integers, of few bits those at the ends, too."""
    top = 2 ** (bits - 1) if bits <= 16 else 100
    one = [-top, -top + 1, -7, -2, -1, 0, 1, 3, 5, top - 1]
    pairs = [(a, b) for a, b in product(one, one) if b or not without_zero]
    pairs = [(a, b) for a, b in pairs if (a, b) != (-top, -1) or not without_zero]
    a, b = np.array(pairs, dtype=object).T
    return a, b


def signed(x: Any, bits: int) -> np.ndarray:
    """The number that the last bits of an integer are."""
    rest = np.array([int(v) for v in np.ravel(x)], dtype=object) % 2**bits
    return np.where(rest >= 2 ** (bits - 1), rest - 2**bits, rest).astype(float)


def computed(body: str, ins: list[tuple[str, np.ndarray]], out: str, before: str = "") -> Any:
    """What a program computes; None where it is refused."""
    n = len(ins[0][1])
    types = [(f"tensor<{n}x{t}>", MAP) for t, _ in ins]
    try:
        given = from_mlir(generic(types, (f"tensor<{n}x{out}>", MAP), "p", body, before=before))
    except FuseloomError as problem:
        return None if problem.line and problem.hint else "refused without a place or a hint"
    data = {x: v.astype(float) for x, (_, v) in zip("ABC", ins, strict=False)}
    found = evaluate(given.program, {**{k: v for k, v in data.items() if k in given.wanted},
                                     **given.data})  # fmt: skip
    return found[given.program.outputs[0]].dense()


@pytest.mark.parametrize("op", [*BINARY, *UNSIGNED])
@pytest.mark.parametrize("bits", WIDTHS)
def test_operations_on_two(op: str, bits: int) -> None:
    divides = "div" in op or "rem" in op
    a, b = values(bits, divides)
    if op in UNSIGNED:
        wanted = UNSIGNED[op](a % 2**bits, b % 2**bits)
    else:
        wanted = BINARY[op](a.astype(float), b.astype(float))
    compares = op.startswith("cmpi")
    wanted = np.asarray(wanted, float) if compares else signed(wanted, bits)
    ins = [(f"i{bits}", a), (f"i{bits}", b)]
    found = computed(f"%y = arith.{op} %a, %b : i{bits}", ins, "i1" if compares else f"i{bits}")
    if found is None:
        assert bits > 16
        assert op in UNSIGNED
        return
    wrong = np.flatnonzero(found != wanted)
    assert not len(wrong), (a[wrong[0]], b[wrong[0]], found[wrong[0]], wanted[wrong[0]])


@pytest.mark.parametrize("op", [*BINARY, *UNSIGNED])
@pytest.mark.parametrize("number", [-1, 1, 3, 100, 127, 200])
def test_operations_with_a_number(op: str, number: int) -> None:
    a = np.arange(-127 if op in ("divsi", "remsi", "floordivsi", "ceildivsi") else -128, 128)
    c = int(signed([number], 8)[0])
    before = f"%k = arith.constant {number} : i8"
    for left in (True, False):
        line = f"%y = arith.{op} {'%a, %k' if left else '%k, %a'} : i8"
        x, y = (a.astype(object), np.full(len(a), c, object))[:: 1 if left else -1]
        keep = np.array([bool(v) for v in y]) if "div" in op or "rem" in op else a == a
        x, y = x[keep], y[keep]
        if op in UNSIGNED:
            wanted = UNSIGNED[op](x % 256, y % 256)
        else:
            wanted = BINARY[op](x.astype(float), y.astype(float))
        compares = op.startswith("cmpi")
        wanted = np.asarray(wanted, float) if compares else signed(wanted, 8)
        found = computed(line, [("i8", a[keep])], "i1" if compares else "i8", before)
        np.testing.assert_array_equal(found, wanted, err_msg=line)


SHIFTS: dict[str, Callable[[Any, int, int], Any]] = {
    "shli": lambda a, n, bits: a * 2**n,
    "shrsi": lambda a, n, bits: a // 2**n,
    "shrui": lambda a, n, bits: (a % 2**bits) // 2**n,
}


@pytest.mark.parametrize("op", SHIFTS)
@pytest.mark.parametrize("bits", WIDTHS)
def test_shifts(op: str, bits: int) -> None:
    a, _ = values(bits)
    for n in (0, 1, 3, 7, 8, 12, 15, 23, 31, 40, 63):
        found = computed(f"%y = arith.{op} %a, %k : i{bits}", [(f"i{bits}", a)], f"i{bits}",
                         f"%k = arith.constant {n} : i{bits}") if n < bits else None  # fmt: skip
        if found is None:
            assert n >= min(bits, 24) or (op == "shrui" and bits - n > 24)
            continue
        np.testing.assert_array_equal(found, signed(SHIFTS[op](a, n, bits), bits), err_msg=str(n))


@pytest.mark.parametrize(("of", "to"), [(a, b) for a in WIDTHS for b in WIDTHS if a != b])
@pytest.mark.parametrize("signless", [False, True])
def test_changes_of_width(of: int, to: int, signless: bool) -> None:
    a, _ = values(of)
    word = ("extui" if signless else "extsi") if to > of else "trunci"
    found = computed(f"%y = arith.{word} %a : i{of} to i{to}", [(f"i{of}", a)], f"i{to}")
    if found is None:
        assert signless
        assert of > 16
        return
    np.testing.assert_array_equal(found, signed(a % 2**of if signless else a, to))


@pytest.mark.parametrize("bits", WIDTHS)
def test_floats_of_integers_and_back(bits: int) -> None:
    a, _ = values(bits)
    i = f"i{bits}"
    np.testing.assert_array_equal(
        computed(f"%y = arith.sitofp %a : {i} to f32", [(i, a)], "f32"), a
    )
    found = computed(f"%y = arith.uitofp %a : {i} to f32", [(i, a)], "f32")
    assert (found is None) == (bits > 16)
    if found is not None:
        np.testing.assert_array_equal(found, (a % 2**bits).astype(float))
    x = np.array([-0.5, 0.0, 0.9, 1.5, 100.2, 127.0, 2.0 ** min(bits, 20) - 1])
    found = computed(f"%y = arith.fptoui %a : f32 to {i}", [("f32", x)], i)
    np.testing.assert_array_equal(found, signed(np.trunc(x), bits))


def test_conditions_are_all_bits() -> None:
    a = np.array([-3, -2, 0, 1, 2])
    for word, wanted in (("extsi", -(a % 2)), ("extui", a % 2)):
        body = f"%b = arith.trunci %a : i8 to i1\n%y = arith.{word} %b : i1 to i8"
        np.testing.assert_array_equal(computed(body, [("i8", a)], "i8"), wanted)


def test_chains_keep_their_bits() -> None:
    """Hashes and checksums: each step leaves the last bits only."""
    a = np.arange(-128, 128)
    body = """
    %p = arith.muli %a, %k : i8
    %q = arith.addi %p, %m : i8
    %r = arith.muli %q, %q : i8
    %s = arith.shrui %r, %one : i8
    %t = arith.subi %s, %a : i8
    %w = arith.extui %t : i8 to i32
    %y = arith.addi %w, %w : i32"""
    before = "\n".join(
        f"%{n} = arith.constant {v} : i8" for n, v in (("k", 37), ("m", 99), ("one", 1))
    )
    x = a.astype(np.int8)
    with np.errstate(over="ignore"):
        q = x * np.int8(37) + np.int8(99)
        s = ((q * q).view(np.uint8) >> 1).view(np.int8)
        wanted = (s - x).view(np.uint8).astype(int) * 2
    np.testing.assert_array_equal(computed(body, [("i8", a)], "i32", before), wanted)


REDUCED: dict[str, tuple[str, int, Callable[[Any, int], Any]]] = {
    "addi": ("%y = arith.addi %o, %a : T", 100, lambda x, s: s + x.sum(1)),
    "subi": ("%y = arith.subi %o, %a : T", 3, lambda x, s: s - x.sum(1)),
    "muli in a sum": (
        "%p = arith.muli %a, %a : T\n%y = arith.addi %p, %o : T", 0, lambda x, s: (x * x).sum(1),
    ),
    "two terms": (
        "%p = arith.addi %a, %o : T\n%y = arith.addi %p, %a : T", 1, lambda x, s: s + 2 * x.sum(1),
    ),
    "where": (
        "%c = arith.cmpi sgt, %a, %o0 : T\n%p = arith.addi %o, %a : T\n"
        "%y = arith.select %c, %p, %o : T", 0, lambda x, s: (x * (x > 0)).sum(1),
    ),
    "maxsi": ("%y = arith.maxsi %o, %a : T", -5, lambda x, s: np.maximum(s, x.max(1))),
    "minsi": ("%y = arith.minsi %o, %a : T", 5, lambda x, s: np.minimum(s, x.min(1))),
}  # fmt: skip


@pytest.mark.parametrize("way", REDUCED)
@pytest.mark.parametrize("bits", [8, 16])
def test_reductions(way: str, bits: int) -> None:
    body, start, wanted = REDUCED[way]
    top = 2 ** (bits - 1)
    x = np.random.default_rng(1).integers(-top, top, (4, 6))
    text = generic(
        [(f"tensor<4x6xi{bits}>", "(i, j) -> (i, j)")], (f"tensor<4xi{bits}>", "(i, j) -> (i)"),
        "pr", body.replace("T", f"i{bits}"), start=str(start),
        before=f"%o0 = arith.constant 0 : i{bits}",
    )  # fmt: skip
    found = result(from_mlir(text), {"A": x})
    np.testing.assert_array_equal(found, signed(wanted(x.astype(object), start), bits))


@pytest.mark.parametrize("start", [0, 7, -1, -56])
@pytest.mark.parametrize("op", ["maxui", "minui"])
def test_extremes_without_a_sign(op: str, start: int) -> None:
    best = np.maximum if op == "maxui" else np.minimum
    x = np.array([[-1, 3, 5], [0, 2, 9], [-128, 127, -3]])
    text = generic(
        [("tensor<3x3xi8>", "(i, j) -> (i, j)")], ("tensor<3xi8>", "(i, j) -> (i)"),
        "pr", f"%y = arith.{op} %o, %a : i8", start=str(start),
    )  # fmt: skip
    found = result(from_mlir(text), {"A": x})
    np.testing.assert_array_equal(found, signed(best(best.reduce(x % 256, 1), start % 256), 8))
    with pytest.raises(FuseloomError, match="accumulated output") as caught:
        from_mlir(text.replace("i8", "i32"))
    assert "maxui" in (caught.value.hint or "")


def test_a_product_of_all_elements_is_refused() -> None:
    text = generic(
        [("tensor<4x3xi8>", "(i, j) -> (i, j)")], ("tensor<4xi8>", "(i, j) -> (i)"), "pr",
        "%y = arith.muli %o, %a : i8", start="1",
    )  # fmt: skip
    with pytest.raises(FuseloomError, match="product of all elements of i8"):
        from_mlir(text)


NAMED: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "matmul": ("matmul", lambda a, b: a @ b),
    "unsigned matmul": (
        "matmul {cast = #linalg.type_fn<cast_unsigned>}", lambda a, b: (a % 256) @ (b % 256),
    ),
    "add": ("add", lambda a, b: a + b),
    "sub": ("sub", lambda a, b: a - b),
    "mul": ("mul", lambda a, b: a * b),
    "max": ("max", np.maximum),
    "max_unsigned": ("elementwise kind=#linalg.elementwise_kind<max_unsigned>",
                     lambda a, b: np.maximum(a % 256, b % 256)),
    "min_unsigned": ("elementwise kind=#linalg.elementwise_kind<min_unsigned>",
                     lambda a, b: np.minimum(a % 256, b % 256)),
    "div_unsigned": ("div_unsigned", lambda a, b: (a % 256) // (b % 256)),
}  # fmt: skip


@pytest.mark.parametrize("out", ["i8", "i16", "i32", "f32"])
@pytest.mark.parametrize("name", NAMED)
def test_named_operations(name: str, out: str) -> None:
    line, wanted = NAMED[name]
    if out != "i8" and "matmul" not in name:
        return
    rng = np.random.default_rng(2)
    a, b = rng.integers(-128, 128, (2, 3, 3))
    b = np.where(b == 0, 1, b)
    t, o = "tensor<3x3xi8>", f"tensor<3x3x{out}>"
    zero = "0.0" if out == "f32" else "0"
    text = f"""
    func.func @f(%A: {t}, %B: {t}) -> {o} {{
      %z = arith.constant {zero} : {out}
      %e = tensor.empty() : {o}
      %s = linalg.fill ins(%z : {out}) outs(%e : {o}) -> {o}
      %y = linalg.{line} ins(%A, %B : {t}, {t}) outs(%s : {o}) -> {o}
      return %y : {o}
    }}"""
    found = result(from_mlir(text), {"A": a, "B": b})
    expected = wanted(a.astype(object), b.astype(object))
    bits = {"i8": 8, "i16": 16}.get(out)
    expected = expected.astype(float) if bits is None else signed(expected, bits).reshape(3, 3)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("way", ["sum", "max", "min", "max_unsigned", "min_unsigned"])
def test_poolings(way: str) -> None:
    x = np.random.default_rng(3).integers(-128, 128, (1, 4, 4, 2))
    start = {"sum": 0, "max": -128, "min": 127, "max_unsigned": 0, "min_unsigned": -1}[way]
    text = f"""
    func.func @f(%X: tensor<1x4x4x2xi8>) -> tensor<1x3x3x2xi8> {{
      %z = arith.constant {start} : i8
      %w = tensor.empty() : tensor<2x2xi8>
      %e = tensor.empty() : tensor<1x3x3x2xi8>
      %s = linalg.fill ins(%z : i8) outs(%e : tensor<1x3x3x2xi8>) -> tensor<1x3x3x2xi8>
      %y = linalg.pooling_nhwc_{way} ins(%X, %w : tensor<1x4x4x2xi8>, tensor<2x2xi8>)
        outs(%s : tensor<1x3x3x2xi8>) -> tensor<1x3x3x2xi8>
      return %y : tensor<1x3x3x2xi8>
    }}"""
    windows = np.lib.stride_tricks.sliding_window_view(x, (2, 2), (1, 2))
    bits = windows % 256 if "unsigned" in way else windows
    wanted = getattr(bits, way.removesuffix("_unsigned"))((-1, -2))
    found = result(from_mlir(text), {"X": x})
    np.testing.assert_array_equal(found, signed(wanted, 8).reshape(1, 3, 3, 2))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("200 : i8", -56), ("0xFF : i8", -1), ("255 : i8", -1), ("-128 : i8", -128), ("1 : i1", 1),
     ("-1 : i1", 1), ("65535 : i16", -1)],
)  # fmt: skip
def test_constants_are_bits(text: str, wanted: int) -> None:
    element = text.split()[-1]
    body = f"%k = arith.constant {text}\n%y = arith.xori %a, %k : i1"
    if element == "i1":
        found = computed(body, [("i1", np.array([0, 1]))], "i1")
        np.testing.assert_array_equal(found, [1, 0])
        return
    body = f"%k = arith.constant {text}\n%y = arith.addi %a, %k : {element}"
    assert computed(body, [(element, np.array([0]))], element) == [wanted]


@pytest.mark.parametrize("text", ["256 : i8", "-129 : i8", "2 : i1", "65536 : i16"])
def test_constants_that_do_not_fit_are_refused(text: str) -> None:
    element = text.split()[-1]
    body = f"%k = arith.constant {text}\n%y = arith.addi %a, %k : {element}"
    assert computed(body, [(element, np.array([0]))], element) is None


@pytest.mark.parametrize("op", ["addi", "muli", "maxui", "divui", "remui", "cmpi ult,"])
@pytest.mark.parametrize("bits", [8, 16])
def test_the_machine_computes_them_in_float32(op: str, bits: int) -> None:
    a, b = values(bits, "div" in op or "rem" in op)
    i = f"i{bits}"
    out = "i1" if op.startswith("cmpi") else i
    t = f"tensor<{len(a)}x{i}>"
    body = f"%y = arith.{op} %a, %b : {i}"
    given = from_mlir(generic([(t, MAP), (t, MAP)], (t.replace(i, out), MAP), "p", body))
    run = simulate(compile_program(given.program), {"A": a.astype(float), "B": b.astype(float)})
    f = UNSIGNED.get(op) or BINARY[op]
    wanted = f(a % 2**bits, b % 2**bits) if op in UNSIGNED else f(a, b)
    wanted = wanted.astype(float) if out == "i1" else signed(wanted, bits)
    np.testing.assert_array_equal(run.results[given.program.outputs[0]].to_dense(), wanted)


@pytest.mark.parametrize(
    ("number", "op", "fits"),
    [("100000", "muli", False), ("40000", "muli", True), ("16777216", "addi", True)],
)
def test_constants_whose_results_do_not_fit_are_refused(number: str, op: str, fits: bool) -> None:
    text = f"""
    #m = affine_map<(i) -> (i)>
    func.func @f() -> tensor<2xi32> {{
      %k = arith.constant dense<[1, {number}]> : tensor<2xi32>
      %e = tensor.empty() : tensor<2xi32>
      %y = linalg.generic {{indexing_maps = [#m, #m], iterator_types = ["parallel"]}}
        ins(%k : tensor<2xi32>) outs(%e : tensor<2xi32>) {{
      ^bb0(%a: i32, %o: i32):
        %p = arith.{op} %a, %a : i32
        linalg.yield %p : i32
      }} -> tensor<2xi32>
      return %y : tensor<2xi32>
    }}"""
    if fits:
        x = np.array([1, int(number)])
        np.testing.assert_array_equal(result(from_mlir(text), {}), x * x if op == "muli" else x + x)
        return
    with pytest.raises(FuseloomError, match="too large for i32"):
        from_mlir(text)


def test_what_is_known_of_a_type_spares_statements() -> None:
    """The sum of two i8 fits an i16."""
    body = "%p = arith.extsi %a : i8 to i16\n%y = arith.addi %p, %p : i16"
    t = "tensor<4xi8>"
    given = from_mlir(generic([(t, MAP)], ("tensor<4xi16>", MAP), "p", body))
    assert len(given.program.statements) == 1
