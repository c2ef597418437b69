"""Frontends: take what users have (files of tensors and graphs, MLIR text, PyTorch modules); give
programs and data, checked before anything is believed.  One package per source, each ignorant of
the others."""

__all__ = ["files", "mlir", "torch"]
