"""Exact counts without a run: graphs executed on coordinates, and when they are done."""

from engine.dataflow.cost.exact import rules
from engine.dataflow.cost.exact.execution import RULES as EXECUTIONS

__all__ = ["EXECUTIONS", "rules"]
