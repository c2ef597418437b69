"""MLIR files as programs, and programs as MLIR (``docs/mlir.md``)."""

from fuseloom.frontends.mlir.imported import ImportedMlir
from fuseloom.frontends.mlir.printer import to_mlir
from fuseloom.frontends.mlir.translate import from_mlir

__all__ = ["ImportedMlir", "from_mlir", "to_mlir"]
