"""Kernels that are compiled already, for processes that run a changed copy of the engine."""

from __future__ import annotations

from collections.abc import Collection

from fuseloom.dataflow.sim.compiled import cache
from fuseloom.dataflow.sim.compiled.code_files import SUFFIX


def taking_kernels(but: Collection[str]) -> str:
    """The beginning of a program that takes all compiled kernels of this engine into its own cache.

    Parameters
    ----------
    but : collection of str
        Names of kernels that a change of the copy is about, which the program has to compile.
    """
    return f"""
import shutil
from pathlib import Path
from fuseloom.dataflow.sim.compiled import cache
from fuseloom.dataflow.sim.compiled.code_files import own_folder

for file in Path({str(cache.directory())!r}).glob("*{SUFFIX}"):
    if file.stem not in {sorted(but)!r}:
        shutil.copy2(file, own_folder(cache.directory()))
"""
