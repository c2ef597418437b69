"""Functions of linalg with data for them, made systematically: what two compilers must agree on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from zlib import crc32

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class LinalgFunction:
    """A function ``@name`` of tensors, and data for its arguments ``%a``, ``%b``, ..."""

    family: str
    name: str
    text: str
    data: tuple[npt.NDArray[np.generic], ...]


DTYPES = {
    "f32": np.float32, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "i1": np.bool_,
}  # fmt: skip
_ELEMENTS = {np.dtype(dtype): element for element, dtype in DTYPES.items()}
_LETTERS = "abcdefgh"


def type_of(array: npt.NDArray[np.generic]) -> str:
    """The type of an array."""
    return tensor(array.shape, _ELEMENTS[array.dtype])


def tensor(shape: Sequence[int | str], element: str) -> str:
    """The type of a tensor."""
    return f"tensor<{''.join(f'{n}x' for n in shape)}{element}>"


def made(
    family: str, name: str, data: Sequence[npt.NDArray[np.generic]], lines: str, out: str
) -> LinalgFunction:
    """A function whose lines define ``%r`` of type ``out``; ``{a}`` is the type of ``%a``."""
    types = {x: type_of(array) for x, array in zip(_LETTERS, data, strict=False)}
    for x, type_ in types.items():
        lines = lines.replace(f"{{{x}}}", type_)
    lines = lines.replace("{out}", out)
    arguments = ", ".join(f"%{x}: {t}" for x, t in types.items())
    plain = "".join(c if c.isalnum() else "_" for c in f"{family}_{name}".replace("-", "minus"))
    text = f"func.func @{plain}({arguments}) -> {out} {{\n{lines}\n  return %r : {out}\n}}\n"
    return LinalgFunction(family, plain, text, tuple(data))


def floats(name: str, *shape: int, positive: bool = False) -> npt.NDArray[np.float32]:
    """Random numbers that a name stands for."""
    rng = np.random.default_rng(crc32(name.encode()))
    found = rng.normal(size=shape) * 2.0
    return np.asarray(np.abs(found) + 0.25 if positive else found, dtype=np.float32)


def whole(
    name: str, element: str, *shape: int, small: bool = False, zero: bool = True
) -> npt.NDArray[np.generic]:
    """Random integers of a type: of few bits all of them, others up to a thousand."""
    rng = np.random.default_rng(crc32(name.encode()))
    bits = int(element[1:])
    top = 10 if small else min(2 ** (bits - 1), 1000 if bits > 16 else 2**15)
    found = rng.integers(-top, top, shape)
    if not small and found.size > 3 and bits <= 16:
        found.flat[:4] = [-top, top - 1, -1, 1]
    if not zero:
        found = np.where(found == 0, 1, found)
    return found.astype(DTYPES[element])


def generic(
    maps: Sequence[str], kinds: str, operands: str, out: str, region: str, start: str = "%e"
) -> str:
    """A ``linalg.generic``; ``region`` is its block."""
    words = ", ".join(f'"{"parallel" if kind == "p" else "reduction"}"' for kind in kinds)
    listed = ", ".join(f"affine_map<{m}>" for m in maps)
    ins = f"ins({operands})" if operands else ""
    return (
        f"  %r = linalg.generic {{indexing_maps = [{listed}], iterator_types = [{words}]}}\n"
        f"    {ins} outs({start} : {out}) {{\n{region}\n  }} -> {out}"
    )


def filled(out: str, number: str, name: str = "%e") -> str:
    """Lines that define an output filled with a number."""
    element = out[:-1].rpartition("x")[2].removeprefix("tensor<")
    return (
        f"  {name}0 = tensor.empty() : {out}\n  {name}n = arith.constant {number} : {element}\n"
        f"  {name} = linalg.fill ins({name}n : {element}) outs({name}0 : {out}) -> {out}\n"
    )


def each(
    family: str, name: str, data: Sequence[npt.NDArray[np.generic]], body: str, element: str
) -> LinalgFunction:
    """A function of each element: ``body`` defines ``%y`` of ``%u``, ``%v``, ``%w``."""
    shape = data[0].shape
    out = tensor(shape, element)
    dims = ", ".join(f"d{n}" for n in range(len(shape)))
    maps = [f"({dims}) -> ({dims})"] * (len(data) + 1)
    names = "uvwxyz"[: len(data)]
    block = ", ".join(f"%{x}: {_ELEMENTS[a.dtype]}" for x, a in zip(names, data, strict=True))
    letters = _LETTERS[: len(data)]
    operands = f"{', '.join(f'%{x}' for x in letters)} : {', '.join(f'{{{x}}}' for x in letters)}"
    region = f"  ^bb0({block}, %o: {element}):\n    {body}\n    linalg.yield %y : {element}"
    empty = f"  %e = tensor.empty() : {out}\n"
    return made(
        family, name, data, empty + generic(maps, "p" * len(shape), operands, out, region), out
    )


# Each element ---------------------------------------------------------------------------------


def of_floats() -> Iterator[LinalgFunction]:
    for op in ("addf", "subf", "mulf", "divf", "maximumf", "minimumf", "maxnumf", "minnumf"):
        data = [floats(op + x, 3, 4) for x in "ab"]
        yield each("float", op, data, f"%y = arith.{op} %u, %v : f32", "f32")
    for op in (
        "exp", "tanh", "erf", "sin", "cos", "atan", "floor", "ceil", "round", "roundeven",
        "absf", "expm1", "log", "sqrt", "rsqrt", "log1p",
    ):  # fmt: skip
        positive = op in ("log", "sqrt", "rsqrt", "log1p")
        data = [floats(op, 3, 5, positive=positive)]
        if op in ("round", "roundeven"):
            data[0].flat[:6] = [0.5, 1.5, 2.5, -0.5, -1.5, -2.5]
        yield each("float", op, data, f"%y = math.{op} %u : f32", "f32")
    yield each("float", "negf", [floats("negf", 7)], "%y = arith.negf %u : f32", "f32")
    yield each(
        "float", "fma", [floats(f"fma{x}", 2, 3) for x in "abc"],
        "%y = math.fma %u, %v, %w : f32", "f32",
    )  # fmt: skip
    powers = [floats("p", 3, 4, positive=True), floats("q", 3, 4)]
    yield each("float", "powf", powers, "%y = math.powf %u, %v : f32", "f32")
    signs = [floats("r", 3, 4), whole("s", "i32", 3, 4, small=True).astype(np.float32) % 4]
    yield each("float", "powf_signs", signs, "%y = math.powf %u, %v : f32", "f32")
    for exponent in ("0.0", "1.0", "2.0", "3.0", "7.0", "-1.0", "-2.0", "0.5", "1.5", "-0.5"):
        body = f"%k = arith.constant {exponent} : f32\n    %y = math.powf %u, %k : f32"
        yield each("float", f"powf {exponent}", [floats("p", 6, positive=True)], body, "f32")
    for word in ("oeq", "ogt", "oge", "olt", "ole", "one", "une", "ueq", "ult"):
        data = [floats("cmp" + x, 4, 4) for x in "ab"]
        data[1][0] = data[0][0]
        body = f"%p = arith.cmpf {word}, %u, %v : f32\n    %y = arith.select %p, %v, %w : f32"
        data.append(floats("cmpc", 4, 4))
        yield each("float", f"cmpf {word}", data, body, "f32")
    for number in ("0xFF800000", "0x7F800000", "2.5"):
        body = (
            f"%k = arith.constant {number} : f32\n    %z = arith.constant 0.0 : f32\n"
            "    %c = arith.cmpf ogt, %u, %z : f32\n    %y = arith.select %c, %u, %k : f32"
        )
        yield each("float", f"select {number}", [floats("sel", 3, 4)], body, "f32")
        body = body.replace("%c, %u, %k", "%c, %k, %u")
        yield each("float", f"select_other {number}", [floats("sel", 3, 4)], body, "f32")


_COMPARED = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


def of_integers() -> Iterator[LinalgFunction]:
    binary = (
        "addi", "subi", "muli", "maxsi", "minsi", "maxui", "minui", "divsi", "divui", "remsi",
        "remui", "floordivsi", "ceildivsi", "ceildivui",
    )  # fmt: skip
    for op, element in product(binary, ("i8", "i16", "i32")):
        divides = "div" in op or "rem" in op
        if divides and "ui" in op and element == "i32":
            continue  # refused: of 32 bits what is negative has no number without a sign
        a = whole(f"{op}a", element, 5, 6)
        b = whole(f"{op}b", element, 5, 6, zero=not divides)
        if divides:  # -128 / -1 does not fit, and has no meaning
            b = np.where(b == -1, 3, b).astype(b.dtype)
        yield each("integer", f"{op} {element}", [a, b], f"%y = arith.{op} %u, %v : {element}",
                   element)  # fmt: skip
    for word, element in product(_COMPARED, ("i8", "i32")):
        data = [whole(f"{word}{x}", element, 4, 5) for x in "ab"]
        body = (
            f"%c = arith.cmpi {word}, %u, %v : {element}\n"
            f"    %y = arith.select %c, %u, %v : {element}"
        )
        yield each("integer", f"cmpi {word} {element}", data, body, element)
    for op, places, element in product(("shli", "shrsi", "shrui"), (1, 7), ("i8", "i16", "i32")):
        if op == "shrui" and element == "i32":
            places += 8
        body = f"%k = arith.constant {places} : {element}\n    %y = arith.{op} %u, %k : {element}"
        yield each("integer", f"{op} {places} {element}", [whole(op, element, 4, 5)], body, element)
    for of, to in product(("i8", "i16", "i32"), repeat=2):
        if of == to:
            continue
        words = ("trunci",) if int(of[1:]) > int(to[1:]) else ("extsi", "extui")
        for word in words:
            body = f"%y = arith.{word} %u : {of} to {to}"
            yield each("integer", f"{word} {of} {to}", [whole(of + to, of, 4, 4)], body, to)
    for element in ("i8", "i16", "i32"):
        data = [whole(f"fp{element}", element, 4, 4)]
        for word in ("sitofp", "uitofp"):
            if word == "uitofp" and element == "i32":
                continue
            body = f"%y = arith.{word} %u : {element} to f32"
            yield each("integer", f"{word} {element}", data, body, "f32")
        reals = [floats(f"to{element}", 4, 4) * 10]
        body = f"%y = arith.fptosi %u : f32 to {element}"
        yield each("integer", f"fptosi {element}", reals, body, element)
        body = "%y = arith.fptoui %u : f32 to i32"
        if element != "i32":
            body = f"%p = arith.fptoui %u : f32 to i32\n    %y = arith.trunci %p : i32 to {element}"
        yield each("integer", f"fptoui {element}", [np.abs(reals[0])], body, element)
        body = f"%y = math.absi %u : {element}"
        yield each("integer", f"absi {element}", data, body, element)
    clamp = """%c0 = arith.constant 0 : i8
    %c1 = arith.constant -56 : i8
    %p = arith.cmpi ult, %u, %c0 : i8
    %q = arith.select %p, %c0, %u : i8
    %s = arith.cmpi uge, %q, %c1 : i8
    %y = arith.select %s, %c1, %q : i8"""
    yield each("integer", "clamp", [whole("clamp", "i8", 30)], clamp, "i8")
    mixed = """%p = arith.muli %u, %v : i8
    %q = arith.addi %p, %u : i8
    %s = arith.extui %q : i8 to i32
    %t = arith.extsi %v : i8 to i32
    %y = arith.subi %s, %t : i32"""
    data = [whole(f"mixed{x}", "i8", 6, 6) for x in "ab"]
    yield each("integer", "mixed", data, mixed, "i32")


# Named operations -----------------------------------------------------------------------------


def _named(op: str, data: Sequence[npt.NDArray[np.generic]], out: str, start: str = "") -> str:
    letters = _LETTERS[: len(data)]
    operands = f"{', '.join(f'%{x}' for x in letters)} : {', '.join(f'{{{x}}}' for x in letters)}"
    first = filled(out, start) if start else f"  %e = tensor.empty() : {out}\n"
    return f"{first}  %r = linalg.{op} ins({operands}) outs(%e : {out}) -> {out}"


_KIND = "elementwise <{}>"


def of_names() -> Iterator[LinalgFunction]:
    for op in ("add", "sub", "mul", "div", "max_signed", "min_signed", "powf"):
        data = [floats(op + x, 3, 4, positive=op == "powf") for x in "ab"]
        lines = _named(_KIND.format(op), data, "tensor<3x4xf32>")
        yield made("named", op, data, lines, "tensor<3x4xf32>")
    for op in (
        "exp", "log", "abs", "ceil", "floor", "negf", "round", "sqrt", "rsqrt", "tanh", "erf",
        "square", "reciprocal",
    ):  # fmt: skip
        data = [floats(op, 4, 3, positive=op in ("log", "sqrt", "rsqrt"))]
        lines = _named(_KIND.format(op), data, "tensor<4x3xf32>")
        yield made("named", op, data, lines, "tensor<4x3xf32>")
    for op in ("add", "sub", "mul", "max_signed", "min_signed", "max_unsigned", "min_unsigned"):
        data = [whole(op + x, "i8", 3, 4) for x in "ab"]
        out = tensor((3, 4), "i8")
        yield made("named", f"{op} i8", data, _named(_KIND.format(op), data, out), out)
    contractions: dict[str, tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = {
        "matmul": ((3, 4), (4, 5), (3, 5)),
        "batch_matmul": ((2, 3, 4), (2, 4, 5), (2, 3, 5)),
        "matvec": ((3, 4), (4,), (3,)),
        "vecmat": ((3,), (3, 4), (4,)),
        "batch_matvec": ((2, 3, 4), (2, 4), (2, 3)),
        "batch_vecmat": ((2, 3), (2, 3, 4), (2, 4)),
        "dot": ((6,), (6,), ()),
        "batch_reduce_matmul": ((2, 3, 4), (2, 4, 5), (3, 5)),
        "mmt4d": ((2, 3, 4, 2), (3, 3, 2, 2), (2, 3, 4, 2)),
    }
    for op, (first, second, shape) in contractions.items():
        for ins, to, start in (("f32", "f32", "1.5"), ("i8", "i32", "-7"), ("i8", "i8", "3")):
            if to == "i8" and op not in ("matmul", "dot", "batch_vecmat"):
                continue
            data = [
                floats(op + x, *s) if ins == "f32" else whole(op + x, ins, *s)
                for x, s in (("a", first), ("b", second))
            ]
            out = tensor(shape, to)
            yield made("named", f"{op} {ins} {to}", data, _named(op, data, out, start), out)
    x, k = whole("qx", "i8", 3, 4), whole("qk", "i8", 4, 5)
    for op, data in (
        ("quantized_matmul", [x, k]),
        ("quantized_batch_matmul", [np.stack([x, x]), np.stack([k, k])]),
    ):
        out = tensor((*data[0].shape[:-1], 5), "i32")
        lines = (
            f"  %p = arith.constant 3 : i32\n  %q = arith.constant -5 : i32\n{filled(out, '2')}"
            f"  %r = linalg.{op} ins(%a, %b, %p, %q : {{a}}, {{b}}, i32, i32) outs(%e : {out})"
            f" -> {out}"
        )
        yield made("named", op, data, lines, out)
    for axis in (0, 1):
        data = [floats("softmax", 3, 4)]
        lines = (
            "  %e = tensor.empty() : {a}\n"
            f"  %r = linalg.softmax dimension({axis}) ins(%a : {{a}}) outs(%e : {{a}}) -> {{a}}"
        )
        yield made("named", f"softmax {axis}", data, lines, "tensor<3x4xf32>")


# Reductions -----------------------------------------------------------------------------------


def of_reductions() -> Iterator[LinalgFunction]:
    ways = {
        "addf": ("arith.addf %o, %u : f32", "0.5", "f32"),
        "mulf": ("arith.mulf %o, %u : f32", "2.0", "f32"),
        "maximumf": ("arith.maximumf %o, %u : f32", "0xFF800000", "f32"),
        "maximumf_start": ("arith.maximumf %u, %o : f32", "1.25", "f32"),
        "minimumf": ("arith.minimumf %o, %u : f32", "0x7F800000", "f32"),
        "subf": ("arith.subf %o, %u : f32", "0.0", "f32"),
        **{
            f"{op} {element}": (f"arith.{op} %o, %u : {element}", str(start), element)
            for element in ("i8", "i16")
            for op, start in (("addi", 3), ("maxsi", -50), ("minsi", 60))
        },
        "maxui i8": ("arith.maxui %o, %u : i8", "0", "i8"),
        "minui i8": ("arith.minui %o, %u : i8", "-1", "i8"),
        "maxui_start i8": ("arith.maxui %u, %o : i8", "-100", "i8"),
    }
    places = {"rows": ("pr", "(i)", (3,)), "columns": ("rp", "(j)", (5,)), "all": ("rr", "()", ())}
    for way, (line, start, element) in ways.items():
        for place, (kinds, map_, shape) in places.items():
            if (way == "mulf" and place == "all") or (element != "f32" and place == "columns"):
                continue
            a = floats(way, 3, 5) if element == "f32" else whole(way, element, 3, 5)
            out = tensor(shape, element)
            region = (
                f"  ^bb0(%u: {element}, %o: {element}):\n    %y = {line}\n"
                f"    linalg.yield %y : {element}"
            )
            maps = ["(i, j) -> (i, j)", f"(i, j) -> {map_}"]
            lines = filled(out, start) + generic(maps, kinds, "%a : {a}", out, region)
            yield made("reduction", f"{way} {place}", [a], lines, out)
    rings = {
        "max_plus": ("addf", "maximumf", "0xFF800000"),
        "min_plus": ("addf", "minimumf", "0x7F800000"),
        "max_times": ("mulf", "maximumf", "0xFF800000"),
        "plus_max": ("maximumf", "addf", "0.0"),
    }
    for ring, (inner, outer, start) in rings.items():
        data = [floats(ring + "a", 3, 4), floats(ring + "b", 4, 5)]
        region = (
            "  ^bb0(%u: f32, %v: f32, %o: f32):\n"
            f"    %p = arith.{inner} %u, %v : f32\n    %y = arith.{outer} %o, %p : f32\n"
            "    linalg.yield %y : f32"
        )
        maps = ["(i, j, k) -> (i, k)", "(i, j, k) -> (k, j)", "(i, j, k) -> (i, j)"]
        lines = filled("tensor<3x5xf32>", start) + generic(
            maps, "ppr", "%a, %b : {a}, {b}", "tensor<3x5xf32>", region
        )
        yield made("reduction", ring, data, lines, "tensor<3x5xf32>")


# Windows --------------------------------------------------------------------------------------


def of_windows() -> Iterator[LinalgFunction]:
    for stride, dilation in product((1, 2), repeat=2):
        size = 9
        width = (size - dilation * 2 - 1) // stride + 1
        how = (
            f"{{strides = dense<{stride}> : tensor<NxI>, dilations = dense<{dilation}> : "
            "tensor<NxI>}"
        )
        for op, first, second, shape, n in (
            ("conv_1d_nwc_wcf", (1, size, 2), (3, 2, 3), (1, width, 3), 1),
            ("conv_2d_nhwc_hwcf", (1, size, size, 2), (3, 3, 2, 3), (1, width, width, 3), 2),
            ("conv_2d_nchw_fchw", (1, 2, size, size), (3, 2, 3, 3), (1, 3, width, width), 2),
            ("depthwise_conv_2d_nhwc_hwc", (1, size, size, 2), (3, 3, 2), (1, width, width, 2), 2),
        ):
            for ins, to in (("f32", "f32"), ("i8", "i32")):
                data = [
                    floats(op + x, *s) if ins == "f32" else whole(op + x, ins, *s)
                    for x, s in (("a", first), ("b", second))
                ]
                out = tensor(shape, to)
                line = f"{op} {how}".replace("NxI", f"{n}xi64")
                lines = _named(line, data, out, "0.0" if to == "f32" else "0")
                yield made("window", f"{op} {ins} {stride} {dilation}", data, lines, out)
    for way, element in product(("sum", "max", "min", "max_unsigned", "min_unsigned"),
                                ("f32", "i8", "i32")):  # fmt: skip
        if "unsigned" in way and element != "i8":
            continue
        start = {
            "sum": "0", "max": "0xFF800000" if element == "f32" else "-128",
            "min": "0x7F800000" if element == "f32" else "127",
            "max_unsigned": "0", "min_unsigned": "-1",
        }[way]  # fmt: skip
        start = "0.0" if start == "0" and element == "f32" else start
        a = floats(way, 1, 6, 6, 2) if element == "f32" else whole(way, element, 1, 6, 6, 2)
        out = tensor((1, 3, 3, 2), element)
        lines = filled(out, start) + (
            f"  %w = tensor.empty() : tensor<2x2x{element}>\n"
            f"  %r = linalg.pooling_nhwc_{way} {{strides = dense<2> : tensor<2xi64>}}\n"
            f"    ins(%a, %w : {{a}}, tensor<2x2x{element}>) outs(%e : {out}) -> {out}"
        )
        yield made("window", f"pooling_{way} {element}", [a], lines, out)
    for number in ("0xFF800000", "0.0", "1.5"):
        a = floats("pad", 1, 5, 5, 2)
        out = "tensor<1x3x3x2xf32>"
        lines = f"""  %c = arith.constant {number} : f32
  %p = tensor.pad %a low[0, 1, 1, 0] high[0, 1, 1, 0] {{
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %c : f32
  }} : {{a}} to tensor<1x7x7x2xf32>
{filled(out, "0xFF800000")}  %w = tensor.empty() : tensor<3x3xf32>
  %r = linalg.pooling_nhwc_max {{strides = dense<2> : tensor<2xi64>}}
    ins(%p, %w : tensor<1x7x7x2xf32>, tensor<3x3xf32>) outs(%e : {out}) -> {out}"""
        yield made("window", f"padded {number}", [a], lines, out)


# Moves ----------------------------------------------------------------------------------------


def of_moves() -> Iterator[LinalgFunction]:
    a = floats("moves", 2, 3, 4)
    add = "  %one = arith.constant dense<1.5> : {out}\n  %r = arith.addf %m, %one : {out}"

    def moved(name: str, line: str, out: str, *more: npt.NDArray[np.generic]) -> LinalgFunction:
        return made("move", name, [a, *more], f"  {line}\n{add}", out)

    yield moved("collapse", "%m = tensor.collapse_shape %a [[0, 1], [2]] : {a} into {out}",
                "tensor<6x4xf32>")  # fmt: skip
    yield moved("collapse all", "%m = tensor.collapse_shape %a [[0, 1, 2]] : {a} into {out}",
                "tensor<24xf32>")  # fmt: skip
    yield moved(
        "expand",
        "%m = tensor.expand_shape %a [[0], [1], [2, 3]] output_shape [2, 3, 2, 2] : {a} into {out}",
        "tensor<2x3x2x2xf32>",
    )
    for n, (offsets, sizes, strides, shape) in enumerate((
        ("0, 1, 0", "2, 2, 4", "1, 1, 1", (2, 2, 4)), ("1, 0, 1", "1, 3, 2", "1, 1, 2", (3, 2)),
        ("0, 0, 3", "2, 2, 1", "1, 2, 1", (2, 2)), ("0, 2, 0", "2, 1, 2", "1, 1, 3", (2, 1, 2)),
    )):  # fmt: skip
        line = f"%m = tensor.extract_slice %a[{offsets}] [{sizes}] [{strides}] : {{a}} to {{out}}"
        yield moved(f"slice {n}", line, tensor(shape, "f32"))
    into = floats("into", 4, 4, 4)
    for n, (offsets, strides) in enumerate((("1, 0, 0", "1, 1, 1"), ("0, 1, 0", "2, 1, 1"))):
        line = (
            f"%m = tensor.insert_slice %a into %b[{offsets}] [2, 3, 4] [{strides}] : {{a}} into "
            "{b}"
        )
        yield moved(f"insert {n}", line, "tensor<4x4x4xf32>", into)
    for axis in range(3):
        shape = [2, 3, 4]
        shape[axis] *= 2
        other = floats("concat", 2, 3, 4)
        line = f"%m = tensor.concat dim({axis}) %a, %b : ({{a}}, {{b}}) -> {{out}}"
        yield moved(f"concat {axis}", line, tensor(shape, "f32"), other)
    for low, high, number in (
        ("0, 1, 0", "1, 0, 2", "0.0"), ("1, 0, 1", "0, 0, 0", "2.5"),
        ("0, 0, 0", "0, 2, 0", "0xFF800000"),
    ):  # fmt: skip
        below, above = ([int(x) for x in side.split(", ")] for side in (low, high))
        shape = [n + p + q for n, p, q in zip(a.shape, below, above, strict=True)]
        line = f"""%c = arith.constant {number} : f32
  %m = tensor.pad %a low[{low}] high[{high}] {{
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %c : f32
  }} : {{a}} to {{out}}"""
        yield moved(f"pad {number}", line, tensor(shape, "f32"))
    for order in ((1, 0, 2), (2, 1, 0), (1, 2, 0), (0, 2, 1)):
        out = tensor([a.shape[n] for n in order], "f32")
        line = (
            f"%d = tensor.empty() : {out}\n  %m = linalg.transpose ins(%a : {{a}}) "
            f"outs(%d : {out}) permutation = {list(order)}"
        )
        yield moved(f"transpose {order}", line, out)
    for axis in range(4):
        shape = [*a.shape[:axis], 5, *a.shape[axis:]]
        out = tensor(shape, "f32")
        line = (
            f"%d = tensor.empty() : {out}\n  %m = linalg.broadcast ins(%a : {{a}}) "
            f"outs(%d : {out}) dimensions = [{axis}]"
        )
        yield moved(f"broadcast {axis}", line, out)
    line = (
        "%d = tensor.empty() : tensor<2x3x4x2xf32>\n"
        "  %q = linalg.broadcast ins(%a : {a}) outs(%d : tensor<2x3x4x2xf32>) dimensions = [3]\n"
        "  %m = tensor.collapse_shape %q [[0, 1], [2, 3]] : tensor<2x3x4x2xf32> into {out}"
    )
    yield moved("collapse a broadcast", line, "tensor<6x8xf32>")
    line = (
        "%d = tensor.empty() : tensor<24xf32>\n"
        "  %q = tensor.expand_shape %d [[0, 1, 2]] output_shape [2, 3, 4] : tensor<24xf32> into "
        "{a}\n  %m = linalg.copy ins(%a : {a}) outs(%q : {a}) -> {a}"
    )
    yield moved("reshape a destination", line, "tensor<2x3x4xf32>")
    b = floats("packed", 5, 7)
    for n, (how, padding, shape) in enumerate((
        ("inner_dims_pos = [0, 1] inner_tiles = [2, 4]", "0.0", (3, 2, 2, 4)),
        ("inner_dims_pos = [1, 0] inner_tiles = [3, 5]", "1.5", (1, 3, 3, 5)),
        ("outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [2, 4]", "-1.0",
         (2, 3, 2, 4)),
    )):  # fmt: skip
        packed = tensor(shape, "f32")
        lines = (
            f"  %c = arith.constant {padding} : f32\n  %d = tensor.empty() : {packed}\n"
            f"  %m = linalg.pack %a padding_value(%c : f32) {how} into %d : {{a}} -> {packed}\n"
        )
        yield made("move", f"pack {n}", [b], lines + add, packed)
        source = floats(f"tiles{n}", *shape)
        lines = (
            "  %d = tensor.empty() : tensor<5x7xf32>\n"
            f"  %m = linalg.unpack %a {how} into %d : {packed} -> tensor<5x7xf32>\n"
        )
        yield made("move", f"unpack {n}", [source], lines + add, "tensor<5x7xf32>")


# Places ---------------------------------------------------------------------------------------


def of_places() -> Iterator[LinalgFunction]:
    table = floats("table", 6, 4)
    ids = np.array([5, 0, 2, 2, 1], np.int32)
    region = """  ^bb0(%q: i32, %o: f32):
    %i = arith.index_cast %q : i32 to index
    %j = linalg.index 1 : index
    %y = tensor.extract %b[%i, %j] : {b}
    linalg.yield %y : f32"""
    lines = "  %e = tensor.empty() : {out}\n" + generic(
        ["(i, j) -> (i)", "(i, j) -> (i, j)"], "pp", "%a : {a}", "{out}", region
    )
    yield made("place", "gather", [ids, table], lines, "tensor<5x4xf32>")
    wrapped = lines.replace(
        "%j = ",
        "%z = arith.constant 0 : i32\n    %n = arith.constant 6 : i32\n"
        "    %s = arith.cmpi slt, %q, %z : i32\n    %t = arith.addi %q, %n : i32\n"
        "    %w = arith.select %s, %t, %q : i32\n    %g = arith.index_cast %w : i32 to index\n"
        "    %j = ",
    ).replace("%b[%i,", "%b[%g,")
    yield made("place", "gather from the end", [ids - 3, table], wrapped, "tensor<5x4xf32>")
    for name, condition in {
        "triangle": "%c = arith.cmpi uge, %i, %j : index",
        "band": "%p = arith.subi %i, %j : index\n    %c = arith.cmpi sle, %p, %one : index",
        "parity": "%s = arith.addi %i, %j : index\n    %t = arith.remui %s, %two : index\n"
        "    %c = arith.cmpi eq, %t, %one : index",
    }.items():
        for other in ("0.0", "0xFF800000", "7.5"):
            body = (
                "%i = linalg.index 0 : index\n    %j = linalg.index 1 : index\n"
                "    %one = arith.constant 1 : index\n    %two = arith.constant 2 : index\n"
                f"    %k = arith.constant {other} : f32\n    {condition}\n"
                "    %y = arith.select %c, %u, %k : f32"
            )
            yield each("place", f"{name} {other}", [floats(name, 5, 5)], body, "f32")
    body = (
        "%i = linalg.index 0 : index\n    %j = linalg.index 1 : index\n"
        "    %s = arith.addi %i, %j : index\n    %t = arith.index_cast %s : index to i32\n"
        "    %x = arith.sitofp %t : i32 to f32\n    %y = arith.mulf %x, %u : f32"
    )
    yield each("place", "indices", [floats("indices", 4, 3)], body, "f32")
    for maps in (["(i, j) -> (j, i)", "(i, j) -> (i, j)"], ["(i, j) -> (j)", "(i, j) -> (i, j)"]):
        square = "(j, i)" in maps[0]
        x = floats("maps", *((4, 3) if square else (4,)))
        region = (
            "  ^bb0(%u: f32, %v: f32, %o: f32):\n    %y = arith.subf %v, %u : f32\n"
            "    linalg.yield %y : f32"
        )
        lines = "  %e = tensor.empty() : {out}\n" + generic(
            [*maps, "(i, j) -> (i, j)"], "pp", "%a, %b : {a}, {b}", "{out}", region
        )
        name = "turned" if square else "row"
        data = [x, floats("other", 3, 4)]
        yield made("place", f"a map that is {name}", data, lines, "tensor<3x4xf32>")


# Whole tensors --------------------------------------------------------------------------------


def of_tensors() -> Iterator[LinalgFunction]:
    x, y = floats("x", 3, 4), floats("y", 3, 4)
    for op in ("addf", "subf", "mulf", "divf", "maximumf"):
        yield made("tensor", op, [x, y], f"  %r = arith.{op} %a, %b : {{a}}", type_of(x))
    for op in ("exp", "tanh", "absf", "floor"):
        yield made("tensor", op, [x], f"  %r = math.{op} %a : {{a}}", type_of(x))
    lines = (
        "  %c = arith.cmpf ogt, %a, %b : {a}\n  %r = arith.select %c, %a, %b : tensor<3x4xi1>, {a}"
    )
    yield made("tensor", "select", [x, y], lines, type_of(x))
    n, m = whole("n", "i8", 3, 4), whole("m", "i8", 3, 4)
    for op in ("addi", "muli", "maxui", "minsi"):
        yield made("tensor", f"{op} i8", [n, m], f"  %r = arith.{op} %a, %b : {{a}}", type_of(n))
    lines = "  %r = arith.extui %a : {a} to tensor<3x4xi32>"
    yield made("tensor", "extui", [n], lines, "tensor<3x4xi32>")
    lines = filled("tensor<3x4xf32>", "0xFF800000") + "  %r = arith.maximumf %e, %a : {a}"
    yield made("tensor", "filled", [x], lines, type_of(x))
    lines = (
        "  %k = arith.constant dense<[[0.0, 0xFF800000, 1.0, 2.0], [3.0, 0x7F800000, 4.0, 5.0], "
        "[6.0, 7.0, 8.0, 0xFF800000]]> : {a}\n  %r = arith.addf %k, %a : {a}"
    )
    yield made("tensor", "infinite constant", [x], lines, type_of(x))


# Sizes that are known when a function runs ------------------------------------------------------


def of_sizes() -> Iterator[LinalgFunction]:
    """Functions of tensors with sizes ``?``, and of sizes that are computed."""
    start = "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
    a, b = floats("sa", 3, 4), floats("sb", 4, 5)

    def loose(
        name: str, data: Sequence[npt.NDArray[np.generic]], lines: str, out: str
    ) -> LinalgFunction:
        """A function with ``?`` for all sizes of its arguments and its result."""
        found = made("size", name, data, start + lines, out)
        return replace(found, text=_open(found.text))

    dims = (
        "  %n = tensor.dim %a, %c0 : {a}\n  %m = tensor.dim %b, %c1 : {b}\n"
        "  %e0 = tensor.empty(%n, %m) : tensor<?x?xf32>\n  %z = arith.constant 0.5 : f32\n"
        "  %e = linalg.fill ins(%z : f32) outs(%e0 : tensor<?x?xf32>) -> tensor<?x?xf32>\n"
    )
    product_ = dims + (
        "  %r = linalg.matmul ins(%a, %b : {a}, {b}) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>"
    )
    yield loose("matmul", [a, b], product_, "tensor<3x5xf32>")
    lines = "  %r = arith.addf %a, %b : tensor<?x?xf32>"
    yield loose("add", [a, floats("sc", 3, 4)], lines, "tensor<3x4xf32>")
    lines = (
        "  %n = tensor.dim %a, %c0 : tensor<?x?xf32>\n  %h = arith.subi %n, %c1 : index\n"
        "  %m = tensor.dim %a, %c1 : tensor<?x?xf32>\n"
        "  %r = tensor.extract_slice %a[%c1, 0] [%h, %m] [1, 1] "
        ": tensor<?x?xf32> to tensor<?x?xf32>"
    )
    yield loose("slice", [a], lines, "tensor<2x4xf32>")
    lines = (
        "  %z = arith.constant 1.5 : f32\n  %r = tensor.pad %a low[%c1, 0] high[0, %c1] {\n"
        "  ^bb0(%i: index, %j: index):\n    tensor.yield %z : f32\n"
        "  } : tensor<?x?xf32> to tensor<?x?xf32>"
    )
    yield loose("pad", [a], lines, "tensor<4x5xf32>")
    lines = "  %r = tensor.collapse_shape %a [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>"
    yield loose("collapse", [a], lines, "tensor<12xf32>")
    lines = "  %r = tensor.concat dim(0) %a, %b : (tensor<?x?xf32>, tensor<?x?xf32>) -> {}"
    yield loose("concat", [a, floats("sd", 2, 4)], lines.format("tensor<?x?xf32>"),
                "tensor<5x4xf32>")  # fmt: skip
    tiles = floats("st", 2, 3, 4)
    lines = (
        "  %n = arith.constant 7 : index\n  %e = tensor.empty(%n) : tensor<?x3xf32>\n"
        "  %r = linalg.unpack %a inner_dims_pos = [0] inner_tiles = [4] into %e "
        ": tensor<2x3x4xf32> -> tensor<?x3xf32>"
    )
    yield made("size", "unpack", [tiles], start + lines, "tensor<?x3xf32>")
    lines = (
        "  %z = arith.constant 0.5 : f32\n  %e = tensor.empty(%c2) : tensor<?x2x2xf32>\n"
        "  %r = linalg.pack %a padding_value(%z : f32) inner_dims_pos = [0] inner_tiles = [2] "
        "into %e : tensor<3x2xf32> -> tensor<?x2x2xf32>"
    )
    lines = start + "  %c2 = arith.constant 2 : index\n" + lines
    yield made("size", "pack", [floats("sp", 3, 2)], lines, "tensor<?x2x2xf32>")
    region = (
        "  ^bb0(%u: f32, %o: f32):\n    %i = arith.index_cast %n : index to i32\n"
        "    %x = arith.sitofp %i : i32 to f32\n    %y = arith.divf %u, %x : f32\n"
        "    linalg.yield %y : f32"
    )
    lines = (
        "  %n = tensor.dim %a, %c1 : tensor<?x?xf32>\n"
        "  %m = tensor.dim %a, %c0 : tensor<?x?xf32>\n"
        "  %e = tensor.empty(%m, %n) : tensor<?x?xf32>\n"
    ) + generic(["(i, j) -> (i, j)"] * 2, "pp", "%a : tensor<?x?xf32>", "tensor<?x?xf32>", region)
    yield loose("mean", [a], lines, "tensor<3x4xf32>")
    region = (
        "  ^bb0(%u: f32, %o: f32):\n    %y = arith.addf %u, %o : f32\n    linalg.yield %y : f32"
    )
    lines = (
        "  %n = tensor.dim %a, %c0 : tensor<?x?xf32>\n  %z = arith.constant 0.0 : f32\n"
        "  %e0 = tensor.empty(%n) : tensor<?xf32>\n"
        "  %e = linalg.fill ins(%z : f32) outs(%e0 : tensor<?xf32>) -> tensor<?xf32>\n"
    ) + generic(
        ["(i, j) -> (i, j)", "(i, j) -> (i)"], "pr", "%a : tensor<?x?xf32>", "tensor<?xf32>", region
    )
    yield loose("sum", [a], lines, "tensor<3xf32>")


def _open(text: str) -> str:
    """A text where the types of tensors have ``?`` for their sizes."""
    return re.sub(
        r"tensor<([\dx]+)x([fi]\d+)>", lambda m: tensor(["?"] * (m[1].count("x") + 1), m[2]), text
    )


FAMILIES: tuple[Callable[[], Iterator[LinalgFunction]], ...] = (
    of_floats, of_integers, of_names, of_reductions, of_windows, of_moves, of_places, of_tensors,
    of_sizes,
)  # fmt: skip


def every_function() -> tuple[LinalgFunction, ...]:
    """All functions; no two have the same name."""
    found = tuple(f for family in FAMILIES for f in family())
    assert len({f.name for f in found}) == len(found)
    return found
