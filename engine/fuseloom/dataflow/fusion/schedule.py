"""The scheduling language.

::

    fuse T1..H; fuse T5..Y          # regions are runs of consecutive statements
    fuse T1..Y where possible       # as few regions as can be built
    order T1: i,k,p                 # dataflow order of one statement (soft constraint)
    order T1..H: i,k,p,n            # order of a whole region, in the region's index names
    parallel i by 4                 # deal the level of an index to lanes
    block 16                        # store and compute in blocks of 16 by 16
    locate off                      # scan and intersect dense levels, do not look them up
    locate H.k on                   # look up this level, dense or compressed, where it is joined
    repeat references               # repeat references, not loaded values
    global T1..H                    # one iteration space per product, as a baseline
    materialise T5                  # write T5 to memory: cut its region there
    permute A' to k,j               # store a view in another order
    store T1 compressed,dense       # store an intermediate so, level by level
    sequence T2, T1                 # carry these statements out in that order
    strict on                       # dense tensors keep their mode order, too

``parallel``, ``locate``, ``repeat`` and ``permute`` may name a region: ``parallel T1..H: i by 4``.
Directives end at ``;`` or a line end; ``#`` starts a comment.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from fuseloom.dataflow.fusion.directives import (
    Block,
    Directive,
    Fuse,
    Global,
    Locate,
    LocateLevel,
    Materialise,
    Nonzero,
    Order,
    Parallel,
    Permute,
    Repeat,
    Sequenced,
    Setting,
    Span,
    Store,
    Strict,
    TextPosition,
    blamed,
)
from fuseloom.display.shows import Shows
from fuseloom.errors import ParseError, ScheduleError
from fuseloom.program.formats import LevelFormat
from fuseloom.wording import described

__all__ = ["MAX_TEXT", "Fuse", "Order", "Schedule"]

_NAME = r"[A-Za-z_][A-Za-z0-9_']*"
_INDEX = re.compile(rf"{_NAME}$")
_RANGE = rf"({_NAME})\s*\.\.\s*({_NAME})"
_SCOPE = rf"(?:{_RANGE}\s*:\s*)?"
_NUMBER = r"(\d{1,9})"
_LEVEL = r"(?:dense|compressed)"
MAX_TEXT = 1_000_000

_Kind = TypeVar("_Kind", bound=Setting)


def _span(first: str | None, last: str | None) -> Span | None:
    return None if first is None or last is None else Span(first, last)


def _indices(text: str) -> tuple[str, ...]:
    """Index names separated by commas; ValueError says what is wrong and what to write."""
    indices = tuple(x.strip() for x in text.split(","))
    for index in indices:
        if not _INDEX.match(index):
            raise _DirectiveError(f"{index!r} is not an index name", "write order T: i,k,j")
    if len(set(indices)) < len(indices):
        raise _DirectiveError(
            f"an index is named twice in the order {','.join(indices)}",
            "name each index once, outermost first",
        )
    return indices


def _sequence(text: str) -> Sequenced:
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if not _INDEX.match(name):
            raise _DirectiveError(f"{name!r} is not the name of a tensor", "write sequence T, U, V")
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise _DirectiveError(
            f"'sequence' names {twice[0]} twice", "name each statement once, the first one first"
        )
    if len(names) == 1:
        raise _DirectiveError(
            f"'sequence {names[0]}' names one statement alone",
            "name those, too, with which it changes places, in the order they are to have",
        )
    return Sequenced(names)


def _positive(digits: str, what: str) -> int:
    if int(digits) < 1:
        raise _DirectiveError(f"{what} is {digits}", "it is at least 1")
    return int(digits)


def _store(name: str | None, words: str) -> Store:
    levels = tuple(LevelFormat(word.strip()) for word in words.split(","))
    if name is None and len(levels) > 1:
        raise _DirectiveError(
            "levels are given one by one for no tensor", "write store T compressed,dense"
        )
    return Store(name, levels)


class _DirectiveError(Exception):
    """Why a directive that reads well is not one: what, and what to do."""

    def __init__(self, message: str, hint: str) -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)


Reader = Callable[..., Directive]
_READERS: tuple[tuple[str, str, Reader], ...] = (
    (
        "fuse A..B [where possible]",
        rf"fuse\s+({_NAME})\s*(?:\.\.\s*({_NAME}))?(\s+where\s+possible)?",
        lambda first, last, soft: Fuse(first, last or first, soft is not None),
    ),
    (
        "order T: i,j,k, order A..B: i,j,k",
        rf"order\s+({_NAME})\s*(?:\.\.\s*({_NAME}))?\s*:\s*(.+)",
        lambda first, last, text: Order(first, last, _indices(text)),
    ),
    (
        "parallel i by 4",
        rf"parallel\s+{_SCOPE}({_NAME})\s+by\s+{_NUMBER}",
        lambda a, b, index, lanes: Parallel(index, _positive(lanes, "the factor"), _span(a, b)),
    ),
    (
        "block 16",
        rf"block\s+{_NUMBER}",
        lambda edge: Block(_positive(edge, "the block's edge")),
    ),
    (
        "locate on|off",
        rf"locate\s+{_SCOPE}(on|off)",
        lambda a, b, word: Locate(word == "on", _span(a, b)),
    ),
    (
        "locate A.k on|off",
        rf"locate\s+{_SCOPE}({_NAME})\.({_NAME})\s+(on|off)",
        lambda a, b, view, x, word: LocateLevel(view, x, word == "on", _span(a, b)),
    ),
    (
        "repeat values|references",
        rf"repeat\s+{_SCOPE}(values|references)",
        lambda a, b, word: Repeat(word == "references", _span(a, b)),
    ),
    ("global [A..B]", rf"global(?:\s+{_RANGE})?", lambda a, b: Global(_span(a, b))),
    ("materialise T", rf"materiali[sz]e\s+({_NAME})", Materialise),
    (
        "permute A' to k,j",
        rf"permute\s+{_SCOPE}({_NAME})\s+to\s+(.+)",
        lambda a, b, view, text: Permute(view, _indices(text), _span(a, b)),
    ),
    (
        "store T dense|compressed, store T compressed,dense, store dense|compressed",
        rf"store(?:\s+({_NAME}))?\s+({_LEVEL}(?:\s*,\s*{_LEVEL})*)",
        lambda name, words: _store(name, words),
    ),
    ("sequence T, U, V", r"sequence\s+(.+)", _sequence),
    ("nonzero T", rf"nonzero\s+({_NAME})", Nonzero),
    ("strict on|off", r"strict\s+(on|off)", lambda word: Strict(word == "on")),
)
_PATTERNS = tuple((re.compile(pattern), reader) for _, pattern, reader in _READERS)
KNOWN = ", ".join(shown for shown, _, _ in _READERS)


@dataclass(frozen=True)
class Schedule(Shows, html="fuseloom.dataflow.fusion.display:schedule_html"):
    """A user's decisions about a program; it prints and parses back to an equal schedule.

    Attributes
    ----------
    settings : tuple
        Every directive that is neither a fusion nor an order, as they were given.

    Examples
    --------
    >>> import fuseloom as fl
    >>> schedule = fl.Schedule.parse("fuse T1..H; order T1..H: i,k,p,n; parallel i by 4")
    >>> print(schedule)
    fuse T1..H; order T1..H: i,k,p,n; parallel i by 4
    >>> fl.Schedule.parse(str(schedule)) == schedule
    True
    """

    fusions: tuple[Fuse, ...] = ()
    orders: tuple[Order, ...] = ()
    settings: tuple[Setting, ...] = ()

    def __repr__(self) -> str:
        return described(self, str(self) or "every statement alone")

    def __post_init__(self) -> None:
        seen: dict[tuple[str, str | None], Order] = {}
        for order in self.orders:
            first = seen.setdefault((order.first, order.last), order)
            if first is not order:
                with blamed(order):
                    raise ScheduleError(
                        f"'{order}' gives a second order to what has one by '{first}'",
                        hint="leave one of them out",
                    )
        for more in self.of(Sequenced)[1:]:
            with blamed(more):
                raise ScheduleError(
                    f"'{more}' is a second sequence", hint="name all statements in one"
                )

    @classmethod
    def parse(cls, text: str, source: str | None = None) -> Schedule:
        """Read schedule text.

        Raises
        ------
        ParseError, ScheduleError
            With line and column of the directive at fault.
        """
        if len(text) > MAX_TEXT:
            raise ParseError(f"schedule text is longer than {MAX_TEXT} characters", source=source)
        fusions: list[Fuse] = []
        orders: list[Order] = []
        settings: list[Setting] = []
        for number, line in enumerate(text.splitlines(), start=1):
            column = 1
            for part in line.split("#", 1)[0].split(";"):
                directive = part.strip()
                place = column + len(part) - len(part.lstrip())
                column += len(part) + 1
                if not directive:
                    continue
                try:
                    read = replace(_read(directive), at=TextPosition(number, place, source))
                except _DirectiveError as refused:
                    raise ParseError(
                        refused.message,
                        hint=refused.hint,
                        line=number,
                        column=place,
                        source=source,
                    ) from None
                match read:
                    case Fuse():
                        fusions.append(read)
                    case Order():
                        orders.append(read)
                    case _:
                        settings.append(read)
        return cls(tuple(fusions), tuple(orders), tuple(settings))

    def of(self, kind: type[_Kind]) -> tuple[_Kind, ...]:
        """The settings of one kind, in the order they were given."""
        return tuple(s for s in self.settings if isinstance(s, kind))

    def __str__(self) -> str:
        return "; ".join(str(d) for d in (*self.fusions, *self.orders, *self.settings))


def _read(directive: str) -> Directive:
    for pattern, reader in _PATTERNS:
        if match := pattern.fullmatch(directive):
            return reader(*match.groups())
    raise _DirectiveError(f"cannot read the directive {directive!r}", f"known directives: {KNOWN}")
