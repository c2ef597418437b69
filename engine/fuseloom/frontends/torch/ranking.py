"""Operations that choose by size at run time: sorting, the largest, and computed indices.

The machine compares by the sign of a difference.  Of n elements along a dimension, as many come
before one as have a positive sign of their difference; so each has a rank, and an element of rank k
is picked by ``1 - sign(|rank - k|)``.  That is n x n comparisons, which are exact: a difference of
two numbers of float32 is 0 only of equal ones.  Of equal elements the first one comes first.

An index that is computed is a tensor of small integers; reading by it is a product with ones
where it has a number, and zeros elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from fuseloom.frontends.algebra import functions
from fuseloom.frontends.algebra.conditions import compared, not_
from fuseloom.frontends.algebra.expressions import Node, Num
from fuseloom.frontends.torch.builder import LETTERS
from fuseloom.frontends.torch.elementwise import compute
from fuseloom.frontends.torch.nodes import RANKING, op_name
from fuseloom.frontends.torch.reductions import kept
from fuseloom.frontends.torch.traced import Traced
from fuseloom.frontends.torch.values import Value, broadcast_shape
from fuseloom.frontends.torch.views import VIEWS, moved
from fuseloom.program import Op
from fuseloom.wording import counted

MOST_RANKED = 128
"""More elements than that along a dimension are not compared with each other."""


def _numbers(m: Traced, size: int, place: int, rank: int, part: str) -> Value:
    """0, 1, 2 ... along one of some dimensions."""
    held = m.torch.arange(size, dtype=m.torch.float64)
    made = m.builder.feed(f"{m.builder.node.name}_{part}", (size,), lambda env: held)
    shape = [size if d == place else 1 for d in range(rank)]
    return made.picked([0 if d == place else None for d in range(rank)], shape)


def _with(value: Value, place: int) -> Value:
    """With another dimension, of size 1."""
    dims: list[int | None] = [*range(place), None, *range(place, value.rank)]
    return value.picked(dims, [*value.shape[:place], 1, *value.shape[place:]])


def _last(value: Value, dim: int) -> Value:
    """With a dimension moved to the end."""
    order = [*(d for d in range(value.rank) if d != dim), dim]
    return value.picked(order, [value.shape[d] for d in order])


def _back(value: Value, dim: int) -> Value:
    """With the last dimension moved to a place."""
    order = [*range(value.rank - 1)]
    order.insert(dim, value.rank - 1)
    return value.picked(order, [value.shape[d] for d in order])


class SortedElements:
    """The elements of a value along its last dimension, by size."""

    def __init__(self, m: Traced, value: Value, largest: bool) -> None:
        b = m.builder
        size = value.shape[-1]
        if size > MOST_RANKED:
            raise b.refuse(
                f"an order of {counted(size, 'element')}",
                f"at most {MOST_RANKED} are compared with each other; give the order as an input",
            )
        self.m = m
        self.value = value = b.stored_dims(b.filled(b.unmasked(value, "an order")))
        mine, others = _with(value, value.rank), _with(value, value.rank - 1)
        ends = (others, mine) if largest else (mine, others)
        gap = b.add(*ends, "gap", Op.SUB)
        earlier = m.torch.ones(size, size).tril(-1)
        first = b.feed(f"{b.node.name}_earlier", (size, size), lambda env: earlier)
        shape = (*[1] * (value.rank - 1), size, size)
        first = first.picked([*[None] * (value.rank - 1), 0, 1], shape)
        before = compute(b, _before, gap, first)
        total = b.reduce(Op.SUM, before, [value.rank], "rank")
        self.ranks = kept(total, [value.rank], keepdim=False)

    def picks(self, ranks: Sequence[int]) -> Value:
        """1 at the element of each rank, and 0 elsewhere: ..., ranks, elements."""
        m, held = self.m, self.m.torch.tensor(list(ranks), dtype=self.m.torch.float64)
        rank = self.value.rank
        if len(ranks) == 1:
            return equals(m, _with(self.ranks, rank - 1), m.builder.constant(float(ranks[0])))
        wanted = m.builder.feed(f"{m.builder.node.name}_places", (len(ranks),), lambda env: held)
        shape = [len(ranks) if d == rank - 1 else 1 for d in range(rank + 1)]
        wanted = wanted.picked([0 if d == rank - 1 else None for d in range(rank + 1)], shape)
        return equals(m, _with(self.ranks, rank - 1), wanted)

    def chosen(self, picks: Value) -> tuple[Value, Value]:
        """Values and places of what is picked."""
        m, rank = self.m, self.value.rank
        names = LETTERS[: rank - 1]
        labels = ([*names, "y", "z"], [*names, "z"], [*names, "y"])
        values = m.builder.contract([(picks, labels[0]), (self.value, labels[1])], labels[2], "of")
        numbers = _numbers(m, self.value.shape[-1], 0, 1, "numbers")
        places = m.builder.contract([(picks, labels[0]), (numbers, "z")], labels[2], "at")
        return values, places


def equals(m: Traced, a: Value, b: Value) -> Value:
    """1 where two values are equal, and 0 elsewhere."""
    return compute(m.builder, partial(compared, "eq", whole=False), a, b)


def _before(gap: Node, first: Node) -> Node:
    """Whether an element lies before another one: ``gap`` is positive, or 0 and it is first."""
    return functions.positive(gap) + compared("eq", gap, Num(0.0), whole=False) * first


def _ranked(m: Traced, x: Any, dim: int, largest: bool, ranks: Sequence[int]) -> Any:
    """Values and places of some ranks, along a dimension that has as many as they are."""
    value = m.builder.unmasked(m.value(x), "an order")
    dim = m.builder.axis(dim, value.rank)
    order = SortedElements(m, _last(value, dim), largest)
    values, places = order.chosen(order.picks(ranks))
    return _back(values, dim), _back(places, dim)


def sort(
    m: Traced, x: Any, dim: int = -1, descending: bool = False, stable: bool | None = None
) -> Any:
    value = m.value(x)
    size = value.shape[m.builder.axis(dim, value.rank)]
    return _ranked(m, x, dim, descending, range(size))


def argsort(
    m: Traced, x: Any, dim: int = -1, descending: bool = False, stable: bool | None = None
) -> Value:
    places: Value = sort(m, x, dim, descending)[1]
    return places


def msort(m: Traced, x: Any) -> Value:
    values: Value = sort(m, x, 0)[0]
    return values


def topk(
    m: Traced, x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Any:
    return _ranked(m, x, dim, largest, range(k))


def kthvalue(m: Traced, x: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    found = _ranked(m, x, dim, False, [k - 1])
    dim = m.builder.axis(dim, found[0].rank)
    return tuple(kept(value, [dim], keepdim) for value in found)


def median(m: Traced, x: Any, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower one of two in the middle."""
    value = m.value(x)
    if dim is not None:
        size = value.shape[m.builder.axis(dim, value.rank)]
        return kthvalue(m, x, (size + 1) // 2, dim, keepdim)
    flat = moved(m.builder, value, (math.prod(value.shape),))
    order = SortedElements(m, flat, largest=False)
    values, _ = order.chosen(order.picks([(flat.shape[0] - 1) // 2]))
    return kept(values, [0], keepdim=False)


def extreme(largest: bool) -> Callable[..., Value]:
    """``argmax`` and ``argmin``."""

    def handler(m: Traced, x: Any, dim: int | None = None, keepdim: bool = False) -> Value:
        value = m.builder.unmasked(m.value(x), "an order")
        rank = value.rank
        if dim is None:
            value = moved(m.builder, value, (math.prod(value.shape),))
        at = 0 if dim is None else m.builder.axis(dim, rank)
        order = SortedElements(m, _last(value, at), largest)
        _, places = order.chosen(order.picks([0]))
        found = kept(_back(places, at), [at], keepdim and dim is not None)
        return found.picked([None] * rank, [1] * rank) if keepdim and dim is None else found

    return handler


# Indices that are computed ------------------------------------------------------------------------


def one_hot_of(m: Traced, index: Value, size: int) -> Value:
    """1 where an index has a number, and 0 elsewhere: dimensions of the index, then numbers."""
    return equals(m, _with(index, index.rank), _numbers(m, size, index.rank, index.rank + 1, "all"))


def one_hot(m: Traced, x: Any, num_classes: int = -1) -> Value:
    if num_classes < 0:
        raise m.builder.refuse("one_hot of a computed index", "say how many classes there are")
    return one_hot_of(m, m.value(x), num_classes)


def computed(m: Traced, index: Any) -> bool:
    """Return whether an index is one that the program computes."""
    return getattr(index, "name", "") in m.counted


def _counts(index: Any) -> bool:
    """Return whether a computed index is never negative, which would count from the end."""
    if index.op != "call_function":
        return False
    name = op_name(index)
    if name in RANKING or name == "one_hot":
        return True
    if name == "getitem":
        return op_name(index.args[0]) in {*RANKING, "max", "min"}
    moved_only = name in VIEWS or name in ("add", "mul", "cat", "stack", "floor_divide")
    numbers = [x for x in index.args if isinstance(x, int | float)]
    return moved_only and all(map(_counts, index.all_input_nodes)) and min(numbers, default=0) >= 0


def _hot(m: Traced, index: Any, size: int) -> Value:
    """The ones of an index, computed or known."""
    if computed(m, index):
        number = m.value(index)
        hot = one_hot_of(m, number, size)
        if _counts(index):
            return hot
        behind = one_hot_of(m, m.builder.shift(number, float(size)), size)
        return m.builder.add(hot, behind, "either_end")
    one_hot = m.torch.nn.functional.one_hot
    return m.derived(index, f"{index.name}_ones", lambda held: one_hot(held.long() % size, size))


def read_by(m: Traced, value: Value, given: Sequence[tuple[int, Any]]) -> Value:
    """``x[:, index]``, with one index or several, of which at least one is computed."""
    b, dims = m.builder, [d for d, _ in given]
    value = b.stored_dims(b.unmasked(value, "a part"), dims)
    shape = broadcast_shape(*(node.meta["val"].shape for _, node in given))
    names = list(LETTERS[: value.rank])
    new = list(LETTERS[value.rank :][: len(shape)])
    operands: list[tuple[Value, Sequence[str]]] = [(value, names)]
    for d, node in given:
        (hot,) = b.aligned([_hot(m, node, value.shape[d])], (*shape, value.shape[d]))
        operands.append((hot, [*new, names[d]]))
    first = dims[0] if dims == list(range(dims[0], dims[0] + len(dims))) else 0
    rest = [x for d, x in enumerate(names) if d not in dims]
    return b.contract(operands, [*rest[:first], *new, *rest[first:]], "rows")


def gather_by(m: Traced, value: Value, dim: int, index: Any) -> Value:
    """``out[i,j] = x[index[i,j], j]`` along dimension 0, with a computed index."""
    b, shape = m.builder, index.meta["val"].shape
    dim = b.axis(dim, value.rank)
    if any(n != shape[d] for d, n in enumerate(value.shape) if d != dim):
        raise b.refuse("a computed index of a part", "slice the tensor that it reads before")
    value = b.stored_dims(b.unmasked(value, "a part"), [dim])
    names = list(LETTERS[: value.rank])
    own = [*names[:dim], "o", *names[dim + 1 :]]
    hot = _hot(m, index, value.shape[dim])
    return b.contract([(hot, [*own, names[dim]]), (value, names)], own, "rows")


def scatter_by(m: Traced, x: Any, dim: int, index: Any, new: Value) -> Value:
    """``x`` with other entries where a computed index says."""
    b, value = m.builder, m.value(x)
    shape = index.meta["val"].shape
    dim = b.axis(dim, value.rank)
    if any(n != shape[d] for d, n in enumerate(value.shape) if d != dim):
        raise b.refuse("writing to a part by a computed index", "use an index of its size")
    names = list(LETTERS[: value.rank])
    own = [*names[:dim], "o", *names[dim + 1 :]]
    hot = _hot(m, index, value.shape[dim])
    hits = b.contract([(hot, [*own, names[dim]])], names, "hits")
    hit = b.apply(Op.SIGN, hits, "hit")
    if not new.rank:
        moved_ = b.mul(hit, new, "written")
    else:
        new = b.stored_dims(b.aligned([new], shape)[0], [dim])
        moved_ = b.contract([(hot, [*own, names[dim]]), (new, own)], names, "written")
    if m.number(x) == 0:
        return moved_
    return b.add(b.mul(value, compute(b, not_, hit), "stays"), moved_)


HANDLERS: dict[str, Callable[..., Any]] = {
    "sort": sort, "argsort": argsort, "msort": msort, "topk": topk, "kthvalue": kthvalue,
    "median": median, "argmax": extreme(True), "argmin": extreme(False), "one_hot": one_hot,
}  # fmt: skip
