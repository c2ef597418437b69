"""Dataflow: a fused program as graphs of streaming primitives, simulated and estimated.

Takes a :class:`~fuseloom.program.Program` and a schedule; gives one dataflow graph per region, its
run to the cycle on a machine, and its analytical cost.  Packages, each importing only those before
it: ``fusion``, ``table``, ``samml``, the compiler that joins them, ``machine``, ``sim`` beside
``cost``, and the ranking of orders.
"""

__all__ = ["compiler", "cost", "fusion", "machine", "orders", "samml", "sim", "table"]
