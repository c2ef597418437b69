"""Indices as the text writes them: plain names, sums of multiples of them, entries of lists."""

from __future__ import annotations

from typing import TypeAlias

from fuseloom.errors import ParseError
from fuseloom.program.syntax import ComputedAccess, Identifier, Position, SourcePlace
from fuseloom.program.unexpected import refuse

Positions: TypeAlias = tuple[Identifier | Position, ...]


def total(terms: tuple[Position, ...]) -> Identifier | Position:
    """A sum of terms; an index where nothing else stands, so ``i+0`` is a place like others.

    Raises
    ------
    ParseError
        An entry of a list is added to something.
    """
    (first, *rest) = terms
    if rest and (listed := next((t for t in terms if t.entries is not None), None)):
        raise refuse(
            "an entry of a list is an index by itself",
            "add to the entries in the declaration of the list",
            listed.place,
        )
    if first.entries is not None:
        return first
    found: dict[str, tuple[int, Identifier]] = {}
    for term in terms:
        for coefficient, word in term.terms:
            before = found.get(word.text, (0, word))
            found[word.text] = (before[0] + coefficient, before[1])
    kept = tuple(pair for pair in found.values() if pair[0])
    offset = sum(t.offset for t in terms)
    if not rest and len(kept) == 1 and kept[0][0] == 1:
        return kept[0][1]
    return Position(kept, offset, first.place)


def plain_indices(positions: Positions, where: str) -> tuple[Identifier, ...]:
    """Names of indices, where nothing else may stand."""
    for position in positions:
        if isinstance(position, Position):
            raise refuse(
                f"{where} names its indices", "write one name per index, e.g. [i,j]", position.place
            )
    return tuple(x for x in positions if isinstance(x, Identifier))


def entry_at(
    entries: Identifier | tuple[int, ...], at: Identifier | Position, place: SourcePlace
) -> Position:
    """``p[i]``: an entry of a list, given by its name or by its entries."""
    if isinstance(at, Identifier):
        return Position(((1, at),), 0, place, entries)
    if at.entries is not None:
        raise refuse(
            "a list at the entries of a list",
            "declare one list that holds the entries themselves",
            at.place,
        )
    return Position(at.terms, at.offset, place, entries)


def refused_target(target: ComputedAccess) -> ParseError:
    """Only plain indices are assigned; the way out is a product with what is made."""
    place = next((x.place for x in target.positions if isinstance(x, Position)), None)
    if place is None:
        return refuse(
            f"an index occurs twice in the result {target.name}",
            "results have an index per dimension; to write a diagonal, multiply by a tensor that "
            "holds it, e.g. D[i,j]: 8x8 csr where j = i, then Y[i,j] = x[i] * D[i,j]",
            _repeated(target),
        )
    return refuse(
        f"the result {target.name} has something else than a plain index",
        "multiply by a tensor that says where results go, e.g. S[i,j]: 4x8 csr where j = 2*i, "
        "then Y[j] = x[i] * S[i,j]",
        place,
    )


def _repeated(target: ComputedAccess) -> SourcePlace:
    """Return the place of an index's second occurrence."""
    seen: set[str] = set()
    for position in target.positions:
        if isinstance(position, Identifier):
            if position.text in seen:
                return position.place
            seen.add(position.text)
    return target.place
