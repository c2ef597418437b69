"""Nodes of a traced graph: names, arguments, and kinds of operations."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping
from typing import Any

LAYOUTS = frozenset(
    {
        *("to_sparse", "_to_sparse", "coalesce", "_coalesce", "_coalesced"),
        *("to_sparse_csr", "_to_sparse_csr", "to_sparse_csc", "_to_sparse_csc"),
        *("to_sparse_bsr", "_to_sparse_bsr", "to_sparse_bsc", "_to_sparse_bsc"),
    }
)
"""Operations that store a tensor otherwise."""

ASSIGNING = frozenset({"index_put", "_index_put_impl"})
"""Operations that set elements, such as the diagonal of an adjacency matrix."""

COMPARING = frozenset({"isinf", "isnan", "isfinite"})
"""Operations on computed values whose results are no numbers."""

CONDITIONS = frozenset(
    {
        *("gt", "lt", "ge", "le", "ne", "eq", "logical_and", "logical_or", "logical_xor"),
        *("logical_not", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"),
        *("__and__", "__or__", "__xor__"),
    }
)
"""Operations on computed values whose results are bits, which are 0 or 1 in a program."""

RANKING = frozenset({"sort", "argsort", "msort", "topk", "kthvalue", "median", "argmax", "argmin"})
"""Operations that order elements by size, and give their places."""

KNOWN = LAYOUTS | ASSIGNING | {"values", "_values"}
"""Operations whose results are known with their operands, numbers of the user's among them."""

BEFOREHAND = frozenset(
    {
        *("sin", "cos", "tan", "sign", "sgn", "floor", "ceil", "trunc", "fix", "round", "frac"),
        *("fmod", "remainder", "floor_divide"),
    }
)
"""Functions of places and frequencies: of what is settled they are known."""

EMPTY = frozenset(
    {
        *("empty", "empty_like", "empty_strided", "empty_permuted"),
        *("new_empty", "new_empty_strided"),
    }
)
"""Operations that give memory in which nothing was written yet."""

LIKE = {
    **{"ones_like": 1.0, "zeros_like": 0.0, "full_like": None},
    **{"new_ones": 1.0, "new_zeros": 0.0, "new_full": None, "fill": None},
    **{"zero": 0.0, **dict.fromkeys(EMPTY, 0.0)},
}
"""Operations that give one number everywhere; None where an argument says which."""


def mutates(node: Any) -> bool:
    """Return whether a node calls an operation that changes one of its operands."""
    schema = getattr(node.target, "_schema", None)
    return schema is not None and bool(schema.is_mutable)


def shape_of(node: Any) -> tuple[int, ...]:
    """Return the shape of a node's result, or of the first of its results."""
    given = node.meta["val"]
    return tuple((given[0] if isinstance(given, list | tuple) else given).shape)


def takes(handler: Callable[..., Any], given: Mapping[str, Any]) -> bool:
    """Return whether a handler accepts the arguments; an operation's overloads may have others."""
    try:
        inspect.signature(handler).bind(None, **given)
    except TypeError:
        return False
    return True


def numbers(held: Any) -> bool:
    """Return whether a tensor holds floats, real or complex."""
    return bool(held.is_floating_point() or held.is_complex())


def op_name(node: Any) -> str:
    """``linear`` of ``aten.linear.default``."""
    if node.target is operator.getitem:
        return "getitem"
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return str(node.target)
    name = str(schema.name).split("::")[-1]
    return name.removesuffix("_") if schema.is_mutable else name


def where_from(node: Any) -> str:
    """``result 1 of max``, or the operation itself."""
    if node.target is operator.getitem:
        return f"result {node.args[1]} of {op_name(node.args[0])}"
    return str(node.target)


def arguments(node: Any) -> dict[str, Any]:
    """Arguments by the names of the operation's schema; ``self`` is called ``x``."""
    named = dict(node.kwargs)
    for parameter, given in zip(node.target._schema.arguments, node.args, strict=False):
        named[parameter.name] = given
    if "self" in named:
        named["x"] = named.pop("self")
    return named
