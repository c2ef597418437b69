"""The helpers of tests of commands: a program, files, and the output of a command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuseloom.cli import main
from fuseloom.dataflow.sim.output import output_tensor
from fuseloom.program.storage import StoredTensor

CHAIN = """
program chain
A: 4x4 csr
x: 4 dense
y[i] = A[i,j] * x[j]
z[i] = relu(y[i])
"""
INTERPRETER = ("--engine", "interpreter")


def file(folder: Path, name: str, content: str | bytes) -> str:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def tensors(folder: Path, **arrays: Any) -> str:
    path = folder / "tensors.npz"
    np.savez(path, **arrays)
    return str(path)


def output(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    """Return the output of a command that ends with that exit code."""
    assert main(arguments) == code
    return capsys.readouterr().out


def error(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line of a command that refuses what it was given."""
    assert main([*arguments]) == 2
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    return text


def wrong_by(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every run write values that are too large by a share of themselves."""

    def spoilt(*given: Any) -> StoredTensor:
        stored = output_tensor(*given)
        return replace(stored, values=(stored.values * (1 + share)).astype(np.float32))

    monkeypatch.setattr("fuseloom.dataflow.sim.program_runs.output_tensor", spoilt)
