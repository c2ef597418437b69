"""The paper's evaluation: recipes of its tables and figures in, claims with our numbers out.

::

    from fuseloom.experiments import ExperimentSize, figure

    shown = figure("18", ExperimentSize.SMOKE)
    print(shown.claims[0].got, shown.panels[0].title)
"""

from fuseloom.experiments.claims import Claim, ClaimKind, ClaimVerdict, published
from fuseloom.experiments.driver import Figure, Laboratory
from fuseloom.experiments.notebook import figure
from fuseloom.experiments.recipe import AccountingMode, ExperimentSize, Recipe
from fuseloom.experiments.registry import RECIPES, chosen
from fuseloom.experiments.totals import KindTotal, totals

__all__ = [
    "RECIPES",
    "AccountingMode",
    "Claim",
    "ClaimKind",
    "ClaimVerdict",
    "ExperimentSize",
    "Figure",
    "KindTotal",
    "Laboratory",
    "Recipe",
    "chosen",
    "figure",
    "published",
    "totals",
]
