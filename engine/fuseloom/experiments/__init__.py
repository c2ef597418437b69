"""The paper's evaluation: recipes of its tables and figures in, claims with our numbers out.

::

    from fuseloom.experiments import Size, figure

    shown = figure("18", Size.SMOKE)
    print(shown.claims[0].got, shown.panels[0].title)
"""

from fuseloom.experiments.claims import Claim, ClaimVerdict, published
from fuseloom.experiments.driver import Figure, Laboratory
from fuseloom.experiments.notebook import figure
from fuseloom.experiments.recipe import AccountingMode, ExperimentSize, Recipe
from fuseloom.experiments.registry import RECIPES, chosen

__all__ = [
    "RECIPES",
    "AccountingMode",
    "Claim",
    "ClaimVerdict",
    "ExperimentSize",
    "Figure",
    "Laboratory",
    "Recipe",
    "chosen",
    "figure",
    "published",
]
