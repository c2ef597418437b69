"""The design space of a program: its alternatives, and what each is expected to cost."""

from __future__ import annotations

from engine.dataflow.orders import RankedOrder, rank, ranked

__all__ = ["RankedOrder", "rank", "ranked"]
