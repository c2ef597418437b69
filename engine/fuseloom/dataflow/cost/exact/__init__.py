"""Exact counts without a run: graphs executed on coordinates, and when they are done."""

from fuseloom.dataflow.cost.exact import rules
from fuseloom.dataflow.cost.exact.execution import RULES as EXECUTIONS

__all__ = ["EXECUTIONS", "rules"]
