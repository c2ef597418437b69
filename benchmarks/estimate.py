"""The quality of estimates: the choice among schedules, the errors, and the time.

    python -m benchmarks.estimate [--quick] [--size N] [--only PROGRAM] [--mode MODE]
        [--capacity N] [--machine NAME]

A row per space (:mod:`benchmarks.spaces`), simulated in full:

* rho: Spearman's rank correlation of estimated and simulated cycles of its schedules;
* regret: simulated cycles of the schedule with the least estimate, over the least simulated;
* error: of regions, median and most, in percent;
* inside: regions whose cycles are in the interval of the estimate, in percent;
* bound: the lower bound over simulated cycles of regions, least, median and most;
* cold, shared: milliseconds of CPU time per schedule, with nothing known before but the data, and
  with what other schedules left behind.

A space is right with rho of at least 0.95 and a regret of at most 1.05.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from scipy.stats import spearmanr

from benchmarks.spaces import FAMILIES, PROGRAMS, Key, ProgramSpace, space
from fuseloom.dataflow.cost import EstimateContext, EstimateMode, RegionEstimate
from fuseloom.dataflow.cost.estimate import estimate_region
from fuseloom.dataflow.machine import PRESETS, Machine
from fuseloom.errors import DataError

RHO, REGRET = 0.95, 1.05
COLD = 20
"""Schedules that are estimated with nothing known before."""


@dataclass(frozen=True)
class EstimateRow:
    """The quality of estimates in a space (see the module)."""

    schedules: int
    rho: float
    regret: float
    errors: tuple[float, float]
    inside: float
    bounds: tuple[float, float, float] | None
    cold: float
    shared: float

    @property
    def right(self) -> bool:
        return self.rho >= RHO and self.regret <= REGRET

    def __str__(self) -> str:
        bounds = " " * 20
        if self.bounds is not None:
            bounds = "".join(f"{b:7.4f}" for b in self.bounds).rjust(20)
        return (
            f"{self.schedules:5}{self.rho:8.3f}{self.regret:8.3f}"
            f"{100 * self.errors[0]:8.2f}{100 * self.errors[1]:9.2f}{100 * self.inside:8.1f} "
            f"{bounds}"
            f"{self.cold:8.1f}{self.shared:8.1f}{'' if self.right else '  wrong'}"
        )


TITLES = (
    f"{'':5}{'rho':>8}{'regret':>8}{'error %':>8}{'most':>9}{'inside':>8} "
    f"{'bound, least/median/most':>20}{'cold':>8}{'shared':>8}"
)


def estimated(
    chosen: ProgramSpace, keys: tuple[Key, ...], context: EstimateContext
) -> Iterator[tuple[Key, RegionEstimate]]:
    """A schedule's regions, one after another."""
    for key in keys:
        yield key, estimate_region(chosen.regions[key], context)


def measure(chosen: ProgramSpace, mode: EstimateMode) -> EstimateRow:
    """Estimate every schedule of a space, and compare with its run."""
    simulated = chosen.simulated
    started = time.process_time()
    for keys in chosen.schedules[:COLD]:
        list(
            estimated(
                chosen, keys, EstimateContext(chosen.program, chosen.data, mode, chosen.machine)
            )
        )
    cold = (time.process_time() - started) / len(chosen.schedules[:COLD])
    totals, errors, bounds, inside = [], [], [], []
    context = EstimateContext(chosen.program, chosen.data, mode, chosen.machine)
    taken = 0.0
    for keys in chosen.schedules:
        started = time.process_time()
        regions = list(estimated(chosen, keys, context))
        taken += time.process_time() - started
        totals.append(sum(region.cycles for _, region in regions))
        errors += [abs(region.cycles / simulated[key] - 1) for key, region in regions]
        inside += [region.low <= simulated[key] <= region.high for key, region in regions]
        bounds += [r.least / simulated[key] for key, r in regions if r.least is not None]
    return EstimateRow(
        len(totals),
        rank_correlation(totals, chosen.cycles),
        regret(totals, chosen.cycles),
        (float(np.median(errors)), max(errors)),
        float(np.mean(inside)),
        (min(bounds), float(np.median(bounds)), max(bounds)) if bounds else None,
        1e3 * cold,
        1e3 * taken / len(totals),
    )


def rank_correlation(some: list[float], others: list[int]) -> float:
    """Spearman's; 1 where there is nothing to rank."""
    if len(set(some)) < 2 and len(set(others)) < 2:
        return 1.0
    return float(spearmanr(some, others).statistic)


def regret(estimates: list[float], simulated: list[int]) -> float:
    """Return the cycles of the schedule that estimates choose, relative to the best."""
    return float(simulated[int(np.argmin(estimates))] / min(simulated))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small matrices of four families")
    parser.add_argument("--size", type=int, help="rows of generated matrices (default: 60)")
    parser.add_argument("--only", choices=PROGRAMS, help="one program")
    parser.add_argument("--mode", choices=["exact", "sampled", "metadata"], help="one mode")
    parser.add_argument("--capacity", type=int, help="tokens of channels that need no more")
    parser.add_argument("--machine", choices=PRESETS, default="default", help="by name")
    options = parser.parse_args()
    size = options.size or (30 if options.quick else 60)
    families = list(islice(FAMILIES, 4)) if options.quick else list(FAMILIES)
    modes = (
        [EstimateMode(options.mode)]
        if options.mode
        else [EstimateMode.EXACT, EstimateMode.SAMPLED, EstimateMode.METADATA]
    )
    rows: dict[EstimateMode, list[EstimateRow]] = {mode: [] for mode in modes}
    print(f"{'program':10}{'family':16}{'mode':9}{TITLES}")
    for program in [options.only] if options.only else PROGRAMS:
        for family in families:
            chosen = space(program, family, size)
            if chosen is None:
                continue
            if options.capacity:
                chosen = chosen.sized(options.capacity)
            chosen = replace(chosen, machine=Machine.preset(options.machine))
            for mode in modes:
                try:
                    row = measure(chosen, mode)
                except DataError as refused:
                    print(f"{program:10}{family:16}{mode.value:9}{refused}", flush=True)
                    continue
                rows[mode].append(row)
                print(f"{program:10}{family:16}{mode.value:9}{row}", flush=True)
    for mode, found in rows.items():
        if not found:
            continue
        right, schedules = sum(row.right for row in found), sum(row.schedules for row in found)
        least, most = min(row.rho for row in found), max(row.regret for row in found)
        error = 100 * max(row.errors[1] for row in found)
        print(
            f"{mode.value}: {right} of {len(found)} spaces right, {schedules:,} schedules; "
            f"least rho {least:.3f}, most regret {most:.3f}, most error {error:.1f} %"
        )


if __name__ == "__main__":
    main()
