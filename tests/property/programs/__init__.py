"""Random programs with data, schedules and orders, for searching for wrong results."""

from tests.property.programs.cases import Case, cases, make_case, random_options
from tests.property.programs.making import Maker
from tests.property.programs.renaming import renamed, several_outputs

__all__ = [
    "Case",
    "Maker",
    "cases",
    "make_case",
    "random_options",
    "renamed",
    "several_outputs",
]
