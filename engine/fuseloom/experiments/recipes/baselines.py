"""Figs. 4b and 5, 11, 21: factored iteration against one iteration space, and hand merges."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from fuseloom.dataflow.compiler import compile_program
from fuseloom.experiments.accounting import SCANS, graphs, on_graph
from fuseloom.experiments.claims import Got
from fuseloom.experiments.configuration import Configuration
from fuseloom.experiments.recipe import (
    AccountingMode,
    ExperimentSize,
    MissingError,
    Panel,
    Recipe,
    RecipeResults,
    RegionAddress,
    Series,
    Value,
    attempt,
    expected_of,
)
from fuseloom.models.nested import nested_program
from fuseloom.program import print_program

MERGES = {"": ("", ""), "product": ("global T1..T2", "global T5..T6"),
          "bias": ("fuse T2..T3", "fuse T6..T7")}  # fmt: skip
"""The merges that a user can make by hand in a tensor-algebra compiler, layer by layer.

They are nothing, both products into one expression, or the second product with the sum that
follows. Functions such as relu and softmax end an expression, and so does every part that has more
than one result.
"""
RUN = ("bias", "bias")
"""The merge that is simulated: the best one by the estimate."""


def merges() -> tuple[tuple[str, str], ...]:
    """All hand merges of the two layers, but for none at all."""
    return tuple((one, two) for one, two in product(MERGES, MERGES) if one or two)


def merged(pair: tuple[str, str]) -> str:
    """The schedule of a hand merge."""
    parts = [MERGES[kind][layer] for layer, kind in enumerate(pair)]
    return "; ".join(["fuse x..Y", *(part for part in parts if part)])


def _tried(size: ExperimentSize) -> tuple[tuple[str, str], ...]:
    """The hand merges of a size: of the smallest one the extremes."""
    return (RUN, ("product", "product")) if size is ExperimentSize.SMOKE else merges()


def _name(pair: tuple[str, str]) -> str:
    return "+".join(kind or "none" for kind in pair)


def _data(size: ExperimentSize) -> str:
    return "collab" if size is ExperimentSize.FULL else graphs("gcn", size)[0]


def _configurations(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Configuration]:
    data = _data(size)
    found = {x: on_graph("gcn", data, x, size, mode) for x in ("unfused", "partial")}
    base = on_graph("gcn", data, "", size, mode)
    for pair in _tried(size):
        settings = f"{merged(pair)}; {base.settings}" if base.settings else merged(pair)
        made = base.scheduled("", settings)
        found[_name(pair)] = made if pair == RUN else made.estimated()
    return found


def _best(results: RecipeResults) -> float:
    there = [_name(pair) for pair in merges() if _name(pair) in results]
    if not there:
        raise MissingError("no hand merge was run")
    return min(results[name].cycles for name in there)


def _values(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Value]:
    return {
        "4b.total": lambda r: Got(r["unfused"].cycles / r["partial"].cycles),
        "4b.rewrite": lambda r: Got(r["unfused"].cycles / _best(r)),
        "4b.beyond": lambda r: Got(_best(r) / r["partial"].cycles),
        "4b.ahead": lambda r: Got(_best(r) / r["partial"].cycles),
        "4b.product": lambda r: Got(r["product+product"].cycles / r["unfused"].cycles),
    }


def _panels(
    results: RecipeResults, size: ExperimentSize, mode: AccountingMode
) -> tuple[Panel, ...]:
    names = tuple(_name(pair) for pair in _tried(size))
    speed = tuple(attempt(results.speed_up, "unfused", x) for x in (*names, "partial"))
    told = (*(None for _ in names), expected_of("4b.total", size))
    series = (Series("ours", (*names, "partial"), speed, "ours", (*names, "partial")),
              Series("paper", (*names, "partial"), told, "paper"))  # fmt: skip
    return (Panel("Hand merges, and fusion across expressions", "bars", series, "layer 1 + layer 2",
                  "speed-up over unfused", ""),)  # fmt: skip


REWRITES = Recipe(
    "4b",
    "Fusion against hand-merged expressions",
    "A GCN on Collab: unfused, with every hand merge that a compiler for one expression at a time "
    "allows, and fused across expressions. The list of published rewrites is not known, so the "
    "best of all legal ones counts, which is our definition. Merging both products into one "
    "iteration space costs nnz·F·w cycles, more than the unfused 2·nnz·F + N·F·w, so that the "
    "published 1.97 cannot come from it.",
    _configurations,
    _values,
    _panels,
)


# Figs. 5, 11 and 21 -----------------------------------------------------------------------------

_SPARSE = (("density", 0.5), ("filled", 0.3))
_EMPTY = (("density", 0.02), ("filled", 0.3))
"""Most rows of the last matrix are empty, so that a global space skips most coordinates."""


def _spaces(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Configuration]:
    settings = SCANS if mode is AccountingMode.PAPER else ""
    return {
        f"{name}{end}": Configuration("nested", "ikjl", options, preset, settings)
        for name, preset in (("factored", "full"), ("global", "global"))
        for end, options in (("", _SPARSE), (", filtered", _EMPTY))
    }


def _space_values(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Value]:
    return {
        "5.cycles": lambda r: Got(r["global"].cycles / r["factored"].cycles),
        "5.flops": lambda r: Got(r["global"].flops / r["factored"].flops),
        "5.flops_filtered": lambda r: Got(
            r["global, filtered"].flops / r["factored, filtered"].flops
        ),
    }


LOOPS = """global                                 factored
for i in A:                            for i in A:
  for k in A[i] ∩ X:                     for k in A[i] ∩ X:
    for j in X[k] ∩ W:                     for j in X[k]:
      for l in W[j]:                         T[j] += A[i,k] * X[k,j]
        D[i,l] += A[i,k]                   for j in T ∩ W:
                  * X[k,j] * W[j,l]          for l in W[j]:
                                               D[i,l] += T[j] * W[j,l]"""


def graphs_of_spaces() -> tuple[Panel, ...]:
    """The dataflow graphs under both iteration spaces."""
    program = nested_program("ikjl", 34, 16, sparse=True)
    panels = []
    for name, text in {"factored": "fuse T..D; order T..D: i,k,j,l", "global": "global"}.items():
        schedule = f"{text}; {SCANS}"
        made = compile_program(program, schedule).regions[0]
        words = {"model": "nested", "data": "karate", "program": print_program(program)}
        region = RegionAddress(made.name, {**words, "schedule": schedule})
        panels.append(Panel(f"Graph, {name}", "graph", text=str(made.graph), region=region))
    return tuple(panels)


def _space_panels(
    results: RecipeResults, size: ExperimentSize, mode: AccountingMode
) -> tuple[Panel, ...]:
    names = ("factored", "global", "factored, filtered", "global, filtered")
    series = tuple(
        Series(what, names, tuple(attempt(results.number, x, what) for x in names), "ours", names)
        for what in ("cycles", "flops")
    )
    return (
        Panel("Two iteration spaces", "bars", series, "", "", "y"),
        Panel("Loops", "text", text=LOOPS),
        *graphs_of_spaces(),
    )


SPACES = Recipe(
    "5",
    "Global and factored iteration (Figs. 5, 11, 21)",
    "The product of three sparse matrices in one space of four indices, and in two of three. The "
    "paper says that a factored space processes fewer coordinates and may have more operations, "
    "because it cannot skip what the last matrix filters out; so it is where most rows of that "
    "matrix are empty, and the other way round where they hold many elements. The graphs show "
    "where reductions stand: at the end, or in between.",
    _spaces,
    _space_values,
    _space_panels,
)
