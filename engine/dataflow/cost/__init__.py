"""Analytical cost: expected tokens, FLOPs, bytes and cycles from statistics of the data."""

from engine.dataflow.cost.estimate import Estimate, NodeEstimate, RegionEstimate, estimate

__all__ = ["Estimate", "NodeEstimate", "RegionEstimate", "estimate"]
