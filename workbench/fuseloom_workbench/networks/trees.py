"""A contraction tree as nested pairs of operands, and how a visitor changes it."""

from __future__ import annotations

from typing import TypeAlias

from fuseloom.contraction.tree import ContractionTree
from fuseloom.errors import ProgramError

Nested: TypeAlias = "str | tuple[Nested, Nested]"
Place = tuple[int, ...]
"""Which child to take, from the root on: 0 is the left one."""


def nested(tree: ContractionTree) -> Nested:
    """The operands of a tree in pairs.

    One that is only summed stands for itself, and so does one of which a diagonal is taken.

    Examples
    --------
    >>> from fuseloom.contraction.shipped import shipped
    >>> text(nested(shipped("two-layer GCN")))
    '((D ((A B) C)) E)'
    """

    def of(name: str) -> Nested:
        made = tree.by_name.get(name)
        if made is None:
            return name
        read = [a.tensor for a in made.operands]
        own = [n for n in read if n in tree.by_name or tree.program.tensor(n).made is None]
        parts = [of(name) for name in own]
        return (parts[0], parts[1]) if len(parts) == 2 else parts[0]

    return of(tree.result.tensor)


def text(tree: Nested) -> str:
    """The tree with parentheses."""
    return tree if isinstance(tree, str) else f"({text(tree[0])} {text(tree[1])})"


def at(tree: Nested, place: Place) -> Nested:
    """The part at a place.

    Raises
    ------
    ProgramError
        If there is none.
    """
    for side in place:
        if isinstance(tree, str) or side not in (0, 1):
            raise ProgramError("the tree has no such place", hint="choose a node that is drawn")
        tree = tree[side]
    return tree


def joined(tree: Nested, moved: Place, beside: Place) -> Nested:
    """The tree in which one part is contracted with another first.

    Where the part was, its sibling takes the place of both.

    Raises
    ------
    ProgramError
        If one of them holds the other.

    Examples
    --------
    >>> text(joined((("A", "B"), "C"), (1,), (0, 1)))
    '(A (B C))'
    >>> text(joined(("A", "B"), (0,), ()))
    Traceback (most recent call last):
    fuseloom.errors.ProgramError: a part and what holds it are contracted already (hint: choose two
    \
parts of which neither holds the other)
    """
    shorter = min(len(moved), len(beside))
    if moved[:shorter] == beside[:shorter]:
        raise ProgramError(
            "a part and what holds it are contracted already",
            hint="choose two parts of which neither holds the other",
        )
    part, partner = at(tree, moved), at(tree, beside)
    pair: Nested = (partner, part)

    def made(here: Nested, place: Place) -> Nested | None:
        if place == moved:
            return None
        if place == beside:
            return pair
        if isinstance(here, str):
            return here
        left, right = made(here[0], (*place, 0)), made(here[1], (*place, 1))
        if left is None or right is None:
            return right if left is None else left
        return left, right

    found = made(tree, ())
    assert found is not None
    return found


def swapped(tree: Nested, place: Place) -> Nested:
    """The tree with the two operands of one contraction exchanged.

    Raises
    ------
    ProgramError
        If no contraction is there.

    Examples
    --------
    >>> text(swapped((("A", "B"), "C"), ()))
    '(C (A B))'
    """
    if not place:
        if isinstance(tree, str):
            raise ProgramError("an operand has no operands", hint="choose a contraction")
        return tree[1], tree[0]
    if isinstance(tree, str) or place[0] not in (0, 1):
        raise ProgramError("the tree has no such place", hint="choose a node that is drawn")
    side = swapped(tree[place[0]], place[1:])
    return (side, tree[1]) if place[0] == 0 else (tree[0], side)
