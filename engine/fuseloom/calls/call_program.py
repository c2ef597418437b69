"""Calls of libraries as a program: each by the equation of its function."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from fuseloom.calls.annotated import FunctionCall
from fuseloom.calls.library import LIBRARY
from fuseloom.calls.library.equations import EQUATIONS
from fuseloom.calls.pipelines import PipelineCase
from fuseloom.errors import ProgramError
from fuseloom.program import parse
from fuseloom.program.conversion import Conversion
from fuseloom.program.declarations import RESERVED
from fuseloom.program.primes import numbered

_TENSOR = re.compile(r"[A-Za-z_]\w*(?=\[)")
_REDUCTIONS = frozenset({"max", "min", "sum"})
_PARTS = "Annotations, and so the parts and tiles that calls are computed by, are left out."


def program_of_case(
    case: PipelineCase, equations: Mapping[str, str] = MappingProxyType({})
) -> Conversion:
    """Return what calls compute as a program.

    Calls that were made of a program are that program.  Of others each function needs an equation:
    most functions of the library have one, others none unless it is given.

    Parameters
    ----------
    case : PipelineCase
        Calls and the arrays that they are given.
    equations : mapping, optional
        Statements, separated by semicolons, by names of functions that are not the library's.
        Tensors are named as parameters are, and numbers stand in braces:
        ``out[i] = {alpha} * x[i]``.  All other tensors are between.

    Returns
    -------
    Conversion
        With what calls say and the program does not.

    Raises
    ------
    ProgramError
        Of the first function without an equation, by its name, or of an equation that gives a
        result of another shape.

    Examples
    --------
    >>> from fuseloom.calls.pipelines import PIPELINES
    >>> print(program_of_case(PIPELINES["gemm-bias-relu"].make({"m": 4, "k": 3, "n": 2})))
    program calls
    A: 4x3 dense
    B: 3x2 dense
    bias: 2 dense
    t1[i,j] = A[i,k] * B[k,j]
    t2[i,j] = t1[i,j] + bias[j]
    t3[i,j] = relu(t2[i,j])
    output t3
    Arrays of the type float32 become numbers, whose meaning is float64.
    Annotations, and so the parts and tiles that calls are computed by, are left out.
    """
    composition = case.composition
    types = sorted({str(case.given[x.name].dtype) for x in composition.given} - {"float64"})
    losses = [
        *([f"Arrays of the type{'s' * (len(types) > 1)} {', '.join(types)} become numbers, whose "
           "meaning is float64."] if types else []),
        _PARTS,
    ]  # fmt: skip
    if case.program is not None and all(
        call.output.name in case.program.producers for call in case.calls
    ):
        return Conversion(case.program, tuple(losses))
    if composition.unused:
        losses.append(f"Nothing reads {', '.join(composition.unused)}: left out.")
    names = _Names()
    lines = [_declared(names, x.name, case.given[x.name]) for x in composition.given]
    for call in composition.calls:
        lines += _statements(call, names, _equation(call, equations))
    result = names.of(composition.result.name)
    program = parse("\n".join(["program calls", *dict.fromkeys(lines), f"output {result}"]))
    shape = program.tensor(result).shape
    if shape != case.result.shape:
        raise ProgramError(
            f"the equations give {result} the shape {shape}, the calls {case.result.shape}",
            hint="give data whose borders they compute, too",
        )
    called = [f"{old} is {new}" for old, new in names.known.items() if old != new]
    if called:
        losses.append(f"Names of arrays became those of tensors: {', '.join(called)}.")
    return Conversion(program, tuple(losses))


class _Names:
    """Names of tensors for those of arrays."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}
        self._taken = set(RESERVED)

    def of(self, array: str) -> str:
        """The tensor of an array."""
        if array not in self.known:
            self.known[array] = self.free(array)
        return self.known[array]

    def free(self, wanted: str) -> str:
        """A name that no tensor has."""
        name = numbered(wanted, self._taken)
        self._taken.add(name)
        return name


def _equation(call: FunctionCall, given: Mapping[str, str]) -> str:
    """The equation of a function: of the library's only if it is that function."""
    function = call.function
    if function.name in given:
        return given[function.name]
    row = LIBRARY.get(function.name)
    if row is None or row.annotated is not function or function.name not in EQUATIONS:
        raise ProgramError(
            f"{function.name} has no equation, so {call.output.name} is no statement",
            hint=f"give equations={{'{function.name}': 'out[i] = ...'}}, or keep it a call",
        )
    return EQUATIONS[function.name]


def _declared(names: _Names, array: str, value: Any) -> str:
    extents = "x".join(map(str, np.shape(value)))
    return f"{names.of(array)}: {extents} dense" if extents else f"{names.of(array)}: scalar"


def _statements(call: FunctionCall, names: _Names, equation: str) -> Iterator[str]:
    """The lines of a call: its parameters by what it is called with."""
    numbers = {x: y for x, y in call.arguments.items() if isinstance(y, int | float)}
    tensors = {x: names.of(call.arguments[x].name) for x in call.function.data}
    try:
        text = equation.format(**numbers)
    except (KeyError, IndexError):
        raise ProgramError(
            f"the equation of {call.function.name} reads a number that is not given",
            hint="call it with a number in place of an argument that a run gives",
        ) from None

    def named(found: re.Match[str]) -> str:
        name = found[0]
        if name in _REDUCTIONS:
            return name
        if name not in tensors:
            tensors[name] = names.free(f"{tensors[call.function.output]}_{name}")
        return tensors[name]

    for line in text.split(";"):
        yield _TENSOR.sub(named, line.strip())
