"""A routine that adds a number to the elements of an array."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fuseloom.codegen.compile import CompiledRoutines
from fuseloom.codegen.imperative import (
    Add,
    ArrayParameter,
    For,
    Int,
    Real,
    Routine,
    Var,
)


def adds(value: float) -> Routine:
    body = (For("v0", Int(0), Var("n0"), (Add("r0", Var("v0"), Real(value)),)),)
    return Routine(("n0",), (ArrayParameter("r0", True, True),), (), body)


def result(built: CompiledRoutines) -> list[float]:
    found = np.zeros(3)
    built.calls[0](np.array([2]), [found])
    return found.tolist()


def script(path: Path, text: str) -> str:
    """A program of a shell."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)
