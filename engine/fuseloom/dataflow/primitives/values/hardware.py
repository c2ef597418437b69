"""Value loads and arithmetic as hardware (``docs/spec/machine.md`` §5)."""

from __future__ import annotations

from typing import Any

import numpy as np
from amaranth.hdl import C, Module, Mux

from fuseloom.dataflow.rtl.float32.component import delayed
from fuseloom.dataflow.rtl.float32.units import float_unit
from fuseloom.dataflow.rtl.registry import NodeSpec, hardware
from fuseloom.dataflow.rtl.tokens import WORD_BITS, TokenWires, choose
from fuseloom.dataflow.rtl.unit import PrimitiveUnit, RequestStep, StoredWords
from fuseloom.dataflow.samml.presence import neutral, required_operands
from fuseloom.errors import GraphError
from fuseloom.wording import counted


class LateValueUnit(PrimitiveUnit):
    """Puts values that are known ``latency`` cycles later, and other tokens at once.

    Parameters
    ----------
    inputs : int
        Number of ports.
    stages : int
        Cycles after which a result is known.
    latency, interval : int
        As the machine has it.
    """

    def __init__(
        self,
        inputs: int,
        stages: int,
        latency: int,
        interval: int,
        reads: dict[str, StoredWords] | None = None,
    ) -> None:
        self.stages = stages
        self.latency = latency
        self.interval = interval
        if latency > 1:
            self.late_outputs = (0,)
        super().__init__(inputs, 1, reads)

    def put_value(
        self, m: Module, step: RequestStep, is_value: Any, word: Any, otherwise: TokenWires
    ) -> None:
        """Put a value, of which ``word`` is the unit's result, or another token.

        The latency begins with the operands, so that a value may be known before it has room.
        """
        token = choose((is_value, TokenWires.value(word)), otherwise=otherwise)
        start = step.request(1, is_value)
        step.put(0, token)
        if self.latency > 1:
            late = self.latency - 1
            m.d.comb += [
                self.sinks[0].late_valid.eq(delayed(m, start, late)),
                self.sinks[0].late_word.eq(delayed(m, word, late - self.stages)),
            ]


class ValueLoadUnit(LateValueUnit):
    """Loads the value at each reference from ``vals``."""

    def __init__(self, count: int, latency: int, interval: int) -> None:
        super().__init__(1, 0, latency, interval, {"vals": StoredWords(count)})
        self.count = count

    def describe(self, m: Module, step: RequestStep) -> None:
        token = step.take(0)
        step.fault_if(token.is_value & (token.data >= self.count))
        m.d.comb += self.vals_address.eq(token.data)
        self.put_value(m, step, token.is_value, self.vals_word, token)
        step.end(last=token.is_done, interval=self.interval)


class BinaryUnit(LateValueUnit):
    """Applies a function to two aligned streams.

    Parameters
    ----------
    function : str
        Name of the floating-point unit.
    needs : tuple of str
        The operands, ``a`` and ``b``, without which there is no result.
    absent : int
        The bits that stand for an operand that is not there.
    """

    def __init__(
        self, function: str, needs: tuple[str, ...], absent: int, latency: int, interval: int
    ) -> None:
        self.function = function
        self.needs = needs
        self.absent = absent
        super().__init__(2, float_unit(function).stages, latency, interval)

    def describe(self, m: Module, step: RequestStep) -> None:
        tokens = step.take(0), step.take(1)
        a, b = tokens
        leaves = a.is_leaf & b.is_leaf
        step.fault_if(~leaves & ~a.same(b))
        has_value = leaves & (a.is_value | b.is_value)
        for name, token in zip("ab", tokens, strict=True):
            if name in self.needs:
                has_value = has_value & ~token.is_empty
        function = float_unit(self.function)
        m.submodules.function = function
        for port, token in zip((function.a, function.b), tokens, strict=True):
            m.d.comb += port.eq(Mux(token.is_empty, self.absent, token.data))
        otherwise = choose((leaves, TokenWires.empty()), otherwise=a)
        self.put_value(m, step, has_value, function.z, otherwise)
        step.end(last=a.is_done, interval=self.interval)


class UnaryUnit(LateValueUnit):
    """Applies a function to each value; with ``constant`` as the second operand where it has two.

    Parameters
    ----------
    function : str
        Name of the floating-point unit.
    constant : int
        Bits of the second operand.
    """

    def __init__(self, function: str, constant: int, latency: int, interval: int) -> None:
        self.function = function
        self.constant = constant
        super().__init__(1, float_unit(function).stages, latency, interval)

    def describe(self, m: Module, step: RequestStep) -> None:
        token = step.take(0)
        function = float_unit(self.function)
        m.submodules.function = function
        m.d.comb += function.a.eq(token.data)
        if function.operands == 2:
            m.d.comb += function.b.eq(C(self.constant, WORD_BITS))
        self.put_value(m, step, token.is_value, function.z, token)
        step.end(last=token.is_done, interval=self.interval)


BINARY = {"elemmul": "mul"}
"""Names of units where they differ from those of functions."""
WITH_CONSTANT = {"scalaradd": "add", "scalarmul": "mul", "scalardiv": "div", "max": "max"}
"""Unary functions of a value and the node's ``scalar``."""


def bits_of(number: float) -> int:
    """The bits of a ``float32``."""
    return int(np.float32(number).view(np.uint32))


def check_function(spec: NodeSpec, function: str) -> None:
    """Check that a node's function has a unit, which is as fast as the machine says.

    Raises
    ------
    GraphError
        If not.
    """
    node = spec.node
    named = f"{node.label or node.op} (node {node.id})"
    least = float_unit(function, named).stages + 1
    if spec.latency < least:
        raise GraphError(
            f"{named}: {function} takes {counted(least, 'cycle')} in hardware, and "
            f"{spec.latency} on this machine",
            hint="simulate and emit for the machine rtl",
        )


@hardware("array")
def array(spec: NodeSpec) -> PrimitiveUnit:
    """Build a value load."""
    return ValueLoadUnit(len(spec.arrays["vals"]), spec.latency, spec.interval)


@hardware("binary")
def binary(spec: NodeSpec) -> PrimitiveUnit:
    """Build a binary ALU."""
    name = str(spec.param("fn"))
    function = BINARY.get(name, name)
    check_function(spec, function)
    needs = tuple(sorted(required_operands(spec.node)))
    absent = bits_of(neutral(spec.node))
    return BinaryUnit(function, needs, absent, spec.latency, spec.interval)


@hardware("unary")
def unary(spec: NodeSpec) -> PrimitiveUnit:
    """Build a unary ALU."""
    name = str(spec.param("fn"))
    function = WITH_CONSTANT.get(name, name)
    check_function(spec, function)
    constant = bits_of(float(spec.param("scalar", 0)))
    return UnaryUnit(function, constant, spec.latency, spec.interval)
