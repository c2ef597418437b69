"""Fig. 12: what fusion does to the cycles of four models."""

from __future__ import annotations

from collections.abc import Mapping

from fuseloom.experiments.accounting import ATTENTION, LOOK_UPS, SCANS, graphs, on_graph, width
from fuseloom.experiments.claims import Got, published
from fuseloom.experiments.configuration import Configuration, Orders
from fuseloom.experiments.recipe import (
    AccountingMode,
    ExperimentSize,
    MissingError,
    Panel,
    Recipe,
    RecipeResults,
    Series,
    Value,
    attempt,
    expected_of,
)

MODELS = ("gcn", "graphsage")
LEVELS = ("unfused", "partial", "full")
DECODERS = 12
QUICK = "gcn.cora.unfused"
"""The published cycle count that is simulated at the smallest size, too."""
BLOCKS = {
    ExperimentSize.FULL: (16, 32, 64),
    ExperimentSize.SMALL: (16,),
    ExperimentSize.SMOKE: (4,),
}
_DECODER = {
    ExperimentSize.FULL: {"sequence": 1024, "width": 768, "heads": 12, "inner": 3072},
    ExperimentSize.SMALL: {"sequence": 128, "width": 96, "heads": 3, "inner": 384},
    ExperimentSize.SMOKE: {"sequence": 16, "width": 16, "heads": 2, "inner": 32},
}
_IMAGES = {
    ExperimentSize.FULL: {
        "imagenet": (50_176, 256),
        "luna16": (262_144, 512),
        "nih": (1_048_576, 512),
    },
    ExperimentSize.SMALL: {"imagenet": (2_048, 64)},
    ExperimentSize.SMOKE: {"imagenet": (128, 16)},
}
ATTENDING = ("S1", "S2", "P1", "Z1", "x1", "O1")
"""The prefixes of the names of regions that compute attention, in one decoder or two."""
HEAVY = ("gcn.mag", "graphsage.mag", "gcn.collab.full", "graphsage.collab.full", "images.nih")
"""Beyond the budget of an hour and a half, or of some gigabytes."""


def configurations(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Configuration]:
    """Every bar of the figure; those of a decoder in parts."""
    found = {}
    for model in MODELS:
        for data in graphs(model, size):
            for level in LEVELS:
                made = on_graph(model, data, level, size, mode)
                found[f"{model}.{data}.{level}"] = _full_on_large(made, mode)
    if size is ExperimentSize.SMOKE and mode is AccountingMode.PAPER:
        found[QUICK] = on_graph("gcn", "cora", "unfused", ExperimentSize.FULL, mode)
    settings = SCANS if mode is AccountingMode.PAPER else ""
    for label, (inputs, hidden) in _IMAGES[size].items():
        options = (("inputs", inputs), ("hidden", hidden))
        for level in LEVELS:
            found[f"images.{label}.{level}"] = Configuration(
                "images", label, options, level, settings
            )
    return {**found, **_decoders(size, settings, mode)}


def _full_on_large(made: Configuration, mode: AccountingMode) -> Configuration:
    """On Collab the published full fusion scans rows of the adjacency matrix: N² cycles.

    On MAG it does not: two-hop paths by features are its cycles to 0.1 %.
    """
    looked_up = {"collab": "off", "mag": "on"}.get(made.data)
    if (
        mode is AccountingMode.OURS
        or made.preset != "full"
        or made.workload != "gcn"
        or looked_up is None
    ):
        return made
    first = f"order T1..Y: i,k,k',p,n,m; locate T1..Y: A'.k {looked_up}"
    return made.scheduled("full", f"{LOOK_UPS}; {first}")


def _decoders(
    size: ExperimentSize, settings: str, mode: AccountingMode
) -> dict[str, Configuration]:
    """Two decoders fused, one unfused; attention alone for each size of blocks."""
    sizes = tuple(_DECODER[size].items())
    widest = BLOCKS[size][-1]
    # ranking a decoder's orders takes seconds, whatever its size
    orders = Orders.FIRST if size is ExperimentSize.SMOKE else Orders.BEST
    found = {
        f"gpt3.{level}": Configuration(
            "gpt3", "bigbird", (*sizes, ("layers", layers), ("block", widest)), level, settings,
            orders=orders,
        )
        for level, layers in (("full", 2), ("unfused", 1))
    }  # fmt: skip
    shape = _DECODER[size]
    for block in BLOCKS[size]:
        options = (
            ("sequence", shape["sequence"]),
            ("heads", shape["heads"]),
            ("features", shape["width"] // shape["heads"]),
            ("block", block),
        )
        for level, chosen in (("unfused", settings), ("full", ATTENTION[mode])):
            found[f"heads.{block}.{level}"] = Configuration("heads", "", options, level, chosen)
    return found


# GPT-3 ------------------------------------------------------------------------------------------


def decoder_totals(results: RecipeResults, block: int) -> dict[str, float]:
    """Cycles of twelve decoders from those of their subsets, at each level of fusion.

    Queries, keys and values are projected one after another, as the published totals have it: the
    first subset counts three times.  Attention depends on the mask's blocks, the rest does not.
    """
    fused, unfused = results["gpt3.full"], results["gpt3.unfused"]
    attention = results[f"heads.{block}.full"].cycles
    first = 3 * fused.region("U1t..Vb1").cycles
    inner = fused.region("Ap1..Vb2").cycles
    last = fused.region("Ap2..X2").cycles
    rest = sum(r.cycles for r in unfused.regions if not r.name.startswith(ATTENDING))
    kernels = results[f"heads.{block}.unfused"].cycles
    return {
        "unfused": DECODERS * (rest + kernels),
        "partial": DECODERS * (first + attention + last),
        "full": first + DECODERS * attention + (DECODERS - 1) * inner + last,
    }


# Numbers ----------------------------------------------------------------------------------------


def cycles(results: RecipeResults, bar: str, level: str, size: ExperimentSize) -> float:
    """Cycles of a bar: as run, with what the published accounting adds.

    SAGE's first addition runs on nodes x features in the published files, not on the hidden layer:
    a cycle more for each element.
    """
    kind, _, data = bar.partition(".")
    if kind == "gpt3":
        return decoder_totals(results, int(data))[level]
    found = results[f"{bar}.{level}"].cycles
    return found + width(data, size) if (kind, level) == ("graphsage", "unfused") else found


def bars(size: ExperimentSize) -> tuple[str, ...]:
    """The groups of bars, from left to right."""
    found = [f"{model}.{data}" for model in MODELS for data in graphs(model, size)]
    found += [f"images.{label}" for label in _IMAGES[size]]
    return (*found, *(f"gpt3.{block}" for block in BLOCKS[size]))


def values(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Value]:
    """Cycles, and ratios of cycles; busiest nodes where identities are known."""
    found: dict[str, Value] = {}

    def took(bar: str, level: str) -> Value:
        return lambda results: Got(cycles(results, bar, level, size))

    def ratio(bar: str, level: str) -> Value:
        return lambda results: Got(_ratio(results, bar, level, size))

    for bar in bars(size):
        for level in LEVELS:
            found[f"12.{bar}.{level}"] = took(bar, level)
        for level in LEVELS[1:]:
            found[f"12.{bar}.{level}_ratio"] = ratio(bar, level)
        if f"12.{bar}.full_busiest" in published():
            found[f"12.{bar}.full_busiest"] = _busiest(bar)
    found[f"12.{QUICK}"] = took("gcn.cora", "unfused")
    found["12.graphs.full_slower"] = lambda results: Got(_full_slower(results, size))
    return found


def _busiest(bar: str) -> Value:
    return lambda results: Got(results[f"{bar}.full"].busiest)


def _ratio(results: RecipeResults, bar: str, level: str, size: ExperimentSize) -> float:
    return cycles(results, bar, "unfused", size) / cycles(results, bar, level, size)


def _graph_bars(results: RecipeResults, size: ExperimentSize, levels: tuple[str, ...]) -> list[str]:
    """Bars of graphs whose levels have all been run.

    Raises
    ------
    MissingError
        If there is none.
    """
    every = [bar for bar in bars(size) if bar.partition(".")[0] in MODELS]
    found = [bar for bar in every if all(f"{bar}.{level}" in results for level in levels)]
    if not found:
        raise MissingError("no graph was run at all of its levels")
    return found


def _full_slower(results: RecipeResults, size: ExperimentSize) -> float:
    """The share of the graphs on which full fusion takes longer than partial fusion."""
    there = _graph_bars(results, size, ("partial", "full"))
    slower = [
        bar
        for bar in there
        if cycles(results, bar, "full", size) > cycles(results, bar, "partial", size)
    ]
    return len(slower) / len(there)


def panels(results: RecipeResults, size: ExperimentSize, mode: AccountingMode) -> tuple[Panel, ...]:
    """Speed-up over unfused, ours beside the paper's, a plot for each model."""
    groups = {"GCN": "gcn.", "GraphSAGE": "graphsage.", "Autoencoder": "images.", "GPT-3": "gpt3."}
    return tuple(_panel(results, title, start, size) for title, start in groups.items())


def _panel(results: RecipeResults, title: str, start: str, size: ExperimentSize) -> Panel:
    mine = [bar for bar in bars(size) if bar.startswith(start)]
    names = tuple(bar.removeprefix(start) for bar in mine)
    series = []
    for level in LEVELS[1:]:
        ours = tuple(attempt(_ratio, results, bar, level, size) for bar in mine)
        labels = tuple(f"{bar}.{level}" for bar in mine)
        series.append(Series(f"{level}, ours", names, ours, "ours", labels))
        told = tuple(expected_of(f"12.{bar}.{level}_ratio", size) for bar in mine)
        series.append(Series(f"{level}, paper", names, told, "paper"))
    log = "y" if start in ("gcn.", "graphsage.") else ""
    return Panel(title, "bars", tuple(series), "", "speed-up over unfused", log)


def heavy(size: ExperimentSize, mode: AccountingMode) -> frozenset[str]:
    """Return the configurations that are run on request only."""
    if size is not ExperimentSize.FULL:
        return frozenset()
    every = configurations(size, mode)
    return frozenset(label for label in every if label.startswith(HEAVY))


FUSION = Recipe(
    "12",
    "Fusion ablation over four models",
    "Cycles of each model fused not at all, layer by layer, and wholly, as a speed-up over the "
    "unfused kernels. Partial fusion wins on graphs, because full fusion computes the first layer "
    "again for every edge; a decoder and the autoencoder gain from full fusion. Ours differs where "
    "the published layer 1 of Cora and Cora_ML costs N·F·(w + 0.09) and N·F·(w + 0.21) cycles: an "
    "accumulator that takes one element a cycle and closes a row in another needs N·F·(w + 1).",
    configurations,
    values,
    panels,
    heavy=heavy,
)
