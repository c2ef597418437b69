"""The landscape of a design: estimated cycles after any one or two moves of its boundaries.

A move cuts at a gap between kernels, or fuses there.  The map of all pairs is made when a visitor
asks for it, of the design as it stands then; it stays while other designs are looked at, which have
their place on it as long as they are no more than two moves away.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from fuseloom.errors import FuseloomError
from fuseloom.wording import counted
from fuseloom_workbench.base.parts import LATER, Draw, LaterPart, SplitWork, Work
from fuseloom_workbench.base.quantities import change, count, ratio
from fuseloom_workbench.chain.prices import movable
from fuseloom_workbench.state.answered import digest
from fuseloom_workbench.state.asking import mapped_design
from fuseloom_workbench.state.design import BuiltDesign
from fuseloom_workbench.state.edits import with_pair_moved, with_schedule
from fuseloom_workbench.state.session import Session

Pair = tuple[int, int]
"""Two gaps where a boundary is moved; a gap with itself is one move."""
MOST = 40
"""Kernels of a chain whose pairs of moves are mapped."""
TIMES = 10
"""Times the seconds of a drawing that a map may take."""
PACE = 0.4
"""Seconds between two unfinished maps that are shown."""


@dataclass(frozen=True)
class PlaceOnMap:
    """The estimate of a design on the map.

    Attributes
    ----------
    cycles : float or None
        Estimated; None if it is refused.
    told : str
        What becomes of directives, or the reason of a refusal.
    """

    cycles: float | None
    told: str = ""


@dataclass(frozen=True)
class LandscapeMap:
    """The estimates of pairs of moves that are known so far.

    Attributes
    ----------
    known : mapping of (int, int) to PlaceOnMap
        By both gaps, the lower first; one move alone is the pair of a gap with itself.
    whole : bool
        Whether no more will come.
    """

    known: Mapping[Pair, PlaceOnMap]
    whole: bool


def pairs(built: BuiltDesign) -> list[Pair]:
    """Every pair of gaps of a design: single moves first, then those nearest to each other."""
    gaps = movable(built)
    single = [(gap, gap) for gap in gaps]
    return single + sorted(combinations(gaps, 2), key=lambda pair: (pair[1] - pair[0], pair))


def place(built: BuiltDesign, pair: Pair) -> PlaceOnMap:
    """Build and estimate the design after both moves."""
    try:
        recut = with_pair_moved(built, *pair)
    except FuseloomError as reason:
        return PlaceOnMap(None, str(reason))
    return PlaceOnMap(float(recut.built.estimate.cycles), recut.told)


def _found(built: BuiltDesign, chosen: Sequence[Pair]) -> Iterator[LandscapeMap]:
    known: dict[Pair, PlaceOnMap] = {}
    for pair in chosen:
        known[pair] = place(built, pair)
        yield LandscapeMap(dict(known), whole=False)
    yield LandscapeMap(known, whole=True)


def share(number: int, of: int) -> Work:
    """The work of estimating every so many-th pair."""

    def work(session: Session, _: Draw) -> Iterator[LandscapeMap]:
        mapped = mapped_design(session)
        return iter(()) if mapped is None else _found(mapped, pairs(mapped)[number::of])

    return work


def merge(found: Sequence[LandscapeMap], whole: bool) -> LandscapeMap:
    """All pairs that shares have estimated."""
    return LandscapeMap({p: at for map_ in found for p, at in map_.known.items()}, whole)


def _key(session: Session) -> str:
    mapped = mapped_design(session)
    return "" if mapped is None else digest(repr((mapped.problem, mapped.design)))


def _given_up(_: Session, found: LandscapeMap | None, __: float) -> LandscapeMap:
    return replace(found or LandscapeMap({}, whole=True), whole=True)


# As plain data --------------------------------------------------------------------------------


def _parts(session: Session, found: LandscapeMap | None) -> dict[str, str]:
    return {"landscape": json.dumps(view(session, found))}


def view(session: Session, found: LandscapeMap | None) -> dict[str, Any]:
    """The map as a page shows it; without one, whether it can be made, and how large it gets."""
    base = mapped_design(session)
    if base is None:
        return {"mapped": False, **_offer(session.built)}
    known = {} if found is None else dict(found.known)
    now = float(base.estimate.cycles)
    estimated = {pair: at.cycles for pair, at in known.items() if at.cycles is not None}
    best = min(estimated, key=estimated.__getitem__, default=None)
    return {
        "mapped": True,
        "whole": found is not None and found.whole,
        "done": len(known),
        "total": len(pairs(base)),
        "own": base.design == session.design,
        "now": count(now, "cycles"),
        "gaps": [
            {"gap": gap, "name": _name(base, gap), "cut": gap in base.gaps} for gap in movable(base)
        ],
        "cells": [
            [*pair, _power(now, at.cycles), _text(now, at), at.told] for pair, at in known.items()
        ],
        "best": None if best is None or estimated[best] >= now else list(best),
        **_marks(session, base),
    }


def _offer(built: BuiltDesign) -> dict[str, Any]:
    """Say how many designs a map would have, or why there is none."""
    kernels = sum(not unit.memory for unit in built.units)
    total = len(pairs(built)) if kernels <= MOST else 0
    if kernels > MOST:
        why = f"{counted(kernels, 'kernel')}: pairs are mapped of chains of up to {MOST}"
    elif kernels == 1:
        why = "there is one kernel, and no boundary to move"
    else:
        why = "" if total else "memory works between all kernels: there is no boundary to move"
    return {"why": why, "total": total}


def _name(built: BuiltDesign, gap: int) -> str:
    return f"{built.units[gap - 1].name} | {built.units[gap].name}"


def _power(now: float, cycles: float | None) -> float | None:
    """By how many powers of two the cycles change; None where there is no estimate."""
    if cycles is None:
        return None
    return math.log2(cycles / now) if cycles > 0 and now > 0 else 0.0


def _text(now: float, at: PlaceOnMap) -> str:
    if at.cycles is None:
        return "refused"
    factor = f", {ratio(now / at.cycles)} the speed" if at.cycles else ""
    return f"est. {count(at.cycles, 'cycles')}, {change(at.cycles - now)}{factor}"


def _marks(session: Session, base: BuiltDesign) -> dict[str, Any]:
    """Places on the map of designs that have names; of those beyond it, the number of moves."""
    named = [("the design shown", session.design.cuts)]
    for name, text in session.presets.items():
        named.append((f"preset {name}", with_schedule(base.design, text).cuts))
    named += [
        ("found by the search", run.design.cuts)
        for run in session.records.values()
        if run.design.subject == base.design.subject and run.searched
    ]
    gap_of = {base.units[gap].start: gap for gap in movable(base)}
    marks, far = [], []
    for name, cuts in named:
        moved = cuts ^ base.design.cuts
        if len(moved) > 2 or not moved <= gap_of.keys():
            inside = not moved <= gap_of.keys()
            far.append(f"{name}: {'cut within a kernel' if inside else f'{len(moved)} moves'}")
        else:
            marks.append([*_pair(sorted(gap_of[cut] for cut in moved)), name])
    return {"marks": marks, "far": far}


def _pair(gaps: list[int]) -> tuple[int, int]:
    """The place on the map of one or two moves, by their gaps; ``(0, 0)`` for no move."""
    return (gaps[0], gaps[-1]) if gaps else (0, 0)


LATER["landscape"] = LaterPart(
    _key,
    share(0, 1),
    _parts,
    _given_up,
    pace=PACE,
    most=10,
    times=TIMES,
    split=SplitWork(share, merge),
)
