"""Latencies of functions that take longer than the others (``docs/spec/machine.md`` §5.5)."""

from __future__ import annotations

from dataclasses import dataclass

from fuseloom.results.declarations import Positive, Record

OF_UNARY = {"scalardiv": "div"}
"""Functions of a value and a constant, by the function of two values that computes them."""


@dataclass(frozen=True)
class FunctionLatency(Record):
    """Cycles from operands to result, by function; None is as long as any other function takes.

    Attributes
    ----------
    div, exp, rsqrt : int or None
        Of the function of that name.
    """

    div: Positive | None = None
    exp: Positive | None = None
    rsqrt: Positive | None = None

    def of(self, function: str) -> int | None:
        """The latency of a function, if it has one of its own."""
        latency: int | None = getattr(self, OF_UNARY.get(function, function), None)
        return latency

    def __str__(self) -> str:
        given = {"div": self.div, "exp": self.exp, "rsqrt": self.rsqrt}
        return ", ".join(f"{name} {cycles}" for name, cycles in given.items() if cycles is not None)


RTL = FunctionLatency(div=12, exp=8, rsqrt=6)
"""A cycle more than the stages of the pipelined units in :mod:`fuseloom.dataflow.rtl.float32`."""
