"""The statements that compute trees, and the operations of PyTorch that are trees."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce, wraps
from typing import Any, cast

from fuseloom.frontends.algebra.conditions import SELECT, is_condition, lowered, selected
from fuseloom.frontends.algebra.evaluation import keeps_zero
from fuseloom.frontends.algebra.expressions import (
    Apply,
    Arg,
    Node,
    Num,
    Raw,
    Unsupported,
    arguments,
    number_of,
    with_arguments,
)
from fuseloom.frontends.torch.builder import TorchBuilder
from fuseloom.frontends.torch.nodes import shape_of
from fuseloom.frontends.torch.traced import Traced
from fuseloom.frontends.torch.values import Support, Value
from fuseloom.program import Op

_PARTS = {Op.ADD: "sum", Op.SUB: "difference"}


def compute(b: TorchBuilder, function: Callable[..., Node], *operands: Value | float) -> Value:
    """The statements of a function of the algebra.

    Parameters
    ----------
    function : callable
        The tree of it, given a tree for each of the operands.
    operands : Value or float
        Of shapes that broadcast.

    Raises
    ------
    ProgramError
        A function that no statement computes.
    """
    trees, values = _trees(operands)
    try:
        tree = function(*trees)
    except Unsupported as problem:
        raise b.refuse(problem.message, problem.hint) from None
    result = _Statements(b, list(values)).whole(tree)
    if isinstance(tree, Raw) and is_condition(tree):
        b.conditions[result.tensor] = result, tree, tuple(values)
    return result


def choose(b: TorchBuilder, condition: Value, yes: Value | float, no: Value | float) -> Value:
    """``yes`` where a condition holds, ``no`` elsewhere: the larger one if that is what it says."""
    known = b.conditions.get(condition.tensor)
    if known is not None and known[0] == replace(condition, tensor=known[0].tensor):
        _, tree, operands = known

        def chosen(*trees: Node) -> Node:
            return selected(with_arguments(tree, trees[:-2]), *trees[-2:])

        found = chosen(*_trees([*operands, yes, no])[0])
        if not (isinstance(found, Raw) and found.name == SELECT):
            return compute(b, chosen, *operands, yes, no)
    return compute(b, selected, condition, yes, no)


def _trees(operands: Sequence[Value | float]) -> tuple[list[Node], list[Value]]:
    """A tree for each operand, and the values among them, each once."""
    values = list(dict.fromkeys(x for x in operands if isinstance(x, Value)))
    return [
        Arg(values.index(x)) if isinstance(x, Value) else Num(float(x)) for x in operands
    ], values


class _Statements:
    """Adds the statements of trees; what occurs in one twice is computed once."""

    def __init__(self, builder: TorchBuilder, values: list[Value]) -> None:
        self.builder = builder
        self.values = values
        self.done: dict[Node, Value] = {}

    def whole(self, tree: Node) -> Value:
        """The value of a tree; of one operand that may lack elements, and 0 at 0, only at these."""
        read = arguments(tree)
        lacking = [n for n in read if self.values[n].support is Support.ZERO]
        if len(read) > 1 or not lacking or not keeps_zero(tree):
            return self.of(tree)
        self.values[read[0]] = replace(self.values[read[0]], support=Support.FULL)
        return replace(self.of(tree), support=Support.ZERO)

    def of(self, tree: Node) -> Value:
        if tree not in self.done:
            self.done[tree] = self._computed(tree)
        return self.done[tree]

    def _computed(self, tree: Node) -> Value:
        b = self.builder
        match tree:
            case Arg(number=number):
                return self.values[number]
            case Num(value=value):
                return b.constant(value)
            case Raw("max" | "min" as name, (first, second)):
                ends = self.of(first), self.of(second)
                return larger(b, *ends) if name == "max" else smaller(b, *ends)
            case Raw() if (simpler := lowered(tree)) is not None:
                return self.of(simpler)
            case Apply(Op.DIV, (first, second)):
                return b.div(self._or_number(first, second), self._or_number(second, first))
            case Apply(op, (operand,), constant) if constant is not None:
                return self._with_constant(op, self.of(operand), constant)
            case Apply(op, operands):
                return self._applied(op, [self.of(x) for x in operands])
        raise b.refuse("an operation that programs lack", "compute its result beforehand")

    def _or_number(self, tree: Node, along: Node) -> Value:
        number = number_of(tree, along)
        return self.of(tree) if number is None else self.builder.constant(number)

    def _with_constant(self, op: Op, value: Value, constant: float) -> Value:
        b = self.builder
        if op is Op.SCALE:
            return b.scale(value, constant, "negative" if constant == -1.0 else "scale")
        return b.shift(value, constant) if op is Op.SHIFT else b.at_least(value, constant)

    def _applied(self, op: Op, values: list[Value]) -> Value:
        b = self.builder
        if op is Op.MUL:
            return b.product(values)
        if op is Op.MAXIMUM:
            return reduce(partial(larger, b), values)
        if op in _PARTS:
            first, second = values
            return b.add(first, second, _PARTS[op], op)
        (operand,) = values
        return b.apply(op, operand)


def handler_of(function: Callable[..., Node]) -> Callable[..., Value]:
    """The handler of an operation that is a function of the algebra.

    The arguments that the function declares as trees are tensors and numbers; the others are
    what they are in PyTorch.
    """
    signature = inspect.signature(function)
    parameters = signature.parameters.values()
    trees = {p.name for p in parameters if str(p.annotation).startswith("Node")}

    def handler(m: Traced, *args: Any, **named: Any) -> Value:
        given = signature.bind(*args, **named)
        given.apply_defaults()
        chosen = {n: x for n, x in given.arguments.items() if n in trees and x is not None}
        rest = {n: x for n, x in given.arguments.items() if n not in chosen}
        numbers = [m.number(x) for x in chosen.values()]
        if None not in numbers:  # a number is the same everywhere, but a result has elements
            numbers[0] = None
        operands = [
            m.value(x) if number is None else number
            for x, number in zip(chosen.values(), numbers, strict=True)
        ]
        value = compute(
            m.builder, lambda *x: function(**dict(zip(chosen, x, strict=True)), **rest), *operands
        )
        return wide(m, value)

    made: Any = wraps(function)(handler)
    importer = inspect.Parameter("m", inspect.Parameter.POSITIONAL_ONLY)
    made.__signature__ = signature.replace(parameters=[importer, *parameters])
    return cast(Callable[..., Value], made)


def wide(m: Traced, value: Value) -> Value:
    """A result of the shape that PyTorch gives it; numbers of larger tensors have been left out."""
    shape = shape_of(m.builder.node)
    return value if value.shape == shape else m.builder.aligned([value], shape)[0]


def larger(b: TorchBuilder, one: Value, other: Value) -> Value:
    """``max(one, other)``, broadcast; absent elements are 0, so it may be a gap that is added."""
    if one.support is not Support.FULL or other.support is not Support.FULL:
        gap = b.add(one, other, "difference", Op.SUB)
        return b.add(other, b.apply(Op.RELU, gap), "larger")
    return b.add(one, other, "larger", Op.MAXIMUM)


def smaller(b: TorchBuilder, one: Value, other: Value) -> Value:
    """``min(one, other)``, as :func:`larger`."""
    if one.support is not Support.FULL or other.support is not Support.FULL:
        gap = b.add(one, other, "difference", Op.SUB)
        return b.add(one, b.apply(Op.RELU, gap), "smaller", Op.SUB)
    less = b.scale(one, -1.0, "negative"), b.scale(other, -1.0, "negative")
    return b.scale(b.add(*less, "larger", Op.MAXIMUM), -1.0, "smaller")


def on_stored(b: TorchBuilder, value: Value, function: Callable[[Value], Value]) -> Value:
    """Apply a function that maps 0 to 0, made of steps that need not, to what is stored."""
    b.unmasked(value, "a function")
    result = function(replace(value, support=Support.FULL))
    return replace(result, support=value.support)
