"""``linalg.pack`` and ``linalg.unpack``: a reshape and a permutation, and a pad or a slice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fuseloom.frontends.mlir.builder import MlirBuilder
from fuseloom.frontends.mlir.moves import Numbers, extract_slice, pad
from fuseloom.frontends.mlir.reshapes import real, reshape
from fuseloom.frontends.mlir.syntax import (
    Pack,
    Pad,
    Reshape,
    Slice,
    Type,
    Typed,
    Use,
    refuse_meaning,
)
from fuseloom.frontends.mlir.values import DimensionSize, View, stated
from fuseloom.program.functions import Op
from fuseloom.program.syntax import SourcePlace


def pack(
    builder: MlirBuilder,
    body: Pack,
    view: View,
    into: Sequence[DimensionSize],
    padding: float | None,
    numbers: Numbers,
    name: str,
    place: SourcePlace,
) -> View:
    """A tensor whose dimensions ``positions`` are in tiles, or one that was.

    ``pack`` of ``A[i,j]`` with tiles of 8 and 32 is ``P[i1,j1,i2,j2] = A[8*i1+i2, 32*j1+j2]``;
    ``unpack`` is the reverse.

    Parameters
    ----------
    into : sequence of DimensionSize
        Sizes of the destination, which are those of the result.

    Raises
    ------
    ProgramError
        Tiles that do not fit, or sizes that are not known.
    """
    plain = body.type if body.unpacks else body.operand.type
    packed = body.operand.type if body.unpacks else body.type
    rank = plain.rank
    positions, tiles = [numbers(x) for x in body.positions], [numbers(x) for x in body.tiles]
    outer = [numbers(x) for x in body.outer] or list(range(rank))
    named = sorted(positions)
    fits = len(positions) == len(tiles) and len(set(named)) == len(named)
    if not (fits and set(named) <= set(range(rank)) and packed.rank == rank + len(tiles)):
        raise refuse_meaning(
            "the tiles do not fit the types",
            "one tile per dimension of inner_dims_pos, each dimension once",
            place,
        )
    if sorted(outer) != list(range(rank)) or any(n < 1 for n in tiles):
        raise refuse_meaning(
            "outer_dims_perm names each dimension once, tiles have at least one place",
            "e.g. outer_dims_perm = [1, 0]",
            place,
        )
    tile = dict(zip(positions, tiles, strict=True))
    sizes = (tuple(into) if body.unpacks else view.sizes)[:rank]
    known = [size.value for size in sizes]
    outside = view.sizes if body.unpacks else into
    tiled = [outside[outer.index(d)].value for d in range(rank)]
    if body.unpacks:  # what the tiles say, where nothing says the destination's sizes
        known = [
            k if k is not None or c is None else c * tile.get(d, 1)
            for d, (k, c) in enumerate(zip(known, tiled, strict=True))
        ]
    lengths = [n for n in known if n is not None]
    if len(lengths) < rank:
        raise refuse_meaning("a size of what is packed is '?'", "write it, or give shapes", place)
    counts_of = [-(-n // tile.get(d, 1)) for d, n in enumerate(lengths)]
    for d, count in enumerate(tiled):  # there may be more tiles than it takes
        counts_of[d] = count if count is not None and d in tile else counts_of[d]
    whole = [count * tile.get(d, 1) for d, count in enumerate(counts_of)]
    split = [x for d in range(rank) for x in ([counts_of[d], tile[d]] if d in tile else [whole[d]])]
    groups: list[tuple[int, ...]] = []
    for d in range(rank):
        first = sum(map(len, groups))
        groups.append((first, first + 1) if d in tile else (first,))
    order = [groups[d][0] for d in outer] + [groups[d][1] for d in positions]
    shape = [split[p] for p in order]
    mine = stated(packed) if body.unpacks else tuple(into)
    if body.unpacks:
        for size, n in zip(into, lengths, strict=True):
            size.equate(DimensionSize(n))
    fits = all(a >= b for a, b in zip(whole, lengths, strict=True))
    agree = [size.equate(DimensionSize(n)) for size, n in zip(mine, shape, strict=True)]
    if not fits or not all(agree):
        raise refuse_meaning(
            f"packed, the tensor has shape {'x'.join(map(str, shape))}",
            "the type has the numbers of tiles, then the tiles",
            place,
        )
    view = real(builder, view, f"{name}_wide", place)
    element, use = plain.element, Use(view.tensor, 0, place)
    split_type = Type(element, tuple(split), place=place)
    whole_type = Type(element, tuple(whole), place=place)
    if body.unpacks:
        back = [order.index(p) for p in range(len(order))]
        turned = _turned(builder, view, back, name, place)
        flat = Reshape(Typed(use, split_type), tuple(groups), whole_type)
        made = reshape(builder, flat, turned, (), name, place)
        if whole == lengths:
            return made
        zeros, ones = (0,) * rank, (1,) * rank
        part = Type(element, tuple(lengths), place=place)
        cut = Slice(Typed(use, whole_type), None, zeros, tuple(lengths), ones, part)
        return extract_slice(builder, cut, made, numbers, name, place)
    if whole != lengths:
        if padding is None:
            raise refuse_meaning(
                "the last tile is not full, and there is nothing to fill it with",
                "give a padding_value",
                place,
            )
        high = tuple(a - b for a, b in zip(whole, lengths, strict=True))
        around = Pad(Typed(use, plain), (0,) * rank, high, (), use, whole_type)
        view = pad(builder, around, view, padding, numbers, f"{name}_padded", place)
    if view.axes != tuple(range(rank)):
        view = _turned(builder, view, list(range(rank)), name, place)
    wide = Reshape(Typed(use, whole_type), tuple(groups), split_type)
    made = reshape(builder, wide, view, (), f"{name}_tiles", place)
    axes = tuple(made.axes[p] for p in order)
    return View(made.tensor, axes, mine, made.holes)


def _turned(
    builder: MlirBuilder, view: View, order: Sequence[int], name: str, place: SourcePlace
) -> View:
    """A tensor whose dimension ``n`` is ``order[n]`` of a view's, stored so."""
    indices = tuple(f"d{n}" for n in range(view.rank))
    read = view.read(indices)
    out = tuple(indices[p] for p in order)
    if read.indices == out:
        return View(view.tensor, tuple(range(view.rank)), tuple(view.sizes[p] for p in order))
    sizes = tuple(view.sizes[p] for p in order)
    made = builder.assign(f"{name}_turned", Op.SUM, [read], out, sizes, place)
    return replace(made, holes=view.holes)
