"""Statements as linalg operations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from math import prod

from fuseloom.frontends.algebra.expressions import ROOT_HALF
from fuseloom.program.formats import Format, LevelFormat, format_text
from fuseloom.program.functions import FUNCTIONS, Op
from fuseloom.program.types import Access, Program, Statement

_BINARY = {Op.MUL: "arith.mulf", Op.ADD: "arith.addf", Op.SUB: "arith.subf", Op.DIV: "arith.divf",
           Op.MAXIMUM: "arith.maximumf"}  # fmt: skip
MINUS_INFINITY = "0xFF800000"


class StatementPrinter:
    """Prints statements, and collects the maps and encodings that they need.

    Parameters
    ----------
    orders : mapping
        Dataflow order of statements by what they assign; by default as they read.
    """

    def __init__(self, program: Program, orders: Mapping[str, tuple[str, ...]]) -> None:
        self.program = program
        self.orders = orders
        self.ssa = _ssa_names(program)
        self._encodings: dict[Format, str] = {}
        self._maps: dict[str, str] = {}

    def aliases(self) -> list[str]:
        """Definitions of all encodings and maps that were printed so far."""
        encodings = [f"{name} = {_encoding(fmt)}" for fmt, name in self._encodings.items()]
        return [*encodings, *(f"{name} = {text}" for text, name in self._maps.items())]

    def type(self, tensor: str) -> str:
        """The type of a tensor."""
        found = self.program.tensor(tensor)
        shape = "".join(f"{n}x" for n in found.shape)
        fmt = found.format
        if fmt == Format.dense(found.rank):
            return f"tensor<{shape}f32>"
        if fmt not in self._encodings:
            word = format_text(fmt)
            name = f"#{word}" if word.isalnum() else f"#format{len(self._encodings)}"
            if name in self._encodings.values():
                name = f"#format{len(self._encodings)}"
            self._encodings[fmt] = name
        return f"tensor<{shape}f32, {self._encodings[fmt]}>"

    def lines(self, s: Statement) -> list[str]:
        """The operations of one statement."""
        name = self.ssa[s.out.tensor]
        if s.nonzero and (s.reduced or s.op is Op.CONCAT):  # zeros are told of what is computed
            every = f"{name}.every"
            copied = Statement(s.out, Op.SUM, (s.out,), nonzero=True)
            type_ = self.type(s.out.tensor)
            return [
                *self._lines(replace(s, nonzero=False), every),
                *self._generic(copied, name, type_, every),
            ]
        return self._lines(s, name)

    def _lines(self, s: Statement, name: str) -> list[str]:
        match s.op:
            case Op.CONCAT:
                return self._concat(s, name)
            case Op.RESHAPE:
                return self._reshape(s)
        return self._generic(s, name, self.type(s.out.tensor))

    # Structured operations.

    def _generic(
        self, s: Statement, name: str, type_: str, operand: str | None = None
    ) -> list[str]:
        order = self._order(s)
        maps = [self._map(order, a) for a in (*s.operands, s.out)]
        kinds = ", ".join('"reduction"' if x in s.reduced else '"parallel"' for x in order)
        ins = operand or ", ".join(self.ssa[a.tensor] for a in s.operands)
        types = ", ".join(self.type(a.tensor) for a in s.operands)
        arguments = [f"{name}.in{n}: f32" for n in range(len(s.operands))]
        lines, start = self._start(s, name, type_)
        return [
            *lines,
            f"{name} = linalg.generic {{indexing_maps = [{', '.join(maps)}], "
            f"iterator_types = [{kinds}]}}",
            f"  ins({ins} : {types}) outs({start} : {type_}) {{",
            f"^bb0({', '.join([*arguments, f'{name}.out: f32'])}):",
            *(f"  {line}" for line in _body(s, name)),
            f"}} -> {type_}",
        ]

    def _start(self, s: Statement, name: str, type_: str) -> tuple[list[str], str]:
        """Return the initial output: nothing, or the identity of a reduction."""
        lines = [f"{name}.empty = tensor.empty() : {type_}"]
        if not s.reduced:
            return lines, f"{name}.empty"
        value = MINUS_INFINITY if s.op is Op.MAX else "0.0"
        lines += [
            f"{name}.start = arith.constant {value} : f32",
            f"{name}.init = linalg.fill ins({name}.start : f32) outs({name}.empty : {type_}) "
            f"-> {type_}",
        ]
        return lines, f"{name}.init"

    def _order(self, s: Statement) -> tuple[str, ...]:
        wished = tuple(x for x in self.orders.get(s.out.tensor, ()) if x in s.indices)
        return (*wished, *(x for x in s.indices if x not in wished))

    def _map(self, order: tuple[str, ...], access: Access) -> str:
        names = _index_names(order)
        dims = ", ".join(names.values())
        results = ", ".join(names[x] for x in access.indices)
        text = f"affine_map<({dims}) -> ({results})>"
        return self._maps.setdefault(text, f"#map{len(self._maps)}")

    # The others.

    def _concat(self, s: Statement, result: str) -> list[str]:
        lines: list[str] = []
        names: list[str] = []
        types: list[str] = []
        for n, operand in enumerate(s.operands):
            name, type_ = self.ssa[operand.tensor], self.type(operand.tensor)
            if operand.indices != s.out.indices:
                # tensor.concat reads all operands in the order of its result.
                copy = Access(s.out.tensor, s.out.indices)
                sizes = dict(
                    zip(operand.indices, self.program.tensor(operand.tensor).shape, strict=True)
                )
                shape = "".join(f"{sizes[x]}x" for x in s.out.indices)
                type_ = f"tensor<{shape}f32>"
                name = f"{result}.part{n + 1}"
                lines += self._generic(Statement(copy, Op.SUM, (operand,)), name, type_)
            names.append(name)
            types.append(type_)
        axis = s.out.indices.index(s.axis or "")
        lines.append(
            f"{result} = tensor.concat dim({axis}) {', '.join(names)} : "
            f"({', '.join(types)}) -> {self.type(s.out.tensor)}"
        )
        return lines

    def _reshape(self, s: Statement) -> list[str]:
        source = self.program.tensor(s.operands[0].tensor)
        target = self.program.tensor(s.out.tensor)
        name = self.ssa[target.name]
        value, types = self.ssa[source.name], (self.type(source.name), self.type(target.name))
        if target.rank > source.rank:
            word, groups = "expand", _groups(target.shape, source.shape)
        else:
            word, groups = "collapse", _groups(source.shape, target.shape)
        if groups is None or target.rank == source.rank:
            shape = ", ".join(map(str, target.shape))
            kind = f"tensor<{target.rank}xindex>"
            return [
                f"{name}.shape = arith.constant dense<[{shape}]> : {kind}",
                f"{name} = tensor.reshape {value}({name}.shape) : ({types[0]}, {kind}) "
                f"-> {types[1]}",
            ]
        text = ", ".join(f"[{', '.join(map(str, g))}]" for g in groups)
        extra = f" output_shape {list(target.shape)}" if word == "expand" else ""
        return [
            f"{name} = tensor.{word}_shape {value} [{text}]{extra} : {types[0]} into {types[1]}"
        ]


def _body(s: Statement, name: str) -> list[str]:
    """The region of a statement; its names begin with ``name``, so that they are nobody else's."""
    lines: list[str] = []
    count = 0

    def add(text: str, types: str = "f32") -> str:
        nonlocal count
        lines.append(f"{name}.{count} = {text} : {types}")
        count += 1
        return f"{name}.{count - 1}"

    def number(value: float) -> str:
        return add(f"arith.constant {float_text(value)}")

    x = f"{name}.in0"
    match s.op:
        case Op.MUL | Op.ADD | Op.SUB | Op.DIV | Op.MAXIMUM:
            for n in range(1, len(s.operands)):
                x = add(f"{_BINARY[s.op]} {x}, {name}.in{n}")
        case Op.SCALE:
            x = add(f"arith.mulf {x}, {number(s.constant or 0.0)}")
        case Op.SHIFT:
            x = add(f"arith.addf {x}, {number(s.constant or 0.0)}")
        case Op.RELU:
            x = add(f"arith.maximumf {x}, {number(0.0)}")
        case Op.AT_LEAST:
            x = add(f"arith.maximumf {x}, {number(s.constant or 0.0)}")
        case op if op in FUNCTIONS and FUNCTIONS[op].mlir:
            x = add(f"{FUNCTIONS[op].mlir[0]} {x}")
        case Op.SIGN:
            zero = number(0.0)
            above, below = (
                add(f"arith.uitofp {add(f'arith.cmpf {word}, {x}, {zero}')}", "i1 to f32")
                for word in ("ogt", "olt")
            )
            x = add(f"arith.subf {above}, {below}")
        case Op.SIGMOID:
            one = number(1.0)
            raised = add(f"math.exp {add(f'arith.negf {x}')}")
            x = add(f"arith.divf {one}, {add(f'arith.addf {raised}, {one}')}")
        case Op.GELU:
            scaled = add(f"arith.mulf {x}, {number(ROOT_HALF)}")
            bell = add(f"arith.addf {add(f'math.erf {scaled}')}, {number(1.0)}")
            half = add(f"arith.mulf {x}, {number(0.5)}")
            x = add(f"arith.mulf {half}, {bell}")
        case op:
            assert op in (Op.SUM, Op.MAX)  # which are what is reduced, below
    if s.nonzero:
        kept = f"{name}.kept"
        lines += [
            f"{kept} = sparse_tensor.select {x} : f32 {{",
            f"  ^bb0({kept}.in0: f32):",
            f"  {kept}.zero = arith.constant 0.0 : f32",
            f"  {kept}.is = arith.cmpf une, {kept}.in0, {kept}.zero : f32",
            f"  sparse_tensor.yield {kept}.is : i1",
            "}",
        ]
        x = kept
    if s.reduced:
        x = add(f"{'arith.maximumf' if s.op is Op.MAX else 'arith.addf'} {name}.out, {x}")
    return [*lines, f"linalg.yield {x} : f32"]


def float_text(value: float) -> str:
    """A decimal literal that reads back to the same number; MLIR wants a point in it."""
    text = repr(float(value))
    if "." not in text.partition("e")[0]:
        mantissa, e, exponent = text.partition("e")
        text = f"{mantissa}.0{e}{exponent}"
    return text


def _groups(large: tuple[int, ...], small: tuple[int, ...]) -> list[list[int]] | None:
    """Which dimensions of the larger shape make up each of the smaller; None if none do."""
    groups: list[list[int]] = []
    at = 0
    for size in small:
        group: list[int] = []
        while at < len(large) and (not group or prod(large[d] for d in group) < size):
            group.append(at)
            at += 1
        if not group or prod(large[d] for d in group) != size:
            return None
        groups.append(group)
    if at < len(large):
        if not groups or any(n != 1 for n in large[at:]):
            return None
        groups[-1] += range(at, len(large))
    return groups


def _encoding(fmt: Format) -> str:
    dims = [f"d{n}" for n in range(len(fmt.levels))]
    levels = []
    for n, (mode, level) in enumerate(zip(fmt.mode_order, fmt.levels, strict=True)):
        word = level.value
        if fmt.levels[n + 1 : n + 2] == (LevelFormat.SINGLETON,):
            word += "(nonunique)"
        levels.append(f"{dims[mode]} : {word}")
    return f"#sparse_tensor.encoding<{{ map = ({', '.join(dims)}) -> ({', '.join(levels)}) }}>"


def _index_names(order: tuple[str, ...]) -> dict[str, str]:
    """Names of dimensions for indices; a prime becomes ``_p``."""
    made: dict[str, str] = {}
    for x in order:
        name = x.replace("'", "_p")
        while name in made.values() or (name != x and name in order):
            name += "_"
        made[x] = name
    return made


def _ssa_names(program: Program) -> dict[str, str]:
    """Names of MLIR values for tensors; a prime, which MLIR does not have, becomes ``_p``."""
    made: dict[str, str] = {}
    taken = {t.name for t in program.tensors}
    for tensor in program.tensors:
        name = tensor.name
        if "'" in name:
            name = re.sub("'", "_p", name)
            while name in taken:
                name += "_"
            taken.add(name)
        made[tensor.name] = f"%{name}"
    return made
