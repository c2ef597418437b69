"""Results: what every method reports of a run, and how it is judged."""

from engine.results.check import TOLERANCE, Check, relative_error
from engine.results.work import Work

__all__ = ["TOLERANCE", "Check", "Work", "relative_error"]
