"""The choices of a run: cuts, orders, lanes and the machine, by the names that are drawn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from fuseloom.dataflow.fusion.directives import Parallel, Setting, Span
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.errors import FuseloomError
from fuseloom.results.record import RegionRecord

Choices = Mapping[str, str]


@lru_cache(maxsize=2_000)
def settings_of(schedule: str) -> tuple[Setting, ...] | None:
    """The directives of a schedule besides its fusions and orders; None if it cannot be read."""
    try:
        return Schedule.parse(schedule).settings
    except FuseloomError:
        return None


def lanes(settings: Iterable[Setting]) -> int:
    """Lanes side by side in the region that has the most of them."""
    everywhere = 1
    places: dict[Span | None, int] = defaultdict(lambda: 1)
    for setting in settings:
        if isinstance(setting, Parallel):
            if setting.region is None:
                everywhere *= setting.factor
            else:
                places[setting.region] *= setting.factor
    return everywhere * max(places.values(), default=1)


def chosen(
    regions: Sequence[RegionRecord], settings: Iterable[Setting], machine: str
) -> dict[str, str]:
    """The values of all choices of a run but its cuts, by name."""
    found = {f"order of {region.name}": "→".join(region.order) for region in regions}
    return {**found, "lanes": str(lanes(settings)), "machine": machine}


def with_cuts(
    choices: Sequence[tuple[float, dict[str, str], Sequence[RegionRecord]]],
    names: Mapping[str, str],
) -> list[tuple[float, Choices]]:
    """Runs with their choices, and for every place where one of them is cut whether it is.

    Parameters
    ----------
    choices : sequence of (float, dict, sequence of RegionRecord)
        Cycles, further choices and regions of each run.
    names : mapping of str to str
        What a statement is drawn as, by the tensor that it writes.
    """
    heads = [{region.name.split("..")[0] for region in regions} for _, _, regions in choices]
    places = sorted(set().union(*heads)) if heads else []
    made = []
    for (cycles, others, _), mine in zip(choices, heads, strict=True):
        cuts = {
            f"cut before {names.get(place, place)}": "cut" if place in mine else "fused"
            for place in places
        }
        made.append((cycles, {**cuts, **others}))
    return made
