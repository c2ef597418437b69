"""Terms: tensors, what is done with them, and how often a part is shared."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from fuseloom.access.shapes import AccessShape, Dims

Attribute: TypeAlias = int | float | str | Dims | AccessShape
"""What a construct takes beside its operands: numbers, lists, shapes, names."""

Path: TypeAlias = tuple[int, ...]
"""The way from the root of a term to a part: the number of an operand at each step."""

TENSOR = "tensor"
"""The construct of leaves: its attributes are a name and the extents."""


class Term:
    """A construct applied to operands.

    Terms are values: equal ones are interchangeable, and parts may be shared.

    Attributes
    ----------
    construct : str
        The name of a row of :data:`fuseloom.access.constructs.CONSTRUCTS`.
    attributes : tuple
        In the order in which the text has them.
    operands : tuple of Term

    Examples
    --------
    >>> a = tensor("A", (32, 16))
    >>> term = Term("access", (1,), (a,))
    >>> term == Term("access", (1,), (tensor("A", (32, 16)),)), term.operands[0] is a
    (True, True)
    """

    __slots__ = ("_hash", "attributes", "construct", "operands")

    def __init__(
        self, construct: str, attributes: tuple[Attribute, ...], operands: tuple[Term, ...] = ()
    ) -> None:
        self.construct = construct
        self.attributes = attributes
        self.operands = operands
        self._hash = hash((construct, attributes, operands))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Term)
            and self._hash == other._hash
            and self.construct == other.construct
            and self.attributes == other.attributes
            and self.operands == other.operands
        )

    def __reduce__(self) -> tuple[type[Term], tuple[object, ...]]:
        return Term, (self.construct, self.attributes, self.operands)

    def __repr__(self) -> str:
        return f"Term({self.construct!r}, {self.attributes!r}, {self.operands!r})"


def tensor(name: str, extents: Dims) -> Term:
    """A tensor that the user gives, by its name and its extents.

    Examples
    --------
    >>> tensor("A", (2, 3)).attributes
    ('A', (2, 3))
    """
    return Term(TENSOR, (name, extents))


def _operands(term: Term) -> tuple[Term, ...]:
    return term.operands


def subterms(
    term: Term, operands: Callable[[Term], tuple[Term, ...]] = _operands
) -> Iterator[Term]:
    """Every distinct part of a term, operands before what is made of them.

    Parameters
    ----------
    operands : callable
        The parts that a part is made of; by default its operands.

    Examples
    --------
    >>> a = tensor("A", (2,))
    >>> [part.construct for part in subterms(Term("pair", (), (a, a)))]
    ['tensor', 'pair']
    """
    seen: set[Term] = set()
    stack = [(term, False)]
    while stack:
        part, entered = stack.pop()
        if part in seen:
            continue
        if entered:
            seen.add(part)
            yield part
        else:
            stack.append((part, True))
            stack.extend((operand, False) for operand in reversed(operands(part)))


def tensors(term: Term) -> Mapping[str, Dims]:
    """The tensors of a term and their extents, in order of their first appearance.

    Examples
    --------
    >>> tensors(Term("pair", (), (tensor("A", (2,)), tensor("B", (2,)))))
    {'A': (2,), 'B': (2,)}
    """
    found: dict[str, Dims] = {}
    for part in subterms(term):
        if part.construct == TENSOR:
            name, extents = part.attributes
            assert isinstance(name, str)
            assert isinstance(extents, tuple)
            found[name] = extents
    return found


def part_at(term: Term, path: Path) -> Term:
    """The part of a term at the end of a path.

    Examples
    --------
    >>> part_at(Term("pair", (), (tensor("A", (2,)), tensor("B", (2,)))), (1,)).attributes[0]
    'B'
    """
    for number in path:
        term = term.operands[number]
    return term


def replaced(term: Term, path: Path, part: Term) -> Term:
    """A term with another part at the end of a path.

    Examples
    --------
    >>> a, b = tensor("A", (2,)), tensor("B", (2,))
    >>> replaced(Term("pair", (), (a, a)), (1,), b) == Term("pair", (), (a, b))
    True
    """
    above: list[tuple[Term, int]] = []
    for number in path:
        above.append((term, number))
        term = term.operands[number]
    for parent, number in reversed(above):
        operands = (*parent.operands[:number], part, *parent.operands[number + 1 :])
        part = Term(parent.construct, parent.attributes, operands)
    return part
