"""MLIR texts for tests."""

from __future__ import annotations

from .files import imported


def statements(name: str) -> list[str]:
    from fuseloom.program.printer import statement_text

    return [statement_text(s) for s in imported(name).program.statements]


OPEN = """
func.func @f(%A: tensor<?x?xf32>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %e = tensor.empty() : tensor<?xf32>
  %y = linalg.matvec ins(%A, %x : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>)
  return %y : tensor<?xf32>
}
"""
