"""All recipes, in the order of the paper, and how they are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from fuseloom.errors import UsageError
from fuseloom.experiments.recipe import Recipe
from fuseloom.experiments.recipes.attention import BLOCKED, LANES_PLACED, LANES_SWEEP
from fuseloom.experiments.recipes.baselines import REWRITES, SPACES
from fuseloom.experiments.recipes.fusion import FUSION
from fuseloom.experiments.recipes.gains import GAINS
from fuseloom.experiments.recipes.hardware import HARDWARE
from fuseloom.experiments.recipes.orders import COUNTS, ORDERS
from fuseloom.experiments.recipes.roofline import ROOFLINE
from fuseloom.experiments.recipes.sparsity import SPARSITY
from fuseloom.experiments.recipes.tables import TABLE, TABLE_1, TABLE_2
from fuseloom.experiments.recipes.work import HEURISTIC, WORK
from fuseloom.program.formats import suggestion

RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        recipe.id: recipe
        for recipe in (
            TABLE_1, TABLE_2, HEURISTIC, COUNTS, ROOFLINE, REWRITES, SPACES, TABLE, FUSION,
            HARDWARE, WORK, SPARSITY, LANES_SWEEP, LANES_PLACED, BLOCKED, ORDERS, GAINS,
        )
    }
)  # fmt: skip
"""By id."""
ALIASES: Mapping[str, str] = MappingProxyType(
    {"10": "9", "20": "9", "11": "5", "21": "5", "4": "4b", "t1": "table1", "t2": "table2",
     "t3": "table3", "t4": "table4"}
)  # fmt: skip
"""Figures that one recipe makes together."""


def chosen(ids: Iterable[str]) -> tuple[Recipe, ...]:
    """The recipes of these ids, each once, in the order of the paper; all of them if there is none.

    ``16`` stands for ``16a`` and ``16b``, and ``fig12`` for ``12``.

    Raises
    ------
    UsageError
        An id that no table and no figure has.
    """
    wanted: set[str] = set()
    for given in ids:
        name = given.strip().lower().removeprefix("fig").removeprefix(".").strip()
        name = ALIASES.get(name, name)
        parts = [id_ for id_ in RECIPES if id_ == name or (id_[:-1] == name and id_[-1] in "ab")]
        if not parts:
            raise UsageError(
                f"no table or figure is called {given[:40]!r}", hint=suggestion(name, [*RECIPES])
            )
        wanted.update(parts)
    return tuple(recipe for id_, recipe in RECIPES.items() if not wanted or id_ in wanted)
