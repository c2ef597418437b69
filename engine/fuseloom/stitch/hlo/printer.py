"""Modules printed as HLO text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom.stitch.graph import DenseComputation, DenseModule, DenseOperation
from fuseloom.stitch.hlo.attributes import print_attribute
from fuseloom.stitch.hlo.literals import print_literal

_LAYOUTS = ("layout", "operand_layout")


def print_hlo(module: DenseModule) -> str:
    """Print a module as text that :func:`read_hlo` and XLA read.

    Layouts are left out if they are row-major.

    Examples
    --------
    >>> from fuseloom.stitch.hlo.reader import read_hlo
    >>> print(print_hlo(read_hlo('''HloModule m
    ... ENTRY %main (x: f32[2]) -> f32[2] {
    ...   %x = f32[2]{0} parameter(0)
    ...   ROOT %y = f32[2]{0} negate(f32[2]{0} %x), metadata={op_name="neg"}
    ... }''')))
    HloModule m
    <BLANKLINE>
    ENTRY main {
      x = f32[2] parameter(0)
      ROOT y = f32[2] negate(x)
    }
    <BLANKLINE>
    """
    parts = [f"HloModule {module.name}\n"]
    for computation in module.computations.values():
        entry = "ENTRY " if computation.name == module.entry else ""
        rows = "\n".join(_rows(computation))
        parts.append(f"{entry}{computation.name} {{\n{rows}\n}}\n")
    return "\n".join(parts)


def _rows(computation: DenseComputation) -> list[str]:
    layouts = _layouts(computation)
    return [
        ("  ROOT " if one.name == computation.root else "  ") + _row(one, layouts)
        for one in computation.operations
    ]


def _layouts(computation: DenseComputation) -> Mapping[str, tuple[int, ...]]:
    """Layouts of values that bitcasts go from and to."""
    layouts: dict[str, Any] = {}
    for operation in computation.operations:
        if operation.opcode == "bitcast" and "layout" in operation.attributes:
            layouts[operation.operands[0]] = operation.attributes["operand_layout"]
            layouts[operation.name] = operation.attributes["layout"]
    return layouts


def _row(operation: DenseOperation, layouts: Mapping[str, tuple[int, ...]]) -> str:
    attributes = dict(operation.attributes)
    if operation.opcode == "parameter":
        inside = str(attributes.pop("number"))
    elif operation.literal is not None:
        inside = print_literal(operation.literal)
    else:
        inside = ", ".join(operation.operands)
    if operation.opcode == "bitcast":
        attributes = {key: value for key, value in attributes.items() if key not in _LAYOUTS}
    layout = layouts.get(operation.name)
    order = "" if layout is None else f"{{{','.join(map(str, layout))}}}"
    rest = "".join(f", {print_attribute(*pair)}" for pair in attributes.items())
    return f"{operation.name} = {operation.shape}{order} {operation.opcode}({inside}){rest}"
