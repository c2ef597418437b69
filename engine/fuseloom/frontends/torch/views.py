"""Views: what renames indices, and what moves elements.

Permuting, inserting and expanding dimensions cost nothing.  A reshape that splits or merges
dimensions is a statement of the language (a fusion barrier); a slice of a computed tensor is a
product with a selection matrix, which is exact and runs on the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from fuseloom.frontends.algebra import moves
from fuseloom.frontends.torch.builder import LETTERS, TorchBuilder
from fuseloom.frontends.torch.selections import fixed, selections_of
from fuseloom.frontends.torch.values import Value
from fuseloom.program import Access, Op
from fuseloom.program.relations import Relation

IDENTITIES = frozenset(
    {
        *("alias", "clone", "contiguous", "detach", "positive", "lift_fresh", "lift_fresh_copy"),
        *("dropout", "feature_dropout", "alpha_dropout", "native_dropout"),
        "feature_alpha_dropout",
        *("to", "_to_copy", "type_as", "to_dense", "_to_dense"),
    }
)
RENAMES = frozenset(
    {
        *("permute", "transpose", "t", "numpy_T", "mT", "swapaxes", "movedim"),
        *("unsqueeze", "squeeze", "expand", "expand_as", "broadcast_to"),
        *("view", "_unsafe_view", "reshape", "flatten", "unflatten", "view_as", "reshape_as"),
    }
)
PIECES = frozenset(
    {
        *("slice", "select", "narrow"),
        *("chunk", "split", "split_with_sizes", "unbind", "getitem", "tensor_split"),
        *("unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes"),
    }
)
VIEWS = IDENTITIES | RENAMES | PIECES


def permutation(op: str, rank: int, args: Sequence[Any]) -> list[int] | None:
    """Which dimension of the operand each dimension of the result is."""
    order = list(range(rank))
    if not rank and op in ("transpose", "swapaxes", "movedim"):
        return order
    match op:
        case "permute":
            return [d % rank for d in args[0]]
        case "transpose" | "swapaxes":
            a, b = args[0] % rank, args[1] % rank
            order[a], order[b] = b, a
            return order
        case "t" | "numpy_T":
            return order[::-1]
        case "mT":
            return [*order[:-2], rank - 1, rank - 2]
        case "movedim":
            source = [d % rank for d in _listed(args[0])]
            target = [d % rank for d in _listed(args[1])]
            rest = iter(d for d in order if d not in source)
            at = dict(zip(target, source, strict=True))
            return [at[n] if n in at else next(rest) for n in range(rank)]
    return None


def _listed(dims: Any) -> list[int]:
    return [dims] if isinstance(dims, int) else list(dims)


def rename(
    b: TorchBuilder,
    op: str,
    value: Value,
    args: Sequence[Any],
    shape: Sequence[int],
) -> Value | None:
    """The value under other indices; None if elements must move."""
    order = permutation(op, value.rank, args)
    if order is not None:
        return value.picked(order, shape)
    if op in ("expand", "expand_as", "broadcast_to"):
        return b.aligned([value], shape)[0]
    wide = [(d, n) for d, n in enumerate(value.shape) if n != 1]
    target = [(d, n) for d, n in enumerate(shape) if n != 1]
    if [n for _, n in wide] != [n for _, n in target]:
        return None
    ones = [d for d, n in enumerate(value.shape) if n == 1]
    value = b.dropped(value, ones)
    dims: list[int | None] = [None] * len(shape)
    for (old, _), (new, _) in zip(wide, target, strict=True):
        dims[new] = old
    return value.picked(dims, shape)


def reshape(b: TorchBuilder, value: Value, shape: Sequence[int]) -> Value:
    """Elements in row-major order in another shape: a barrier."""
    value = b.stored_dims(value, [d for d, n in enumerate(value.shape) if n != 1])
    value = b.dropped(value, [d for d, n in enumerate(value.shape) if n == 1])
    wide = [d for d, n in enumerate(value.shape) if n != 1]
    value = value.picked(wide, [value.shape[d] for d in wide])
    if not value.plain:
        names = LETTERS[: value.rank]
        sizes = dict(zip(names, value.shape, strict=True))
        operand = value.read(names)
        name = b.emit("order", Op.SUM, tuple(names), [operand], sizes)
        value = replace(value, tensor=name, axes=tuple(range(value.rank)))
    target = [d for d, n in enumerate(shape) if n != 1]
    names, old = LETTERS[: len(target)], LETTERS[len(target) :][: value.rank]
    sizes = {x: shape[d] for x, d in zip(names, target, strict=True)}
    name = b.emit("shape", Op.RESHAPE, tuple(names), [Access(value.tensor, tuple(old))], sizes)
    b.supports[name] = value.support
    axes = tuple(target.index(d) if d in target else None for d in range(len(shape)))
    return Value(name, axes, tuple(shape), value.support)


def moved(b: TorchBuilder, value: Value, shape: Sequence[int]) -> Value:
    """The elements in another shape: under other names where that is enough, else a reshape."""
    renamed = rename(b, "view", value, (), shape)
    return reshape(b, value, shape) if renamed is None else renamed


def selected(b: TorchBuilder, value: Value, dim: int, places: Sequence[int], part: str) -> Value:
    """Element ``n`` along ``dim`` is element ``places[n]``."""
    b.unmasked(value, "a part")
    size, count = value.shape[dim], len(places)
    places = [n % size for n in places] if size else list(places)
    if places == list(range(size)):
        return value
    if value.axes[dim] is None:
        shape = tuple(count if d == dim else n for d, n in enumerate(value.shape))
        return value.picked(list(range(value.rank)), shape)
    even = moves.spaced(places)
    chooser = (
        selections_of(b, fixed(places), (count,), size, f"{b.node.name}_{part}")
        if even is None
        else b.made(part, moves.part(*even), (count, size))
    )
    names = list(LETTERS[: value.rank])
    out = [*names[:dim], "o", *names[dim + 1 :]]
    result = b.contract([(chooser, ["o", names[dim]]), (value, names)], out, part)
    return replace(result, support=value.support)


def one_of(b: TorchBuilder, value: Value, dim: int, at: int, part: str) -> Value:
    """The element ``at`` along a dimension, which goes."""
    b.unmasked(value, "a part")
    rest = [d for d in range(value.rank) if d != dim]
    if value.axes[dim] is None:
        return value.picked(rest, [value.shape[d] for d in rest])
    chooser = b.made(part, Relation.of((), at), (value.shape[dim],))
    names = list(LETTERS[: value.rank])
    out = [names[d] for d in rest]
    result = b.contract([(chooser, [names[dim]]), (value, names)], out, part)
    return replace(result, support=value.support)


def pieces(b: TorchBuilder, op: str, value: Value, args: Sequence[Any]) -> Any:
    """Slices of a computed tensor."""
    first = args[0] if args else None
    if op == "select":
        dim, at = b.axis(args[0], value.rank), args[1]
        return one_of(b, value, dim, at % value.shape[dim], "chosen")
    if op in ("slice", "narrow"):
        dim = b.axis(first or 0, value.rank)
        size = value.shape[dim]
        if op == "narrow":
            start, stop, step = args[1] % size, args[1] % size + args[2], 1
        else:
            start, stop, step = (*args[1:], *[None] * (4 - len(args)))[:3]
        return selected(b, value, dim, range(size)[slice(start, stop, step)], "part")
    dim = b.axis(_piece_dim(op, args), value.rank)
    size = value.shape[dim]
    parts = []
    start = 0
    for n, length in enumerate(_lengths(op, first, size)):
        if op == "tensor_split" and isinstance(first, (list, tuple)):
            start = range(size)[first[n - 1] if n else 0 :].start
        chosen = range(start, start + length)
        start += length
        part = f"part{n}"
        if op == "unbind":
            piece = one_of(b, value, dim, n, part)
        elif not length:
            piece = value  # nothing reads what has no elements
        else:
            piece = selected(b, value, dim, chosen, part)
        parts.append(piece)
    return tuple(parts)


def _piece_dim(op: str, args: Sequence[Any]) -> int:
    given = args[:1] if op == "unbind" else args[1:2]
    return int(given[0]) if given else 0


def _lengths(op: str, first: Any, size: int) -> list[int]:
    op = op.removeprefix("unsafe_")
    if op == "unbind":
        return [1] * size
    if op == "tensor_split":
        if isinstance(first, int):
            return [size // first + (n < size % first) for n in range(first)]
        cuts = [None, *first, None]
        return [len(range(size)[a:b]) for a, b in pairwise(cuts)]
    if isinstance(first, (list, tuple)):
        return list(first)
    step = -(-size // first) if op == "chunk" else first
    return [min(step, size - start) for start in range(0, size, step)] if step else [0]
