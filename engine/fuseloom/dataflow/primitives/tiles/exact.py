"""Execution on coordinates: folds inside tiles, which leave coordinates alone."""

from __future__ import annotations

from fuseloom.dataflow.cost.exact.execution import rule
from fuseloom.dataflow.primitives.values.exact import unary

rule("tilefold", steps="each value and stop")(unary)
