"""Fig. 20 cell by cell: the published fusion table beside ours, each difference with its reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

ROWS = ("i", "l", "m", "j", "val")
COLUMNS = ("A", "X", "T0", "Ω", "T")
PUBLISHED = (
    ("LS(root)", "Rep(root,<A.i>)", "<A.i>", "Rep(root,<T0.i>)", "<T0.i>"),
    ("LS(<A.i>) -> I_l", "LS(<X.i>)", "<T0.i>", "<Ω.i>", "<T.i>"),
    ("Rep(<A.l>,<X.m>)", "LS(<X.l>)", "Red1_l", "LS(<Ω.l>) -> I_m", "<T.l>"),
    ("<A.m>", "<X.m>", "<T0.m>.crd", "LS(<Ω.m>)", "Red1_m.crd"),
    ("Val(<A.j>)", "Val(<X.j>)", "Rep(<T0.m>.val,<Ω.j>)", "Val(<Ω.j>)", "Red1_m.val"),
)
"""The cells of Fig. 20 by row and column, in our notation: ``-> I_l`` for an intersection in the
cell, ``.crd`` and ``.val`` for the parts of a stream, T for the result."""
_NAMES = {"N1": "T0", "Wn1": "Ω", "N2": "T", "q": "m", "m": "j"}
_NAME = re.compile(rf"(?<![A-Za-z0-9])({'|'.join(_NAMES)})(?![A-Za-z0-9])")
_THROUGH = "the paper passes a stream through; here a reference names where it comes from"
_NOTHING = "a tensor without this index: the paper refers to the level above, here nothing stands"
_SUMMED = "an index that is summed up: the paper refers to the level above, here the cell says so"
REASONS = {
    ("i", "Ω"): ("Rep(root,<A.i>)", _THROUGH),
    ("i", "T"): ("<A.i>", _THROUGH),
    ("l", "X"): ("LS(<X.i>) -> I_l", "the intersection stands with both of its operands here"),
    ("l", "T0"): ("reduced", _SUMMED),
    ("l", "Ω"): ("pass", _NOTHING),
    ("l", "T"): ("pass", _NOTHING),
    ("m", "T0"): (
        "Red1_l.crd -> I_m (val)",
        "the same reduction; here the cell names its coordinates and what joins them",
    ),
    ("m", "Ω"): ("LS(<Ω.i>) -> I_m", _THROUGH),
    ("m", "T"): ("reduced", _SUMMED),
    ("j", "A"): ("pass", _NOTHING),
    ("j", "X"): ("pass", _NOTHING),
    ("j", "T0"): ("(RepV)", "the paper refers to the level above; here to the repetition below"),
    ("val", "A"): ("Val(<A.m>)", _THROUGH),
    ("val", "X"): ("Val(<X.m>)", _THROUGH),
    ("val", "T0"): (
        "RepV(I_m.val,<Ω.j>)",
        "the values that are repeated are those that the intersection leaves",
    ),
}
"""Ours where it differs, and why: by row and column."""


_PLANNED = re.compile(r"(LS|RepV?|Val)\(")
_NAMED = re.compile(r"(?:I|Red1)_[a-z]")


@dataclass(frozen=True)
class ComparedCell:
    """A cell of the published table and of ours.

    Attributes
    ----------
    reason : str
        Why they differ; empty where they are equal, or where nothing explains it.
    """

    row: str
    column: str
    published: str
    ours: str
    reason: str = ""

    @property
    def equal(self) -> bool:
        """True if both say the same, names aside."""
        return self.published == self.ours


def renamed(text: str) -> str:
    """Our cell with the paper's names for tensors and indices."""
    return _NAME.sub(lambda found: _NAMES[found[1]], text).replace("Acc1", "Red1")


def compared_cells(table: str) -> list[ComparedCell]:
    """Compare a printed fusion table with the published one.

    Parameters
    ----------
    table : str
        As a fusion table prints itself: a header, a line, and a line for each row.
    """
    return list(_compared(table))


def _compared(table: str) -> Iterator[ComparedCell]:
    lines = [line.split("|")[1:] for line in table.splitlines() if "|" in line]
    for row, published, cells in zip(ROWS, PUBLISHED, lines[1:], strict=True):
        for column, theirs, mine in zip(COLUMNS, published, cells, strict=True):
            ours = renamed(mine.strip())
            known, reason = REASONS.get((row, column), ("", ""))
            yield ComparedCell(row, column, theirs, ours, reason if ours == known else "")


def planned(cells: Iterable[str]) -> Counter[str]:
    """Count the nodes that cells plan, by kind; one that stands in several cells counts once."""
    nodes: Counter[str] = Counter()
    named = set()
    for cell in cells:
        nodes.update(found.removesuffix("V") for found in _PLANNED.findall(cell))
        named.update(_NAMED.findall(cell))
    nodes.update(name.partition("_")[0] for name in named)
    return nodes


def cells_text(cells: list[ComparedCell]) -> str:
    """The cells as a table for people: published, ours, and why they differ."""
    lines = [f"{'row':5}{'column':8}{'published':24}{'ours':26}difference"]
    for one in cells:
        said = "" if one.equal else one.reason or "unexplained"
        lines.append(f"{one.row:5}{one.column:8}{one.published:24}{one.ours:26}{said}".rstrip())
    return "\n".join(lines)
