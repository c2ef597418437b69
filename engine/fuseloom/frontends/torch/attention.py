"""Attention with masks of all kinds, causal or not, with fewer heads of keys than of queries."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from fuseloom.frontends.torch import views
from fuseloom.frontends.torch.masks import HUGE, apply_mask, masked, under_mask
from fuseloom.frontends.torch.products import product
from fuseloom.frontends.torch.reductions import softmax_of
from fuseloom.frontends.torch.traced import Traced
from fuseloom.frontends.torch.values import Value


def attention(
    m: Traced,
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Value:
    """``softmax(q k^T scale, where the mask keeps) v``."""
    b = m.builder
    if dropout_p:
        raise b.refuse("attention with dropout", "call module.eval() and pass dropout_p=0")
    q, k, v = m.value(query), m.value(key), m.value(value)
    if enable_gqa:
        k, v = (_for_all_heads(m, given, q.shape[-3]) for given in (k, v))
    turned = k.picked([*range(k.rank - 2), k.rank - 1, k.rank - 2],
                      [*k.shape[:-2], k.shape[-1], k.shape[-2]])  # fmt: skip
    logits = b.scale(
        product(m, q, turned, "logits"), q.shape[-1] ** -0.5 if scale is None else float(scale)
    )
    if is_causal:
        kept = m.torch.ones(logits.shape[-2:]).tril()
        keep = b.feed(f"{b.node.name}_causal", kept.shape, lambda env: kept, keep=True)
        logits = apply_mask(m, logits, keep)
    if attn_mask is not None:
        logits = _masked(m, logits, attn_mask)
    return product(m, softmax_of(m, logits, logits.rank - 1), v)


def _for_all_heads(m: Traced, value: Value, heads: int) -> Value:
    """Each head of keys or values for several heads of queries."""
    dim = value.rank - 3
    each = heads // value.shape[dim]
    return views.selected(m.builder, value, dim, [n // each for n in range(heads)], "heads")


def _masked(m: Traced, logits: Value, mask: Any) -> Value:
    """Return the masked logits: a known mask removes elements, and adds to the others."""
    held = m.held(mask)
    if held is None:
        return m.builder.add(logits, m.value(mask), "biased")
    if held.dtype == m.torch.bool:
        return masked(m, logits, mask, False, f"{mask.name}_keep")
    if bool((held == -math.inf).any()):
        bound = -math.inf
    elif bool((held <= -HUGE).any()) and not bool((held <= -HUGE).all(-1).any()):
        bound = -HUGE
    else:
        return m.builder.add(logits, m.value(mask), "biased")
    return under_mask(m, logits, mask, bound)


HANDLERS: dict[str, Callable[..., Any]] = {"scaled_dot_product_attention": attention}
