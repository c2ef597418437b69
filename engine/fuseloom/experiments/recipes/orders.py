"""Fig. 18 and Table 4: dataflow orders, how much they matter and how many there are."""

from __future__ import annotations

from collections.abc import Mapping

from fuseloom.dataflow.fusion.pog import EdgeOrigin, build_pog
from fuseloom.dataflow.fusion.view_builder import build_views
from fuseloom.experiments.accounting import SCANS
from fuseloom.experiments.claims import Got, number
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
    nothing,
)
from fuseloom.models import gcn, graphsage
from fuseloom.program.functions import Op

SWEPT = ("ikjl", "iklj", "ijkl", "ijlk", "ilkj", "iljk", "jikl", "jilk", "jkil", "jlik", "jlki",
         "likj", "lijk", "ljik", "ljki")  # fmt: skip
"""The fifteen orders of the published sweep."""
SOME = ("ikjl", "ijlk", "jkil", "ljki")
UNBUILT = "iklj"
"""It computes T again inside its own reduction."""


def _configurations(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Configuration]:
    chosen = SOME if size is ExperimentSize.SMOKE else tuple(x for x in SWEPT if x != UNBUILT)
    settings = SCANS if mode is AccountingMode.PAPER else ""
    return {
        order: Configuration(
            "nested",
            order,
            (("density", 0.5),),
            "full",
            "; ".join(x for x in (f"order T..D: {','.join(order)}", settings) if x),
            orders=Orders.FIRST,
        )
        for order in chosen
    }


def _spread(results: RecipeResults) -> Got:
    found = [results[label].cycles for label, _ in results.items()]
    if not found:
        raise MissingError("no order was run")
    return Got(max(found) / min(found))


def _best(results: RecipeResults) -> Got:
    """Which place ``ikjl`` has among all, 1 being the fewest cycles."""
    mine = results["ikjl"].cycles
    return Got(1.0 + sum(results[label].cycles < mine for label, _ in results.items()))


def _built(results: RecipeResults) -> Got:
    """Count the orders that were built and run."""
    every = list(results.items())
    if not every:
        raise MissingError("no order was run")
    return Got(float(len(every)))


def _values(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Value]:
    return {
        "18.spread": _spread,
        "18.spread_looked_up": _spread,
        "18.best": _best,
        "18.orders": _built,
    }


def _panels(
    results: RecipeResults, size: ExperimentSize, mode: AccountingMode
) -> tuple[Panel, ...]:
    labels = tuple(label for label, _ in results.items())
    worst = max((result.cycles for _, result in results.items()), default=0.0)
    ours = tuple(worst / result.cycles for _, result in results.items())
    series = (Series("ours", labels, ours, "ours", labels),)
    return (Panel("Nested product, by order", "bars", series, "dataflow order",
                  "speed-up over the worst", ""),)  # fmt: skip


ORDERS = Recipe(
    "18",
    "Dataflow orders of a nested product",
    "The product of three matrices on the karate club, in the orders of the published sweep. The "
    "worst orders walk through a whole dense column of features for every coordinate, which costs "
    "about thirty times the best. One of the fifteen orders, i→k→l→j, computes an intermediate "
    "again inside its own reduction and is not built here; where dense levels are looked up the "
    "spread shrinks.",
    _configurations,
    _values,
    _panels,
)


# Table 4 ----------------------------------------------------------------------------------------

_MODELS = {"gcn": gcn, "graphsage": graphsage}


def count_orders(model: str, *, constrained: bool) -> int:
    """Dataflow orders of a whole model with a view for each use, exactly.

    Parameters
    ----------
    constrained : bool
        Every product iterates as it reads (i, k, j); without, any order counts.

    Raises
    ------
    KeyError
        A model that the table does not have.
    """
    program = _MODELS[model]().program
    roots, extents = build_views(program, program.statements, program.outputs, merge=False)
    products = {s.out.tensor: s.indices for s in program.statements if s.op is Op.MUL and s.reduced}
    wishes = products if constrained else {}
    origins = [EdgeOrigin.USER] if constrained else []
    return build_pog(program, roots, extents, wishes, origins=origins).count()


def _counted(model: str, constrained: bool) -> Value:
    return lambda results: Got(float(count_orders(model, constrained=constrained)))


def _counts(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Value]:
    return {
        f"table4.{model}.{'constrained' if tied else 'free'}": _counted(model, tied)
        for model in _MODELS
        for tied in (False, True)
    }


def _count_panels(
    results: RecipeResults, size: ExperimentSize, mode: AccountingMode
) -> tuple[Panel, ...]:
    lines = [f"{'model':12}{'any order':>26}{'products as they read':>26}"]
    for model in _MODELS:
        free, tied = (count_orders(model, constrained=x) for x in (False, True))
        lines.append(f"{model:12}{number(free):>26}{number(tied):>26}")
    return (Panel("Dataflow orders", "text", text="\n".join(lines)),)


COUNTS = Recipe(
    "table4",
    "Number of dataflow orders",
    "How many dataflow orders a model has, fused wholly, with a view for each use of a tensor. "
    "Constraining every product to the order in which it reads leaves far fewer. The published "
    "count of GCN without constraints is capped at 2·10⁸ and estimated at 10¹⁵; counted exactly, "
    "by sets of indices that are already placed, it is 18! = 6.4·10¹⁵.",
    nothing,
    _counts,
    _count_panels,
)
