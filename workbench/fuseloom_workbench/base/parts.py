"""The parts of a page, as plain data: views register how each is made of a session.

:data:`PARTS` are made anew after each answer.  A :class:`LaterPart` takes longer and comes after
them; it is worked on elsewhere, and :class:`LaterResults` keeps what came of it for a quick return.
Whoever holds a session takes both from :mod:`fuseloom_workbench.views`, which imports every view.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from fuseloom_workbench.state.session import Session

Make = TypeVar("Make", bound=Callable[[Session], Any])
Draw = Callable[[str, str], str]
"""Lays out a graph, its text in Graphviz's language, in a form of
:func:`fuseloom_workbench.graph.layout.draw`."""

PARTS: dict[str, Callable[[Session], Any]] = {}
"""Each part by its name."""
LATER: dict[str, LaterPart] = {}
"""Each part that comes later, by its name."""


def page_part(name: str) -> Callable[[Make], Make]:
    """Register the function that makes a part of a session."""

    def register(make: Make) -> Make:
        PARTS[name] = make
        return make

    return register


class LaterResult(Protocol):
    """A result of work, in the place of the one before it."""

    @property
    def whole(self) -> bool:
        """False if a better one will come."""


Work = Callable[[Session, Draw], Iterator[Any]]
"""Gives results, one after another, of what a session shows when it is called; the session may
change before they come."""
Merge = Callable[[Sequence[Any], bool], Any]
"""Makes one result of several, and of whether it is whole."""


@dataclass(frozen=True)
class SplitWork:
    """Work that several processes do at once, each a share of it.

    Attributes
    ----------
    share : callable
        The work of the process with a number, of so many.
    merge : callable
        The result of those of the shares.
    """

    share: Callable[[int, int], Work]
    merge: Merge


@dataclass(frozen=True)
class LaterPart:
    """A part that takes longer than an answer.

    Attributes
    ----------
    key : callable
        All that it depends on, as text: what is known under the same key needs no new work.  Empty
        where there is nothing to make.
    work : callable
        Gives its results, one after another.
    view : callable
        The parts, as JSON text by name, of a session and its result; of None while there is none.
    given_up : callable
        The result of work that took too long, of the last one and the number of seconds.
    pace : float
        Seconds between two unfinished results that are shown.
    most : int
        Results that are kept for a quick return; the oldest go first.
    times : int
        Times the seconds of a drawing that it may take.
    threaded : bool
        Whether it may be worked on beside a session that changes, in the same process.
    end : callable
        Ends what runs outside the process for a key.
    split : SplitWork, optional
        The same work in shares.
    """

    key: Callable[[Session], str]
    work: Work
    view: Callable[[Session, Any], Mapping[str, str]]
    given_up: Callable[[Session, Any, float], Any]
    pace: float = 0.0
    most: int = 100
    times: int = 1
    threaded: bool = True
    end: Callable[[str], None] = lambda _: None
    split: SplitWork | None = None


class Pace:
    """Lets unfinished results through once in so many seconds, and finished ones always."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._due = -math.inf

    def lets(self, result: Any) -> bool:
        """Return whether this result, which has just come, is shown."""
        now = time.monotonic()
        if self._seconds and not result.whole and now < self._due:
            return False
        self._due = now + self._seconds
        return True


class LaterResults:
    """Results of the parts that come later, by name and key, kept for a quick return."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, Any]] = {}

    def get(self, name: str, session: Session) -> Any:
        """The result of a part for what a session shows now; None if there is none."""
        return self._now(session, (name,))[name][1]

    def keep(self, name: str, key: str, result: LaterResult) -> None:
        """Keep a result, in the place of an earlier one of the same key."""
        known = self._known.setdefault(name, {})
        if key not in known and len(known) >= LATER[name].most:
            del known[next(iter(known))]
        known[key] = result

    def missing(self, session: Session, names: Collection[str]) -> dict[str, str]:
        """The keys of those parts that are to be worked on for what a session shows now."""
        return _unfinished(self._now(session, names))

    def parts(self, session: Session, names: Collection[str]) -> dict[str, str]:
        """The parts as JSON text, and ``later``: which of them are not whole yet."""
        now = self._now(session, names)
        missing = _unfinished(now)
        parts = {"later": json.dumps({name: name in missing for name in sorted(names)})}
        for name, (_, result) in now.items():
            parts |= LATER[name].view(session, result)
        return parts

    def _now(self, session: Session, names: Collection[str]) -> dict[str, tuple[str, Any]]:
        """The key of each part now, and its result under that key, or None."""
        keys = {name: LATER[name].key(session) for name in names}
        return {name: (key, self._known.get(name, {}).get(key)) for name, key in keys.items()}


def _unfinished(now: Mapping[str, tuple[str, Any]]) -> dict[str, str]:
    return {
        name: key
        for name, (key, result) in now.items()
        if key and (result is None or not result.whole)
    }
