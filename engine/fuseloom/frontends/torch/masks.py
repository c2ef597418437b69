"""Masks: filling, choosing by a condition, triangles.

Minus infinity before a softmax is sparsity: the logits lose the elements that the mask removes.
Everything else is arithmetic with a 0/1 tensor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from fuseloom.errors import DataError
from fuseloom.frontends.torch.conditions import beyond
from fuseloom.frontends.torch.elementwise import choose, wide
from fuseloom.frontends.torch.nodes import arguments, op_name, shape_of
from fuseloom.frontends.torch.traced import Traced
from fuseloom.frontends.torch.values import Support, Value
from fuseloom.frontends.torch.views import IDENTITIES
from fuseloom.program import Op

HUGE = 1e4
"""A fill below minus this, right before a softmax, removes an element: its exp rounds to 0."""

VAST = 1e30
"""The value for infinity where computed values choose it; exp of its negative is 0."""

_SOFTMAX = frozenset({"softmax", "_softmax", "log_softmax", "_log_softmax"})


def additive_mask(m: Traced, x: Any, other: Any) -> Value | None:
    """``logits + mask`` with a known mask of 0 and minus infinity (or hugely negative)."""
    for logits, mask in ((x, other), (other, x)):
        bound = mask_bound(m, mask)
        if bound is not None:
            return under_mask(m, m.value(logits), mask, bound)
    return None


def mask_bound(m: Traced, mask: Any) -> float | None:
    """Up to which number a known summand removes logits; None if it removes none."""
    held = m.held(mask)
    if held is None or not held.is_floating_point() or held.layout != m.torch.strided:
        return None
    if bool((held == -math.inf).any()):
        return -math.inf
    removed = held <= -HUGE
    return -HUGE if bool(removed.any()) and _only_softmaxes(m, removed) else None


def under_mask(m: Traced, logits: Value, mask: Any, bound: float) -> Value:
    """Without what a known mask of numbers removes, and with what else it holds added.

    A program for a mask that only removes takes no other mask that adds something.
    """

    def added(held: Any) -> Any:
        return held.masked_fill(held <= bound, 0.0)

    adds = bool((added(m.held(mask)) != 0).any())

    def kept(held: Any) -> Any:
        if not adds and bool((added(held) != 0).any()):
            raise DataError(
                f"the mask {mask.name} adds numbers, the program was made for one that only "
                "removes elements",
                hint="import the module again with this mask",
            )
        return held > bound

    if adds:
        logits = m.builder.add(logits, m.derived(mask, f"{mask.name}_added", added), "biased")
    return apply_mask(m, logits, m.derived(mask, f"{mask.name}_keep", kept, keep=True))


def _only_softmaxes(m: Traced, removed: Any) -> bool:
    """Return whether hugely negative logits may count as removed.

    The traced node must go to softmaxes only (through what changes nothing), and each of their
    fibers keep something: one that keeps nothing is uniform, not empty.
    """
    shape = shape_of(m.builder.node)
    todo, found = [m.builder.node], False
    while todo:
        for user in todo.pop().users:
            name = op_name(user) if user.op == "call_function" else user.op
            if name in IDENTITIES:
                todo.append(user)
                continue
            if name not in _SOFTMAX:
                return False
            found = True
            if bool(removed.expand(shape).all(arguments(user)["dim"]).any()):
                return False
    return found


def masked_fill(m: Traced, x: Any, mask: Any, value: Any) -> Value:
    """Minus infinity: masked logits.  A finite number c: ``x keep + c (1 - keep)``."""
    return _choose(m, mask, value, x)


def where(m: Traced, condition: Any, x: Any, other: Any) -> Value:
    return _choose(m, condition, x, other)


def fill_rows(m: Traced, x: Any, mask: Any, value: Any) -> Value:
    """``x[mask] = value`` with a mask of the leading dimensions."""
    rank = len(m.builder.node.meta["val"].shape)
    return _choose(m, mask, value, x, rank - mask.meta["val"].dim())


def _choose(m: Traced, condition: Any, yes: Any, no: Any, rest: int = 0) -> Value:
    """``yes`` where the condition holds, ``no`` elsewhere.

    ``rest`` is how many more dimensions they have, behind those of the condition.
    """
    b = m.builder
    held = m.held(condition)
    if (told := _told(m, condition)) is not None:
        return wide(m, m.value(yes if told else no))
    if held is None:
        return _computed_choice(m, m.value(condition), yes, no)
    held = held.to_dense()
    for given, other, removes in ((yes, no, True), (no, yes, False)):
        number = m.number(given)
        if number is None or m.number(other) is not None or rest:
            continue
        removed = (held != 0) if removes else (held == 0)
        if number == -math.inf or (number <= -HUGE and _only_softmaxes(m, removed)):
            return wide(m, masked(m, m.value(other), condition, removes, _label(condition)))
    parts = []
    apart = held.numel() > 1 and any(_may_be_undefined(given) for given in (yes, no))
    for given, holds in ((yes, True), (no, False)):
        number = m.number(given)
        if number == 0:
            continue
        if number is not None and not math.isfinite(number):
            raise b.refuse(f"filling with {number}", "only -inf, before a softmax, is supported")
        label = f"{condition.name}_{'yes' if holds else 'no'}"
        share = m.derived(condition, label, _holding(holds, rest), keep=apart)
        parts.append(
            b.scale(share, number, "filling")
            if number is not None
            else b.mul(m.value(given), share, "kept")
        )
    if not parts:
        return b.aligned([b.constant(0.0)], shape_of(b.node))[0]
    if len(parts) == 1:
        return wide(m, parts[0])
    total = b.add(parts[0], parts[1])
    tensors = [given for given in (yes, no) if m.number(given) is None]
    whole = all(m.value(given).support is Support.FULL for given in tensors)
    return wide(m, replace(total, support=Support.FULL) if apart and whole else total)


def _holding(holds: bool, rest: int) -> Callable[[Any], Any]:
    """Return a function that tests a known condition, with more dimensions behind."""
    return lambda t: ((t != 0) == holds).reshape([*t.shape, *[1] * rest])


def _told(m: Traced, condition: Any) -> bool | None:
    """Return the constant result of a condition on finite values; None if it depends on them."""
    if (number := m.number(condition)) is not None:
        return bool(number)
    if condition.op != "call_function":
        return None
    if not isinstance(m.values.get(condition.name), Value | None):
        return None
    first = condition.all_input_nodes[0] if condition.all_input_nodes else condition
    if first.name in m.env and first.op != "placeholder":
        return None
    return beyond(m, condition)


def _may_be_undefined(given: Any) -> bool:
    """Return whether elements that a condition omits may be NaN: ``where(x > 0, log(x), 0)``.

    Then they are not multiplied by 0, but left out.
    """
    todo, seen = [(given, 0)], set()
    while todo:
        node, depth = todo.pop()
        if getattr(node, "op", "") != "call_function" or node in seen or depth > FAR:
            continue
        if op_name(node) in PARTIAL:
            return True
        seen.add(node)
        if op_name(node) in SPREADING:
            todo.extend((n, depth + 1) for n in node.all_input_nodes)
    return False


FAR = 8
"""Operations before a choice among which those are looked for that are not defined everywhere."""
PARTIAL = frozenset(
    {
        *("log", "log2", "log10", "log1p", "logit", "xlogy", "sqrt", "rsqrt", "pow", "reciprocal"),
        *("div", "divide", "true_divide", "tan", "exp", "exp2", "expm1", "remainder", "fmod"),
    }
)
"""Functions that are not defined everywhere, or exceed float32."""
SPREADING = IDENTITIES | {
    *("add", "sub", "rsub", "mul", "multiply", "neg", "abs", "square", "clamp", "where"),
    *("masked_fill", "maximum", "minimum", "view", "unsqueeze", "expand", "lerp", "addcmul"),
}
"""Operations that give no number where an operand is none."""


def vast(number: float) -> float:
    """The number itself, or a large one in place of infinity."""
    return number if math.isfinite(number) else math.copysign(VAST, number)


def _computed_choice(m: Traced, condition: Value, yes: Any, no: Any) -> Value:
    """A choice by a condition that is computed.

    Infinity, which is chosen so that a softmax or an order leaves something out, is a large number.
    """
    numbers = [m.number(given) for given in (yes, no)]
    ends = [
        m.value(given) if number is None else vast(number)
        for given, number in zip((yes, no), numbers, strict=True)
    ]
    return wide(m, choose(m.builder, condition, *ends))


def _label(condition: Any) -> str:
    return f"{condition.name}_keep"


def triangle(lower: bool) -> Callable[..., Value]:
    """``tril`` or ``triu`` of a computed matrix: times a triangle of ones."""

    def handler(m: Traced, x: Any, diagonal: int = 0) -> Value:
        value = m.value(x)
        rows, columns = value.shape[-2:]
        ones = m.torch.ones(rows, columns)
        kept = ones.tril(diagonal) if lower else ones.triu(diagonal)
        part = m.builder.feed(
            f"{m.builder.node.name}_ones", kept.shape, lambda env: kept, keep=True
        )
        return m.builder.mul(value, part)

    return handler


def masked(m: Traced, value: Value, node: Any, removes: bool, label: str) -> Value:
    """Fill with minus infinity where a known mask removes (or does not keep)."""
    keep = m.derived(
        node, label, (lambda mask: mask == 0) if removes else (lambda mask: mask != 0), keep=True
    )
    return apply_mask(m, value, keep)


def apply_mask(m: Traced, value: Value, keep: Value) -> Value:
    """The value where ``keep``, a 0/1 tensor, has elements; minus infinity elsewhere."""
    m.builder.masks = True
    if value.support is Support.ZERO:
        value = m.builder.filled(value)
    result = m.builder.pointwise("masked", Op.MUL, [value, keep], Support.MASKED)
    mask = keep
    if value.mask is not None:
        mask = m.builder.pointwise("keep", Op.MUL, [value.mask, keep], Support.ZERO)
    elif value.support is Support.MASKED:
        return result
    return replace(result, mask=mask.expanded(result.shape))


def covers(m: Traced, value: Value, dim: int) -> bool:
    """Return whether the mask keeps something along ``dim`` everywhere, as data then must."""
    mask = value.mask
    axis = None if mask is None else mask.axes[dim]
    if mask is None or axis is None or mask.tensor not in m.builder.feeds:
        return False
    feed = m.builder.feeds[mask.tensor]

    def covered(env: Mapping[str, Any]) -> bool:
        return bool(m.torch.as_tensor(feed.fetch(env)).bool().any(axis).all())

    def check(env: Mapping[str, Any]) -> None:
        if not covered(env):
            raise DataError(
                f"the mask {feed.name} removes a whole fiber along dimension {axis}, the program "
                "was made for masks that do not",
                hint="import the module again with this mask",
            )

    if not covered(m.env):
        return False
    m.builder.checks[f"{feed.name} {axis}"] = check
    return True


HANDLERS: dict[str, Callable[..., Any]] = {
    "masked_fill": masked_fill, "where": where, "tril": triangle(True), "triu": triangle(False),
}  # fmt: skip
