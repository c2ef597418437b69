"""Rings of runs: what the compiled kernels are written in.

A channel is a ring of *runs*.  A run stands for ``n`` tokens of one kind whose timestamps are
``t, t, ...`` or ``t, t+1, ...``, and whose data are one number, consecutive numbers, or a slice
of a pool.  A node that works off one token per cycle turns runs into runs, so a fiber of a
thousand elements costs as much as one token.  The time at which each slot of a bounded channel
becomes free again is a *credit* (``samml.md`` §7.4); credits are runs that flow backwards.

All state lies in structured arrays which :mod:`engine.sim.compiled` allocates; a kernel gets
their addresses in one table.  Kernels neither allocate nor count references, and every one has
the signature ``(node, table) -> status``, so each compiles on its own and the scheduler calls
it through its address.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numba.np import arrayobj

Int: TypeAlias = Any
"""An int64 inside a kernel (numba infers; what is read from a record has no Python type)."""

Function = TypeVar("Function", bound=Callable[..., Any])

# The parts of numba used here have no types.
_njit: Any = numba.njit
_types: Any = types
make_array: Any = arrayobj.make_array
populate_array: Any = arrayobj.populate_array

OPTIONS = {"_nrt": False, "error_model": "numpy"}
"""Reference counting of arrays would cost more than all the rest; nothing here needs it."""


def inline(function: Function) -> Function:
    """Decorator: a helper that becomes part of every kernel that calls it."""
    compiled: Function = _njit(forceinline=True, **OPTIONS)(function)
    return compiled


def _code_of(function: Callable[..., Any]) -> Any:
    """Decorator: a helper given as the machine code to generate."""
    return intrinsic(function)


# ---------------------------------------------------------------------------- layout


def _layout(ints: str, floats: str = "") -> np.dtype[Any]:
    fields: list[tuple[str, Any]] = [(name, np.int64) for name in ints.split()]
    return np.dtype(fields + [(name, np.float64) for name in floats.split()])


RUN = _layout("t n x v")
"""A run: first timestamp, tokens, flags and kind, datum (a number or an offset into a pool)."""

CREDIT = _layout("t n d")
"""A run of free slots: clock from which the first is free, how many, step from slot to slot."""

CHANNEL = _layout(
    "hr tr ro rm"  # runs: head and tail count, offset and mask of their ring
    " ht tt vo vm"  # tokens: taken and put; offset and mask of the ring their data lie in
    " tv"  # values among the tokens put
    " cap hc tc co cm"  # capacity (0: unbounded, -1: nobody reads); credits: as for runs
    " val prod cons"  # carries values; producing and consuming node
    " ft fp"  # clock at the first take, and at the first put; -1 before
)

NODE = _layout(
    "fn ins outs n_in n_out"  # kernel address; where in the integers its ports are, how many
    " ready done eager error"
    " wk wc"  # what it waits for: WAIT_*, channel
    " clk si so"  # clock, stalled for input, stalled for output
    " p0 p1 p2 p3 p4 p5 p6 p7"  # parameters
    " s0 s1 s2 s3 s4 s5 s6 s7 s8 s9"  # state of the kernel between two visits
    " hk hv ht",  # a token taken but not put yet: kind, number, earliest timestamp
    "hf f0 f1",  # ... its value; values of a kernel
)

LEAF, STOP, EMPTY, DONE, REPEAT, SIGNAL_STOP = range(6)
"""Kinds of tokens, as :mod:`engine.sim.tokens` encodes them."""

KIND = 7  # flags of a run: mask of the kind,
SLOPE = 8  # timestamps advance by 1 per token,
STEP = 16  # so does the datum,
MEM = 32  # the datum is an offset into a pool,
RING = 64  # ... namely into the channel's own ring

BLOCKED, FINISHED, FAILED, PAUSED, STUCK = range(5)
"""What a kernel or the scheduler returns."""

WAIT_NONE, WAIT_INPUT, WAIT_OUTPUT, WAIT_DRAIN = range(4)

FOREVER = 1 << 60


class State(NamedTuple):
    """All arrays of a simulation, as a kernel sees them."""

    nd: Any
    ch: Any
    run: Any
    credit: Any
    ints: Any
    floats: Any
    ctl: Any


CTL_ORDER, CTL_COUNT, CTL_LEFT, CTL_LAST, CTL_VISITS = range(6, 11)
CTL_SIZE = 11
"""The table: addresses of the first six arrays; where in the integers the order of visits is
and how long; nodes not ended; node visited last; visits so far."""

_ELEMENTS = [numba.from_dtype(t) for t in (NODE, CHANNEL, RUN, CREDIT)] + [
    types.int64,
    types.float32,
    types.int64,
]
_ARRAYS = [types.Array(element, 1, "C") for element in _ELEMENTS]
_STATE = _types.NamedTuple(_ARRAYS, State)
_SIZES = [t.itemsize for t in (NODE, CHANNEL, RUN, CREDIT)] + [8, 4, 8]


@_code_of
def state_of(typing_context: Any, table: Any) -> Any:
    """``state_of(table)``: the arrays whose addresses the table holds, in order of State.

    A function could not return them, as arrays it makes would need counting.  They claim to
    have no elements, which no index is checked against: counting negative indices from the end
    then costs nothing.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        i64 = ir.IntType(64)
        pointer = builder.inttoptr(args[0], i64.as_pointer())
        arrays = []
        for k, (kind, size) in enumerate(zip(_ARRAYS, _SIZES, strict=True)):
            address = args[0]  # the last array is the table itself
            if k < len(_ARRAYS) - 1:
                address = builder.load(builder.gep(pointer, [ir.Constant(ir.IntType(32), k)]))
            array = make_array(kind)(context, builder)
            populate_array(
                array,
                data=builder.inttoptr(address, array.data.type),
                shape=[ir.Constant(i64, 0)],
                strides=[ir.Constant(i64, size)],
                itemsize=ir.Constant(i64, size),
                meminfo=None,
            )
            arrays.append(array._getvalue())
        return context.make_tuple(builder, signature.return_type, arrays)

    return _STATE(table), generate


@_code_of
def view(typing_context: Any, array: Any, start: Any, count: Any) -> Any:
    """``view(array, start, count)``: that slice, without the clipping numpy's slices need.

    Loops over views are what the compiler vectorises.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        old = make_array(array)(context, builder, value=args[0])
        new = make_array(array)(context, builder)
        populate_array(
            new,
            data=builder.gep(old.data, [args[1]]),
            shape=[args[2]],
            strides=[old.itemsize],
            itemsize=old.itemsize,
            meminfo=None,
        )
        return new._getvalue()

    return array(array, types.int64, types.int64), generate


@_code_of
def call_kernel(typing_context: Any, address: Any, node: Any, table: Any) -> Any:
    """``call_kernel(address, node, table)``: the status the kernel at that address returns."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        i64 = ir.IntType(64)
        kernel = ir.FunctionType(i64, [i64, i64]).as_pointer()
        return builder.call(builder.inttoptr(args[0], kernel), [args[1], args[2]])

    return types.int64(address, node, table), generate


# ---------------------------------------------------------------------------- reading


@inline
def is_leaf(kind: Int) -> Int:
    """Whether a token stands for one element: a number or the empty token."""
    return kind in (LEAF, EMPTY)


@inline
def has(s: State, c: Int) -> Int:
    """Whether a token is there to take.

    A taken token makes a credit, so one also waits until the ring of credits has room.
    """
    q = s.ch[c]
    return q.tr > q.hr and (q.cap == 0 or q.tc - q.hc < q.cm - 1)


@inline
def head(s: State, c: Int) -> Int:
    """Index of the first run."""
    q = s.ch[c]
    return q.ro + (q.hr & q.rm)


@inline
def starved(s: State, c: Int) -> Int:
    """Whether the producer cannot put one more token: the channel really is full."""
    q = s.ch[c]
    return q.cap > 0 and q.hc == q.tc


@inline
def number(s: State, r: Int, i: Int) -> Int:
    """Number ``i`` of a run of coordinates or references; the level of a stop."""
    p = s.run[r]
    v = p.v
    if p.x & STEP:
        v += i
    return s.ints[v] if p.x & MEM else v


@inline
def value(s: State, r: Int, i: Int) -> Any:
    """Value ``i`` of a run of values."""
    p = s.run[r]
    return s.floats[p.v + i] if p.x & STEP else s.floats[p.v]


@inline
def give_back(s: State, c: Int, m: Int, t: Int, d: Int) -> None:
    """Add credits for ``m`` slots, free at ``t``, ``t + d``, ...; merge them with the last run."""
    q = s.ch[c]
    if q.tc > q.hc:
        p = s.credit[q.co + ((q.tc - 1) & q.cm)]
        n = p.n
        if n == 1 and (t == p.t or t == p.t + 1) and (m == 1 or d == t - p.t):
            p.d = t - p.t
            p.n += m
            return
        if n > 1 and t == p.t + n * p.d and (m == 1 or d == p.d):
            p.n += m
            return
    p = s.credit[q.co + (q.tc & q.cm)]
    p.t = t
    p.n = m
    p.d = d
    q.tc += 1


@inline
def take(s: State, c: Int, m: Int, a: Int, b: Int, d: Int) -> None:
    """Remove ``m`` tokens of the first run: one at clock ``a``, the others from ``b`` by ``d``."""
    q = s.ch[c]
    p = s.run[q.ro + (q.hr & q.rm)]
    if q.ht == 0:
        q.ft = a
    if p.n == m:
        q.hr += 1
    else:
        x = p.x
        p.n -= m
        if x & SLOPE:
            p.t += m
        if x & STEP:
            p.v += m
        elif x & RING:  # its slot is about to be free: the datum moves to the next token's
            if q.val:
                s.floats[p.v + m] = s.floats[p.v]
            else:
                s.ints[p.v + m] = s.ints[p.v]
            p.v += m
    q.ht += m
    if q.cap > 0:
        if m == 1:
            give_back(s, c, 1, a + 1, 0)
        elif b == a + d:
            give_back(s, c, m, a + 1, d)
        else:
            give_back(s, c, 1, a + 1, 0)
            give_back(s, c, m - 1, b + 1, d)


@inline
def take_one(s: State, c: Int, a: Int) -> None:
    """Remove one token at clock ``a``."""
    take(s, c, 1, a, a, 0)


# ---------------------------------------------------------------------------- writing


@inline
def room(s: State, c: Int) -> Int:
    """How many tokens can be put as one run, given the slots that are (or will be) free."""
    q = s.ch[c]
    if q.tr - q.hr > q.rm - 2:
        return 0
    put_before = q.tt
    slots = q.vm + 1
    free = min(slots - (put_before - q.ht), slots - (put_before & q.vm))
    if q.cap > 0:
        if q.hc == q.tc:
            return 0
        free = min(free, s.credit[q.co + (q.hc & q.cm)].n)
    return free


@inline
def slot(s: State, c: Int) -> Int:
    """Where in the pool the data of the next run go."""
    q = s.ch[c]
    return q.vo + (q.tt & q.vm)


@inline
def free_at(s: State, c: Int) -> Int:
    """Clock from which the next slot is free."""
    q = s.ch[c]
    if q.cap > 0:
        return s.credit[q.co + (q.hc & q.cm)].t
    return 0


@inline
def even(s: State, c: Int, t: Int, m: Int) -> Int:
    """How many of the next ``m`` slots keep one step, for a node that puts without a cycle.

    From clock ``t`` on such a node moves only as slots become free: not at all while they were
    free before, then by one cycle per token.
    """
    q = s.ch[c]
    if q.cap > 0:
        p = s.credit[q.co + (q.hc & q.cm)]
        if p.d == 1 and p.t < t:
            return min(m, t - p.t + 1)
    return m


@inline
def rising(s: State, c: Int, t: Int) -> Int:
    """Whether, from clock ``t`` on, each next slot becomes free one cycle later."""
    q = s.ch[c]
    if q.cap > 0:
        p = s.credit[q.co + (q.hc & q.cm)]
        return p.d == 1 and p.t == t and p.n > 1
    return False


@inline
def append(s: State, c: Int, m: Int, t: Int, x: Int, v: Int) -> None:
    """Write one run at the tail of the ring."""
    q = s.ch[c]
    p = s.run[q.ro + (q.tr & q.rm)]
    p.t = t
    p.n = m
    p.x = x
    p.v = v
    q.tr += 1


@inline
def put(s: State, c: Int, m: Int, first: Int, t: Int, x: Int, v: Int) -> None:
    """Put ``m`` tokens: one stamped ``first``, the others as in a run that starts at ``t``.

    The two differ where the first token had to wait but left its neighbours on time.
    """
    q = s.ch[c]
    if q.tt == 0:
        q.fp = first - 1
    if m == 1 or first == t:
        append(s, c, m, first, x, v)
    else:
        append(s, c, 1, first, x, v)
        if x & (STEP | RING):
            if not x & STEP:
                if q.val:
                    s.floats[v + 1] = s.floats[v]
                else:
                    s.ints[v + 1] = s.ints[v]
            v += 1
        append(s, c, m - 1, t + (1 if x & SLOPE else 0), x, v)
    q.tt += m
    if x & KIND == LEAF:
        q.tv += m
    if q.cap != 0:
        if q.cap < 0:  # written where nobody reads it
            q.tr = 0
            q.tt = 0
            q.tv = 0
            return
        p = s.credit[q.co + (q.hc & q.cm)]
        if p.n == m:
            q.hc += 1
        else:
            p.n -= m
            p.t += m * p.d


@inline
def put_one(s: State, c: Int, t: Int, kind: Int, v: Int, f: Any) -> None:
    """Put one token: number ``v``, or value ``f`` where the channel carries values."""
    if kind == LEAF and s.ch[c].val:
        w = slot(s, c)
        s.floats[w] = f
        put(s, c, 1, t, t, LEAF | STEP | MEM | RING, w)
    else:
        put(s, c, 1, t, t, kind | STEP, v)


@inline
def copied(s: State, c: Int, r: Int, m: Int) -> Int:
    """Datum for putting the first ``m`` tokens of run ``r`` into channel ``c``, flags unchanged.

    Data in the ring of the run's own channel would be overwritten once taken: they are copied.
    """
    p = s.run[r]
    if p.x & RING:
        w = slot(s, c)
        n = m if p.x & STEP else 1
        if s.ch[c].val:
            copy(view(s.floats, w, n), view(s.floats, p.v, n))
        else:
            copy(view(s.ints, w, n), view(s.ints, p.v, n))
        return w
    return p.v


@inline
def hold(s: State, nd: Any, c: Int, r: Int) -> None:
    """Remember the first token of run ``r`` of channel ``c``, to put it later."""
    p = s.run[r]
    nd.hk = p.x & KIND
    if nd.hk == LEAF:
        if s.ch[c].val:
            nd.hf = s.floats[p.v]
        else:
            nd.hv = number(s, r, 0)
    else:
        nd.hv = p.v


# ---------------------------------------------------------------------------- both


@inline
def release(s: State, nd: Any, c: Int, t: Int) -> Int:
    """Put the held token as soon as its slot is free; the clock by then.

    ``nd.hv`` is its number or level, ``nd.ht`` its earliest timestamp.
    """
    t = max(t, free_at(s, c))
    put_one(s, c, max(nd.ht, t + 1), nd.hk, nd.hv, nd.hf)
    return t


@inline
def pass_by(s: State, c: Int, t: Int) -> Int:
    """Take a run, or a part of it, that costs no cycle; the clock after the last token."""
    p = s.run[head(s, c)]
    a = max(t, p.t)
    m = p.n
    if m > 1 and p.x & SLOPE:
        if p.t >= t:
            take(s, c, m, a, a + 1, 1)
            return a + m - 1
        m = min(m, t - p.t + 1)
    take(s, c, m, a, a, 0)
    return a


@inline
def no_room(s: State, nd: Any, i: Int, o: Int) -> Int:
    """Whether to take from ``i`` although ``o`` has no room, and hold the token.

    The machine takes first and then waits, which gives its producer a slot.  Doing so always
    would break runs; it matters where the producer is out of slots or all else has stopped.
    """
    return starved(s, o) and (nd.eager or starved(s, i))


@inline
def copy(o: Any, a: Any) -> None:
    """Copy one view to another."""
    for e in range(len(o)):
        o[e] = a[e]


@inline
def leave(nd: Any, t: Int, si: Int, so: Int, kind: Int, c: Int) -> Int:
    """Save the clock and what the node waits for (nothing: it has ended); the status."""
    nd.clk = t
    nd.si = si
    nd.so = so
    nd.wk = kind
    nd.wc = c
    return FINISHED if kind == WAIT_NONE else BLOCKED


@inline
def fail(nd: Any, t: Int, rule: Int) -> Int:
    """Save which rule the tokens broke; the status."""
    nd.clk = t
    nd.error = rule
    return FAILED
