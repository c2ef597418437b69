"""The gains of this project's own choices on the pairs of Fig. 12, one after another."""

from __future__ import annotations

from collections.abc import Mapping

from fuseloom.experiments.accounting import ATTENTION, LOOK_UPS, SCANS
from fuseloom.experiments.claims import Got
from fuseloom.experiments.configuration import Configuration, Orders
from fuseloom.experiments.recipe import (
    AccountingMode,
    ExperimentSize,
    Panel,
    Recipe,
    RecipeResults,
    Result,
    Series,
    Value,
    attempt,
)
from fuseloom.experiments.recipes import fusion

LANES = 4
_COMPRESSED = "store compressed"
STEPS = {
    "first order": (f"{SCANS}; {_COMPRESSED}", Orders.FIRST),
    "best order": (f"{SCANS}; {_COMPRESSED}", Orders.BEST),
    "look-ups": (f"{LOOK_UPS}; {_COMPRESSED}", Orders.BEST),
    "dense intermediates": (LOOK_UPS, Orders.BEST),
    "values repeated": ("", Orders.BEST),
}
"""Each with what the ones before it have; all are estimated."""


def _own(bar: str) -> str:
    """The level that our runs have: as published for graphs, all fused otherwise."""
    return "partial" if bar.partition(".")[0] in fusion.MODELS else "full"


def _stepped(bar: str) -> bool:
    """Return whether a bar is one configuration; decoders are sums of several."""
    return not bar.startswith("gpt3")


def _bars(size: ExperimentSize) -> tuple[str, ...]:
    """The pairs of Fig. 12; of the smallest ones a graph and a decoder."""
    every = fusion.bars(size)
    return (every[0], every[-1]) if size is ExperimentSize.SMOKE else every


def _configurations(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Configuration]:
    found: dict[str, Configuration] = {}
    published = fusion.configurations(size, AccountingMode.PAPER)
    ours = fusion.configurations(size, AccountingMode.OURS)
    for label, configuration in published.items():
        found[f"paper.{label}"] = configuration
    for bar in _bars(size):
        if _stepped(bar):
            mine = ours[f"{bar}.{_own(bar)}"]
            found[f"{bar}.{_own(bar)}"] = mine
            for level in fusion.LEVELS:
                found[f"cut.{bar}.{level}"] = ours[f"{bar}.{level}"].estimated()
            for step, (settings, orders) in STEPS.items():
                found[f"step.{bar}.{step}"] = Configuration(
                    mine.workload, mine.data, mine.options, mine.preset, settings, orders=orders
                ).estimated()
            index = "b" if bar.startswith("images") else "i"
            lanes = mine.scheduled(mine.preset, f"parallel {index} by {LANES}")
            found[f"step.{bar}.lanes"] = lanes.estimated()
        else:
            block = int(bar.partition(".")[2])
            for label in ("gpt3.full", f"heads.{block}.full"):
                found[label] = ours[label]
            base = ours[f"heads.{block}.full"]
            scores = base.scheduled("full", ATTENTION[AccountingMode.PAPER])
            found[f"mask.{block}.before"] = scores.estimated()
            found[f"mask.{block}.after"] = base.estimated()
    return found


class _Theirs(RecipeResults):
    """The published side's results, by the labels that Fig. 12 has for them."""

    def __init__(self, results: RecipeResults) -> None:
        super().__init__({})
        self._all = results

    def __getitem__(self, label: str) -> Result:
        return self._all[f"paper.{label}"]

    def __contains__(self, label: str) -> bool:
        return f"paper.{label}" in self._all


def _decoders(results: RecipeResults, block: int) -> float:
    """Twelve decoders fused wholly, with queries, keys and values side by side."""
    fused = results["gpt3.full"]
    count = fusion.DECODERS
    return (
        fused.region("U1t..Vb1").cycles
        + count * results[f"heads.{block}.full"].cycles
        + (count - 1) * fused.region("Ap1..Vb2").cycles
        + fused.region("Ap2..X2").cycles
    )


def share(results: RecipeResults, bar: str, size: ExperimentSize) -> float:
    """Our cycles by the fewest of the published side's levels of fusion."""
    theirs = _Theirs(results)
    least = min(fusion.cycles(theirs, bar, level, size) for level in fusion.LEVELS)
    if _stepped(bar):
        return results[f"{bar}.{_own(bar)}"].cycles / least
    return _decoders(results, int(bar.partition(".")[2])) / least


def _values(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Value]:
    def value(bar: str) -> Value:
        return lambda results: Got(share(results, bar, size))

    found: dict[str, Value] = {f"ours.{bar}": value(bar) for bar in _bars(size)}
    found["ours.worst"] = lambda results: Got(max(share(results, bar, size) for bar in _bars(size)))
    return found


def gains(results: RecipeResults, bar: str) -> dict[str, float | None]:
    """By how much each step makes a bar faster than the step before it."""
    names = [f"step.{bar}.{step}" for step in STEPS]
    found = {
        step: attempt(results.speed_up, before, after)
        for step, before, after in zip([*STEPS][1:], names, names[1:], strict=False)
    }
    cuts = [f"cut.{bar}.{level}" for level in fusion.LEVELS]
    there = [label for label in cuts if label in results]
    if there:
        best = min(there, key=lambda label: results[label].cycles)
        found["best cut"] = results.speed_up(f"cut.{bar}.{_own(bar)}", best)
    found[f"{LANES} lanes"] = attempt(results.speed_up, names[-1], f"step.{bar}.lanes")
    return found


def _panels(
    results: RecipeResults, size: ExperimentSize, mode: AccountingMode
) -> tuple[Panel, ...]:
    bars = _bars(size)
    ours = tuple(attempt(share, results, bar, size) for bar in bars)
    labels = tuple(f"{bar}.{_own(bar)}" for bar in bars)
    stepped = [bar for bar in bars if _stepped(bar)]
    made = {bar: gains(results, bar) for bar in stepped}
    columns = [*next(iter(made.values()), {})]
    lines = [f"{'pair':24}" + "".join(f"{name:>22}" for name in columns)]
    for bar, row in made.items():
        cells = "".join(f"{'–' if x is None else f'{x:.3f}':>22}" for x in row.values())
        lines.append(f"{bar:24}{cells}")
    for block in fusion.BLOCKS[size]:
        gain = attempt(results.speed_up, f"mask.{block}.before", f"mask.{block}.after")
        shown = "–" if gain is None else f"{gain:.3f}"
        lines.append(f"attention, blocks of {block}: the mask asked before the scores {shown}")
    bar_series = (Series("ours by the paper mode's best", bars, ours, "ours", labels),)
    return (Panel("Cycles by those of the paper mode's best", "bars", bar_series, "", "share", ""),
            Panel("Gain of each step over the one before (estimated)", "text",
                  text="\n".join(lines)))  # fmt: skip


def _heavy(size: ExperimentSize, mode: AccountingMode) -> frozenset[str]:
    mine = fusion.heavy(size, AccountingMode.PAPER)
    every = _configurations(size, mode)
    return (mine | {f"paper.{label}" for label in mine}) & frozenset(every)


GAINS = Recipe(
    "ours",
    "What our own choices gain",
    "Every pair of Fig. 12 with this project's defaults, by the fewest cycles that the published "
    "accounting gives it at any level of fusion. Below it stands what each choice gains over the "
    "one before: the best order, levels that are looked up, intermediates stored dense, values "
    "repeated instead of loaded again, the best cut, lanes. There is no published number; ours "
    "must not be slower.",
    _configurations,
    _values,
    _panels,
    heavy=_heavy,
)
