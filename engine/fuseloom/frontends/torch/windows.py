"""Convolutions: a window over a dimension is a product with a tensor that is declared.

``S[place, inside, at]`` has an element where the window at ``place`` has ``at`` at its position
``inside``, and none where it reaches into the padding.  A convolution is then a product of the
input, one such tensor per spatial dimension, and the kernel; a transposed one has the same form
with another ``S``.  A maximum skips what a window lacks, so padding never wins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fuseloom.frontends.algebra import moves
from fuseloom.frontends.torch import views
from fuseloom.frontends.torch.builder import LETTERS, TorchBuilder
from fuseloom.frontends.torch.nodes import shape_of
from fuseloom.frontends.torch.traced import Traced
from fuseloom.frontends.torch.values import Fetch, Value
from fuseloom.program.relations import Relation


@dataclass(frozen=True)
class SlidingWindows:
    """The windows over one dimension.

    Attributes
    ----------
    shape : tuple of int
        Places of windows, positions inside, and elements of the dimension.
    relation : Relation, optional
        What they reach; None where data say it.
    fetch : callable, optional
        The 0/1 tensor that says it, from the known values of the traced graph.
    held : int
        How many ones that has.
    """

    shape: tuple[int, int, int]
    relation: Relation | None = None
    fetch: Fetch | None = None
    held: int = 0

    def input(self, b: TorchBuilder) -> Value:
        """The input of the program that has ones where a window reaches an element."""
        if self.relation is not None:
            return b.made("windows", self.relation, self.shape)
        assert self.fetch is not None
        return b.feed(f"{b.node.name}_windows", self.shape, self.fetch, keep=True)

    @cached_property
    def count(self) -> int:
        """The number of ones: of pairs of a window and an element that it reaches."""
        return self.held if self.relation is None else len(self.relation.coordinates(self.shape))

    @property
    def single(self) -> bool:
        """True if each window is the one element at its place."""
        places, size, length = self.shape
        if self.relation is None or size > 1 or places != length:
            return False
        at = self.relation.coordinates(self.shape)
        return len(at) == places and bool((at[:, 0] == at[:, 2]).all())


def declared(
    b: TorchBuilder, relation: Relation, places: int, size: int, length: int
) -> SlidingWindows:
    """Windows that a relation says.

    Raises
    ------
    ProgramError
        More ones than a declared tensor may have.
    """
    b.check_made("windows", relation, (places, size, length))
    return SlidingWindows((places, size, length), relation)


def each(given: Any, count: int) -> list[Any]:
    """One number per dimension; PyTorch takes one for all of them."""
    numbers = list(given) if isinstance(given, Sequence) else [given]
    return numbers * count if len(numbers) == 1 else numbers


def spread(m: Traced, value: Value, dim: int, windows: SlidingWindows) -> Value:
    """The value with dimension ``dim`` as two: places of windows, and positions inside."""
    b = m.builder
    if windows.single:
        dims: list[int | None] = [*range(dim + 1), None, *range(dim + 1, value.rank)]
        return value.picked(dims, [*value.shape[: dim + 1], 1, *value.shape[dim + 1 :]])
    value = b.stored_dims(value, [dim])
    names = list(LETTERS[: value.rank])
    out = [*names[:dim], "y", "z", *names[dim + 1 :]]
    return b.contract([(windows.input(b), ["y", "z", names[dim]]), (value, names)], out, "spread")


def spread_in_turn(m: Traced, value: Value, windows: Mapping[int, SlidingWindows]) -> Value:
    """The value with each of some dimensions as two, one after another."""
    for more, (dim, along) in enumerate(sorted(windows.items())):
        value = spread(m, value, dim + more, along)
    return value


def spread_together(m: Traced, value: Value, windows: Mapping[int, SlidingWindows]) -> Value:
    """The same by one product, which takes fewer cycles unfused, and hardly more fused."""
    if any(along.single for along in windows.values()):
        return spread_in_turn(m, value, windows)
    b = m.builder
    value = b.stored_dims(value, [*windows])
    names, more_names = list(LETTERS[: value.rank]), iter(LETTERS[value.rank :])
    labels = {dim: (next(more_names), next(more_names)) for dim in windows}
    operands: list[tuple[Value, Sequence[str]]] = [(value, names)]
    for dim, along in windows.items():
        operands.append((along.input(b), [*labels[dim], names[dim]]))
    out = [x for dim, name in enumerate(names) for x in labels.get(dim, (name,))]
    return b.contract(operands, out, "spread")


# Convolutions -------------------------------------------------------------------------------------


def convolution(
    m: Traced,
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Value:
    """``conv1d`` to ``conv3d``."""
    kernel = m.value(weight)
    count = kernel.rank - 2
    size, step, gap = kernel.shape[2:], each(stride, count), each(dilation, count)
    before = _before(padding, size, gap)
    value = _batched(m, m.value(input), count)
    if groups == 1 and _side_by_side(value, kernel, before, step, gap):
        patches = _patches(m, value, size)
    else:
        relations = [moves.windows(s, d, p) for s, p, d in zip(step, before, gap, strict=True)]
        patches = spread_together(m, value, _of_image(m, value, size, relations))
    return _product(m, patches, _kernel(m, weight, kernel, groups, False), bias)


def transposed_convolution(
    m: Traced,
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Value:
    """``conv_transpose1d`` to ``conv_transpose3d``."""
    kernel = m.value(weight)
    count = kernel.rank - 2
    size, gap = kernel.shape[2:], each(dilation, count)
    steps = zip(each(stride, count), each(padding, count), gap, strict=True)
    value = _batched(m, m.value(input), count)
    relations = [moves.transposed_windows(s, d, p) for s, p, d in steps]
    windows = _of_image(m, value, size, relations)
    patches = spread_in_turn(m, value, windows)  # fused, one product would take more cycles
    return _product(m, patches, _kernel(m, weight, kernel, groups, True), bias)


def general(
    m: Traced,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Value:
    """``convolution``, which the others decompose to."""
    if transposed:
        return transposed_convolution(
            m, input, weight, bias, stride, padding, output_padding, groups, dilation
        )
    return convolution(m, input, weight, bias, stride, padding, dilation, groups)


def _before(padding: Any, size: Sequence[int], gap: Sequence[int]) -> list[int]:
    """Padding in front; what is behind follows from the size of the result."""
    if padding == "valid":
        return [0] * len(size)
    if padding == "same":
        return [d * (k - 1) // 2 for k, d in zip(size, gap, strict=True)]
    return each(padding, len(size))


def _batched(m: Traced, value: Value, count: int) -> Value:
    value = m.builder.unmasked(value, "a window")
    if value.rank == count + 2:
        return value
    return value.picked([None, *range(value.rank)], (1, *value.shape))


def _side_by_side(
    value: Value, kernel: Value, before: Sequence[int], step: Sequence[int], gap: Sequence[int]
) -> bool:
    """Return whether windows tile the image: patches, which a reshape makes."""
    size = kernel.shape[2:]
    dilated = any(k > 1 and d > 1 for k, d in zip(size, gap, strict=True))
    return not any(before) and not dilated and tuple(step) == tuple(size)


def _of_image(
    m: Traced, value: Value, size: Sequence[int], relations: Sequence[Relation]
) -> dict[int, SlidingWindows]:
    """The windows of each spatial dimension, which come after n and c."""
    wanted = m.builder.node.meta["val"].shape[-len(size) :]
    return {
        dim: declared(m.builder, relation, places, width, value.shape[dim])
        for dim, (places, width, relation) in enumerate(
            zip(wanted, size, relations, strict=True), 2
        )
    }


def _patches(m: Traced, value: Value, window: Sequence[int]) -> Value:
    """Each spatial dimension as two, the place of the window and the place inside of it."""
    shape: list[int] = list(value.shape[:2])
    for dim, size in enumerate(window, 2):
        places = value.shape[dim] // size
        if places * size != value.shape[dim]:  # what no window reaches
            value = views.pieces(m.builder, "slice", value, (dim, 0, places * size))
        shape += [places, size]
    return views.moved(m.builder, value, shape)


def _kernel(
    m: Traced, node: Any, kernel: Value, groups: int, transposed_convolution: bool
) -> tuple[Value, bool]:
    """The kernel as (outputs, inputs, ...), and whether it is one filter per channel.

    That of several groups is sparse: an output has elements for the inputs of its group alone.
    """
    if groups == 1:
        order = (
            [1, 0, *range(2, kernel.rank)] if transposed_convolution else list(range(kernel.rank))
        )
        return kernel.picked(order, [kernel.shape[d] for d in order]), False
    if kernel.shape[0] == groups and kernel.shape[1] == 1:
        return kernel, True
    if m.held(node) is None:
        raise m.builder.refuse(
            "a convolution in groups whose kernel is computed",
            "give the kernel as a parameter, or convolve each group by itself and concatenate",
        )

    def whole(held: Any) -> Any:
        parts = held.chunk(groups)
        if transposed_convolution:
            parts = [part.transpose(0, 1) for part in parts]
        outputs, inputs = parts[0].shape[:2]
        made = held.new_zeros(groups * outputs, groups * inputs, *held.shape[2:])
        for g, part in enumerate(parts):
            made[g * outputs : (g + 1) * outputs, g * inputs : (g + 1) * inputs] = part
        return made

    return m.derived(node, f"{node.name}_groups", whole, keep=True), False


def _product(m: Traced, patches: Value, kernel: tuple[Value, bool], bias: Any) -> Value:
    b = m.builder
    weights, own = kernel
    count = weights.rank - 2
    n, c, o, *rest = list(LETTERS)
    places, inside = rest[:count], rest[count : 2 * count]
    within = [x for pair in zip(places, inside, strict=True) for x in pair]
    if own:
        operands = [(patches, [n, c, *within]), (weights, [c, o, *inside])]
        out = [n, c, *places]
    else:
        operands = [(patches, [n, c, *within]), (weights, [o, c, *inside])]
        out = [n, o, *places]
    result = b.contract(operands, out, "product")
    if bias is not None:
        given = m.value(bias)
        shape = (1, given.shape[0], *[1] * count)
        result = b.add(result, given.picked([None, 0, *[None] * count], shape), "biased")
    return _unbatched(m, result)


def _unbatched(m: Traced, result: Value) -> Value:
    wanted = shape_of(m.builder.node)
    if len(wanted) == result.rank:
        return result
    result = m.builder.dropped(result, [0])
    return result.picked(list(range(1, result.rank)), wanted)


# Windows as they are ------------------------------------------------------------------------------


def im2col(m: Traced, x: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Value:
    """``F.unfold``: the windows of an image as columns."""
    value = _batched(m, m.value(x), 2)
    size, step, gap = each(kernel_size, 2), each(stride, 2), each(dilation, 2)
    before = each(padding, 2)
    windows = {}
    for n, length in enumerate(value.shape[2:]):
        places = (length + 2 * before[n] - gap[n] * (size[n] - 1) - 1) // step[n] + 1
        relation = moves.windows(step[n], gap[n], before[n])
        windows[2 + n] = declared(m.builder, relation, places, size[n], length)
    value = spread_in_turn(m, value, windows)
    order = [0, 1, 3, 5, 2, 4]
    value = value.picked(order, [value.shape[d] for d in order])
    n, c, kh, kw, oh, ow = value.shape
    result = views.moved(m.builder, value, (n, c * kh * kw, oh * ow))
    return _unbatched(m, result)


def unfold(m: Traced, x: Any, dimension: int, size: int, step: int) -> Value:
    """``tensor.unfold``: windows of one dimension, the positions inside of them last."""
    value = m.builder.unmasked(m.value(x), "a window")
    if value.rank == 0:
        raise m.builder.refuse("unfold of a scalar", "unfold a dimension of a tensor")
    dim = m.builder.axis(dimension, value.rank)
    places = (value.shape[dim] - size) // step + 1
    windows = declared(m.builder, moves.windows(step), places, size, value.shape[dim])
    value = spread(m, value, dim, windows)
    order = [d for d in range(value.rank) if d != dim + 1] + [dim + 1]
    return value.picked(order, [value.shape[d] for d in order])


HANDLERS: dict[str, Callable[..., Any]] = {
    "conv1d": convolution, "conv2d": convolution, "conv3d": convolution,
    **{f"conv_transpose{n}d": transposed_convolution for n in (1, 2, 3)},
    "convolution": general,
    "im2col": im2col, "unfold": unfold,
}  # fmt: skip
