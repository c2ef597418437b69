"""Reductions: what they accumulate, over which dimensions, and what they start from."""

from __future__ import annotations

import math
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
from fuseloom.frontends.algebra.reductions import product
from fuseloom.frontends.mlir.computed_access import read_at
from fuseloom.frontends.mlir.integers import canonical
from fuseloom.frontends.mlir.operands import Operands, StructuredOutput
from fuseloom.frontends.mlir.semirings import pattern
from fuseloom.frontends.mlir.statements import Statements
from fuseloom.frontends.mlir.syntax import Sum
from fuseloom.frontends.mlir.values import (
    Blank,
    ConstantNumber,
    ConstantTensor,
    DimensionSize,
    View,
    is_least,
)
from fuseloom.program.functions import Op
from fuseloom.program.types import Access


def reduced(statements: Statements, tree: Node, output: StructuredOutput) -> View:
    """A result that accumulates a tree, by statements.

    Raises
    ------
    ProgramError
        The tree is no sum, product, maximum or minimum of the output and something else.
    """
    operands = statements.operands
    tree, modulo = _peeled(tree)
    op, inner, least = _accumulated(operands, tree, output.number)
    part = output
    if modulo and op is Op.MUL:
        raise operands.refuse(
            f"a product of all elements of {output.type.element}",
            "it is taken modulo 2^bits, and programs have no such products: extend the "
            "elements to i32, and see that the product is at most 2^24",
        )
    if modulo:
        whole = replace(output.type, format=None)
        part = replace(output, name=f"{output.name}_whole", type=whole)
    target = part.name
    both_hold = isinstance(tree, Raw) and tree.name == "and"
    inner = negated(inner) if least else inner  # the maximum of what is negated
    minus = False
    match inner:
        case Apply(Op.SCALE, (positive,), -1.0) if op is Op.SUM:
            minus, inner = True, positive  # behind the sum there is less to negate
    free = statements.free(inner)
    indices = output.kept(free)
    _check_reduced(operands, free, output)
    signless = _signless(tree, Arg(output.number))
    also = _start(statements, op, output, least, signless)
    fmt = part.format(indices)
    gone = [x for x in free if x not in indices]
    behind = also is not None or least or minus
    name = f"{target}_{_NAMES[op]}" if behind else target
    final = None if behind else fmt
    if op is Op.MAX and gone:
        operand = statements.emit(inner, f"{target}_1")
        if both_hold:  # an absent one does not hold
            operand = statements.with_zeros(operand, f"{target}_all")
        made = statements.statement(Op.MAX, [operand], name, indices, final)
    elif op is Op.MUL:
        made = _product(statements, inner, gone, f"{target}_1")
        if not behind or made.indices != indices:
            made = statements.statement(Op.SUM, [made], name, indices, final)
    elif isinstance(inner, Apply) and inner.op in _SUMMED:
        made = statements.assign(inner, name, indices, final)
    else:
        operand = statements.emit(inner, f"{target}_1")
        made = statements.statement(Op.SUM, [operand], name, indices, final)
    begin = None if modulo or both_hold or signless or minus else _begin(statements, output.number)
    if also is not None and begin is not None and len(made.indices) == len(output.dims):
        fmt = part.format(made.indices)
        name = f"{target}_joined" if least else target
        joint = _JOINED[op](statements.as_tree(made), Num(-begin if least else begin))
        made = statements.assign(joint, name, made.indices, None if least else fmt)
    elif also is not None:
        if least:
            also = statements.statement(
                Op.SCALE, [also], f"{target}_start", also.indices, None, -1.0
            )
        kept = output.kept((*made.indices, *also.indices))
        fmt = part.format(kept)
        joined = {Op.SUM: Op.ADD, Op.MUL: Op.MUL}.get(op, Op.MAXIMUM)
        if both_hold:
            also = statements.with_zeros(also, f"{target}_start_all")
        if joined.unites:
            made = statements.widened(made, kept, f"{target}_1")
            also = statements.widened(also, kept, f"{target}_start")
        name = f"{target}_joined" if least else target
        ends = [also, made] if minus else [made, also]
        joined, minus = Op.SUB if minus else joined, False
        made = statements.statement(joined, ends, name, kept, None if least else fmt)
    if least or minus:
        made = statements.statement(Op.SCALE, [made], target, made.indices, fmt, -1.0)
    if modulo:
        wrapped = raw(WRAP, statements.as_tree(made), *modulo)
        fmt = output.format(made.indices)
        made = statements.assign(wrapped, output.name, made.indices, fmt)
    return output.view(made)


def _begin(statements: Statements, number: int) -> float | None:
    """The number that a reduction starts from, if each element of the result is there."""
    fill = _number_at(statements.operands, number)
    return fill if fill is not None and math.isfinite(fill) and not statements.sparse else None


def _number_at(operands: Operands, number: int) -> float | None:
    """The one number that an output has everywhere; not a number if it is none."""
    match operands.values[number]:
        case Blank(fill=fill) | ConstantNumber(value=fill) | ConstantTensor(splat=fill):
            return fill
    return math.nan


def _product(statements: Statements, inner: Node, gone: list[str], target: str) -> Access:
    """The product of all elements along these indices, one index after the other."""
    operands, access = statements.operands, statements.emit(inner, target)
    for x in gone:
        count = operands.lengths[x].value
        if count is None:
            raise operands.refuse("a size is not known here", "write the size, or give shapes")
        factors = _Factors(operands, x, target)
        access, _ = product((access, count), count, factors.part, factors.times)
    return access


class _Factors:
    """Parts of tensors along an index, each with the size that it has there, and their products."""

    def __init__(self, operands: Operands, index: str, target: str) -> None:
        self.operands = operands
        self.index = index
        self.target = target

    def part(self, whole: tuple[Access, int], start: int, count: int) -> tuple[Access, int]:
        access, length = whole
        position = Sum((), start) if count == 1 else Sum(((1, self.index),), start)
        positions = [position if x == self.index else x for x in access.indices]
        held = [self._sizes(length)[x] for x in access.indices]
        operands, sizes = self.operands, self._sizes(count)
        read = read_at(operands.builder, access.tensor, positions, held, sizes, operands.place)
        return read, count

    def times(self, one: tuple[Access, int], other: tuple[Access, int]) -> tuple[Access, int]:
        (first, count), operands = one, self.operands
        shape = tuple(self._sizes(count)[x] for x in first.indices)
        view = operands.builder.assign(
            self.target, Op.MUL, [first, other[0]], first.indices, shape, operands.place
        )
        return Access(view.tensor, first.indices), count

    def _sizes(self, count: int) -> dict[str, DimensionSize]:
        return {**self.operands.lengths, self.index: DimensionSize(count)}


def _accumulated(operands: Operands, tree: Node, number: int) -> tuple[Op, Node, bool]:
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
        case Raw(name="max" | "min", operands=(a, b)) if _signless(tree, out) is not None:
            inner = b if a == _signless(tree, out) else a
            if number not in arguments(inner):
                return Op.MAX, inner, tree.name == "min"
        case Raw(name="max" | "min" | "or" | "and", operands=(a, b)) if out in (a, b):
            inner = b if a == out else a
            if number not in arguments(inner):
                return Op.MAX, inner, tree.name in ("min", "and")
    raise operands.refuse(
        "the region of a reduction must yield the accumulated output",
        "yield addf(%out, x) for a sum, mulf(%out, x) for a product, maximumf or "
        "minimumf(%out, x) for a maximum or minimum; of integers of more than 24 bits no "
        "maxui or minui",
    )


def _check_reduced(operands: Operands, free: tuple[str, ...], output: StructuredOutput) -> None:
    over = operands.over(output)
    gone = {operands.index[x]: x for x in operands.computation.dims if x in over}
    for name, x in gone.items():
        if name not in free and operands.sizes[x].value != 1:
            raise operands.refuse(
                f"index {x} is reduced, but no operand has it",
                "multiply by a tensor of ones that has it",
            )
    for name in free:
        if name not in output.indices and name not in gone:
            raise operands.refuse(
                f"index {name} is parallel, but the output's map lacks it",
                "mark it as reduction, or give the output the index",
            )


def _start(
    statements: Statements, op: Op, output: StructuredOutput, least: bool, signless: Raw | None
) -> Access | None:
    """Return the start value of a reduction, if it is not the identity.

    ``signless`` is the output without a sign, where that is what is compared.
    """
    operands, number = statements.operands, output.number
    fill, element = _number_at(operands, number), output.type.element
    if fill is None and isinstance(operands.values[number], Blank):
        if op is Op.MUL:
            raise operands.refuse("the product starts from no number", "fill its output with 1.0")
        return None
    if fill is not None:
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
        return statements.emit(signless, f"{output.name}_start")
    return statements.read(number)


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
