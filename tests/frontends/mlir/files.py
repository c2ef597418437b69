"""The corpus, and data for it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.frontends.mlir import ImportedMlir, from_mlir, to_mlir
from fuseloom.models import Model, random_data
from fuseloom.program import StoredTensor, evaluate

CORPUS = Path(__file__).parent / "corpus"
NAMES = sorted(path.stem for path in CORPUS.glob("*.mlir"))
MALFORMED = sorted(path.stem for path in (CORPUS / "malformed").glob("*.mlir"))


def text_of(name: str) -> str:
    return (CORPUS / f"{name}.mlir").read_text(encoding="utf-8")


def imported(name: str) -> ImportedMlir:
    return from_mlir(text_of(name), source=f"{name}.mlir")


def printed(given: ImportedMlir, *, data: bool = False) -> str:
    return to_mlir(given.program, Schedule.parse(given.schedule), given.data if data else None)


def data_of(given: ImportedMlir, seed: int = 0) -> dict[str, StoredTensor]:
    return {**random_data(Model(given.program, ()), seed), **given.data}


def result(given: ImportedMlir, data: Mapping[str, Any]) -> npt.NDArray[np.float64]:
    """The one output of a program, which is the same by itself, unfused, and as the file groups."""
    (output,) = given.program.outputs
    both = {**{n: x for n, x in data.items() if n in given.program.inputs}, **given.data}
    wanted = evaluate(given.program, both)[output].dense()
    again = from_mlir(printed(given, data=True))
    assert again.program.by_name == given.program.by_name
    assert again.program.statements == given.program.statements
    for schedule in ("", given.schedule):
        run = simulate(compile_program(given.program, schedule), both)
        check = run.check()
        assert check.ok, check
        np.testing.assert_allclose(run.results[output].to_dense(), wanted, rtol=1e-5, atol=1e-6)
    return wanted


def generic(
    arguments: Sequence[tuple[str, str]],
    result: tuple[str, str],
    kinds: str,
    body: str,
    *,
    start: str | None = None,
    before: str = "",
) -> str:
    """A function of one ``linalg.generic``, whose region has the arguments %a, %b, ... and %o.

    Parameters
    ----------
    arguments : sequence of (str, str)
        Type and map of each input; they are called %A, %B, ...
    result : tuple of str
        Type and map of the output.
    kinds : str
        ``p`` or ``r`` per dimension.
    body : str
        Lines that define ``%y``.
    start : str, optional
        The number that the output is filled with; by default it is empty.
    """
    letters = "abcdef"
    element = re.findall(r"(?:x|<)([a-z]+\d+)[,>]", result[0])[0]
    elements = [re.findall(r"(?:x|<)([a-z]+\d+)[,>]", type_)[0] for type_, _ in arguments]
    maps = ", ".join(f"affine_map<{m}>" for _, m in (*arguments, result))
    names = [f"%{x.upper()}" for x, _ in zip(letters, arguments, strict=False)]
    given = ", ".join(f"{n}: {t}" for n, (t, _) in zip(names, arguments, strict=True))
    inputs = f"ins({', '.join(names)} : {', '.join(t for t, _ in arguments)})" if names else ""
    block = ", ".join(f"%{x}: {e}" for x, e in zip(letters, elements, strict=False))
    words = ", ".join(f'"{"parallel" if kind == "p" else "reduction"}"' for kind in kinds)
    filled = "" if start is None else (
        f"%start = arith.constant {start} : {element}\n"
        f"%out = linalg.fill ins(%start : {element}) outs(%e : {result[0]}) -> {result[0]}"
    )  # fmt: skip
    return f"""
    func.func @f({given}) -> {result[0]} {{
      {before}
      %e = tensor.empty() : {result[0]}
      {filled}
      %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{words}]}}
        {inputs} outs({"%e" if start is None else "%out"} : {result[0]}) {{
      ^bb0({block}{", " if block else ""}%o: {element}):
        {body}
        linalg.yield %y : {element}
      }} -> {result[0]}
      return %r : {result[0]}
    }}"""
