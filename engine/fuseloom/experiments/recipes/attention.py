"""Figs. 16a, 16b and 17: attention in lanes, and in blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

from fuseloom.experiments.accounting import ATTENTION
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
    expected_of,
)

LANES = {
    ExperimentSize.FULL: (1, 2, 4, 8, 16, 32, 64),
    ExperimentSize.SMALL: (1, 2, 4, 8),
    ExperimentSize.SMOKE: (1, 2, 4),
}
PLACES = {"h2": "parallel h by 2", "h4": "parallel h by 4", "i2": "parallel i by 2",
          "i4": "parallel i by 4", "h4i4": "parallel h by 4; parallel i by 4"}  # fmt: skip
"""Lanes for heads (level 1 of the published script), rows of queries (level 2), and both."""
FEWER_AND_MORE = (("1", "h2"), ("h2", "h4"), ("1", "i2"), ("i2", "i4"), ("h4", "h4i4"),
                  ("i4", "h4i4"))  # fmt: skip
"""Placements, each before one with more lanes in the same places."""
BLOCKS = {
    ExperimentSize.FULL: (16, 32, 64),
    ExperimentSize.SMALL: (16, 32),
    ExperimentSize.SMOKE: (4, 8),
}
_SHAPES = {
    ExperimentSize.FULL: (("sequence", 1024), ("heads", 12), ("features", 64)),
    ExperimentSize.SMALL: (("sequence", 256), ("heads", 4), ("features", 32)),
    ExperimentSize.SMOKE: (("sequence", 32), ("heads", 4), ("features", 8)),
}


def attention(
    size: ExperimentSize, mode: AccountingMode, block: int, settings: str = ""
) -> Configuration:
    """Fused attention with BigBird's mask in blocks."""
    chosen = "; ".join(x for x in (ATTENTION[mode], settings) if x)
    return Configuration("heads", "", (*_SHAPES[size], ("block", block)), "full", chosen)


def _widest(size: ExperimentSize) -> int:
    return BLOCKS[size][-1]


# Lanes ------------------------------------------------------------------------------------------


def _lanes(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Configuration]:
    return {
        str(n): attention(size, mode, _widest(size), f"parallel i by {n}" if n > 1 else "")
        for n in LANES[size]
    }


def _places(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Configuration]:
    found = {"1": attention(size, mode, _widest(size))}
    for name, settings in PLACES.items():
        found[name] = attention(size, mode, _widest(size), settings)
    return found


def _speed_up(label: str) -> Value:
    return lambda results: Got(results.speed_up("1", label))


def _lane_values(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Value]:
    found: dict[str, Value] = {f"16a.lanes.{n}": _speed_up(str(n)) for n in LANES[size][1:]}
    found["16a.scales"] = lambda results: Got(
        min(results.speed_up("1", str(n)) / n for n in LANES[size][1:])
    )
    return found


def _place_values(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Value]:
    found: dict[str, Value] = {f"16b.{name}": _speed_up(name) for name in PLACES}
    found["16b.cycles"] = lambda results: Got(results["1"].cycles)
    found["16b.gains"] = lambda results: Got(
        min(results.speed_up(fewer, more) for fewer, more in FEWER_AND_MORE)
    )
    return found


def _lane_panels(
    results: RecipeResults, size: ExperimentSize, mode: AccountingMode
) -> tuple[Panel, ...]:
    lanes = LANES[size]
    ours = tuple(attempt(results.speed_up, "1", str(n)) for n in lanes)
    ideal = tuple(float(n) for n in lanes)
    series = (Series("ours", lanes, ours, "ours", tuple(map(str, lanes))),
              Series("ideal", lanes, ideal, "paper"))  # fmt: skip
    return (Panel("Lanes for rows of queries", "lines", series, "lanes", "speed-up", "xy"),)


def _place_panels(
    results: RecipeResults, size: ExperimentSize, mode: AccountingMode
) -> tuple[Panel, ...]:
    names = tuple(PLACES)
    ours = tuple(attempt(results.speed_up, "1", name) for name in names)
    told = tuple(expected_of(f"16b.{name}", size) for name in names)
    series = (Series("ours", names, ours, "ours", names), Series("paper", names, told, "paper"))
    return (Panel("Where lanes are", "bars", series, "", "speed-up", ""),)


# Blocks -----------------------------------------------------------------------------------------


def _blocks(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Configuration]:
    found = {}
    for block in BLOCKS[size]:
        found[f"scalar.{block}"] = attention(size, mode, block)
        found[f"blocked.{block}"] = attention(size, mode, block, f"block {block}")
    return found


def _gain(block: int) -> Value:
    return lambda results: Got(results.speed_up(f"scalar.{block}", f"blocked.{block}"))


def _block_values(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Value]:
    found: dict[str, Value] = {f"17.block.{block}": _gain(block) for block in BLOCKS[size]}
    found["17.proportional"] = _proportional(size)
    found["17.faster"] = lambda results: Got(
        min(_gain(block)(results).value / block for block in BLOCKS[size])
    )
    return found


def _proportional(size: ExperimentSize) -> Value:
    """The least gain from one size of blocks to the next."""

    def least(results: RecipeResults) -> Got:
        gains = [_gain(block)(results).value for block in BLOCKS[size]]
        return Got(min(after / before for before, after in pairwise(gains)))

    return least


def _block_panels(
    results: RecipeResults, size: ExperimentSize, mode: AccountingMode
) -> tuple[Panel, ...]:
    blocks = BLOCKS[size]
    names = tuple(str(block) for block in blocks)
    ours = tuple(attempt(results.speed_up, f"scalar.{b}", f"blocked.{b}") for b in blocks)
    told = tuple(expected_of(f"17.block.{block}", size) for block in blocks)
    labels = tuple(f"blocked.{block}" for block in blocks)
    series = (Series("ours", names, ours, "ours", labels), Series("N²", names, told, "paper"))
    return (Panel("Blocks against single elements", "bars", series, "edge of a block",
                  "speed-up", "y"),)  # fmt: skip


def _recipe(
    id_: str,
    title: str,
    text: str,
    configurations: Callable[[ExperimentSize, AccountingMode], Mapping[str, Configuration]],
    values: Callable[[ExperimentSize, AccountingMode], Mapping[str, Value]],
    panels: Callable[[RecipeResults, ExperimentSize, AccountingMode], tuple[Panel, ...]],
) -> Recipe:
    return Recipe(id_, title, text, configurations, values, panels)


LANES_SWEEP = _recipe(
    "16a",
    "BigBird attention in lanes",
    "Fused attention with the rows of its queries dealt to 1 to 64 lanes. Each row is the same "
    "work, so that the lanes are evenly loaded and the speed-up is nearly the number of lanes. "
    "Ours falls below it by what fills and drains a pipeline; the paper gives no numbers beyond "
    "four lanes.",
    _lanes,
    _lane_values,
    _lane_panels,
)
LANES_PLACED = _recipe(
    "16b",
    "Where lanes are",
    "Lanes for heads, for rows of queries, and four of both. Speed-ups multiply: four by four "
    "gives sixteen, less what fills the pipelines. Ours has one level of forks and joins more for "
    "nested lanes, which costs some cycles for each row.",
    _places,
    _place_values,
    _place_panels,
)
BLOCKED = _recipe(
    "17",
    "Attention in blocks",
    "Attention on tiles of N x N against the same on single elements. A product of tiles takes N "
    "cycles and does N³ multiplications, so the bound is N² while Q·Kᵀ is the slowest node. Ours "
    "stays below N² for 64, because a stop token takes a whole interval of a tile unit there, and "
    "filling costs 4,096 cycles a stage.",
    _blocks,
    _block_values,
    _block_panels,
)
