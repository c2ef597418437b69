"""Reading tensors at computed places: products with made tensors, as the text language has them.

``x[2*i + k]`` is ``x[j] * x_at[i,k,j]``, where ``x_at`` holds a 1 wherever ``j = 2*i + k``
(:mod:`fuseloom.program.relations`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fuseloom.frontends.algebra import moves
from fuseloom.frontends.mlir.builder import MlirBuilder
from fuseloom.frontends.mlir.sizes import Reach
from fuseloom.frontends.mlir.syntax import Sum, refuse_meaning
from fuseloom.frontends.mlir.values import DimensionSize
from fuseloom.program.functions import Op
from fuseloom.program.relations import Relation, affine_text, bounds
from fuseloom.program.syntax import SourcePlace
from fuseloom.program.types import Access


def read_at(
    builder: MlirBuilder,
    tensor: str,
    positions: Sequence[str | Sum | Access],
    lengths: Sequence[DimensionSize],
    sizes: Mapping[str, DimensionSize],
    place: SourcePlace,
    name: str | None = None,
) -> Access:
    """A use of a tensor at computed places, by a statement of its own where there are any.

    Parameters
    ----------
    positions : sequence
        Per dimension of the tensor the index, or the sum of indices, where it is read; or the
        selection that says where, without its last index.
    lengths : sequence of DimensionSize
        Of these dimensions.
    sizes : mapping
        Sizes of all indices, in dataflow order.
    name : str, optional
        What the statement would like to assign.

    Raises
    ------
    ProgramError
        When the program is complete: a place outside the tensor.
    """
    plain: list[str] = []
    accesses: list[Access] = []
    kept: set[str] = set()
    for axis, (position, length) in enumerate(zip(positions, lengths, strict=True)):
        if isinstance(position, str):
            kept.add(position)
            if position not in plain:
                plain.append(position)
                continue
            position = Sum(((1, position),))  # a diagonal
        own = _fresh(f"p{axis}", {*sizes, *plain})
        plain.append(own)
        if isinstance(position, Access):
            kept.update(position.indices)
            accesses.append(Access(position.tensor, (*position.indices, own)))
            continue
        kept.update(x for _, x in position.terms)
        accesses.append(_made(builder, tensor, position, own, length, sizes, place))
    read = Access(tensor, tuple(plain))
    if not accesses:
        return read
    indices = tuple(x for x in sizes if x in kept)
    view = builder.assign(
        name or f"{tensor}_read",
        Op.MUL,
        [read, *accesses],
        indices,
        tuple(sizes[x] for x in indices),
        place,
    )
    return Access(view.tensor, indices)


def _made(
    builder: MlirBuilder,
    tensor: str,
    position: Sum,
    own: str,
    length: DimensionSize,
    sizes: Mapping[str, DimensionSize],
    place: SourcePlace,
) -> Access:
    """The made tensor that says where a position lies."""
    rank = {x: k for k, x in enumerate(sizes)}
    terms = sorted(position.terms, key=lambda term: rank[term[1]])
    shape = [sizes[x] for _, x in terms]

    sums = tuple((c, size) for (c, _), size in zip(terms, shape, strict=True))

    def check() -> None:
        low, high = bounds([(c, size.value or 1) for c, size in sums], position.offset)
        if low < 0 or high >= (length.value or 0):
            text = affine_text([*terms], position.offset)
            raise refuse_meaning(
                f"{tensor} is read at {text}, which runs from {low} to {high}, outside its "
                f"dimension of size {length.value}",
                "pad the tensor (tensor.pad), or make the operation smaller",
                place,
            )

    relation = Relation.of([c for c, _ in terms], position.offset)
    name = builder.made_tensor(f"{tensor}_at", relation, (*shape, length), place)
    builder.checks.append((name, check))
    builder.reaches.append((name, Reach(sums, position.offset, length)))
    return Access(name, (*(x for _, x in terms), own))


def moved_to(
    builder: MlirBuilder,
    tensor: str,
    targets: Sequence[tuple[int, int, DimensionSize] | None],
    lengths: Sequence[DimensionSize],
    held: Sequence[int | None],
    name: str,
    place: SourcePlace,
) -> tuple[Access, tuple[DimensionSize, ...]]:
    """A statement that puts a tensor at places of a larger one; elsewhere nothing is stored.

    Parameters
    ----------
    targets : sequence
        Per dimension of the result its offset, stride and size; None where it is the tensor's.
    lengths : sequence of DimensionSize
        Of the tensor's dimensions.
    held : sequence
        Per dimension of the result the tensor's; None where the tensor has none, for a single
        place.
    """
    inside: dict[int, str] = {}
    accesses: list[Access] = []
    sizes: list[DimensionSize] = []
    out = tuple(f"d{n}" for n in range(len(targets)))
    for n, (target, axis) in enumerate(zip(targets, held, strict=True)):
        if target is None:
            assert axis is not None
            inside[axis] = out[n]
            sizes.append(lengths[axis])
            continue
        offset, stride, size = target
        sizes.append(size)
        relation = Relation.of((), offset)
        own: tuple[str, ...] = (out[n],)
        shape: tuple[DimensionSize, ...] = (size,)
        if axis is not None:
            inside[axis] = f"s{n}"
            relation, own = moves.placed(offset, stride), (out[n], f"s{n}")
            shape = size, lengths[axis]
        made = builder.made_tensor(f"{tensor}_to", relation, shape, place)
        accesses.append(Access(made, own))
    read = Access(tensor, tuple(inside[axis] for axis in range(len(lengths))))
    op = Op.MUL if accesses else Op.SUM
    view = builder.assign(name, op, [read, *accesses], out, tuple(sizes), place)
    return Access(view.tensor, out), tuple(sizes)


def _fresh(base: str, taken: set[str]) -> str:
    name = base
    while name in taken:
        name += "_"
    return name
