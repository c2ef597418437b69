"""Embedding bags: sums, means and maxima of rows of a table, chosen by known indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fuseloom.errors import DataError
from fuseloom.frontends.torch.indexing import held_index
from fuseloom.frontends.torch.pooling import greatest
from fuseloom.frontends.torch.traced import Traced
from fuseloom.frontends.torch.values import Value
from fuseloom.frontends.torch.windows import SlidingWindows
from fuseloom.wording import counted

SUM, MEAN, MAX = 0, 1, 2
"""The numbers in PyTorch for the reductions of a bag's rows."""


def embedding_bag(
    m: Traced,
    weight: Any,
    indices: Any,
    offsets: Any,
    scale_grad_by_freq: bool = False,
    mode: int = SUM,
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Any, ...]:
    """A product with a sparse matrix that says how much of each row is in each bag."""
    b, torch = m.builder, m.torch
    table = m.value(weight)
    for given in (indices, offsets):
        held_index(m, given)
    if per_sample_weights is not None and m.held(per_sample_weights) is None:
        raise b.refuse(
            "an embedding bag whose weights per row are computed",
            "give the weights as an input, or look up rows and sum them yourself",
        )
    rows = table.shape[0]
    skipped = -1 if padding_idx is None else int(padding_idx) % rows
    bags = b.node.meta["val"][0].shape[0]

    def chosen(env: Any) -> tuple[Any, Any, Any]:
        """Bag and row of every index, and how much of it."""
        ids, starts = env[indices.name].long(), env[offsets.name].long()
        starts = starts[:-1] if include_last_offset else starts
        places = torch.arange(ids.numel())
        bag = (torch.searchsorted(starts, places, right=True) - 1).clamp(min=0)
        share = torch.ones(ids.numel(), dtype=torch.float64)
        if per_sample_weights is not None:
            share = env[per_sample_weights.name].detach().double()
        kept = ids != skipped
        return bag[kept], ids[kept], share[kept]

    def matrix(env: Any) -> Any:
        bag, ids, share = chosen(env)
        held = torch.zeros(bags, rows, dtype=torch.float64)
        held.index_put_((bag, ids), share, accumulate=True)
        if mode == MEAN:
            count = torch.zeros(bags, dtype=torch.float64).index_add_(
                0, bag, torch.ones_like(share)
            )
            held = held / count.clamp(min=1)[:, None]
        return held

    origins = tuple(x for n in (indices, offsets) for x in m.origins.get(n.name, ()))
    if mode == MAX:
        return _greatest(m, table, chosen, bags), None, None, None
    made = b.feed(f"{b.node.name}_bags", (bags, rows), matrix, origins, keep=True)
    return b.contract([(made, "bk"), (table, "ko")], "bo", "rows"), None, None, None


def _greatest(m: Traced, table: Value, chosen: Callable[[Any], Any], bags: int) -> Value:
    """The maximum of each bag, whose rows stand beside each other like those of a window."""
    bag, _, _ = chosen(m.env)
    most = int(m.torch.bincount(bag, minlength=bags).max()) if bag.numel() else 0

    def windows(env: Any) -> Any:
        bag, ids, _ = chosen(env)
        counts = m.torch.bincount(bag, minlength=bags)
        if not int(counts.min()) or int(counts.max()) > most:
            raise DataError(
                f"bags of {int(counts.min())} to {counted(int(counts.max()), 'row')}, the "
                "program was made "
                f"for 1 to {most}",
                hint="import the module again with these bags",
            )
        place = m.torch.cat([m.torch.arange(int(n)) for n in counts])
        held = m.torch.zeros(bags, most, table.shape[0])
        held[bag.sort(stable=True).values, place, ids[bag.argsort(stable=True)]] = 1.0
        return held

    if not bag.numel() or not int(m.torch.bincount(bag, minlength=bags).min()):
        raise m.builder.refuse("a maximum over an empty bag", "give every bag a row, or use sums")
    held = windows(m.env)
    return greatest(m, table, 0, SlidingWindows(tuple(held.shape), None, windows, int(held.sum())))


def inner_bag(
    m: Traced, weight: Any, indices: Any, offsets: Any, padding_idx: int = -1, **given: Any
) -> tuple[Any, ...]:
    """Return the results of the inner ``embedding_bag``: here -1 is no row, not the last."""
    padding = None if padding_idx < 0 else padding_idx
    return embedding_bag(m, weight, indices, offsets, padding_idx=padding, **given)


HANDLERS: dict[str, Callable[..., Any]] = {
    "embedding_bag": embedding_bag, "_embedding_bag": inner_bag,
    "_embedding_bag_forward_only": inner_bag,
}  # fmt: skip
