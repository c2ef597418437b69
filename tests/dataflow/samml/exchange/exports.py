"""Graphs exported to SAM's dialect."""

from __future__ import annotations

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.samml.exchange import export_sam
from fuseloom.program import parse

PRODUCT = "A: 4x5 dcsr\nB: 4x5 dcsr\nT[i,j] = A[i,j] * B[i,j]"


def exported(text: str, strict: bool = False) -> tuple[Compilation, str, list[str]]:
    compiled = compile_program(parse(text))
    made = export_sam(compiled.regions[0].graph, compiled.program.by_name, strict=strict)
    return compiled, made.text, list(map(str, made.notes))
