"""ATen operators that move, repeat or leave out elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom.stitch.aten.call import AtenCall, Handler, TensorValue, UnknownCaseError, expanded
from fuseloom.stitch.module_builder import ModuleBuilder
from fuseloom.stitch.shapes import TensorShape


def _reshape(call: AtenCall) -> str:
    return call.builder.reshape(call.tensor("self"), call.result.dims)


def _permute(call: AtenCall) -> str:
    x = call.tensor("self")
    return call.builder.transpose(x, call.dimensions(call["dims"], call.result.rank))


def _transpose(call: AtenCall) -> str:
    x, rank = call.tensor("self"), call.result.rank
    order = list(range(rank))
    if rank:
        a, b = call.dimensions((call["dim0"], call["dim1"]), rank)
        order[a], order[b] = order[b], order[a]
    return call.builder.transpose(x, order)


def _reversed_order(call: AtenCall) -> str:
    return call.builder.transpose(call.tensor("self"), range(call.result.rank)[::-1])


def _expand(call: AtenCall) -> str:
    return expanded(call.builder, call.tensor("self"), call.result.dims)


def _repeat(call: AtenCall) -> str:
    """Each dimension beside one of as many elements as there are copies, merged with it."""
    build, x, rank = call.builder, call.tensor("self"), call.result.rank
    dims = build.dims(x)
    dims = (*(1,) * (rank - len(dims)), *dims)
    apart = [n for pair in zip(call["repeats"], dims, strict=True) for n in pair]
    wide = build.broadcast(build.reshape(x, dims), apart, range(1, 2 * rank, 2))
    return build.reshape(wide, call.result.dims)


def _along(call: AtenCall, rank: int) -> int:
    """The dimension that it is about."""
    if not rank:
        raise UnknownCaseError("no dimension")
    (dim,) = call.dimensions(call["dim"] or 0, rank)
    return dim


def _part(build: ModuleBuilder, x: str, along: int, start: int, stop: int, step: int = 1) -> str:
    bounds = [(0, n, 1) for n in build.dims(x)]
    bounds[along] = (start, max(stop, start), step)
    return build.slice(x, bounds)


def _slice(call: AtenCall) -> str:
    build, x = call.builder, call.tensor("self")
    along = _along(call, len(build.dims(x)))
    extent, step = build.dims(x)[along], call["step"] or 1
    start, stop, _ = slice(call["start"], call["end"], step).indices(extent)
    return _part(build, x, along, start, stop, step)


def _select(call: AtenCall) -> str:
    build, x = call.builder, call.tensor("self")
    along = _along(call, len(build.dims(x)))
    at = call["index"] % build.dims(x)[along]
    return build.reshape(_part(build, x, along, at, at + 1), call.result.dims)


def _split(call: AtenCall) -> list[str]:
    """Parts of the extents that the results have, one behind the other."""
    build, x = call.builder, call.tensor("self")
    along = _along(call, len(build.dims(x)))
    parts, start = [], 0
    for shape in call.results:
        stop = start + shape.dims[along]
        parts.append(_part(build, x, along, start, stop))
        start = stop
    return parts


def _unbind(call: AtenCall) -> list[str]:
    build, x = call.builder, call.tensor("self")
    along = _along(call, len(build.dims(x)))
    return [
        build.reshape(_part(build, x, along, k, k + 1), shape.dims)
        for k, shape in enumerate(call.results)
    ]


def _concatenate(call: AtenCall) -> str:
    build, rank = call.builder, call.result.rank
    parts = [build.convert(x, call.result.element) for x in call.tensors("tensors")]
    parts = [x for x in parts if len(build.dims(x)) == rank]  # vectors of no element may stand here
    along = _along(call, rank)
    return parts[0] if len(parts) == 1 else build.concatenate(parts, along)


def _stack(call: AtenCall) -> str:
    build, along = call.builder, _along(call, call.result.rank)
    dims = [1 if k == along else n for k, n in enumerate(call.result.dims)]
    parts = [build.convert(x, call.result.element) for x in call.tensors("tensors")]
    return build.concatenate([build.reshape(x, dims) for x in parts], along)


def _flip(call: AtenCall) -> str:
    build, x = call.builder, call.tensor("self")
    dims = call.dimensions(call["dims"], call.result.rank)
    return build.add("reverse", call.result, (x,), {"dimensions": dims})


def _pad(call: AtenCall) -> str:
    build, x, rank = call.builder, call.tensor("self"), call.result.rank
    pads = [(0, 0, 0)] * rank
    given = call["pad"]
    for k in range(len(given) // 2):
        pads[rank - 1 - k] = (given[2 * k], given[2 * k + 1], 0)
    fill = build.constant(call["value"] or 0, build.element(x))
    return build.add("pad", call.result, (x, fill), {"padding": tuple(pads)})


def taken(build: ModuleBuilder, x: str, indices: str, along: int) -> str:
    """Parts of an array at places in one dimension, which the dimensions of the places replace.

    Examples
    --------
    >>> builder = ModuleBuilder("m")
    >>> x = builder.parameter("x", TensorShape("f32", (9, 4)))
    >>> places = builder.parameter("places", TensorShape("s64", (2, 3)))
    >>> builder.dims(taken(builder, x, places, 0))
    (2, 3, 4)
    """
    dims, batch = build.dims(x), build.dims(indices)
    rank = len(batch)
    made = (*dims[:along], *batch, *dims[along + 1 :])
    attributes: dict[str, Any] = {
        "offset_dims": (*range(along), *range(along + rank, len(made))),
        "collapsed_slice_dims": (along,),
        "start_index_map": (along,),
        "index_vector_dim": rank,
        "slice_sizes": tuple(1 if k == along else n for k, n in enumerate(dims)),
    }
    return build.add("gather", TensorShape(build.element(x), made), (x, indices), attributes)


def _embedding(call: AtenCall) -> str:
    return taken(call.builder, call.tensor("weight"), call.tensor("indices"), 0)


def _index_select(call: AtenCall) -> str:
    build, x = call.builder, call.tensor("self")
    return taken(build, x, call.tensor("index"), _along(call, len(build.dims(x))))


def _index(call: AtenCall) -> str:
    """One array of places, negative ones counted from the end."""
    build, x = call.builder, call.tensor("self")
    places = [(k, one) for k, one in enumerate(call["indices"]) if one is not None]
    if len(places) != 1 or not isinstance(places[0][1], TensorValue):
        raise UnknownCaseError("several places")
    along, indices = places[0][0], places[0][1].name
    shape = build.shape(indices)
    if shape.dtype.kind not in "iu" or shape.element == "u8":
        raise UnknownCaseError("a mask")
    below = build.compare(indices, build.filled(0, shape), "LT")
    moved = build.with_number("add", indices, build.dims(x)[along])
    return taken(build, x, build.select(below, moved, indices), along)


def _triangle(direction: str) -> Handler:
    """The elements below a diagonal, or above it, and zeros elsewhere."""

    def handle(call: AtenCall) -> str:
        build, shape = call.builder, call.result
        places = TensorShape("s32", shape.dims)
        rows, columns = (build.iota(places, shape.rank - k) for k in (2, 1))
        if call["diagonal"]:
            rows = build.with_number("add", rows, call["diagonal"])
        kept = build.compare(columns, rows, direction)
        return build.select(kept, call.operand("self"), build.filled(0, shape))

    return handle


MOVES: Mapping[str, Handler] = {
    **dict.fromkeys(
        (
            "view", "_unsafe_view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze",
            "_reshape_alias", "view_copy", "squeeze_copy", "unsqueeze_copy",
        ),
        _reshape,
    ),
    "permute": _permute,
    "permute_copy": _permute,
    "transpose": _transpose,
    "t": _reversed_order,
    "numpy_T": _reversed_order,
    "expand": _expand,
    "expand_copy": _expand,
    "repeat": _repeat,
    "slice": _slice,
    "slice_copy": _slice,
    "select": _select,
    "select_copy": _select,
    **dict.fromkeys(("split", "split_with_sizes", "split_with_sizes_copy", "chunk"), _split),
    "unbind": _unbind,
    "cat": _concatenate,
    "stack": _stack,
    "flip": _flip,
    "constant_pad_nd": _pad,
    "embedding": _embedding,
    "index_select": _index_select,
    "index": _index,
    "tril": _triangle("LE"),
    "triu": _triangle("GE"),
}  # fmt: skip
"""By the names of operators, without their overloads."""
