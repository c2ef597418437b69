"""The paper's evaluation: recipes of its tables and figures in, claims with our numbers out.

::

    from engine.experiments import Size, figure

    shown = figure("18", Size.SMOKE)
    print(shown.claims[0].got, shown.panels[0].title)
"""

from engine.experiments.claims import Claim, Verdict, published
from engine.experiments.driver import Figure, Laboratory
from engine.experiments.notebook import figure
from engine.experiments.recipe import Mode, Recipe, Size
from engine.experiments.registry import RECIPES, chosen

__all__ = [
    "RECIPES",
    "Claim",
    "Figure",
    "Laboratory",
    "Mode",
    "Recipe",
    "Size",
    "Verdict",
    "chosen",
    "figure",
    "published",
]
