"""Known indices, and indexing of dimensions that are not neighbours: one product after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from fuseloom.frontends.torch.builder import LETTERS
from fuseloom.frontends.torch.selections import selections_of
from fuseloom.frontends.torch.traced import Traced
from fuseloom.frontends.torch.values import Value


def held_index(m: Traced, index: Any) -> Any:
    """The entries of an index, which must be known."""
    held = m.held(index)
    if held is None:
        raise m.builder.refuse("an index that is computed", "give indices as inputs or buffers")
    return held


def index_apart(
    m: Traced, value: Value, given: Sequence[tuple[int, Any]], helds: Sequence[Any]
) -> Value:
    """``x[rows, :, columns]`` with known indices, whose places then come first, as in PyTorch."""
    b = m.builder
    b.unmasked(value, "a part")
    shape = tuple(m.torch.broadcast_shapes(*(h.shape for h in helds)))
    dims = [d for d, _ in given]
    value = b.stored_dims(value, dims)
    names = list(LETTERS[: value.rank])
    places = list(LETTERS[value.rank :][: len(shape)])
    result, left = value, list(names)
    for n, (d, node) in enumerate(given):
        own = helds[n].shape
        kept = [k for k, size in enumerate(own) if size > 1 or len(own) == 0]
        sizes = tuple(own[k] for k in kept)
        labels = [places[len(shape) - len(own) + k] for k in kept]
        chooser = selections_of(
            b, _shaped(node.name, sizes), sizes, value.shape[d], f"{b.node.name}_rows{n}"
        )
        now = [x for x in left if x != names[d]]
        now = [*[x for x in places if x in labels and x not in now], *now]
        result = b.contract([(chooser, [*labels, names[d]]), (result, left)], now, "rows")
        left = now
    wanted = [*places, *(x for d, x in enumerate(names) if d not in dims)]
    counts = {**dict(zip(names, value.shape, strict=True)), **dict(zip(places, shape, strict=True))}
    order = [left.index(x) if x in left else None for x in wanted]
    result = result.picked(order, [counts[x] for x in wanted])
    return replace(result, support=value.support)


def _shaped(name: str, shape: Sequence[int]) -> Callable[[Any], Any]:
    return lambda env: env[name].reshape(list(shape))
