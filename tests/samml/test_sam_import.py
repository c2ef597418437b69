"""Graphs in the DOT dialect of the Custard compiler: imported, run and compared with numpy."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from engine.program.arrays import store_operand
from engine.samml.exchange.record import Imported
from engine.samml.exchange.sam_file import read_sam
from engine.samml.exchange.sam_import import import_sam
from engine.sim.imported import ImportedRun, run_imported
from tests.samml.sam_graphs import product_graph

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
    "identity": (("X", "ij"), [("B", "ij")]),
}
CASES = [
    pytest.param(kernel, "".join(order), flawed, id=f"{kernel}-{''.join(order)}-{flawed}")
    for kernel, (_, operands) in PRODUCTS.items()
    for order in itertools.permutations(sorted({x for _, xs in operands for x in xs}))
    for flawed in (False, True)
]


def accumulator_order(kernel: str, order: str) -> int:
    """Result indices inside the outermost loop that is summed over by an accumulator."""
    (_, indices), _ = PRODUCTS[kernel]
    loops = list(order)
    while loops and loops[-1] not in indices:
        loops.pop()
    summed = [k for k, x in enumerate(loops) if x not in indices]
    return sum(x in indices for x in loops[summed[0] :]) if summed else 0


@pytest.mark.parametrize(("kernel", "order", "flawed"), CASES)
def test_products_in_every_loop_order(kernel: str, order: str, flawed: bool) -> None:
    result, operands = PRODUCTS[kernel]
    if accumulator_order(kernel, order) > 2:
        pytest.skip("refused, see test_sam_refusals")
    sizes = dict(zip("ijkl", (4, 3, 5, 4), strict=True))
    for trial in range(4):
        seed = SEED + 17 * trial + sum(map(ord, kernel + order))
        print(f"seed {seed}")
        rng, choose = np.random.default_rng(seed), random.Random(seed)
        arrays, formats = {}, {}
        for name, xs in operands:
            density = choose.choice([0.15, 0.4, 0.8])
            arrays[name] = sparse(rng, tuple(sizes[x] for x in xs), density)
            nested = sorted(xs, key=order.index)
            letters = "".join(choose.choice("sssd") for _ in xs)
            formats[name] = letters + "".join(str(xs.index(x)) for x in nested)
        text = product_graph(result, operands, order, formats, flawed)
        imported, run = run_text(text, arrays)
        terms = ",".join(xs for _, xs in operands)
        expected = np.einsum(f"{terms}->{result[1]}", *arrays.values())
        assert run.check(expected).ok, f"{formats}\n{imported.graph}\n{text}"
