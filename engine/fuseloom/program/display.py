"""A program as a notebook shows it."""

from __future__ import annotations

from fuseloom.display import Markup, shown, table, tag
from fuseloom.program.formats import format_text
from fuseloom.program.printer import statement_text
from fuseloom.program.types import Program, Tensor


def program_html(program: Program) -> Markup:
    """Tensors with their sizes and formats, and the statements."""
    rows = [
        (
            tag("code", t.name),
            " × ".join(f"{size:,}" for size in t.shape) or "a number",
            format_text(t.format) if t.rank else "–",
            _role(program, t),
        )
        for t in program.tensors
    ]
    statements = "\n".join(statement_text(s) for s in program.statements)
    return shown(
        tag("h4", f"program {program.name}"),
        table(["tensor", "size", "format", "is"], rows),
        tag("pre", statements),
    )


def _role(program: Program, tensor: Tensor) -> str:
    if tensor.name in program.outputs:
        return "output"
    if tensor.made is not None:
        names = tuple(f"d{k}" for k in range(tensor.rank))
        return f"made: {tensor.made.text(names)}"
    return "input" if tensor.name in program.inputs else "between statements"
