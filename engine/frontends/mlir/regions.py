"""The trees that the region of a ``linalg.generic`` yields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.errors import ProgramError
from engine.frontends.mlir.builder import unknown
from engine.frontends.mlir.expressions import (
    Arg,
    Node,
    Num,
    Unsupported,
    apply,
    cast_of,
    refuse_meaning,
)
from engine.frontends.mlir.syntax import Line, Number, Region, Use
from engine.frontends.mlir.values import Blank, Constant, Data, Value, View, number
from engine.program.syntax import Place


@dataclass(frozen=True)
class _Bad:
    """A value outside the subset; refused only if it is yielded."""

    message: str
    hint: str
    place: Place


def region_trees(
    region: Region,
    ins: Sequence[Value],
    outs: Sequence[Value],
    reduces: bool,
    outside: Callable[[Use], Value],
    place: Place,
) -> tuple[tuple[Node | None, ...], list[View]]:
    """Per output the tree it yields, or None where it is no floating-point number.

    Returns also the scalars of the function that the region reads, as ``Arg(-1)``, ``Arg(-2)``...

    Raises
    ------
    ProgramError
        What is yielded is outside the subset.
    """
    reader = _RegionReader(outside)
    operands = [*ins, *outs]
    if len(region.arguments) != len(operands):
        raise refuse_meaning(
            f"the region has {len(region.arguments)} arguments for {len(operands)} operands",
            "one per input and output",
            region.place,
        )
    for k, (argument, value) in enumerate(zip(region.arguments, operands, strict=True)):
        is_output = k >= len(ins)
        reader.define(argument.name, _leaf(k, value, is_output, reduces), argument.place)
    for line in region.lines:
        reader.line(line)
    if len(region.yields) != len(outs):
        raise refuse_meaning(
            f"the region yields {len(region.yields)} values for {len(outs)} outputs",
            "one per output",
            region.yields[0].place if region.yields else region.place,
        )
    trees: list[Node | None] = []
    for use, argument in zip(region.yields, region.arguments[len(ins) :], strict=True):
        found = reader.node(use)
        if not argument.type.is_float:
            trees.append(None)
        elif isinstance(found, _Bad):
            raise refuse_meaning(found.message, found.hint, found.place)
        elif isinstance(found, Arg) and use.name not in {a.name for a in region.arguments}:
            trees.append(cast_of(found))
        else:
            trees.append(found)
    return tuple(trees), reader.captured


def _leaf(k: int, value: Value, is_output: bool, reduces: bool) -> Node:
    """What an argument of the region is: an operand, or a number that all of it has."""
    match value:
        case Constant(value=x):
            return Num(x)
        case Data(rank=0) if value.splat is not None and not (is_output and reduces):
            return Num(value.splat)
        case Blank(fill=float() as x) if not (is_output and reduces) and (
            is_output or value.rank == 0
        ):
            return Num(x)
    return Arg(k)


class _RegionReader:
    def __init__(self, outside: Callable[[Use], Value]) -> None:
        self.outside = outside
        self.nodes: dict[str, Node | _Bad] = {}
        self.captured: list[View] = []
        self._seen: dict[str, Node | _Bad] = {}

    def define(self, name: str, node: Node | _Bad, place: Place) -> None:
        if name in self.nodes:
            raise refuse_meaning(f"%{name} is defined twice", "give each value its own name", place)
        self.nodes[name] = node

    def node(self, use: Use) -> Node | _Bad:
        """A value of the region, or a number of the function around it."""
        if use.number == 0 and use.name in self.nodes:
            return self.nodes[use.name]
        key = str(use)
        if key not in self._seen:
            self._seen[key] = self._captured(use)
        return self._seen[key]

    def _captured(self, use: Use) -> Node | _Bad:
        try:
            value = self.outside(use)
        except ProgramError:
            raise unknown(str(use), use.name, list(self.nodes), use.place) from None
        if isinstance(value, Constant):
            return Num(value.value)
        if isinstance(value, View) and value.rank == 0:
            self.captured.append(value)
            return Arg(-len(self.captured))
        return _Bad(
            f"{use} is neither an argument of the region nor a number",
            "pass a tensor by ins(...)",
            use.place,
        )

    def line(self, line: Line) -> None:
        scalar = line.scalar
        operands = [self.node(use) for use in scalar.operands]
        made: Node | _Bad
        bad = next((x for x in operands if isinstance(x, _Bad)), None)
        if scalar.op == "arith.constant":
            made = self._constant(line)
        elif bad is not None:
            made = bad
        else:
            good = tuple(x for x in operands if not isinstance(x, _Bad))
            try:
                made = apply(scalar.op, good, scalar.predicate)
            except Unsupported as problem:
                made = _Bad(problem.message, problem.hint, line.place)
        if len(line.results) != 1:
            raise refuse_meaning(
                f"{scalar.op} gives one value, {len(line.results)} are named",
                "%0 = ...",
                line.place,
            )
        self.define(line.results[0], made, line.place)

    def _constant(self, line: Line) -> Node | _Bad:
        literal, type_ = line.scalar.literal, line.scalar.type
        if not isinstance(literal, Number) or type_ is None or type_.shape is not None:
            return _Bad("a constant of a region is a number", "define it outside", line.place)
        return Num(number(literal, type_.element))
