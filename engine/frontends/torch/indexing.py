"""Indexing by known indices: a product with a 0/1 tensor that has one element per index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engine.errors import DataError
from engine.frontends.torch import views
from engine.frontends.torch.builder import LETTERS
from engine.frontends.torch.moves import chosen
from engine.frontends.torch.values import Value

if TYPE_CHECKING:
    from engine.frontends.torch.importer import Importer


def known_index(m: Importer, given: Any) -> Any:
    held = m.held(given)
    if held is None:
        raise m.builder.refuse("an index that is computed", "give indices as inputs or buffers")
    return held


def gather(m: Importer, x: Any, dim: int, index: Any, sparse_grad: bool = False) -> Value:
    """``out[i, j] = x[i, index[i, j]]``; dimensions along which all indices agree are left out."""
    b, value = m.builder, m.builder.unmasked(m.value(x), "a part")
    held, name = known_index(m, index), index.name
    if value.rank == 0:
        return value
    dim = dim % value.rank
    for d in range(value.rank):  # the index may have fewer rows than what it chooses from
        if d != dim and held.shape[d] != value.shape[d]:
            value = chosen(m, value, d, range(held.shape[d]), "part")
    same = [
        d for d in range(held.dim())
        if held.shape[d] > 1 and bool((held == held.narrow(d, 0, 1)).all())
    ]  # fmt: skip
    kept = [d for d in range(held.dim()) if d not in same and (held.shape[d] > 1 or d == dim)]
    if dim in same:
        kept = [d for d in range(held.dim()) if d in kept or d == dim]
        same = [d for d in same if d != dim]
    size = value.shape[dim]

    def indices(env: Any) -> Any:
        now = env[name]
        for d in same:
            if not bool((now == now.narrow(d, 0, 1)).all()):
                raise DataError(
                    f"the index {name} differs along dimension {d}, the program was made for one "
                    "that does not",
                    hint="import the module again with this index",
                )
            now = now.narrow(d, 0, 1)
        return now.reshape([held.shape[d] for d in kept])

    places = tuple(held.shape[d] for d in kept)
    chooser = views.one_hot(b, indices, places, size, "chosen")
    value = b.stored_dims(value, [dim])
    names = list(LETTERS[: value.rank])
    labels = ["o" if d == dim else names[d] for d in kept]
    out = ["o" if d == dim else names[d] for d in range(value.rank)]
    result = b.contract([(chooser, [*labels, names[dim]]), (value, names)], out, "chosen")
    shape = tuple(held.shape)
    if result.shape != shape:
        result = result.picked(list(range(result.rank)), shape)
    return replace(result, support=value.support)


def index(m: Importer, x: Any, indices: Sequence[Any]) -> Value:
    """``x[:, rows, columns]`` with known indices of any shapes that broadcast."""
    b, value = m.builder, m.builder.unmasked(m.value(x), "a part")
    given = [(d, i) for d, i in enumerate(indices) if i is not None]
    helds = [known_index(m, i) for _, i in given]
    if any(h.dtype in (m.torch.bool, m.torch.uint8) for h in helds):
        raise b.refuse(
            "a selection by a mask, whose size depends on the mask",
            "give the indices, or multiply by the mask",
        )
    shape = tuple(m.torch.broadcast_shapes(*(h.shape for h in helds)))
    dims = [d for d, _ in given]
    together = dims == list(range(dims[0], dims[0] + len(dims)))
    ahead = dims[0] if together else 0
    value = b.stored_dims(value, dims)
    names = list(LETTERS[: value.rank])
    places = list(LETTERS[value.rank :][: len(shape)])
    result, left = value, list(names)
    for n, (d, node) in enumerate(given):
        name = node.name
        own = helds[n].shape
        kept = [k for k, size in enumerate(own) if size > 1 or len(own) == 0]
        labels = [places[len(shape) - len(own) + k] for k in kept]
        chooser = views.one_hot(
            b, _shaped(name, [own[k] for k in kept]), tuple(own[k] for k in kept),
            value.shape[d], "rows" if n == 0 else f"rows{n}",
        )  # fmt: skip
        now = [x for x in left if x != names[d]]
        now = [*[x for x in places if x in labels and x not in now], *now]
        result = b.contract([(chooser, [*labels, names[d]]), (result, left)], now, "rows")
        left = now
    rest = [x for d, x in enumerate(names) if d not in dims]
    wanted = [*rest[:ahead], *places, *rest[ahead:]]
    order = [left.index(x) if x in left else None for x in wanted]
    sizes = {**dict(zip(names, value.shape, strict=True)), **dict(zip(places, shape, strict=True))}
    result = result.picked(order, [sizes[x] for x in wanted])
    return replace(result, support=value.support)


def _shaped(name: str, shape: Sequence[int]) -> Callable[[Any], Any]:
    return lambda env: env[name].reshape(list(shape))


HANDLERS: dict[str, Callable[..., Any]] = {"gather": gather, "index": index}
