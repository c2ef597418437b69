"""Arrays of the compiled engine: their layout, the codes in them, and how kernels reach them.

Kernels neither allocate nor count references.  Every one has the signature ``(node, table) ->
status``, so each compiles on its own and the scheduler calls it through its address; the table
holds the addresses of the arrays, which :mod:`fuseloom.dataflow.sim.compiled.arrays` allocates.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.np import arrayobj

from fuseloom.dataflow.sim.compiled.inlining import generated

Int: TypeAlias = Any
"""An int64 inside a kernel (numba infers; what is read from a record has no Python type)."""

# The parts of numba used here have no types.
_types: Any = types
_code: Any = cgutils
make_array: Any = arrayobj.make_array
populate_array: Any = arrayobj.populate_array

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
    " ht tt"  # tokens taken and put
    " rs"  # cycles from timestamp to take, summed over the tokens taken; -1: nobody asks
    " lt"  # takes of tokens that lay longer than that are noted
    " cap"  # capacity (0: unbounded, -1: nobody reads)
    " vo vm"  # offset and mask of the ring the tokens' data lie in
    " tv"  # values among the tokens put
    " hc tc co cm"  # credits: as for runs
    " val prod cons"  # carries values; producing and consuming node
    " ft fp"  # clock at the first take, and at the first put; -1 before
)

NODE = _layout(
    "fn ins outs n_in n_out"  # kernel address; where in the integers its ports are, how many
    " ready done eager error"
    " wk wc"  # what it waits for: a code of waits.py, channel
    " clk si so sm"  # clock; stalled for input, for output, for the memory
    " p0 p1 p2 p3 p4 p5 p6 p7"  # parameters
    " s0 s1 s2 s3 s4 s5 s6 s7 s8 s9"  # state of the kernel between two visits
    " hk hv ht",  # a token taken but not put yet: kind, number, earliest timestamp
    "hf f0 f1",  # ... its value; values of a kernel
)

SLOTS = tuple(name for name in NODE.names or () if name[1:].isdigit())
"""Fields that mean something else in each kernel, which names them (``slots.py``)."""

COMMON = tuple(name for name in NODE.names or () if name not in SLOTS)
"""Fields that mean the same in all nodes; kernels see no others unless they name slots."""

FOREVER = 1 << 60


class SimulationState(NamedTuple):
    """All arrays of a simulation, as a kernel sees them."""

    nd: Any
    ch: Any
    run: Any
    credit: Any
    ints: Any
    floats: Any
    mem: Any
    ctl: Any


PORT_RING, PORT_MASK, PORT_NODE, PORT_BASE = range(4)
PORT_SIZE = 4
"""A port of the memory: where in the integers its answers are (cycles, -1 before), the mask of
that ring, its node, and the address of what it reads or writes."""

_ELEMENTS = [numba.from_dtype(t) for t in (NODE[list(COMMON)], CHANNEL, RUN, CREDIT)] + [
    types.int64,
    types.float32,
    types.int64,
    types.int64,
]
_ARRAYS = [types.Array(element, 1, "C") for element in _ELEMENTS]
_STATE = _types.NamedTuple(_ARRAYS, SimulationState)
_SIZES = [t.itemsize for t in (NODE, CHANNEL, RUN, CREDIT)] + [8, 4, 8, 8]


@generated
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


@generated
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


@generated
def pointer(typing_context: Any, array: Any) -> Any:
    """``pointer(array)``: its memory, indexed without checks.

    One number to pass, where an array is seven; and known from the start not to be indexed from
    its end, which loops need for being vectorised.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return make_array(array)(context, builder, value=args[0]).data

    return _types.CPointer(array.dtype)(array), generate


@generated
def doubles(typing_context: Any, array: Any, start: Any, count: Any) -> Any:
    """``doubles(ints, start, count)``: that slice of the integers' memory, as ``float64``."""
    result = types.Array(types.float64, 1, "C")

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        old = make_array(array)(context, builder, value=args[0])
        new = make_array(result)(context, builder)
        populate_array(
            new,
            data=builder.bitcast(builder.gep(old.data, [args[1]]), new.data.type),
            shape=[args[2]],
            strides=[old.itemsize],
            itemsize=old.itemsize,
            meminfo=None,
        )
        return new._getvalue()

    return result(array, types.int64, types.int64), generate


@generated
def fetch(typing_context: Any, array: Any, start: Any) -> Any:
    """``fetch(array, start)``: bring that element's cache line in, for whoever reads it next."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = make_array(array)(context, builder, value=args[0]).data
        i32, byte = ir.IntType(32), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, i32, i32, i32])
        prefetch = _code.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        place = builder.bitcast(builder.gep(data, [args[1]]), byte)
        builder.call(prefetch, [place, i32(0), i32(3), i32(1)])  # for reading, all caches, data
        return context.get_dummy_value()

    return types.void(array, types.int64), generate


COLUMNS, ROWS = 8, 4


@generated
def multiply_block(
    typing_context: Any, array: Any, a: Any, b: Any, c: Any, terms: Any, columns: Any
) -> Any:
    """``multiply_block(ints, a, b, c, terms, columns)``: a block of a product of matrices.

    The first four rows of the left matrix (at ``a``, rows of ``terms`` doubles) times the first
    eight columns of the right one (at ``b``, rows of ``columns``), into ``c`` (as the right one).
    The sums stay in vector registers, which loops over views cannot do.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        i64, double = ir.IntType(64), ir.DoubleType()
        vector = ir.VectorType(double, COLUMNS)
        data = make_array(array)(context, builder, value=args[0]).data
        base = builder.bitcast(data, double.as_pointer())
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), COLUMNS), [0] * COLUMNS)
        undefined = ir.Constant(vector, ir.Undefined)

        def at(offset: Any) -> Any:
            return builder.bitcast(builder.gep(base, [offset]), vector.as_pointer())

        zero = ir.Constant(vector, [0.0] * COLUMNS)
        totals = [_code.alloca_once_value(builder, zero) for _ in range(ROWS)]
        for total in totals:
            builder.store(zero, total)
        with _code.for_range(builder, args[4], intp=i64) as loop:
            k = loop.index
            right = builder.load(at(builder.add(args[2], builder.mul(k, args[5]))), align=8)
            for row, total in enumerate(totals):
                skipped = builder.mul(args[4], ir.Constant(i64, row))
                where = builder.add(builder.add(args[1], skipped), k)
                x = builder.load(builder.gep(base, [where]))
                one = builder.insert_element(undefined, x, ir.Constant(ir.IntType(32), 0))
                left = builder.shuffle_vector(one, undefined, lanes)
                product = builder.fmul(left, right, flags=("contract",))
                summed = builder.fadd(builder.load(total), product, flags=("contract",))
                builder.store(summed, total)
        for row, total in enumerate(totals):
            skipped = builder.mul(args[5], ir.Constant(i64, row))
            builder.store(builder.load(total), at(builder.add(args[3], skipped)), align=8)
        return context.get_dummy_value()

    number = types.int64
    return types.void(array, number, number, number, number, number), generate


@generated
def call_kernel(typing_context: Any, address: Any, node: Any, table: Any) -> Any:
    """``call_kernel(address, node, table)``: the status the kernel at that address returns."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        i64 = ir.IntType(64)
        kernel = ir.FunctionType(i64, [i64, i64]).as_pointer()
        return builder.call(builder.inttoptr(args[0], kernel), [args[1], args[2]])

    return types.int64(address, node, table), generate
