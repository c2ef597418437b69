"""SAM graphs as text, and runs of them."""

from __future__ import annotations

import numpy as np

from engine.dataflow.samml.exchange.record import Imported
from engine.dataflow.samml.exchange.sam_file import read_sam
from engine.dataflow.samml.exchange.sam_import import import_sam
from engine.dataflow.sim.imported_runs import ImportedRun, run_imported
from engine.program.arrays import store_operand

SEED = 20_251_101


def run_text(
    text: str, arrays: dict[str, np.ndarray], machine=None
) -> tuple[Imported, ImportedRun]:
    file = read_sam(text)
    imported = import_sam(file, {name: np.shape(a) for name, a in arrays.items()})
    data = {n: store_operand(t, arrays) for n, t in imported.tensors.items()}
    return imported, run_imported(imported, data, machine, engine="interpreter")


def sparse(rng: np.random.Generator, shape: tuple[int, ...], density: float) -> np.ndarray:
    values = rng.integers(1, 5, size=shape) * (rng.random(shape) < density)
    return values.astype(np.float64)


PRODUCTS = {
    "matmul": (("X", "ij"), [("B", "ik"), ("C", "kj")]),
    "matvec": (("x", "i"), [("B", "ij"), ("c", "j")]),
    "vecouter": (("X", "ij"), [("b", "i"), ("c", "j")]),
    "elemmul3": (("X", "ij"), [("B", "ij"), ("C", "ij"), ("D", "ij")]),
    "sddmm": (("X", "ij"), [("B", "ij"), ("C", "ik"), ("D", "kj")]),
    "ttv": (("X", "ij"), [("B", "ijk"), ("c", "k")]),
    "ttm": (("X", "ijk"), [("B", "ijl"), ("C", "kl")]),
    "mttkrp": (("X", "ij"), [("B", "ikl"), ("C", "kj"), ("D", "lj")]),
    "innerprod": (("x", ""), [("B", "ijk"), ("C", "ijk")]),
    "scaled": (("x", "i"), [("a", ""), ("c", "i")]),
    "sum": (("X", "jk"), [("B", "ijk")]),
    "columns": (("x", "j"), [("B", "ij")]),
    "elemmul_cube": (("X", "ijk"), [("B", "ijk"), ("C", "ijk")]),
    "two_sums": (("X", "ij"), [("B", "ikl"), ("C", "kj")]),
    "identity": (("X", "ij"), [("B", "ij")]),
}


def vector(seed: int, size: int = 9, density: float = 0.4) -> np.ndarray:
    return sparse(np.random.default_rng(seed), (size,), density)
