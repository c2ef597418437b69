"""Value loads and arithmetic, all in ``float32`` (``docs/spec/machine.md`` §5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fuseloom.dataflow.machine.timing import binary_timing, load_timing, unary_timing
from fuseloom.dataflow.primitives.tiles.golden import as_value, binary_on_tiles, unary_on_tiles
from fuseloom.dataflow.samml.presence import neutral, required_operands
from fuseloom.dataflow.samml.tile_values import tile_of
from fuseloom.dataflow.sim.golden.functions import larger, unary_function
from fuseloom.dataflow.sim.golden.registry import golden_model
from fuseloom.dataflow.sim.process import Behaviour, Process
from fuseloom.dataflow.sim.tokens import DONE, EMPTY, Stop, is_number, same
from fuseloom.wording import counted

F32 = np.float32
ZERO = F32(0)

BINARY: Mapping[str, Callable[[F32, F32], F32]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "elemmul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "max": larger,
}
"""The binary functions of values."""


@golden_model("array", reads=lambda _, tensor: {"vals": tensor.values})
def array(node: Process) -> Behaviour:
    """Load the value at each reference."""
    (refs,) = node.inputs
    (out,) = node.outputs
    stored: list[Any] = list(node.array("vals").astype(F32, copy=False))
    timing = load_timing(node.node, node.machine)
    spec = tile_of(node.node)
    blank = ZERO if spec is None else as_value(ZERO, spec)
    while True:
        token = yield refs.take
        if is_number(token):
            if not 0 <= token < len(stored):
                node.fail(f"reference outside the {counted(len(stored), 'stored value')}", token)
            yield out.put(stored[token], at=node.clock + timing.latency)
        elif token is EMPTY and node.quirks.array_loads_zero:
            yield out.put(blank)
        else:
            yield out.put(token)
            if token is DONE:
                return
        node.clock += timing.interval


@golden_model("binary")
def binary(node: Process) -> Behaviour:
    """Apply a function to two aligned streams; what an absent operand means depends on it."""
    left, right = node.inputs
    (out,) = node.outputs
    name = node.param("fn")
    spec = tile_of(node.node)
    function = BINARY[name] if spec is None else binary_on_tiles(name, spec)
    empty_is_zero = node.quirks.binary_empty_is_zero
    timing = binary_timing(node.node, node.machine)
    needed = required_operands(node.node)
    absent = F32(neutral(node.node))
    while True:
        a = yield left.take
        b = yield right.take
        if isinstance(a, Stop) or isinstance(b, Stop) or a is DONE or b is DONE:
            if not same(a, b):
                node.fail("operands disagree on where fibers end", a, b)
            yield out.put(a)
            if a is DONE:
                return
        elif a is EMPTY and b is EMPTY:
            if empty_is_zero:
                node.fail("both operands are empty", a, b)
            yield out.put(EMPTY)
        elif not empty_is_zero and (
            (a is EMPTY and "a" in needed) or (b is EMPTY and "b" in needed)
        ):
            yield out.put(EMPTY)
        else:
            value = function(absent if a is EMPTY else a, absent if b is EMPTY else b)
            yield out.put(value, at=node.clock + timing.latency)
        node.clock += timing.interval


@golden_model("unary")
def unary(node: Process) -> Behaviour:
    """Apply a function to each value; the empty token stays empty."""
    (stream,) = node.inputs
    (out,) = node.outputs
    spec = tile_of(node.node)
    name = node.param("fn")
    function = unary_function(name) if spec is None else unary_on_tiles(name, spec)
    scalar = F32(node.param("scalar", 0))
    timing = unary_timing(node.node, node.machine)
    while True:
        token = yield stream.take
        if is_number(token):
            value = function(token, scalar)
            value = F32(value) if spec is None else value
            yield out.put(value, at=node.clock + timing.latency)
        elif token is EMPTY and node.quirks.unary_empty_panics:
            node.fail("a unary function of the empty token", token)
        else:
            yield out.put(token)
            if token is DONE:
                return
        node.clock += timing.interval
