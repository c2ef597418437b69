"""Arithmetic of SAM graphs and of their dialects for chips: integers, bfloat16, constants.

What the nodes of a dialect compute is a function of the machine, or made from several.  Functions
on the bits of bfloat16 numbers are read only where they raise 2 to a power together.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

from fuseloom.dataflow.samml.exchange.presence import PresenceClauses
from fuseloom.dataflow.samml.exchange.record import ImportRepair, RepairRule
from fuseloom.dataflow.samml.exchange.sam_build import BIT_HINT, Bits, SamBuild
from fuseloom.dataflow.samml.exchange.sam_file import SamEdge, SamNode
from fuseloom.dataflow.samml.exchange.streams import peel, tensors_behind
from fuseloom.dataflow.samml.exchange.wiring import DraftNode, DraftOutput
from fuseloom.dataflow.samml.graph import StreamKind
from fuseloom.errors import GraphError
from fuseloom.program.float32 import OVERFLOW
from fuseloom.program.functions import FUNCTIONS, Op

VAL = StreamKind.VAL
FLOAT = "fp_"
"""The prefix of the types of floating-point units."""
BINARY: Mapping[str, str] = {
    "mul": "mul",
    "mult": "mul",
    "add": "add",
    "sub": "sub",
    "div": "div",
    "max": "max",
    "smax": "max",
    "min": "min",
    "smin": "min",
}
"""The functions of two operands, by type."""
UNARY: Mapping[str, str] = {op.value: op.value for op in FUNCTIONS} | {
    "leakyrelu": "leakyrelu",
    "leaky_relu": "leakyrelu",
    "neg": "neg",
}
"""The functions of one operand, by type."""
BITS = ("fgetfint", "fgetffrac", "and", "faddiexp")
"""Types that work on the bits of a bfloat16 number."""
ALU_TYPES = (*BINARY, *UNARY, *(FLOAT + name for name in (*BINARY, *UNARY)), *BITS)
_ZERO_AT_ZERO = frozenset({op.value for op in Op if op.keeps_zero} | {"scalarmul", "scalardiv"})
"""Functions that leave out what is absent: they are 0 where their operand is."""
_CONSTANTS = ("rb_const", "const", "const0", "const1", "const_val", "in2", "scalar", "alpha")
_SCALAR = {"add": "scalaradd", "mul": "scalarmul", "div": "scalardiv", "max": "max"}
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")
_PLACE = re.compile(r"(?:in|op|operand)?[-_]?([01])")
_FRACTION_BITS = 255
"""The mask that leaves the eight bits of a table of fractions."""
_ALPHA = 0.01


def compute(build: SamBuild, node: SamNode) -> None:
    """Build the arithmetic a node stands for, and hand its edges the result.

    Raises
    ------
    GraphError
        If the number of its operands does not fit, or the machine has no such function.
    """
    if node.type in BITS:
        _bits(build, node)
        return
    if node.type.startswith(FLOAT) or node.flag("fp"):
        build.in_bfloat16.append(node)
    name = node.type.removeprefix(FLOAT)
    edges = node.of_kind(VAL)
    constant = _constant(node)
    if name in UNARY:
        (val,) = (build.wire(build.one(node, VAL)),)
        result = _function(build, node, UNARY[name], val, constant)
    else:
        result = _combined(build, node, BINARY[name], edges, constant)
    build.give(node, {VAL: result})


def _combined(
    build: SamBuild, node: SamNode, fn: str, edges: list[SamEdge], constant: float | None
) -> DraftOutput:
    if fn == "add" and node.flag("sub"):
        fn = "sub"
    if len(edges) == 1 and constant is None and fn == "max":
        build.repair(RepairRule.R11, node, f"{node.title} is max(operand, 0)")
        constant = 0.0
    if len(edges) == 1 and constant is not None:
        return _with_constant(build, node, fn, build.wire(edges[0]), constant)
    if len(edges) < 2 or constant is not None:
        more = f" and the constant {constant:g}" if constant is not None else ""
        raise GraphError(
            f"{node.title} takes two or more value streams, it has {len(edges)}{more}",
            hint="give it two value streams, or one and rb_const",
        )
    if fn in ("sub", "div") and len(edges) > 2:
        raise GraphError(f"{node.title} takes two value streams, it has {len(edges)}",
                         hint="subtract or divide by one operand after the other")  # fmt: skip
    if fn in ("sub", "div"):
        edges = _ordered(build, node, fn, edges)
    total = build.wire(edges[0])
    for edge in edges[1:]:
        total = _binary(build, node, fn, total, build.wire(edge))
    return total


def _binary(build: SamBuild, node: SamNode, fn: str, a: DraftOutput, b: DraftOutput) -> DraftOutput:
    if fn == "min":  # -max(-a, -b), exact
        a, b = (_scaled(build, node, wire, -1.0) for wire in (a, b))
        return _scaled(build, node, _binary(build, node, "max", a, b), -1.0)
    return build.add(node, "binary", (a, b), params={"fn": fn})[0]


def _with_constant(
    build: SamBuild, node: SamNode, fn: str, val: DraftOutput, constant: float
) -> DraftOutput:
    if fn in ("sub", "div") and "const0" in node.attributes:
        raise GraphError(
            f"{node.title} does not say which of its operands is the constant",
            hint='write rb_const="..." for a constant second operand',
        )
    if fn == "sub":
        fn, constant = "add", -constant
    if fn == "max" and constant == 0:
        return _unary(build, node, "relu", val)
    if fn == "min":
        lowest = _unary(build, node, "max", _scaled(build, node, val, -1.0), -constant)
        return _scaled(build, node, lowest, -1.0)
    return _unary(build, node, _SCALAR[fn], val, constant)


def _function(
    build: SamBuild, node: SamNode, fn: str, val: DraftOutput, constant: float | None
) -> DraftOutput:
    if fn == "leakyrelu":
        alpha = _ALPHA if constant is None else constant
        scaled = _scaled(build, node, val, alpha)
        return _binary(build, node, "max" if alpha <= 1 else "min", val, scaled)
    if constant is not None and (fn != "relu" or constant):
        raise GraphError(f"{node.title} takes no constant, it has {constant:g}",
                         hint="leave it out, or write a node of two operands")  # fmt: skip
    return _scaled(build, node, val, -1.0) if fn == "neg" else _unary(build, node, fn, val)


def _scaled(build: SamBuild, node: SamNode, val: DraftOutput, factor: float) -> DraftOutput:
    return _unary(build, node, "scalarmul", val, factor)


def _unary(
    build: SamBuild, node: SamNode, fn: str, val: DraftOutput, scalar: float = 0.0
) -> DraftOutput:
    return build.add(node, "unary", (val,), params={"fn": fn, "scalar": scalar})[0]


def _constant(node: SamNode) -> float | None:
    given = [key for key in _CONSTANTS if key in node.attributes]
    if len(given) > 1:
        raise GraphError(f"{node.title} has the constants {' and '.join(given)}",
                         hint="give it one constant")  # fmt: skip
    if not given:
        return None
    text = node.attributes[given[0]].strip()
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not abs(value) < OVERFLOW:  # no number, or none in float32
        raise GraphError(f"{node.title}: {given[0]} is {text!r}, no number in float32",
                         hint="write a decimal number")  # fmt: skip
    return value


def _ordered(build: SamBuild, node: SamNode, fn: str, edges: list[SamEdge]) -> list[SamEdge]:
    """The minuend or dividend first: as the ports say, else the operand with the smaller id.

    Ids follow the expression only in graphs the compiler numbered.  The graph's comment
    lists tensors in the order of the expression, so where the operands differ in their
    first tensor, that decides.
    """
    places = [_PLACE.fullmatch(edge.comment) for edge in edges]
    named = [int(place[1]) for place in places if place is not None]
    if len(named) == len(edges) == 2 and set(named) == {0, 1}:
        return [edges[named.index(0)], edges[named.index(1)]]
    names = list(build.file.listed)

    def place(edge: SamEdge) -> int:
        behind = tensors_behind(build.wire(edge)) & set(names)
        return min(map(names.index, behind), default=len(names))

    def by_id(edge: SamEdge) -> float:
        home = build.file.nodes[edge.tail].name
        return int(home) if home.isdecimal() and len(home) < 10 else float("inf")

    ordered = sorted(edges, key=lambda e: (place(e), by_id(e), e.number))
    first, what = ("minuend", "subtraction") if fn == "sub" else ("dividend", "division")
    text = f"node {ordered[0].tail} is the {first} of {what} {node.name}"
    if ordered[0] is not min(edges, key=by_id):
        text += ", as its tensor comes first in the graph's comment"
    build.repair(RepairRule.R5, node, text)
    return ordered


# Bit patterns --------------------------------------------------------------------------------


def _bits(build: SamBuild, node: SamNode) -> None:
    """Follow a power of two: the parts of a number, a table by its fraction, and their product."""
    if node.type == "faddiexp":
        _power_of_two(build, node)
        return
    if node.type == "and":
        edge = build.one(node, VAL)
        found = build.bits.get(edge.number)
        if found is None or found.role != "fraction" or _constant(node) != _FRACTION_BITS:
            raise _no_bits(node)
        made = Bits("index", found.value)
    else:
        made = Bits("integer" if node.type == "fgetfint" else "fraction",
                    build.wire(build.one(node, VAL)))  # fmt: skip
    build.bits.update({edge.number: made for edge in node.outputs})


def table_of_fractions(build: SamBuild, node: SamNode) -> bool:
    """Return whether a node loads from a table by a fraction, and record its edges if so."""
    made = [build.bits[e.number] for e in node.inputs if e.number in build.bits]
    if len(made) != 1 or len(node.inputs) != 1 or made[0].role != "index":
        return False
    build.bits.update({e.number: Bits("power", made[0].value) for e in node.outputs})
    return True


def pass_bits(build: SamBuild, node: SamNode) -> bool:
    """Return whether a broadcast copies bit patterns, and record its edges if so."""
    found = build.bits.get(node.inputs[0].number) if len(node.inputs) == 1 else None
    if found is not None:
        build.bits.update({edge.number: found for edge in node.outputs})
    return found is not None


def _power_of_two(build: SamBuild, node: SamNode) -> None:
    parts = {b.role: b.value for e in node.inputs if (b := build.bits.get(e.number)) is not None}
    if set(parts) != {"integer", "power"} or len(node.inputs) != 2:
        raise _no_bits(node)
    if peel(parts["integer"]) != peel(parts["power"]):
        raise _no_bits(node)
    scaled = _scaled(build, node, parts["integer"], math.log(2))
    build.repair(
        RepairRule.R10,
        node,
        f"{node.title} and the nodes before it are 2 to the power of their operand",
    )
    build.in_bfloat16.append(node)
    build.give(node, {VAL: _unary(build, node, "exp", scaled)})


def _no_bits(node: SamNode) -> GraphError:
    return GraphError(
        f"{node.title} works on the bits of bfloat16 numbers, which the machine's values do not "
        "have; it is read only as a part of 2 to the power of a number, by a table",
        hint=BIT_HINT,
    )


def check_absent(parts: Iterable[DraftNode]) -> None:
    """Refuse functions of what a union's operand may lack, where 0 in its place differs.

    Raises
    ------
    GraphError
        Naming the node, and a way out.
    """
    parts = list(parts)
    presence = PresenceClauses(parts)
    for part in parts:
        fn = str(part.params.get("fn", ""))
        got = [presence.of(wire) for wire in part.inputs]
        match part.op:
            case "unary":
                wrong = bool(got[0]) and fn not in _ZERO_AT_ZERO
            case "binary" if fn == "max":
                wrong = got[0] != got[1]  # of one that is absent and one that is not
            case "binary" if fn == "div":
                wrong = any(got)
            case _:
                wrong = False
        if wrong:
            raise GraphError(
                f"node {part.label} is {fn} of an operand of a union, which may lack a coordinate",
                hint="add the operands of the union before, or intersect them",
            )


def bfloat16_report(nodes: list[SamNode]) -> ImportRepair:
    """Return the report on nodes that would round."""
    others = f" and {len(nodes) - 1} more" if len(nodes) > 1 else ""
    change = f"{nodes[0].title}{others}: computed in float32, without rounding to bfloat16"
    return ImportRepair(RepairRule.R7, nodes[0].name, change)
