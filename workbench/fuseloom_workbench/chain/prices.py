"""Estimated prices of all moves of fusion boundaries, before anybody makes one.

A move cuts a region, fuses two, or drags a boundary to another gap.  Each is built and estimated as
if it were made, of the design as it stands; the nearest to the region shown come first.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from fuseloom.errors import FuseloomError
from fuseloom_workbench.base.parts import LATER, Draw, LaterPart, SplitWork, Work
from fuseloom_workbench.base.quantities import change, ratio, short
from fuseloom_workbench.state import edits
from fuseloom_workbench.state.carrying import Recut
from fuseloom_workbench.state.design import BuiltDesign
from fuseloom_workbench.state.estimate_figures import EstimateFigures
from fuseloom_workbench.state.session import Session

PACE = 0.1
"""Seconds between two unfinished answers that are shown."""
PATIENCE = 15.0
"""Seconds of computing for all moves of a design; those after that stay unknown."""


class Move(NamedTuple):
    """A move of a boundary between kernels.

    Attributes
    ----------
    gap : int
        The gap where it stands; 0 if it is a new one.
    to : int
        The gap where it goes; 0 if it is removed.
    """

    gap: int
    to: int

    def made(self, built: BuiltDesign) -> Recut:
        """The design after the move.

        Raises
        ------
        FuseloomError
            If it is not legal.
        """
        if self.gap and self.to:
            return edits.with_boundary_moved(built, self.gap, self.to)
        return edits.with_cuts(built, {*built.gaps, self.to} - {self.gap, 0})


@dataclass(frozen=True)
class Price:
    """The estimated totals after a move, or the reason why it is refused.

    Attributes
    ----------
    told : str
        What becomes of directives of the regions that it changes.
    """

    figures: EstimateFigures | None = None
    told: str = ""
    refused: str = ""


@dataclass(frozen=True)
class Prices:
    """The prices of moves that are known so far, and whether these are all."""

    now: EstimateFigures
    moves: Mapping[Move, Price]
    whole: bool


def movable(built: BuiltDesign) -> list[int]:
    """Gaps where a boundary may stand or not: between two kernels, neither of which memory does."""
    memory = [unit.memory for unit in built.units]
    return [g for g in range(1, len(memory)) if not (memory[g - 1] or memory[g])]


def moves_of(built: BuiltDesign, region: int) -> list[Move]:
    """Every move of a design: cuts and fusions first, nearest to a region first, then drags."""
    last, gaps = len(built.units), movable(built)
    cut = set(built.gaps)
    own = [k for k, number in enumerate(built.unit_regions) if number == region] or [0]

    def distance(gap: int) -> int:
        return max(own[0] - gap, gap - own[-1] - 1, 0)

    single = [Move(gap, 0) if gap in cut else Move(0, gap) for gap in sorted(gaps, key=distance)]
    stops = [0, *sorted(cut), last]
    drags = [
        Move(gap, to)
        for left, gap, right in zip(stops, stops[1:], stops[2:], strict=False)
        if gap in gaps
        for to in range(left + 1, right)
        if to != gap and to in gaps
    ]
    return single + sorted(drags, key=lambda m: (abs(m.to - m.gap), distance(m.gap)))


def price(built: BuiltDesign, move: Move) -> Price:
    """Build and estimate the design after a move."""
    try:
        recut = move.made(built)
        return Price(EstimateFigures.of(recut.built), recut.told)
    except FuseloomError as reason:
        return Price(refused=str(reason))


def find(session: Session, draw: Draw) -> Iterator[Prices]:
    """Find the prices of all moves, one more at a time."""
    return share(0, 1)(session, draw)


def share(number: int, count: int) -> Work:
    """The work of finding every so many-th price."""
    return lambda session, _: _found(
        session.built, moves_of(session.built, session.region)[number::count]
    )


def merge(found: Sequence[Prices], whole: bool) -> Prices:
    """All prices that shares have found."""
    moves = {move: known for prices in found for move, known in prices.moves.items()}
    return Prices(found[0].now, moves, whole)


def _found(built: BuiltDesign, moves: Sequence[Move]) -> Iterator[Prices]:
    found, spent = Prices(EstimateFigures.of(built), {}, whole=False), 0.0
    for move in moves:
        if spent > PATIENCE:
            break
        began = time.thread_time()
        found = replace(found, moves={**found.moves, move: price(built, move)})
        spent += time.thread_time() - began
        yield found
    yield replace(found, whole=True)


# As plain data --------------------------------------------------------------------------------


def view(session: Session, found: Prices) -> dict[str, Any]:
    """The prices as a page shows them."""
    pinned = session.reference
    against = pinned.run.cycles if pinned and pinned.problem == session.built.problem else None
    return {
        "whole": found.whole,
        "moves": [
            [move.gap, move.to, _shown(found.now, known, against)]
            for move, known in sorted(found.moves.items(), key=lambda known: known[0])
        ],
    }


def _shown(now: EstimateFigures, known: Price, against: int | None) -> dict[str, Any]:
    then = known.figures
    if then is None:
        return {"refused": known.refused}
    more = {name: cycles - now.parts[name] for name, cycles in then.parts.items()}
    split = ", ".join(f"{name} {change(cycles)}" for name, cycles in more.items() if round(cycles))
    factor = f", {ratio(now.cycles / then.cycles)}" if then.cycles else ""
    return {
        "cycles": _mark(now.cycles, then.cycles),
        "bytes": _mark(now.bytes, then.bytes),
        "on_chip": _mark(now.on_chip, then.on_chip),
        "total": f"est. {short(then.cycles, 'cycles')}",
        "change": f"{change(then.cycles - now.cycles)}{factor}",
        "split": split,
        "more": f"{change(then.bytes - now.bytes, 'B')} of memory traffic",
        "against": "" if against is None else f"{change(then.cycles - against)} against A",
        "told": known.told,
    }


def _mark(now: float | None, then: float | None) -> list[Any]:
    """The change as a short text, and by how many powers of two; None where it is not known."""
    if now is None or then is None:
        return ["", None]
    whole = round(then - now)
    power = math.log2(then / now) if now > 0 and then > 0 else math.copysign(2.0, whole)
    return [change(whole, form=_thousands), power if whole else 0.0]


def _thousands(value: float, unit: str) -> str:
    """A count that fits a gap between kernels: ``35.6 k`` from ten thousand on."""
    return f"{value / 1e3:.3g} k" if 10_000 <= value < 1e6 else short(value, unit).rstrip()


def _given_up(session: Session, found: Prices | None, _: float) -> Prices:
    return replace(found or Prices(EstimateFigures.of(session.built), {}, whole=True), whole=True)


def _parts(session: Session, found: Prices | None) -> dict[str, str]:
    return {"prices": json.dumps({"moves": []} if found is None else view(session, found))}


def _key(session: Session) -> str:
    return repr((session.built.problem, session.design))


LATER["prices"] = LaterPart(_key, find, _parts, _given_up, pace=PACE, split=SplitWork(share, merge))
