"""The text of a program that is written statement by statement."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count

from fuseloom.access.shapes import Dims
from fuseloom.program.formats import format_text
from fuseloom.program.primes import LETTERS
from fuseloom.program.relations import Relation


@dataclass
class Assignment:
    """A tensor and the statement that assigns it.

    Attributes
    ----------
    name : str
    dims : tuple of int
        Its extents.
    indices : tuple of str
        Of its dimensions.
    right : str
        What is assigned.
    format : str
        Of its declaration.
    fixed : bool
        Whether the order of its dimensions says how its elements are counted.
    """

    name: str
    dims: Dims
    indices: tuple[str, ...]
    right: str
    format: str = "compressed"
    fixed: bool = False


@dataclass
class IndexNames:
    """Names of indices; each counts as many elements in all statements.

    Attributes
    ----------
    taken : collection of str
        Names that no index takes.
    declared : dict
        Extents of those that no tensor has alone.
    """

    taken: Collection[str]
    declared: dict[str, int] = field(default_factory=dict)
    _extents: dict[str, int] = field(default_factory=dict)

    def all_of(self, dims: Dims) -> tuple[str, ...]:
        """Names for all dimensions of a tensor.

        Examples
        --------
        >>> names = IndexNames(())
        >>> names.all_of((2, 3)), names.all_of((3, 2, 2))
        (('i', 'j'), ('j', 'i', 'k'))
        """
        used: set[str] = set()
        return tuple(self.one_of(extent, used) for extent in dims)

    def one_of(self, extent: int, used: set[str]) -> str:
        """A name for an index, which is added to those that are used."""
        found = next(
            name
            for name in _candidates()
            if name not in used
            and name not in self.taken
            and self._extents.setdefault(name, extent) == extent
        )
        used.add(found)
        return found


def _candidates() -> Iterator[str]:
    yield from LETTERS
    yield from (f"{letter}{n}" for n in count(1) for letter in LETTERS)


def program_text(
    name: str, given: Mapping[str, Dims], ones: Mapping[str, Dims], indices: Mapping[str, int],
    assignments: Iterable[Assignment], output: str, *, adds_rows: bool,
) -> str:  # fmt: skip
    """A program as the language writes it.

    Parameters
    ----------
    name : str
    given : mapping
        Extents of its dense inputs.
    ones : mapping
        Extents of tensors of ones; the last is 1.
    indices : mapping
        Extents of indices that are declared.
    assignments : iterable of Assignment
    output : str
    adds_rows : bool
        Whether sums have operands that lack indices of others.

    Examples
    --------
    >>> assigned = Assignment("y", (2,), ("i",), "sum[j] A[i,j]")
    >>> print(program_text("sums", {"A": (2, 3)}, {}, {}, [assigned], "y", adds_rows=False))
    program sums
    A: 2x3 dense
    y: 2 compressed
    y[i] = sum[j] A[i,j]
    output y
    """
    lines = [f"program {name}"]
    lines += [_declaration(x, dims, "dense") for x, dims in given.items()]
    for x, dims in ones.items():
        relation, names = Relation(len(dims) - 1, ()), tuple(f"d{k}" for k in range(len(dims)))
        stored = _declaration(f"{x}[{','.join(names)}]", dims, format_text(relation.format(dims)))
        lines.append(f"{stored} where {relation.text(names)}")
    lines += [f"{x}: index {extent}" for x, extent in indices.items()]
    several = tuple(assignments)
    lines += [_declaration(x.name, x.dims, x.format) for x in several]
    if adds_rows:
        lines.append("option broadcast_add dense")
    lines += [f"{access(x.name, x.indices)} = {x.right}" for x in several]
    return "\n".join([*lines, f"output {output}"])


def access(tensor: str, places: Collection[str]) -> str:
    """A tensor with the places at which it is read.

    Examples
    --------
    >>> access("x", ["2*i + k"]), access("t", [])
    ('x[2*i + k]', 't')
    """
    return f"{tensor}[{','.join(places)}]" if places else tensor


def _declaration(name: str, dims: Dims, stored: str) -> str:
    return f"{name}: {'x'.join(map(str, dims))} {stored}" if dims else f"{name}: scalar"
