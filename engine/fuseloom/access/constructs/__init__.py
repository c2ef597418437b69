"""The constructs of the language, each with its text, its shape rule and its meaning."""

from __future__ import annotations

from collections.abc import Mapping

from fuseloom.access.constructs import hardware_calls, leaves, operators, transformers
from fuseloom.access.constructs.construct import Construct, ShapeError, TermPart

CONSTRUCTS: Mapping[str, Construct] = {
    construct.name: construct
    for module in (leaves, transformers, operators, hardware_calls)
    for construct in module.CONSTRUCTS
}
"""By name: leaves, transformers (Glenside, table 1), ``compute`` and calls of hardware."""

__all__ = ["CONSTRUCTS", "Construct", "ShapeError", "TermPart"]
