"""Loops over one index each, workspaces, assignments: concrete index notation (CoNST §4.1).

A *where* makes something before it is read: its workspaces are empty when it begins.  Every
assignment adds to what it assigns; the result is empty at first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from fuseloom.errors import ProgramError
from fuseloom.program import Access
from fuseloom.wording import counted


@dataclass(frozen=True)
class Assign:
    """``out += product of operands``, at the indices of the loops around it."""

    out: Access
    operands: tuple[Access, ...]

    def __str__(self) -> str:
        return f"{reference(self.out)} += {' * '.join(map(reference, self.operands))}"


@dataclass(frozen=True)
class Forall:
    """A loop over all values of an index, or those that the operands within have."""

    index: str
    body: Nest

    def __str__(self) -> str:
        return f"forall({self.index}, {self.body})"


@dataclass(frozen=True)
class Where:
    """A consumer of what a producer makes, which is executed first."""

    consumer: Nest
    producer: Nest

    def __str__(self) -> str:
        return f"where({self.consumer}, {self.producer})"


Nest: TypeAlias = Assign | Forall | Where


def reference(access: Access) -> str:
    """An element as nests write it: ``A(i,j)``."""
    return f"{access.tensor}({','.join(access.indices)})"


def children(nest: Nest) -> tuple[Nest, ...]:
    """The parts of a nest, in order of their execution."""
    match nest:
        case Forall(body=body):
            return (body,)
        case Where(consumer=consumer, producer=producer):
            return producer, consumer
    return ()


def walk(nest: Nest) -> Iterator[Nest]:
    """A nest and all within it, what is executed first before the rest."""
    yield nest
    for part in children(nest):
        yield from walk(part)


def assigned(nest: Nest) -> set[str]:
    """Names of the tensors that are assigned within."""
    return {part.out.tensor for part in walk(nest) if isinstance(part, Assign)}


def read(nest: Nest) -> set[str]:
    """Names of the tensors that are read within."""
    return {a.tensor for part in walk(nest) if isinstance(part, Assign) for a in part.operands}


def workspaces(nest: Where) -> set[str]:
    """Names of what the producer makes for the consumer, empty when this begins."""
    return assigned(nest.producer) & read(nest.consumer)


@dataclass(frozen=True)
class NestLine:
    """A line of a nest that is written as nested loops.

    Attributes
    ----------
    depth : int
        Loops around it.
    part : Forall, Assign or Access
        The loop that begins here, what is assigned, or the workspace that is emptied.
    last : int
        Number of the last line of the loop; of other lines their own.
    """

    depth: int
    part: Forall | Assign | Access
    last: int

    def __str__(self) -> str:
        match self.part:
            case Forall(index=index):
                return f"for {index}"
            case Access():
                return f"{reference(self.part)} = 0"
        return str(self.part)


def lines(nest: Nest, depth: int = 0, before: int = 0) -> list[NestLine]:
    """A nest as nested loops, line by line.

    Parameters
    ----------
    depth : int
        Loops around it.
    before : int
        Lines above.
    """
    match nest:
        case Forall(body=body):
            within = lines(body, depth + 1, before + 1)
            return [NestLine(depth, nest, before + len(within)), *within]
        case Where(consumer=consumer, producer=producer):
            made = {x.out.tensor: x.out for x in walk(producer) if isinstance(x, Assign)}
            found = [
                NestLine(depth, made[name], before + n)
                for n, name in enumerate(sorted(workspaces(nest)))
            ]
            for part in (producer, consumer):
                found += lines(part, depth, before + len(found))
            return found
    return [NestLine(depth, nest, before)]


def indented(nest: Nest) -> str:
    """The nest as nested loops, one line per loop or assignment.

    Examples
    --------
    >>> from fuseloom.contraction.loopnest.parser import parse_nest
    >>> text = "forall(i, where(y(i) += t() * b(i), forall(j, t() += A(i,j))))"
    >>> print(indented(parse_nest(text)))
    for i
      t() = 0
      for j
        t() += A(i,j)
      y(i) += t() * b(i)
    """
    return "\n".join(f"{'  ' * line.depth}{line}" for line in lines(nest))


def verify(nest: Nest) -> None:
    """Check that a nest has a meaning.

    Raises
    ------
    ProgramError
        Of an index without a loop or with two around it, a tensor that is read before it is made,
        made in two places or made for nothing, and references to a workspace with different numbers
        of indices.
    """
    places: dict[str, int] = {}
    ranks: dict[str, int] = {}
    made: set[str] = set()

    def visit(part: Nest, loops: tuple[str, ...]) -> None:
        if isinstance(part, Forall):
            if part.index in loops:
                raise ProgramError(f"a loop over {part.index} stands within another")
            visit(part.body, (*loops, part.index))
            return
        if isinstance(part, Where):
            visit(part.producer, loops)
            visit(part.consumer, loops)
            return
        assert isinstance(part, Assign)
        for access in (*part.operands, part.out):
            for index in access.indices:
                if index not in loops:
                    raise ProgramError(f"{part} stands in no loop over {index}")
            known = ranks.setdefault(access.tensor, len(access.indices))
            if known != len(access.indices):
                raise ProgramError(
                    f"{access.tensor} has {counted(known, 'index', 'indices')} in one place, "
                    f"{len(access.indices)} in another"
                )
        early = [a.tensor for a in part.operands if a.tensor in all_made - made]
        if early:
            raise ProgramError(f"{early[0]} is read before it is made")
        places[part.out.tensor] = places.get(part.out.tensor, 0) + 1
        if places[part.out.tensor] > 1:
            raise ProgramError(f"{part.out.tensor} is made in two places")
        made.add(part.out.tensor)

    all_made = assigned(nest)
    visit(nest, ())
    *_, last = (part.out.tensor for part in walk(nest) if isinstance(part, Assign))
    unread = sorted(all_made - read(nest) - {last})
    if unread:
        raise ProgramError(f"{unread[0]} is made, and nothing reads it")
