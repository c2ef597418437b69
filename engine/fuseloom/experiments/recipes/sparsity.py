"""Fig. 15: how the sparsity of a graph, and its pattern, change what fusion gains."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from fuseloom.experiments.accounting import SCANS
from fuseloom.experiments.claims import Got
from fuseloom.experiments.configuration import Configuration
from fuseloom.experiments.recipe import (
    AccountingMode,
    ExperimentSize,
    Panel,
    Recipe,
    RecipeResults,
    Series,
    Value,
    attempt,
)
from fuseloom.models.datasets import PATTERNS

LEVELS = ("unfused", "partial", "full")
SPARSITIES = {
    ExperimentSize.FULL: (0.5, 0.6, 0.7, 0.8, 0.9, 0.95),
    ExperimentSize.SMALL: (0.8, 0.95),
    ExperimentSize.SMOKE: (0.8, 0.95),
}
_SIZES = {
    ExperimentSize.FULL: (("nodes", 500), ("features", 128)),
    ExperimentSize.SMALL: (("nodes", 200), ("features", 64)),
    ExperimentSize.SMOKE: (("nodes", 40), ("features", 16)),
}
SIMULATED = 0.8
"""Full fusion is simulated from this sparsity on; below, it takes some 10⁹ cycles."""


def _label(pattern: str, sparsity: float, level: str) -> str:
    return f"{pattern}.{round(100 * sparsity)}.{level}"


def _patterns(size: ExperimentSize) -> tuple[str, ...]:
    return ("power-law",) if size is ExperimentSize.SMOKE else tuple(PATTERNS)


def _configurations(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Configuration]:
    settings = SCANS if mode is AccountingMode.PAPER else ""
    found = {}
    for pattern in _patterns(size):
        for sparsity in SPARSITIES[size]:
            for level in LEVELS:
                options = (*_SIZES[size], ("density", 0.5), ("sparsity", sparsity))
                made = Configuration("gcn", pattern, options, level, settings)
                found[_label(pattern, sparsity, level)] = made
    return found


def _heavy(size: ExperimentSize, mode: AccountingMode) -> frozenset[str]:
    below = [x for x in SPARSITIES[size] if x < SIMULATED]
    return frozenset(_label(p, x, "full") for p in PATTERNS for x in below)


def _speed_up(results: RecipeResults, pattern: str, sparsity: float, level: str) -> float:
    unfused = results[_label(pattern, sparsity, "unfused")].cycles
    return unfused / results[_label(pattern, sparsity, level)].cycles


def _values(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Value]:
    patterns, span = _patterns(size), SPARSITIES[size]

    def gain(results: RecipeResults) -> Got:
        """The least by which the partial speed-up grows from a graph to the next sparser one."""
        ratios = [
            _speed_up(results, p, after, "partial") / _speed_up(results, p, before, "partial")
            for p in patterns
            for before, after in pairwise(span)
        ]
        return Got(min(ratios))

    def fast(results: RecipeResults) -> Got:
        return Got(min(_speed_up(results, p, x, "partial") for p in patterns for x in span))

    def slow(results: RecipeResults) -> Got:
        return Got(max(_speed_up(results, p, x, "full") for p in patterns for x in span))

    def structured(results: RecipeResults) -> Got:
        """Return the least ratio of a structured pattern's gain to that of uniform graphs."""
        return Got(
            min(
                _speed_up(results, p, x, "partial") / _speed_up(results, "uniform", x, "partial")
                for p in patterns
                for x in span
                if p != "uniform"
            )
        )

    def at(sparsity: float) -> Value:
        return lambda results: Got(_speed_up(results, "uniform", sparsity, "partial"))

    found: dict[str, Value] = {"15.grows": gain, "15.faster": fast, "15.full_slower": slow}
    if "uniform" in patterns:
        found["15.structured"] = structured
        found |= {f"15.partial.{round(100 * x)}": at(x) for x in (span[0], span[-1])}
    return found


def _panels(
    results: RecipeResults, size: ExperimentSize, mode: AccountingMode
) -> tuple[Panel, ...]:
    made = []
    x = tuple(round(100 * sparsity) for sparsity in SPARSITIES[size])
    for level in LEVELS[1:]:
        series = []
        for pattern in _patterns(size):
            y = tuple(attempt(_speed_up, results, pattern, s, level) for s in SPARSITIES[size])
            labels = tuple(_label(pattern, s, level) for s in SPARSITIES[size])
            series.append(Series(pattern, x, y, "ours", labels))
        made.append(Panel(f"{level} fusion", "lines", tuple(series), "sparsity, %",
                          "speed-up over unfused", "y" if level == "full" else ""))  # fmt: skip
    return tuple(made)


SPARSITY = Recipe(
    "15",
    "Sparsity and its pattern",
    "A GCN on synthetic graphs of 500 nodes, from half empty to 95 % empty, in three patterns. "
    "Partial fusion gains more the sparser the graph is, and full fusion loses everywhere. The "
    "paper has structured patterns ahead of uniform ones by their locality and prints no numbers; "
    "the machine has no cache, every row costs its own tokens, and ours are equal to three digits.",
    _configurations,
    _values,
    _panels,
    heavy=_heavy,
)
