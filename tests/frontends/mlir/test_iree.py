"""Functions of linalg through another compiler, IREE: both give the same numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from iree import compiler, runtime

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import FuseloomError
from fuseloom.frontends.mlir import from_mlir
from tests.frontends.mlir.linalg_functions import FAMILIES, LinalgFunction, every_function

BACKENDS: dict[str, tuple[str, list[str]]] = {
    # IREE's reference backend keeps i8 and i16 in 32 bits, with wrong quotients and shifts
    "integer": ("llvm-cpu", ["--iree-llvmcpu-target-cpu=generic"]),
}
DIFFERENCES: dict[str, str] = {}
"""Functions whose results differ, each with the reason."""


def test_there_are_many_functions() -> None:
    functions = every_function()
    assert len(functions) >= 200
    assert set(DIFFERENCES) <= {f.name for f in functions}


def some(functions: list[LinalgFunction]) -> list[LinalgFunction]:
    """Every fourth function of each operation, another type or size of each: IREE takes long."""
    named: dict[str, list[LinalgFunction]] = {}
    for function in functions:
        named.setdefault(re.sub(r"_([if]?\d+)(?=_|$)", "", function.name), []).append(function)
    return [
        function
        for number, alike in enumerate(named.values())
        for function in alike[number % min(len(alike), 4) :: 4]
    ]


@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.fuzz)])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__)
def test_another_compiler_gives_the_same(
    family: Callable[[], Iterator[LinalgFunction]], every: bool
) -> None:
    functions = list(family()) if every else some(list(family()))
    module = _compiled(functions)
    wrong: dict[str, str] = {}
    for function in functions:
        wanted = np.asarray(module[function.name](*function.data).to_host())
        problem = _difference(function, wanted)
        if problem is not None:
            wrong[function.name] = problem
    known = {f.name for f in functions if f.name in DIFFERENCES}
    text = "\n".join(f"{name}: {problem}" for name, problem in wrong.items())
    assert set(wrong) == known, text


def _compiled(functions: list[LinalgFunction]) -> Any:
    """All functions as one module."""
    text = "\n".join(f.text for f in functions)
    backend, options = BACKENDS.get(functions[0].family, ("vmvx", []))
    blob = compiler.compile_str(text, target_backends=[backend], extra_args=options)
    config = runtime.Config("local-sync")
    loaded = runtime.VmModule.copy_buffer(config.vm_instance, blob)
    return runtime.load_vm_module(loaded, config)


def _difference(function: LinalgFunction, wanted: npt.NDArray[Any]) -> str | None:
    """What differs, or why the function is refused; None if nothing does."""
    try:
        given = dict(zip("abcdefgh", function.data, strict=False))
        imported = from_mlir(function.text, shapes={name: x.shape for name, x in given.items()})
        imported = imported.bind({name: x.astype(np.float64) for name, x in given.items()})
        run = simulate(compile_program(imported.program, imported.schedule), imported.data)
    except FuseloomError as problem:
        return f"refused: {problem}"
    check = run.check()
    (output,) = imported.program.outputs
    found = run.results[output].to_dense()
    values = wanted.astype(np.float64)
    if found.shape != values.shape:
        return f"shape {found.shape}, not {values.shape}"
    exact = wanted.dtype.kind in "biu"
    same = np.allclose(found, values, rtol=0 if exact else 1e-4, atol=0 if exact else 1e-5,
                       equal_nan=True)  # fmt: skip
    if not same:
        at = tuple(np.argwhere(~np.isclose(found, values, rtol=1e-4, atol=1e-5))[0])
        return f"{found[at]} at {at}, not {values[at]}"
    return None if check.ok else f"the check says {check}"
