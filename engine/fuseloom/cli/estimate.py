"""``fuseloom estimate``: expected cycles, FLOPs, bytes, energy and area of every region."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from fuseloom.cli.command import Command, area_option, print_json
from fuseloom.cli.inputs import inputs, program_options
from fuseloom.cli.tables import area_line, energy_line, statistics_table
from fuseloom.dataflow.cost import Estimate
from fuseloom.dataflow.cost.mode import BASIS
from fuseloom.dataflow.space.design_costs import region_areas
from fuseloom.program import StoredTensor
from fuseloom.program.statistics import TensorStatistics
from fuseloom.results.area import AreaUse, largest_area
from fuseloom.results.document import DocumentKind
from fuseloom.wording import counted, grouped


def _declare(parser: argparse.ArgumentParser) -> None:
    program_options(parser)
    parser.add_argument(
        "--statistics", action="store_true",
        help="show the statistics of the inputs that the estimate rests on, level by level",
    )  # fmt: skip

    parser.add_argument(
        "--mode", default="auto", metavar="MODE",
        help="what the estimate rests on: exact (regions executed on coordinates), sampled (on "
        "some of those of the outermost indices), metadata (statistics), or auto: the first of "
        "these that takes some tenths of a second at most (default)",
    )  # fmt: skip
    parser.add_argument(
        "--bound", action="store_true", help="show how many cycles no run takes fewer than"
    )
    area_option(parser)
    parser.add_argument(
        "--explain", action="store_true",
        help="show where the cycles and the energy of every region come from, and what is known of "
        "its tensors",
    )  # fmt: skip


def _run(options: Any) -> int:
    from fuseloom.dataflow.cost import estimate

    given = inputs(options)
    result = estimate(given.compilation, given.data, mode=options.mode, machine=given.machine)
    whys = [w for r in result.regions for w in (r.why(), r.why_energy(), *r.tensors.values())]
    statistics = _statistics(given.data) if options.statistics else None
    areas = region_areas(given.compilation, given.machine) if options.area else ()
    if options.json:
        content = {
            "name": given.compilation.program.name,
            **_with_areas(result, areas),
            "data": given.source,
            "statistics": statistics,
            "explanation": whys if options.explain else None,
        }
        print_json(DocumentKind.ESTIMATE, content)
        return 0
    print(f"{given.heading}{result}")
    print(energy_line(result.energy))
    if (area := largest_area(areas)) is not None:
        print(area_line(area))
    print(f"rests on {basis(result)}")
    print(f"between {grouped(result.low)} and {counted(result.high, 'cycle')} (19 times out of 20)")
    if options.bound:
        print(bound(result))
    if options.explain:
        print("\n" + "\n".join(line for why in whys for line in why.lines()))
    if statistics is not None:
        print("\n" + "\n".join(statistics_table(statistics)))
    return 0


def _with_areas(result: Estimate, areas: Sequence[AreaUse]) -> dict[str, Any]:
    """An estimate as plain data, with the areas of its regions if they were asked for."""
    content = result.to_dict()
    area = largest_area(areas)
    known = [one.to_dict() for one in areas] or [None] * len(result.regions)
    regions = zip(content["regions"], known, strict=True)
    return {
        **content,
        "regions": [{**region, "area": one} for region, one in regions],
        "area": area and area.to_dict(),
    }


def basis(result: Estimate) -> str:
    """Return the mode that an estimate is based on, region by region where the modes differ."""
    named: dict[str, list[str]] = {}
    for region in result.regions:
        named.setdefault(BASIS[region.mode], []).append(region.name)
    if len(named) == 1:
        return next(iter(named))
    return "; ".join(f"{text} ({', '.join(names)})" for text, names in named.items())


def bound(result: Estimate) -> str:
    """Return the lower bound on the cycles, for all regions or for those that have one."""
    if result.least is not None:
        return f"no run takes fewer than {counted(result.least, 'cycle')}"
    some = [f"{r.name} {grouped(r.least)}" for r in result.regions if r.least is not None]
    known = f"; of {', '.join(some)}" if some else ""
    return f"no bound is known where a region is not executed whole{known}"


def _statistics(data: Mapping[str, StoredTensor]) -> dict[str, list[dict[str, Any]]]:
    """Per tensor the figures of every level, outermost first."""
    return {
        name: [level.summary() for level in TensorStatistics.of(stored).levels]
        for name, stored in data.items()
    }


ESTIMATE = Command(_declare, _run)
