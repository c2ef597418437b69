"""Fig. 1: how much of a processor a GCN uses; here of the CPU that this runs on."""

from __future__ import annotations

from collections.abc import Mapping

from fuseloom.experiments.claims import Got
from fuseloom.experiments.recipe import (
    AccountingMode,
    ExperimentSize,
    Measure,
    MissingError,
    Panel,
    Recipe,
    RecipeResults,
    Series,
    Value,
    nothing,
)

TARGET = "fuseloom.experiments.measures:roofline"
_GRAPHS = {
    ExperimentSize.FULL: ("cora", "cora_ml", "dblp", "collab"),
    ExperimentSize.SMALL: ("cora", "dblp"),
    ExperimentSize.SMOKE: ("karate",),
}
HIDDEN = 16


def _measures(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Measure]:
    request = {"hidden": HIDDEN, "elements": 2**20 if size is ExperimentSize.SMOKE else 2**25,
               "edge": 256 if size is ExperimentSize.SMOKE else 2048}  # fmt: skip
    return {name: Measure(TARGET, {"graph": name, **request}) for name in _GRAPHS[size]}


def _found(results: RecipeResults, size: ExperimentSize) -> list[tuple[str, Mapping[str, float]]]:
    made = []
    for name in _GRAPHS[size]:
        try:
            made.append((name, results.measured(name)))
        except MissingError:
            continue
    if not made:
        raise MissingError("nothing was measured")
    return made


def _values(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Value]:
    def mean(results: RecipeResults) -> Got:
        """The mean over all graphs of the size, each of which must have been measured."""
        shares = [results.measured(name)["arithmetic_share"] for name in _GRAPHS[size]]
        return Got(100.0 * sum(shares) / len(shares))

    def sparse(results: RecipeResults) -> Got:
        """The rate of the sparse products by that of the whole model, the most of the graphs."""
        every = [results.measured(name) for name in _GRAPHS[size]]
        return Got(max(one["sparse_share"] / one["arithmetic_share"] for one in every))

    return {"1.arithmetic": mean, "1.sparse": sparse}


def _panels(
    results: RecipeResults, size: ExperimentSize, mode: AccountingMode
) -> tuple[Panel, ...]:
    found = _found(results, size)
    names = tuple(name for name, _ in found)
    bars = {
        "arithmetic, whole model": "arithmetic_share",
        "arithmetic, sparse products": "sparse_share",
        "memory bandwidth": "memory_share",
    }
    series = [
        Series(title, names, tuple(100.0 * one[what] for _, one in found))
        for title, what in bars.items()
    ]
    paper = Series("paper: GPU, arithmetic, mean", names, tuple(16.7 for _ in names), "paper")
    lines = [f"{'graph':12}{'ms':>12}{'GFLOP/s':>12}{'FLOP/byte':>12}{'of roof, %':>12}"]
    for name, one in found:
        lines.append(
            f"{name:12}{1e3 * one['seconds']:>12.3f}{one['rate'] / 1e9:>12.3f}"
            f"{one['intensity']:>12.3f}{100 * one['roof_share']:>12.1f}"
        )
    one = found[0][1]
    lines.append(
        f"peaks measured here: {one['peak'] / 1e9:.1f} GFLOP/s (product of dense matrices), "
        f"{one['bandwidth'] / 1e9:.1f} GB/s (triad), one thread"
    )
    return (Panel("Shares of what the processor can do", "bars", (*series, paper), "", "%", "y"),
            Panel("Roofline", "text", text="\n".join(lines)))  # fmt: skip


ROOFLINE = Recipe(
    "1",
    "How much of a processor a GCN uses",
    "The share of a processor's peak arithmetic that a three-layer GCN reaches. The paper measures "
    "a GPU with PyTorch Geometric; here it is one core of the CPU that this runs on, with SciPy, "
    "against the rates that a dense product and a triad reach on it. The sparse products stay at a "
    "few per cent; whole models come nearer to the peak on graphs with wide dense features, which "
    "a core multiplies at full speed.",
    nothing,
    _values,
    _panels,
    measures=_measures,
)
