"""SAM graphs as text, and runs of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fuseloom.dataflow.samml.exchange import export_sam, import_sam
from fuseloom.dataflow.samml.exchange.record import ImportedGraph
from fuseloom.dataflow.samml.exchange.sam_file import read_sam
from fuseloom.dataflow.samml.exchange.sam_import import import_repaired
from fuseloom.dataflow.sim.imported_runs import ImportedRun, run_imported
from fuseloom.errors import FuseloomError
from fuseloom.program.arrays import store_operand
from tests.dataflow.samml.exchange.sam_graphs import dot

SEED = 20_251_101


def run_text(
    text: str, arrays: dict[str, np.ndarray], machine=None
) -> tuple[ImportedGraph, ImportedRun]:
    file = read_sam(text)
    imported = import_repaired(file, {name: np.shape(a) for name, a in arrays.items()})
    data = {n: store_operand(t, arrays) for n, t in imported.tensors.items()}
    return imported, run_imported(imported, data, machine, engine="interpreter")


def is_refused(text: str, arrays: dict[str, np.ndarray]) -> bool:
    try:
        run_text(text, arrays)
    except FuseloomError as problem:
        return "\n" not in problem.message
    return False


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


DENSITIES = (0.0, 0.2, 0.5, 1.0)


def signed(rng: np.random.Generator, shape: tuple[int, ...], density: float) -> np.ndarray:
    values = rng.integers(1, 6, size=shape) * rng.choice([-1, 1], size=shape)
    return (values * (rng.random(shape) < density)).astype(np.float64)


def agrees(
    text: str,
    shapes: dict[str, tuple[int, ...]],
    meaning: Callable[[dict[str, np.ndarray]], np.ndarray],
) -> ImportedGraph:
    """The graph gives what it means on sparse and dense data, and goes out and in unchanged."""
    for trial, density in enumerate(DENSITIES * 2):
        print(f"seed {SEED + trial}")
        rng = np.random.default_rng(SEED + trial)
        arrays = {name: signed(rng, shape, density) for name, shape in shapes.items()}
        imported, run = run_text(text, arrays)
        assert run.check(meaning(arrays)).ok, f"{imported.graph}\n{text}"
    declared = {**imported.tensors, **{t.name: t for t in imported.outputs}}
    again = import_sam(export_sam(imported.graph, declared).text, shapes)
    assert again.graph == imported.graph.bare()
    return imported


def rules(imported: ImportedGraph) -> set[str]:
    return {repair.rule.name for repair in imported.repairs}


def on_vector(units: str, edges: str, last: str) -> str:
    """``x(i) = f(b(i))``: values of b leave node 2, those of x come from node ``last``."""
    return dot(
        "x=s0,b=s0",
        f"""3 fiberlookup index=i tensor=b mode=0 format=compressed root=true
        1 fiberwrite index=i tensor=x mode=0
        2 arrayvals tensor=b
        0 fiberwrite tensor=x mode=vals
        {units}""",
        f"3>1 crd\n3>2 ref\n{edges}\n{last}>0 val",
    )


def where(present: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.where(present, values, 0.0)


def common(joiner: str, units: str, edges: str) -> str:
    """Vectors b and c joined; their values leave nodes 5 and 6."""
    return dot(
        "x=s0,b=s0,c=s0",
        f"""8 fiberlookup index=i tensor=b mode=0 format=compressed root=true
        9 fiberlookup index=i tensor=c mode=0 format=compressed root=true
        7 {joiner} index=i
        5 arrayvals tensor=b
        6 arrayvals tensor=c
        1 fiberwrite index=i tensor=x mode=0
        0 fiberwrite tensor=x mode=vals
        {units}""",
        f"""8>7 crd in-b
        8>7 ref in-b
        9>7 crd in-c
        9>7 ref in-c
        7>5 ref out-b
        7>6 ref out-c
        7>1 crd
        {edges}""",
    )


SUM = "5>4 val\n6>4 val\n"
POWER = """14 fp_mul rb_const=1.44269504089
    15 broadcast
    16 fgetfint
    17 fgetffrac
    18 and rb_const=255
    19 arrayvals tensor=table
    20 faddiexp"""
POWER_EDGES = """14>15 val
    15>16 val
    15>17 val
    17>18 val
    18>19 ref
    19>20 val fp
    16>20 val exp
    20>0 val"""
