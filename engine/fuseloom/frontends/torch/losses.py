"""Losses: sums of simple terms, linear in the logarithms where the targets are known."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from fuseloom.frontends.algebra import functions
from fuseloom.frontends.algebra.expressions import Node, Num
from fuseloom.frontends.torch.elementwise import compute, on_stored
from fuseloom.frontends.torch.reductions import log_softmax_of
from fuseloom.frontends.torch.traced import Traced
from fuseloom.frontends.torch.values import Value
from fuseloom.program import Op

NONE, MEAN, SUM = 0, 1, 2
"""The numbers in PyTorch for the reductions of a loss."""


def reduced(m: Traced, terms: Value, reduction: int) -> Value:
    """The terms themselves, their mean, or their sum."""
    b = m.builder
    if reduction == NONE:
        return terms
    dims = list(range(terms.rank))
    total = b.reduce(Op.SUM, terms, dims, "total").picked([], ())
    return b.scale(total, 1.0 / math.prod(terms.shape), "mean") if reduction == MEAN else total


# Classes ------------------------------------------------------------------------------------------


def nll_loss(
    m: Traced,
    x: Any,
    target: Any,
    weight: Any = None,
    reduction: int = MEAN,
    ignore_index: int = -100,
) -> Value:
    return _of_classes(m, m.value(x), target, weight, reduction, ignore_index, 0.0)


def nll_loss_forward(m: Traced, *given: Any, **named: Any) -> Any:
    return nll_loss(m, *given, **named), None


def cross_entropy(
    m: Traced,
    x: Any,
    target: Any,
    weight: Any = None,
    reduction: int = MEAN,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Value:
    logits = m.value(x)
    logarithms = log_softmax_of(m, logits, min(1, logits.rank - 1))
    if target.meta["val"].is_floating_point():
        return _of_shares(m, logarithms, target, weight, reduction, label_smoothing)
    return _of_classes(m, logarithms, target, weight, reduction, ignore_index, label_smoothing)


def _of_classes(
    m: Traced,
    logarithms: Value,
    target: Any,
    weight: Any,
    reduction: int,
    ignored: int,
    smoothing: float,
) -> Value:
    """A product with known coefficients: minus the weight of the target's class, where it is."""
    b, torch = m.builder, m.torch
    for given in (target, *([] if weight is None else [weight])):
        if m.held(given) is None:
            raise b.refuse(
                "a loss whose targets or class weights are computed",
                "give the classes and their weights as inputs or buffers",
            )
    dim = min(1, logarithms.rank - 1)
    classes = logarithms.shape[dim]
    shape = logarithms.shape

    def coefficients(env: Any) -> Any:
        held = env[target.name].long()
        share = (
            torch.ones(classes, dtype=torch.float64)
            if weight is None
            else env[weight.name].detach().double()
        )
        counted = held != ignored
        chosen = torch.nn.functional.one_hot(held.clamp(0, classes - 1), classes).double()
        own = chosen * share * counted[..., None]
        mixed = (1 - smoothing) * own
        if smoothing:
            mixed = mixed + smoothing / classes * share * counted[..., None].double()
        if reduction == MEAN:
            mixed = mixed / own.sum()
        return -mixed.movedim(-1, dim).reshape(shape)

    made = b.feed(f"{b.node.name}_targets", shape, coefficients, _origins(m, target, weight), True)
    names = "ijklmnpq"[: len(shape)]
    out = [x for d, x in enumerate(names) if d != dim] if reduction == NONE else []
    return b.contract([(made, names), (b.stored_dims(logarithms), names)], out, "loss")


def _origins(m: Traced, *nodes: Any) -> tuple[str, ...]:
    return tuple(x for n in nodes if n is not None for x in m.origins.get(n.name, ()))


def _of_shares(
    m: Traced, logarithms: Value, target: Any, weight: Any, reduction: int, smoothing: float
) -> Value:
    """Targets that are shares of the classes."""
    b, shares = m.builder, m.value(target)
    dim = min(1, logarithms.rank - 1)
    classes = logarithms.shape[dim]
    if smoothing:
        shares = b.shift(b.scale(shares, 1 - smoothing, "less"), smoothing / classes)
    terms = b.mul(shares, logarithms, "terms")
    if weight is not None:
        dims = [0 if d == dim else None for d in range(logarithms.rank)]
        shape = [classes if d == dim else 1 for d in range(logarithms.rank)]
        terms = b.mul(terms, m.value(weight).picked(dims, shape), "weighted")
    terms = b.scale(terms, -1.0, "negative")
    if reduction == NONE:
        each = b.reduce(Op.SUM, terms, [dim], "loss")
        rest = [d for d in range(each.rank) if d != dim]
        return each.picked(rest, [each.shape[d] for d in rest])
    total = reduced(m, terms, SUM)
    count = math.prod(n for d, n in enumerate(logarithms.shape) if d != dim or logarithms.rank == 1)
    count = 1 if logarithms.rank == 1 else count
    return b.scale(total, 1.0 / count, "mean") if reduction == MEAN else total


# Yes or no ----------------------------------------------------------------------------------------


def binary(m: Traced, x: Any, target: Any, weight: Any = None, reduction: int = MEAN) -> Value:
    """``-(t log x + (1 - t) log(1 - x))``, logarithms at least -100."""

    def terms(v: Node, t: Node) -> Node:
        def bounded(x: Node) -> Node:
            return functions.relu(functions.log(x) + 100.0) - 100.0

        return -(t * bounded(v) + (1.0 - t) * bounded(1.0 - v))

    return _weighted(m, compute(m.builder, terms, m.value(x), m.value(target)), weight, reduction)


def binary_with_logits(
    m: Traced,
    x: Any,
    target: Any,
    weight: Any = None,
    pos_weight: Any = None,
    reduction: int = MEAN,
) -> Value:
    """``(1 - t) x + (1 + (p - 1) t) log(1 + exp(-x))``, which does not overflow."""

    def terms(v: Node, t: Node, *positive: Node) -> Node:
        soft = functions.log_of_one_and_exp(v) + functions.negative_part(v)
        for p in positive:
            soft = soft * (1.0 + (p - 1.0) * t)
        return (1.0 - t) * v + soft

    given = [m.value(node) for node in (x, target, pos_weight) if node is not None]
    return _weighted(m, compute(m.builder, terms, *given), weight, reduction)


def _weighted(m: Traced, terms: Value, weight: Any, reduction: int) -> Value:
    if weight is not None:
        terms = m.builder.mul(terms, m.value(weight), "weighted")
    return reduced(m, terms, reduction)


# Numbers ------------------------------------------------------------------------------------------


def huber(m: Traced, x: Any, target: Any, reduction: int = MEAN, delta: float = 1.0) -> Value:
    """With ``c = min(|x - t|, d)``: ``c (|x - t| - c / 2)``."""

    def terms(gap: Node) -> Node:
        size = functions.absolute(gap)
        near = functions.clamp(size, None, Num(float(delta)))
        return near * (size - near * 0.5)

    gap = m.builder.add(m.value(x), m.value(target), "gap", Op.SUB)
    return reduced(m, compute(m.builder, terms, gap), reduction)


def smooth_l1(m: Traced, x: Any, target: Any, reduction: int = MEAN, beta: float = 1.0) -> Value:
    b = m.builder
    if beta == 0:
        gap = b.add(m.value(x), m.value(target), "gap", Op.SUB)
        return reduced(m, b.apply(Op.ABS, gap), reduction)
    return b.scale(huber(m, x, target, reduction, beta), 1.0 / beta)


TINY = 1.2e-38
"""The least normal number of float32, about; 0 times its logarithm is 0."""


def divergence(
    m: Traced, x: Any, target: Any, reduction: int = MEAN, log_target: bool = False
) -> Value:
    """``t (log t - x)``, or ``exp(t) (t - x)``."""
    b, value, wanted = m.builder, m.value(x), m.value(target)
    if log_target:
        wanted = b.filled(wanted)
        gap = b.add(wanted, value, "gap", Op.SUB)
        return reduced(m, b.mul(b.apply(Op.EXP, wanted), gap, "terms"), reduction)
    logarithm = on_stored(b, wanted, lambda v: b.apply(Op.LOG, b.at_least(v, TINY)))
    gap = b.add(logarithm, value, "gap", Op.SUB)
    return reduced(m, b.mul(wanted, gap, "terms"), reduction)


HANDLERS: dict[str, Callable[..., Any]] = {
    "nll_loss": nll_loss, "nll_loss_nd": nll_loss, "nll_loss2d": nll_loss,
    "nll_loss_forward": nll_loss_forward, "nll_loss2d_forward": nll_loss_forward,
    "cross_entropy_loss": cross_entropy, "binary_cross_entropy": binary,
    "binary_cross_entropy_with_logits": binary_with_logits, "huber_loss": huber,
    "smooth_l1_loss": smooth_l1, "kl_div": divergence,
}  # fmt: skip
