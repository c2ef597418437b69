"""The scheduling language: which statements fuse, and in which order indices are iterated.

::

    fuse T1..H; fuse T5..Y          # regions are runs of consecutive statements
    order T1: i,k,p                 # dataflow order of one statement (soft constraint)
    order T1..H: i,k,p,n            # order of a whole region, in the region's index names

Directives end at ``;`` or a line end; ``#`` starts a comment.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.errors import ParseError

_NAME = r"[A-Za-z_][A-Za-z0-9_']*"
_FUSE = re.compile(rf"fuse\s+({_NAME})\s*(?:\.\.\s*({_NAME}))?\s*$")
_ORDER = re.compile(rf"order\s+({_NAME})\s*(?:\.\.\s*({_NAME}))?\s*:\s*(.+)$")
_INDEX = re.compile(rf"{_NAME}$")
MAX_TEXT = 1_000_000


@dataclass(frozen=True)
class Fuse:
    """Statements from the one that assigns ``first`` to the one that assigns ``last``."""

    first: str
    last: str

    def __str__(self) -> str:
        return f"fuse {self.first}" + ("" if self.first == self.last else f"..{self.last}")


@dataclass(frozen=True)
class Order:
    """A dataflow order, outermost index first.

    ``last`` is None for one statement's own order; otherwise the order of the region
    ``first..last`` in that region's index names.
    """

    first: str
    last: str | None
    indices: tuple[str, ...]

    def __str__(self) -> str:
        target = self.first if self.last is None else f"{self.first}..{self.last}"
        return f"order {target}: {','.join(self.indices)}"


@dataclass(frozen=True)
class Schedule:
    """What a user decides about a program; prints and parses back to an equal schedule."""

    fusions: tuple[Fuse, ...] = ()
    orders: tuple[Order, ...] = ()

    @classmethod
    def parse(cls, text: str, source: str | None = None) -> Schedule:
        """Read schedule text.

        Raises
        ------
        ParseError
            With line and column of the directive at fault.
        """
        if len(text) > MAX_TEXT:
            raise ParseError(f"schedule text is longer than {MAX_TEXT} characters", source=source)
        fusions: list[Fuse] = []
        orders: list[Order] = []
        for number, line in enumerate(text.splitlines(), start=1):
            column = 1
            for part in line.split("#", 1)[0].split(";"):
                directive = part.strip()
                place = column + len(part) - len(part.lstrip())
                column += len(part) + 1
                if not directive:
                    continue
                if match := _FUSE.match(directive):
                    fusions.append(Fuse(match[1], match[2] or match[1]))
                elif match := _ORDER.match(directive):
                    indices = tuple(x.strip() for x in match[3].split(","))
                    for index in indices:
                        if not _INDEX.match(index):
                            raise ParseError(
                                f"{index!r} is not an index name",
                                hint="write order T: i,k,j",
                                line=number,
                                column=place,
                                source=source,
                            )
                    if len(set(indices)) < len(indices):
                        raise ParseError(
                            f"an index is named twice in the order {','.join(indices)}",
                            hint="name each index once, outermost first",
                            line=number,
                            column=place,
                            source=source,
                        )
                    orders.append(Order(match[1], match[2], indices))
                else:
                    raise ParseError(
                        f"cannot read the directive {directive!r}",
                        hint="known directives: fuse A..B, order T: i,j,k, order A..B: i,j,k",
                        line=number,
                        column=place,
                        source=source,
                    )
        return cls(tuple(fusions), tuple(orders))

    def __str__(self) -> str:
        return "; ".join(str(d) for d in (*self.fusions, *self.orders))
