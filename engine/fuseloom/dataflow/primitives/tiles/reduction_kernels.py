"""Reducers of tiles, with and without a guide (``docs/spec/machine.md`` §6.1, §6.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuseloom.dataflow.primitives.reducers.kernels import REGISTER, reducer, register
from fuseloom.dataflow.primitives.tiles.kernels import pool_of, spec_of
from fuseloom.dataflow.samml.tile_values import latency
from fuseloom.dataflow.sim.compiled import functions, rings, runs, trees, visits
from fuseloom.dataflow.sim.compiled.cache import kernel
from fuseloom.dataflow.sim.compiled.inlining import inline
from fuseloom.dataflow.sim.compiled.layout import Int, SimulationState, state_of, view
from fuseloom.dataflow.sim.compiled.setup import Setup
from fuseloom.dataflow.sim.compiled.slots import node_of

_TILE_REDUCER = REGISTER.also(
    total="p4",  # in the floats: the register's content
    pool="p5",  # where tiles of that size are free
    elements="p6",  # numbers in a tile
    latency="p7",  # cycles until a total shows
)


def _register(setup: Setup) -> dict[str, float]:
    """As of a reducer of numbers."""
    spec = spec_of(setup)
    fields = register(setup)
    start = fields.pop("total")
    delay = latency(setup.node, setup.machine.blocks)
    return {
        **fields,
        "total": setup.floats.add(np.full(spec.elements, start, np.float32)),
        "pool": pool_of(setup, spec),
        "elements": spec.elements,
        "latency": delay,
    }


@inline
def _fold(s: SimulationState, nd: Any, i: Int, r: Int, m: Int) -> None:
    """Add the first ``m`` tiles of a run, one after the other."""
    size = nd.elements
    total = view(s.floats, nd.total, size)
    for e in range(m):
        given = view(s.floats, trees.address(s, i, r, e, size), size)
        if not nd.filled:
            for k in range(size):
                total[k] = given[k]
        elif nd.is_max:
            for k in range(size):
                total[k] = functions.larger(total[k], given[k])
        else:
            for k in range(size):
                total[k] += given[k]
        nd.filled = 1
    nd.added = 1


@inline
def _guided(nd: Any) -> Int:
    return nd.n_in == 2


@inline
def _most(nd: Any) -> Int:
    return max(visits.WORK_PER_VISIT // nd.elements, 1)


@inline
def _lacks_space(s: SimulationState, nd: Any) -> Int:
    return trees.unused(s, nd.pool) == 0


@inline
def _put_total(s: SimulationState, nd: Any, o: Int, a: Int, t: Int) -> None:
    stamp, zero = max(a + nd.latency, t + 1), np.float32(0)
    filled = nd.filled and (nd.added or nd.default)
    total = view(s.floats, nd.total, nd.elements)
    if filled or nd.empty_is_zero:
        made = trees.tile(s, nd.pool)
        out = view(s.floats, made * nd.elements, nd.elements)
        for e in range(nd.elements):
            out[e] = total[e] if filled else zero
        rings.put_one(s, o, stamp, runs.LEAF, made, zero)
    else:
        rings.put_one(s, o, stamp, runs.EMPTY | runs.UNUSUAL, 0, zero)
    for e in range(nd.elements):
        total[e] = zero


_reduce = reducer(_guided, _most, _fold, _lacks_space, _put_total)


@kernel("tile_reduce", _TILE_REDUCER, _register)
def tile_reduce(node: Int, table: Int) -> Int:
    """Fold each innermost fiber; with a guide, one per coordinate of it."""
    s = state_of(table)
    return _reduce(s, node_of(s, node, _TILE_REDUCER))
