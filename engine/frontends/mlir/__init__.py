"""MLIR files as programs, and programs as MLIR (``fusion.md`` §9, ``docs/mlir.md``)."""

from engine.frontends.mlir.imported import ImportedMlir
from engine.frontends.mlir.printer import to_mlir
from engine.frontends.mlir.translate import from_mlir

__all__ = ["ImportedMlir", "from_mlir", "to_mlir"]
