"""Reductions: what they accumulate, over which dimensions, and what they start from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

from fuseloom.frontends.algebra.conditions import selected
from fuseloom.frontends.algebra.expressions import (
    UNSIGNED,
    WRAP,
    Apply,
    Arg,
    Node,
    Num,
    Raw,
    add,
    arguments,
    largest,
    mul,
    negated,
    raw,
    scaled,
    sub,
)
from fuseloom.frontends.mlir.computed_access import read_at
from fuseloom.frontends.mlir.integers import canonical
from fuseloom.frontends.mlir.operands import OperandRead
from fuseloom.frontends.mlir.semirings import pattern
from fuseloom.frontends.mlir.statements import Statements
from fuseloom.frontends.mlir.syntax import Number, Sum, Type
from fuseloom.frontends.mlir.values import (
    Blank,
    ConstantNumber,
    ConstantTensor,
    DimensionSize,
    Value,
    is_least,
)
from fuseloom.program.functions import Op
from fuseloom.program.types import Access


class Reductions(Statements):
    """Adds the statements of reductions."""

    def _reduced(
        self,
        tree: Node,
        number: int,
        out: tuple[str | None, ...],
        sizes: tuple[DimensionSize, ...],
        type_: Type,
    ) -> Value:
        target, wanted = self.names[number - self.inputs], type_
        tree, modulo = _peeled(tree)
        op, inner, least = self._accumulated(tree, number)
        if modulo:
            self._check_modulo(op, wanted)
            target, type_ = f"{target}_whole", replace(type_, format=None)
        both_hold = isinstance(tree, Raw) and tree.name == "and"
        inner = negated(inner) if least else inner  # the maximum of what is negated
        minus = False
        match inner:
            case Apply(Op.SCALE, (positive,), -1.0) if op is Op.SUM:
                minus, inner = True, positive  # behind the sum there is less to negate
        free = self.free(inner)
        indices = self._kept(out, free)
        self._check_reduced(free, indices, out)
        signless = _signless(tree, Arg(number))
        also = self._start(op, number, least, signless)
        typed = self._typed(type_, out, indices)
        gone = [x for x in free if x not in indices]
        behind = also is not None or least or minus
        name = f"{target}_{_NAMES[op]}" if behind else target
        final = None if behind else typed
        if op is Op.MAX and gone:
            operand = self._emit(inner, f"{target}_1").access
            if both_hold:  # an absent one does not hold
                operand = self._with_zeros(operand, f"{target}_all")
            made = self._statement(Op.MAX, [operand], name, indices, final)
        elif op is Op.MUL:
            operand = self._product(inner, gone, f"{target}_1")
            made = self._statement(Op.SUM, [operand], name, indices, final)
        elif isinstance(inner, Apply) and inner.op in _SUMMED:
            made = self._assign(inner, name, indices, final)
        else:
            operand = self._emit(inner, f"{target}_1").access
            made = self._statement(Op.SUM, [operand], name, indices, final)
        begin = None if modulo or both_hold or signless or minus else self._begin(number)
        if also is not None and begin is not None and len(made.indices) == len(out):
            typed = self._typed(type_, out, made.indices)
            name = f"{target}_joined" if least else target
            joint = _JOINED[op](self._as_tree(made), Num(-begin if least else begin))
            made = self._assign(joint, name, made.indices, None if least else typed)
        elif also is not None:
            both = tuple(self.index[x] for x in out if x is not None)
            if least:
                also = self._statement(
                    Op.SCALE, [also], f"{target}_start", also.indices, None, -1.0
                )
            kept = tuple(x for x in both if x in (*made.indices, *also.indices))
            typed = self._typed(type_, out, kept)
            joined = {Op.SUM: Op.ADD, Op.MUL: Op.MUL}.get(op, Op.MAXIMUM)
            if both_hold:
                also = self._with_zeros(also, f"{target}_start_all")
            if joined.unites:
                made = self._widened(made, kept, f"{target}_1")
                also = self._widened(also, kept, f"{target}_start")
            name = f"{target}_joined" if least else target
            ends = [also, made] if minus else [made, also]
            joined, minus = Op.SUB if minus else joined, False
            made = self._statement(joined, ends, name, kept, None if least else typed)
        if least or minus:
            made = self._statement(Op.SCALE, [made], target, made.indices, typed, -1.0)
        if modulo:
            name = self.names[number - self.inputs]
            typed = self._typed(wanted, out, made.indices)
            made = self._assign(raw(WRAP, self._as_tree(made), *modulo), name, made.indices, typed)
        return self._viewed(made, out, sizes)

    def _begin(self, number: int) -> float | None:
        """The number that a reduction starts from, if each element of the result is there."""
        match self.operands[number]:
            case Blank(fill=fill) | ConstantNumber(value=fill) | ConstantTensor(splat=fill):
                finite = fill is not None and math.isfinite(fill)
                return fill if finite and not self._sparse() else None
        return None

    def _check_modulo(self, op: Op, type_: Type) -> None:
        if op is Op.MUL:
            raise self.refuse(
                f"a product of all elements of {type_.element}",
                "it is taken modulo 2^bits, and programs have no such products: extend the "
                "elements to i32, and see that the product is at most 2^24",
            )

    def _as_tree(self, access: Access) -> Node:
        """A tree that is what a statement has computed."""
        number = min([*self.reads, -len(self.captured)]) - 1
        self.reads[number] = OperandRead(access)
        return Arg(number)

    def _with_zeros(self, access: Access, target: str) -> Access:
        """A tensor with zeros where it has no elements."""
        by_index = {name: self.sizes[x] for x, name in self.index.items()}
        sizes = tuple(by_index[x] for x in access.indices)
        literal = Number("0.0", self.place)
        zeros = ConstantTensor(
            "zeros", literal, "f64", sizes, tuple(range(len(sizes))), None, self.place
        )
        other = Access(self.builder.constant(zeros).tensor, access.indices)
        return self._statement(Op.ADD, [access, other], target, access.indices, None)

    def _product(self, inner: Node, gone: list[str], target: str) -> Access:
        """The product of all elements along these indices: of one half with the other, again."""
        access = self._emit(inner, target).access
        by_index = {name: self.sizes[x] for x, name in self.index.items()}
        for x in gone:
            count = by_index[x].value
            if count is None:
                raise self.refuse("a size is not known here", "write the size, or give shapes")
            rest: list[Access] = []
            while count > 1:
                half, odd = divmod(count, 2)
                if odd:
                    rest.append(self._part(access, x, by_index, Sum((), count - 1), None))
                parts = [
                    self._part(access, x, by_index, Sum(((1, x),), start), half)
                    for start in (0, half)
                ]
                by_index[x], count = DimensionSize(half), half
                access = self._times(parts, access.indices, by_index, target)
            access = self._part(access, x, by_index, Sum((), 0), None)
            if rest:
                access = self._times([access, *rest], access.indices, by_index, target)
        return access

    def _part(
        self,
        access: Access,
        x: str,
        sizes: Mapping[str, DimensionSize],
        position: Sum,
        count: int | None,
    ) -> Access:
        """A part of a tensor along an index, or a single place of it."""
        positions = [position if name == x else name for name in access.indices]
        lengths = [sizes[name] for name in access.indices]
        within = {**sizes, x: DimensionSize(count or 1)}
        return read_at(self.builder, access.tensor, positions, lengths, within, self.place)

    def _times(
        self,
        factors: Sequence[Access],
        indices: tuple[str, ...],
        sizes: Mapping[str, DimensionSize],
        target: str,
    ) -> Access:
        shape = tuple(sizes[x] for x in indices)
        view = self.builder.assign(target, Op.MUL, factors, indices, shape, self.place)
        return Access(view.tensor, indices)

    def _accumulated(self, tree: Node, number: int) -> tuple[Op, Node, bool]:
        """Return the reduction (sum, product or maximum), its operand, and its negation."""
        out = Arg(number)
        match tree:
            case Apply(op=Op.ADD | Op.SUB) | Raw(name="select"):
                rest = _taken_out(tree, out)
                if rest is not None and not _depends(rest, out):
                    return Op.SUM, rest, False
        match tree:
            case Apply(op=Op.MUL | Op.SCALE) | Raw(name="select"):
                rest = _factor_out(tree, out)
                if rest is not None and not _depends(rest, out):
                    return Op.MUL, rest, False
            case Raw(name="max" | "min", operands=operands) if _signless(tree, out) is not None:
                inner = next(x for x in operands if x != _signless(tree, out))
                if number not in arguments(inner):
                    return Op.MAX, inner, tree.name == "min"
            case Raw(name="max" | "min" | "or" | "and", operands=operands) if out in operands:
                inner = operands[1] if operands[0] == out else operands[0]
                if number not in arguments(inner):
                    return Op.MAX, inner, tree.name in ("min", "and")
        raise self.refuse(
            "the region of a reduction must yield the accumulated output",
            "yield addf(%out, x) for a sum, mulf(%out, x) for a product, maximumf or "
            "minimumf(%out, x) for a maximum or minimum; of integers of more than 24 bits no "
            "maxui or minui",
        )

    def _over(self, out: tuple[str | None, ...]) -> frozenset[str]:
        """Dimensions over which an output is reduced: of several, each has its own."""
        return self.computation.reduced - {x for x in out if x is not None}

    def _check_reduced(
        self, free: tuple[str, ...], indices: tuple[str, ...], out: tuple[str | None, ...]
    ) -> None:
        reduced = {self.index[x]: x for x in self.computation.dims if x in self._over(out)}
        for name, x in reduced.items():
            if name not in free and self.sizes[x].value != 1:
                raise self.refuse(
                    f"index {x} is reduced, but no operand has it",
                    "multiply by a tensor of ones that has it",
                )
        for name in free:
            if name not in indices and name not in reduced:
                raise self.refuse(
                    f"index {name} is parallel, but the output's map lacks it",
                    "mark it as reduction, or give the output the index",
                )

    def _start(
        self, op: Op, number: int, least: bool, signless: Raw | None = None
    ) -> Access | None:
        """Return the start value of a reduction, if it is not the identity.

        ``signless`` is the output without a sign, where that is what is compared.
        """
        start = self.operands[number]
        fill: float | None
        match start:
            case Blank(fill=fill) | ConstantNumber(value=fill) | ConstantTensor(splat=fill):
                pass
            case _:
                fill = float("nan")
        if isinstance(start, Blank) and fill is None:
            if op is Op.MUL:
                raise self.refuse("the product starts from no number", "fill its output with 1.0")
            return None
        if fill is not None:
            element = self.types[number - self.inputs].element
            if (op, fill) in ((Op.SUM, 0.0), (Op.MUL, 1.0)):
                return None
            if signless is not None and not math.isnan(fill):
                (_, size) = signless.operands
                most = size.value - 1.0 if isinstance(size, Num) else 0.0
                if fill == (canonical(int(most), element) if least else 0.0):
                    return None
            elif op is Op.MAX and is_least(fill, element, least):
                return None
        if signless is not None:
            return self._emit(signless, f"{self.names[number - self.inputs]}_start").access
        return self.read(number).access


def _peeled(tree: Node) -> tuple[Node, tuple[Node, ...]]:
    """Return a sum without what takes it modulo 2^bits, and the numbers of that."""
    match tree:
        case Raw(name="wrap", operands=(inner, *numbers)):
            return inner, tuple(numbers)
        case Raw(name="select", operands=(condition, yes, no)):
            (yes, first), (no, second) = _peeled(yes), _peeled(no)
            return raw("select", condition, yes, no), first or second
    return tree, ()


def _signless(tree: Node, out: Arg) -> Raw | None:
    """Return the output without a sign, if that is what a maximum or a minimum compares."""
    for x in tree.operands if isinstance(tree, Raw) and tree.name in ("max", "min") else ():
        if isinstance(x, Raw) and x.name == UNSIGNED and x.operands[0] == out:
            return x
    return None


def _depends(tree: Node, out: Arg) -> bool:
    """Return whether a tree reads the output's values, not only its constant pattern."""
    if tree == pattern(out):
        return False
    if isinstance(tree, Apply | Raw):
        return any(_depends(x, out) for x in tree.operands)
    return tree == out


def _factor_out(tree: Node, out: Arg) -> Node | None:
    """Return the cofactor of the output; None if it is no factor, or the only one."""
    match tree:
        case Apply(op=Op.SCALE, operands=(inner,), constant=float() as constant):
            rest = _factor_out(inner, out)
            return None if rest is None else scaled(rest, constant)
        case Apply(op=Op.MUL, operands=operands) if operands.count(out) == 1:
            return reduce(mul, [x for x in operands if x != out])
        case Raw(name="select", operands=(condition, yes, no)) if {yes, no} != {out}:
            factors = [Num(1.0) if x == out else _factor_out(x, out) for x in (yes, no)]
            return _either(condition, *factors)
    return None


def _either(condition: Node, yes: Node | None, no: Node | None) -> Node | None:
    """A choice between what is accumulated; None where one of both is not."""
    return None if yes is None or no is None else selected(condition, yes, no)


def _taken_out(tree: Node, out: Arg) -> Node | None:
    """Return the other terms of a sum with the output; None if it does not occur exactly once."""
    if tree == out:
        return Num(0.0)
    match tree:
        case Raw(name="select", operands=(condition, yes, no)):
            return _either(condition, _taken_out(yes, out), _taken_out(no, out))
    if not isinstance(tree, Apply) or tree.op not in (Op.ADD, Op.SUB):
        return None
    a, b = tree.operands
    for mine, other in ((a, b), (b, a)):
        if mine is b and tree.op is Op.SUB:
            break
        rest = _taken_out(mine, out)
        if rest is None:
            continue
        if rest == Num(0.0):
            return negated(other) if tree.op is Op.SUB else other
        return sub(rest, other) if tree.op is Op.SUB else add(rest, other)
    return None


_SUMMED = (Op.MUL, Op.ADD, Op.SUB, Op.DIV)
_JOINED = {Op.SUM: add, Op.MUL: mul, Op.MAX: largest}
"""How what is reduced goes on with the number that it starts from."""
_NAMES = {Op.SUM: "sum", Op.MUL: "product", Op.MAX: "max"}
