"""Arithmetic on tiles: what the ALUs do where a value token is an array.

Rules: ``docs/spec/machine.md`` §5.4.

Values are ``float32``; sums inside a tile are formed in double precision and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.samml.tile_values import TileSpec, latency, tile_of
from fuseloom.dataflow.sim.golden.functions import larger, largest, unary_function
from fuseloom.dataflow.sim.golden.registry import golden_model
from fuseloom.dataflow.sim.process import Behaviour, Process
from fuseloom.dataflow.sim.tokens import DONE, is_number

F32 = np.float32
Value: TypeAlias = np.float32 | npt.NDArray[np.float32]
Array: TypeAlias = npt.NDArray[Any]

ELEMENTWISE: Mapping[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "elemmul": np.multiply,
    "div": np.divide,
    "max": larger,
}
"""The binary functions of two tiles with their axes aligned."""

FOLDS: Mapping[str, Callable[[Array, tuple[int, ...]], Any]] = {
    "add": lambda x, axes: x.sum(axis=axes, dtype=np.float64),
    "max": largest,
}
"""The functions that fold axes inside a tile."""


def as_value(result: Any, spec: TileSpec) -> Value:
    """A result as a token: a number without axes, else a tile of the whole shape."""
    if not spec.result:
        return F32(result)
    return np.broadcast_to(np.asarray(result, dtype=F32), spec.shape)


def _aligned(value: Any, axes: str, result: str) -> Array:
    """A value with its axes in the result's order, of extent 1 where it lacks one."""
    order = [axes.index(x) for x in result if x in axes]
    missing = tuple(k for k, x in enumerate(result) if x not in axes)
    array = np.asarray(value)
    if array.ndim < len(axes):  # a zero that stands for an absent tile
        return array
    return np.expand_dims(np.transpose(array, order), missing)


def binary_on_tiles(name: str, spec: TileSpec) -> Callable[[Any, Any], Value]:
    """A binary function of two values with axes; only a product may contract any."""
    left, right = spec.operands

    def elementwise(a: Any, b: Any) -> Value:
        aligned = (_aligned(a, left, spec.result), _aligned(b, right, spec.result))
        return as_value(ELEMENTWISE[name](*aligned), spec)

    def contract(a: Any, b: Any) -> Value:
        parts = []
        for value, axes, other in ((a, left, right), (b, right, left)):
            array = np.asarray(value, dtype=np.float64)
            if array.ndim < len(axes):  # a zero that stands for an absent tile
                array = np.broadcast_to(array, (spec.edge,) * len(axes))
            # What only the other has and the result lacks: summed after it is multiplied, as
            # infinities do not distribute.
            more = "".join(x for x in other if x not in axes and x not in spec.result)
            if more:
                wider = array.reshape(array.shape + (1,) * len(more))
                array = np.tile(wider, (1,) * array.ndim + (spec.edge,) * len(more))
            parts.append((array, axes + more))
        (x, mine), (y, theirs) = parts
        return as_value(np.einsum(f"{mine},{theirs}->{spec.result}", x, y), spec)

    return contract if spec.contracts else elementwise


def unary_on_tiles(name: str, spec: TileSpec) -> Callable[[Any, np.float32], Value]:
    """A unary function of a tile, its axes then brought in the result's order."""
    (axes,) = spec.operands
    function = unary_function(name)

    def of_tile(x: Any, scalar: np.float32) -> Value:
        return as_value(_aligned(function(np.asarray(x), scalar), axes, spec.result), spec)

    return of_tile


@golden_model("tilefold")
def tilefold(node: Process) -> Behaviour:
    """Fold the axes inside each tile that the result lacks, or bring them in another order."""
    (values,) = node.inputs
    (out,) = node.outputs
    spec = tile_of(node.node)
    assert spec is not None  # the catalogue requires the parameter
    (axes,) = spec.operands
    gone = tuple(k for k, x in enumerate(axes) if x not in spec.result)
    kept = "".join(x for x in axes if x in spec.result)
    fold = FOLDS[node.param("fn")]
    delay = latency(node.node, node.machine.blocks) * node.machine.alu_latency
    while True:
        token = yield values.take
        if is_number(token):
            folded = fold(np.asarray(token), gone) if gone else token
            result = as_value(_aligned(folded, kept, spec.result), spec)
            yield out.put(result, at=node.clock + delay)
        else:
            yield out.put(token)
            if token is DONE:
                return
        node.clock += 1
