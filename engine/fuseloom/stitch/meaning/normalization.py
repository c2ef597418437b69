"""Meanings of batch normalization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fuseloom.stitch.graph import DenseOperation
from fuseloom.stitch.meaning.values import (
    Array,
    DenseValue,
    Meaning,
    Regions,
    attribute,
    same_types,
)


def _wide(value: Array, vectors: Sequence[Array], feature: int) -> list[Array]:
    """Operands as float64, with vectors along the dimension of features."""
    lines = [-1 if k == feature else 1 for k in range(value.ndim)]
    return [value.astype(np.float64), *(v.astype(np.float64).reshape(lines) for v in vectors)]


def _inference(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> Array:
    same_types(operation, operands)
    feature, epsilon = attribute(operation, "feature_index"), attribute(operation, "epsilon")
    x, scale, offset, mean, variance = _wide(operands[0], operands[1:5], feature)
    made = (x - mean) / np.sqrt(variance + epsilon) * scale + offset
    return np.asarray(made, operands[0].dtype)


def _training(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> DenseValue:
    same_types(operation, operands)
    feature, epsilon = attribute(operation, "feature_index"), attribute(operation, "epsilon")
    x, scale, offset = _wide(operands[0], operands[1:3], feature)
    axes = tuple(k for k in range(x.ndim) if k != feature)
    mean, variance = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    made = (x - mean) / np.sqrt(variance + epsilon) * scale + offset
    dtype = operands[0].dtype
    return made.astype(dtype), mean.reshape(-1).astype(dtype), variance.reshape(-1).astype(dtype)


def _gradient(operation: DenseOperation, operands: Sequence[Array], regions: Regions) -> DenseValue:
    same_types(operation, operands)
    feature, epsilon = attribute(operation, "feature_index"), attribute(operation, "epsilon")
    x, scale, mean, variance = _wide(operands[0], operands[1:4], feature)
    upstream = operands[4].astype(np.float64)
    axes = tuple(k for k in range(x.ndim) if k != feature)
    deviation = np.sqrt(variance + epsilon)
    normal = (x - mean) / deviation
    to_scale = (upstream * normal).sum(axes, keepdims=True)
    to_offset = upstream.sum(axes, keepdims=True)
    count = x.size // x.shape[feature]
    to_x = scale / deviation * (upstream - to_offset / count - normal * to_scale / count)
    dtype = operands[0].dtype
    return (
        to_x.astype(dtype), to_scale.reshape(-1).astype(dtype), to_offset.reshape(-1).astype(dtype)
    )  # fmt: skip


MEANINGS: Mapping[str, Meaning] = {
    "batch-norm-inference": _inference,
    "batch-norm-training": _training,
    "batch-norm-grad": _gradient,
}
