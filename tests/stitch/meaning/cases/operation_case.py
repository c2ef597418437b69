"""A single operation as a module, and its inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.stitch.hlo import read_hlo
from fuseloom.stitch.meaning.evaluation import evaluate

ELEMENTS = {
    "float16": "f16", "float32": "f32", "float64": "f64", "bool": "pred", "complex64": "c64",
    **{f"int{bits}": f"s{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"u{bits}" for bits in (8, 16, 32, 64)},
}  # fmt: skip


@dataclass(frozen=True)
class Halves:
    """An input of bf16."""

    array: npt.NDArray[np.float32]


@dataclass(frozen=True)
class OperationCase:
    """A module and its inputs."""

    text: str
    inputs: Mapping[str, npt.NDArray[Any] | Halves]

    def jax_inputs(self) -> list[Any]:
        """Inputs as JAX takes them."""
        from ml_dtypes import bfloat16

        return [
            one.array.astype(bfloat16) if isinstance(one, Halves) else one
            for one in self.inputs.values()
        ]

    def results(self) -> tuple[npt.NDArray[Any], ...]:
        """Results of the interpreter."""
        inputs = {
            name: one.array if isinstance(one, Halves) else one for name, one in self.inputs.items()
        }
        return evaluate(read_hlo(self.text), inputs)


def case(body: str, regions: str = "", **inputs: Any) -> OperationCase:
    rows = []
    for k, (name, value) in enumerate(inputs.items()):
        halves = isinstance(value, Halves)
        array = value.array if halves else value
        element = "bf16" if halves else ELEMENTS[array.dtype.name]
        dims = ",".join(map(str, array.shape))
        rows.append(f"  {name} = {element}[{dims}] parameter({k})")
    entry = "\n".join([*rows, *(f"  {line.strip()}" for line in body.strip().splitlines())])
    return OperationCase(f"HloModule case\n{regions}\nENTRY main {{\n{entry}\n}}\n", inputs)


def region(name: str, opcode: str, element: str = "f32", more: str = "") -> str:
    made = "pred" if opcode == "compare" else element
    return (
        f"{name} {{\n  p = {element}[] parameter(0)\n  q = {element}[] parameter(1)\n"
        f"  ROOT r = {made}[] {opcode}(p, q){more}\n}}\n"
    )


def floats(*dims: int, seed: int = 0) -> npt.NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal(dims).astype(np.float32)


def integers(*dims: int, seed: int = 0, most: int = 9) -> npt.NDArray[np.int32]:
    return np.random.default_rng(seed).integers(-most, most, dims).astype(np.int32)


X = np.float32(
    [0.0, -0.0, 0.3, -0.3, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 2.5, 2.6, -7.75, 40.0, -100.0, 3e6,
     np.inf, -np.inf, np.nan]
)  # fmt: skip
Y = np.float32(
    [1.0, 2.0, -0.5, 0.3, 0.0, -0.0, 3.0, 2.0, -3.0, 2.0, 2.5, -1.0, 2.0, 0.5, np.inf, 1.5, np.nan,
     2.0, 1.0]
)  # fmt: skip
I = np.int32([0, 1, -1, 7, -7, 7, -7, 100, -(2**31), -(2**31), 2**31 - 1, 5, 3, -3])  # noqa: E741
J = np.int32([5, 0, 0, 2, 2, -2, -2, 33, -1, 1, 2, -5, 40, 31])
B = np.array([True, False, True, True, False])
C = np.complex64([1 + 2j, -0.5j, 3, -1 - 1j])
N, M = len(X), len(I)
