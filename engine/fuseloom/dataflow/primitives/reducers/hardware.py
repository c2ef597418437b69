"""Reducers as hardware (``docs/spec/machine.md`` §6.1, §6.2)."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import C, Module, Mux, Signal

from fuseloom.dataflow.rtl.float32.units import float_unit
from fuseloom.dataflow.rtl.registry import NodeSpec, hardware
from fuseloom.dataflow.rtl.tokens import WORD_BITS, TokenWires, choose
from fuseloom.dataflow.rtl.unit import PrimitiveUnit, RequestStep
from fuseloom.errors import GraphError


class FoldRegister:
    """Folds values one a cycle; a sum begins with 0, a maximum with its first value.

    Parameters
    ----------
    m : Module
        What it adds to.
    function : str
        ``add`` or ``max``.
    """

    def __init__(self, m: Module, function: str) -> None:
        self.m = m
        self.filled = Signal()
        self._total = Signal(WORD_BITS)
        self._function = float_unit(function)
        m.submodules.fold = self._function
        self._keeps_first = function != "add"
        m.d.comb += self._function.a.eq(self._total)

    def update(self, folds: Any, word: Any, pops: Any) -> None:
        """Fold a word at the end of a cycle where ``folds``; forget all where ``pops``."""
        m = self.m
        m.d.comb += self._function.b.eq(word)
        folded = Mux(self.filled, self._function.z, word) if self._keeps_first else self._function.z
        with m.If(folds):
            m.d.sync += [self._total.eq(folded), self.filled.eq(1)]
        with m.Elif(pops):
            m.d.sync += [self._total.eq(0), self.filled.eq(0)]

    def token(self, empty_is_zero: bool) -> TokenWires:
        """The total."""
        nothing = TokenWires.value(C(0, WORD_BITS)) if empty_is_zero else TokenWires.empty()
        return choose((self.filled, TokenWires.value(self._total)), otherwise=nothing)


class ReducerUnit(PrimitiveUnit):
    """Folds each innermost fiber to one value, put together with the stop that follows it."""

    def __init__(self, function: str, empty_is_zero: bool) -> None:
        self.function = function
        self.empty_is_zero = empty_is_zero
        super().__init__(1, 1)

    def describe(self, m: Module, step: RequestStep) -> None:
        register = FoldRegister(m, self.function)
        token = step.take_costly(0, lambda token: token.is_empty)
        total = register.token(self.empty_is_zero)
        step.put(0, choose((token.is_stop, total), otherwise=token), token.is_stop | token.is_done)
        outer = TokenWires.stop((token.data - 1)[:WORD_BITS])
        step.put(0, outer, token.is_stop & (token.data != 0))
        step.end(last=token.is_done)
        done = step.complete
        register.update(done & token.is_value, token.data, done & token.is_stop)


class GuidedReducerUnit(PrimitiveUnit):
    """Folds one fiber per coordinate of the guide, input 1."""

    def __init__(self, function: str, empty_is_zero: bool) -> None:
        self.function = function
        self.empty_is_zero = empty_is_zero
        super().__init__(2, 1)

    def describe(self, m: Module, step: RequestStep) -> None:
        register = FoldRegister(m, self.function)
        inside = Signal()
        guide = step.take(1, ~inside)
        folds = inside | guide.is_leaf
        token = step.take_costly(0, lambda token: folds & token.is_empty)
        skips = ~folds & guide.is_stop
        closes = folds & token.is_stop
        outermost = closes & (token.data != 0)
        closing = step.take(1, outermost)
        step.fault_if(
            folds & token.is_done
            | outermost & ~(closing.is_stop & (closing.data == token.data - 1))
            | skips & ~(token.is_stop & (token.data == guide.data + 1))
            | ~folds & guide.is_done & ~token.is_done
        )
        total = register.token(self.empty_is_zero)
        step.put(0, choose((closes, total), otherwise=guide), closes | ~folds)
        step.put(0, closing, outermost)
        step.end(last=~folds & guide.is_done)
        done = step.complete
        register.update(done & folds & token.is_value, token.data, done & closes)
        with m.If(done):
            m.d.sync += inside.eq(folds & ~closes)


@hardware("reduce")
def reduce(spec: NodeSpec) -> PrimitiveUnit:
    """Build a reducer, with or without a guide."""
    node = spec.node
    if spec.latency != 1:
        raise GraphError(
            f"{node.label or node.op} (node {node.id}): a reducer's total has a latency of 1 cycle "
            f"in hardware, and {spec.latency} on this machine",
            hint="leave out the node's parameter latency",
        )
    kind = GuidedReducerUnit if len(node.inputs) == 2 else ReducerUnit
    return kind(str(spec.param("fn")), bool(spec.param("empty_is_zero", False)))
