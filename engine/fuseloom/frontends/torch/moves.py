"""Operations that move or mix elements along a dimension by a rule that is known beforehand.

Interpolating and running sums are products with a known matrix along each dimension; where elements
only move, as in padding and turning, the program declares the tensor that says where to.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fuseloom.frontends.algebra import moves as relations
from fuseloom.frontends.torch import views
from fuseloom.frontends.torch.builder import LETTERS
from fuseloom.frontends.torch.traced import Traced
from fuseloom.frontends.torch.values import Support, Value


def along(m: Traced, value: Value, dim: int, matrix: Any, part: str) -> Value:
    """The matrix, outputs x inputs, times the value along a dimension."""
    b = m.builder
    value = b.stored_dims(b.unmasked(value, "a part"), [dim])
    made = b.feed(f"{b.node.name}_{part}", matrix.shape, lambda env: matrix, keep=True)
    names = list(LETTERS[: value.rank])
    out = [*names[:dim], "o", *names[dim + 1 :]]
    result = b.contract([(made, ["o", names[dim]]), (value, names)], out, part)
    whole = bool((matrix != 0).any(1).all()) and value.support is Support.FULL
    return replace(result, support=Support.FULL) if whole else result


def placed(
    m: Traced, value: Value, targets: Mapping[int, tuple[int, int, int]], part: str
) -> Value:
    """The value as a part of a larger one, which has no elements elsewhere, by one product.

    Parameters
    ----------
    targets : mapping
        By dimension where the first element goes, the step to the next, and the size there;
        elements that leave it are cut off.
    """
    b = m.builder
    value = b.stored_dims(b.unmasked(value, "a part"), [*targets])
    names, more_names = list(LETTERS[: value.rank]), iter(LETTERS[value.rank :])
    out, whole = list(names), value.support is Support.FULL
    operands: list[tuple[Value, Sequence[str]]] = []
    for dim, (start, step, size) in targets.items():
        relation, shape = relations.placed(start, step), (size, value.shape[dim])
        out[dim] = next(more_names)
        operands.append((b.made(part, relation, shape), [out[dim], names[dim]]))
        whole = whole and len(relation.coordinates(shape)) == size
    result = b.contract([*operands, (value, names)], out, part)
    return replace(result, support=Support.FULL) if whole else result


def pad(m: Traced, x: Any, pad: Sequence[int], mode: str = "constant", value: Any = None) -> Value:
    """Zeros, a number, or elements of the tensor around it."""
    b, made = m.builder, m.builder.unmasked(m.value(x), "padding")
    number = 0.0 if value is None else float(value)
    if not math.isfinite(number):
        raise b.refuse(f"padding with {number}", "pad with a finite number")
    inner, targets = made, {}
    for n in range(len(pad) // 2):
        dim, before, behind = made.rank - 1 - n, pad[2 * n], pad[2 * n + 1]
        size = made.shape[dim]
        if (before, behind) == (0, 0):
            continue
        if mode == "constant":
            targets[dim] = before, 1, size + before + behind
        else:
            if mode == "circular" and min(before, behind) < 0 < max(before, behind):
                raise b.refuse("circular padding that cuts off, too", "cut off first, by a slice")
            places = m.torch.arange(float(size))[None, None]
            around = m.torch.nn.functional.pad(places, (before, behind), mode)
            made = views.selected(b, made, dim, around.flatten().long().tolist(), "padded")
    made = placed(m, made, targets, "padded") if targets else made
    if mode != "constant" or number == 0:
        return made
    outside = m.torch.nn.functional.pad(m.torch.zeros(inner.shape), list(pad), value=number)
    frame = b.feed(f"{b.node.name}_frame", outside.shape, lambda env: outside, keep=True)
    return b.add(made, frame, "framed")


def padded_by(mode: str) -> Callable[..., Value]:
    def handler(m: Traced, x: Any, padding: Sequence[int]) -> Value:
        return pad(m, x, padding, mode)

    return handler


def flip(m: Traced, x: Any, dims: Sequence[int]) -> Value:
    value = m.value(x)
    for dim in (m.builder.axis(d, value.rank) for d in dims):
        value = views.selected(m.builder, value, dim, range(value.shape[dim])[::-1], "turned")
    return value


def roll(m: Traced, x: Any, shifts: Any, dims: Any = ()) -> Value:
    value = m.value(x)
    shifts = [shifts] if isinstance(shifts, int) else list(shifts)
    dims = [dims] if isinstance(dims, int) else list(dims)
    shape = value.shape
    if not dims:
        value, dims = views.moved(m.builder, value, (math.prod(shape),)), [0]
    for shift, dim in zip(shifts, dims, strict=True):
        size = value.shape[dim]
        places = [(n - shift) % size for n in range(size)]
        value = views.selected(m.builder, value, m.builder.axis(dim, value.rank), places, "by")
    return value if value.shape == shape else views.moved(m.builder, value, shape)


def upsampled(m: Traced, input: Any = None, x: Any = None, **_: Any) -> Value:
    """Interpolation, which is linear along each dimension.

    PyTorch itself gives the matrix of a dimension: what it makes of the unit vectors along it.
    """
    b, value = (
        m.builder,
        m.builder.unmasked(m.value(x if input is None else input), "interpolation"),
    )
    node, torch = b.node, m.torch
    wanted = node.meta["val"].shape
    first, *schema = [a.name for a in node.target._schema.arguments]
    given = {**dict(zip([first, *schema], node.args, strict=False)), **node.kwargs}
    given.pop(first)
    for dim in range(2, value.rank):
        size = value.shape[dim]
        if wanted[dim] == size:
            continue
        shape = [1, size, *[size if d == dim else 1 for d in range(2, value.rank)]]
        units = torch.eye(size, dtype=torch.float64).reshape(shape)
        made = node.target(units, **_along_one(given, dim - 2, wanted[dim], value.rank - 2))
        value = along(m, value, dim, made.reshape(size, -1).t().contiguous(), "between")
    return value


def _along_one(given: dict[str, Any], n: int, size: int, count: int) -> dict[str, Any]:
    """Arguments of an interpolation that leaves all dimensions but one as they are."""
    made = dict(given)
    if made.get("output_size") is not None:
        made["output_size"] = [size if d == n else 1 for d in range(count)]
    if made.get("scale_factors") is not None:
        made["scale_factors"] = [f if d == n else 1.0 for d, f in enumerate(made["scale_factors"])]
    for d, name in enumerate(("scales_d", "scales_h", "scales_w")[3 - count :]):
        if made.get(name) is not None and d != n:
            made[name] = 1.0
    return made


def cumulative(m: Traced, x: Any, dim: int, dtype: Any = None) -> Value:
    """A running sum: the product with a triangle of ones."""
    value = m.value(x)
    if value.rank == 0:
        return value
    dim = m.builder.axis(dim, value.rank)
    return along(m, value, dim, m.torch.ones(value.shape[dim], value.shape[dim]).tril(), "running")


def running_product(m: Traced, x: Any, dim: int, dtype: Any = None) -> Value:
    """A product of each element with those before it, in steps of twice as many."""
    b, value = m.builder, m.builder.unmasked(m.value(x), "a running product")
    if value.rank == 0:
        return value
    dim, before = b.axis(dim, value.rank), 1
    size = value.shape[dim]
    while before < size:
        matrix = m.torch.eye(size).roll(before, 0)
        matrix[:before] = 0
        ones = m.torch.zeros(value.shape)
        ones.narrow(dim, 0, before).fill_(1.0)
        frame = b.feed(f"{b.node.name}_ones", ones.shape, _held(ones), keep=True)
        ahead = b.add(along(m, value, dim, matrix, "ahead"), frame, "framed")
        value, before = b.mul(b.stored_dims(value, [dim]), ahead), 2 * before
    return value


def _held(tensor: Any) -> Callable[[Any], Any]:
    return lambda env: tensor


def diff(
    m: Traced, x: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None
) -> Value:
    """Each element less the one before it: a product with 1 and -1 beside each other."""
    value = m.value(x)
    if prepend is not None or append is not None:
        raise m.builder.refuse("diff of more than a tensor", "torch.cat joins them before")
    dim = m.builder.axis(dim, value.rank)
    if value.shape[dim] <= n:
        raise m.builder.refuse("differences of too few elements", "there is nothing left of them")
    return along(m, value, dim, m.torch.eye(value.shape[dim]).diff(n, 0), "steps")


def diagonal(m: Traced, x: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    """Elements at equal places of two dimensions, as the last one."""
    value = m.value(x)
    first, second = (m.builder.axis(d, value.rank) for d in (dim1, dim2))
    return diagonal_of(m, value, first, second, offset)


def diagonal_of(m: Traced, value: Value, first: int, second: int, offset: int = 0) -> Value:
    """The product with a tensor that has one element per place of the diagonal, summed."""
    b = m.builder
    rows, columns = value.shape[first], value.shape[second]
    places = [(n - min(offset, 0), n + max(offset, 0)) for n in range(max(rows, columns))]
    places = [(i, j) for i, j in places if i < rows and j < columns]
    held = m.torch.zeros(len(places), rows, columns)
    for n, (i, j) in enumerate(places):
        held[n, i, j] = 1.0
    made = b.feed(f"{b.node.name}_places", held.shape, lambda env: held, keep=True)
    value = b.stored_dims(b.unmasked(value, "a diagonal"), [first, second])
    names = list(LETTERS[: value.rank])
    out = [x for d, x in enumerate(names) if d not in (first, second)]
    result = b.contract([(made, ["o", names[first], names[second]]), (value, names)],
                        [*out, "o"], "diagonal")  # fmt: skip
    return replace(result, support=value.support)


def trace(m: Traced, x: Any) -> Value:
    line = diagonal(m, x)
    return m.builder.contract([(line, "o")], "", "total")


HANDLERS: dict[str, Callable[..., Any]] = {
    "pad": pad, "constant_pad_nd": pad, "flip": flip, "roll": roll,
    **{f"reflection_pad{n}d": padded_by("reflect") for n in (1, 2, 3)},
    **{f"replication_pad{n}d": padded_by("replicate") for n in (1, 2, 3)},
    "cumsum": cumulative, "cumprod": running_product, "diff": diff, "diagonal": diagonal,
    "trace": trace,
    **{f"upsample_nearest{n}d": upsampled for n in (1, 2, 3)},
    **{f"_upsample_nearest_exact{n}d": upsampled for n in (1, 2, 3)},
    "upsample_linear1d": upsampled, "upsample_bilinear2d": upsampled,
    "upsample_trilinear3d": upsampled, "upsample_bicubic2d": upsampled,
}  # fmt: skip
