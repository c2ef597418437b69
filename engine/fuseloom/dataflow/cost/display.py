"""Estimates as a notebook shows them."""

from __future__ import annotations

from math import isfinite

from fuseloom.dataflow.cost.numbers import Estimate
from fuseloom.display import Markup, shown, tag
from fuseloom.results.display import figures_html
from fuseloom.wording import counted, grouped


def estimate_html(estimate: Estimate) -> Markup:
    """Cycles, FLOPs and bytes by region, what they rest on, and how sure they are."""
    parts = estimate.regions
    return shown(
        tag("h4", f"estimate: {counted(estimate.cycles, 'cycle')}"),
        figures_html(
            [(r.name, r.cycles, r.flops, r.bytes) for r in parts],
            (estimate.cycles, estimate.flops, estimate.bytes),
            [
                ("expected between", [*(_between(r.low, r.high) for r in parts),
                                      _between(estimate.low, estimate.high)]),
                ("rests on", [*(r.mode.value for r in parts), ""]),
            ],
        ),
    )  # fmt: skip


def _between(low: float, high: float) -> str:
    return f"{grouped(low)} and {grouped(high)}" if isfinite(high) else f"{grouped(low)} and more"
