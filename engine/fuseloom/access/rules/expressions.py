"""What rules compute of shapes and attributes: expressions, read and never executed as code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from operator import add, sub
from typing import Any, TypeAlias

from fuseloom.access.shapes import AccessShape
from fuseloom.access.text import Atom, Expression, ListExpression, fault, read_integer
from fuseloom.errors import shortened
from fuseloom.program.formats import suggestion
from fuseloom.wording import counted

Value: TypeAlias = Any
"""An integer, a truth value, a word, a tuple of integers, or an access shape."""

Environment: TypeAlias = Mapping[str, Value]
"""Variables and parameters by name; a variable that stands for a term has its shape."""

Evaluator: TypeAlias = Callable[[Environment], Value]


def _item(dims: Value, number: int) -> Value:
    if number < 0:
        raise IndexError
    return dims[number]


def _replaced(dims: Value, number: int, value: int) -> Value:
    if not 0 <= number < len(dims):
        raise IndexError
    return (*dims[:number], value, *dims[number + 1 :])


def _position(dims: Value, value: int) -> int:
    return int(tuple(dims).index(value))


def _quotient(a: int, b: int) -> int:
    if b == 0:
        raise IndexError
    return a // b


FUNCTIONS: Mapping[str, tuple[int | None, str, Callable[..., Value]]] = {
    "+": (2, "the sum of two integers", lambda a, b: a + b),
    "-": (2, "their difference", lambda a, b: a - b),
    "*": (2, "their product", lambda a, b: a * b),
    "/": (2, "their quotient, rounded down", _quotient),
    "ceil": (2, "their quotient, rounded up", lambda a, b: -_quotient(-a, b)),
    "min": (2, "the smaller", min),
    "max": (2, "the larger", max),
    "=": (2, "whether two values are equal", lambda a, b: a == b),
    "!=": (2, "whether they differ", lambda a, b: a != b),
    "<": (2, "whether an integer is less than another", lambda a, b: a < b),
    "<=": (2, "whether it is not greater", lambda a, b: a <= b),
    ">": (2, "whether it is greater", lambda a, b: a > b),
    ">=": (2, "whether it is not less", lambda a, b: a >= b),
    "not": (1, "whether something does not hold", lambda a: not a),
    "access-dims": (1, "the access dimensions of a shape", lambda s: s.access),
    "compute-dims": (1, "its compute dimensions", lambda s: s.compute),
    "dims": (1, "all its dimensions", lambda s: s.dims),
    "access-shape": (2, "a pair of shapes", AccessShape),
    "list": (None, "a list of integers", lambda *items: items),
    "append": (None, "lists one after another", lambda *lists: tuple(x for a in lists for x in a)),
    "length": (1, "the number of items of a list", len),
    "item": (2, "an item of a list, from 0 on", _item),
    "take": (2, "the first items of a list", lambda dims, n: dims[:n]),
    "drop": (2, "a list without its first items", lambda dims, n: dims[n:]),
    "replace": (3, "a list with another value for an item", _replaced),
    "product": (1, "the product of a list", lambda dims: prod(dims)),
    "range": (2, "the integers from one to before another", lambda a, b: tuple(range(a, b))),
    "zeros": (1, "a list of as many zeros", lambda n: (0,) * n),
    "ones": (1, "a list of as many ones", lambda n: (1,) * n),
    "permuted": (2, "items of a list in an order", lambda d, p: tuple(_item(d, x) for x in p)),
    "position": (2, "where a value stands in a list", _position),
    "sum-lists": (2, "sums of two lists' items", lambda a, b: _itemwise(add, a, b)),
    "difference-lists": (2, "differences of two lists' items", lambda a, b: _itemwise(sub, a, b)),
    "min-lists": (2, "the smaller of two lists' items", lambda a, b: _itemwise(min, a, b)),
}  # fmt: skip
"""By name: the number of arguments (None: any), what it gives, and the function.

An item that a list does not have, or a quotient by 0, means that the rule does not apply.
"""


def _itemwise(function: Callable[[int, int], int], first: Value, second: Value) -> Value:
    return tuple(function(a, b) for a, b in zip(first, second, strict=True))


UNDEFINED = (IndexError, ValueError, TypeError, AttributeError)
"""What evaluating an expression raises where it has no value."""


def compile_expression(expression: Expression, known: frozenset[str]) -> Evaluator:
    """An expression as a function of variables and parameters.

    Parameters
    ----------
    known : frozenset of str
        The names that it may use.

    Raises
    ------
    ParseError
        Of an unknown name or function, or another number of arguments than it takes.

    Examples
    --------
    >>> from fuseloom.access.text import read_expressions
    >>> half = compile_expression(read_expressions("(/ ?n 2)")[0], frozenset({"?n"}))
    >>> half({"?n": 32})
    16
    """
    if isinstance(expression, Atom):
        name = expression.text
        if name in known:
            return lambda environment: environment[name]
        if name.startswith("?") or not name.lstrip("-").isdigit():
            raise fault(
                expression,
                f"{shortened(name, 40)} is not known here",
                "a rule's left side, its each and its let bind variables",
            )
        number = read_integer(expression)
        return lambda _: number
    head, arguments = _head(expression), expression.items[1:]
    if head in ("and", "or"):
        parts = [compile_expression(x, known) for x in arguments]
        every = all if head == "and" else any
        return lambda environment: every(part(environment) for part in parts)
    if head not in FUNCTIONS:
        raise fault(
            expression,
            f"{shortened(head, 40)} is no function of rules",
            suggestion(head, ["and", "or", *FUNCTIONS]),
        )
    count, _, function = FUNCTIONS[head]
    if count is not None and count != len(arguments):
        raise fault(expression, f"{head} takes {counted(count, 'argument')}, not {len(arguments)}")
    parts = [compile_expression(x, known) for x in arguments]
    return lambda environment: function(*(part(environment) for part in parts))


def _head(group: ListExpression) -> str:
    if not group.items or not isinstance(group.items[0], Atom):
        raise fault(group, "a function is missing", f"functions are {', '.join(FUNCTIONS)}")
    return group.items[0].text
