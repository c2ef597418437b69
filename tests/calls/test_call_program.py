"""Calls as programs: exactly those that they were made of, else by equations, else refused."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.calls.annotated import DataHandle, FunctionCall, IntegerArgument, annotate
from fuseloom.calls.call_program import program_of_case
from fuseloom.calls.data_kinds import Vector
from fuseloom.calls.library import LIBRARY
from fuseloom.calls.pipelines import PIPELINES, PipelineCase
from fuseloom.calls.program_calls import program_case
from fuseloom.errors import ProgramError
from fuseloom.models import Model, random_data
from fuseloom.program import evaluate, parse

FLOATS = "Arrays of the type float32 become numbers, whose meaning is float64."
PARTS = "Annotations, and so the parts and tiles that calls are computed by, are left out."
SMALL = {"h": 8, "w": 6, "n": 7, "m": 5, "k": 4, "c": 3, "o": 2}
PROGRAMS = {
    "layers": "A: 8x4 csr\nB: 4x5 dense\nb: 5 dense\nT[i,j] = A[i,k] * B[k,j]\n"
    "Z[i,j] = T[i,j] + b[j]\nR[i,j] = relu(Z[i,j])\ny[i] = max[j] R[i,j]",
    "windows": "x: 10 dense\nw: 3 dense\nc[i] = x[i+k] * w[k]\nr[i] = relu(c[i])",
    "reshaped": "x: 4x6 dense\nr: 8x3 dense\nr[a,b] = reshape(x[i,j])\ny[a,b] = 0.5 * r[a,b]",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_calls_that_were_made_of_a_program_are_that_program(name: str) -> None:
    program = parse(PROGRAMS[name])
    case = program_case(program, random_data(Model(program, ())))
    made = program_of_case(case)
    assert made.program == program
    assert made.losses == (FLOATS, PARTS)


def test_a_program_with_another_call_behind_it_is_no_longer_that_program() -> None:
    program = parse("x: 4 dense\ny[i] = relu(x[i])")
    case = program_case(program, {"x": np.ones(4)})
    case.add("square", DataHandle("y", Vector(np.float32)))
    with pytest.raises(ProgramError, match=r"^y has no equation, so y is no statement "):
        program_of_case(case)


@pytest.mark.parametrize("name", PIPELINES)
def test_compositions_that_come_with_the_program(name: str) -> None:
    pipeline = PIPELINES[name]
    case = pipeline.make({extent: SMALL[extent] for extent in pipeline.extents})
    arcsin = {"arcsin": "out[i] = a[i] + 0.16666667 * (a[i] * a[i] * a[i])"}
    if name == "haversine":
        with pytest.raises(ProgramError) as refusal:
            program_of_case(case)
        assert refusal.value.message == "arcsin has no equation, so angle is no statement"
        assert "equations=" in str(refusal.value.hint)
        assert len(program_of_case(case, arcsin).program.outputs) == 1
        return
    made = program_of_case(case)
    assert made.losses == (FLOATS, PARTS)
    (output,) = made.program.outputs
    found = evaluate(made.program, {x: case.given[x] for x in made.program.given})
    np.testing.assert_allclose(found[output].dense(), case.expected, rtol=1e-4, atol=1e-5)


def test_a_function_is_the_librarys_only_if_it_is_that_function() -> None:
    case = PipelineCase()
    given = case.give("x", np.ones(4))
    own = annotate(np.exp, LIBRARY["sqrt"].annotation, ("a", "out"), "sqrt")
    call = own(given, DataHandle("y", Vector()))
    assert isinstance(call, FunctionCall)
    case.calls.append(call)
    case.result = np.empty(4)
    with pytest.raises(ProgramError, match="sqrt has no equation"):
        program_of_case(case)
    made = program_of_case(case, {"sqrt": "t[i] = a[i] + 0; out[i] = exp(t[i])"})
    assert [s.out.tensor for s in made.program.statements][-1] == "y"
    assert made.losses == (PARTS,)


def test_names_of_the_language_are_not_taken() -> None:
    case = PipelineCase(result=np.empty(4))
    given = case.give("exp", np.ones(4))
    case.add("sqrt", given)
    made = program_of_case(case)
    assert made.program.given == ("exp_1",)
    assert made.losses[-1] == "Names of arrays became those of tensors: exp is exp_1."


def test_numbers_have_to_be_known_and_shapes_have_to_fit() -> None:
    case = PipelineCase(result=np.empty(3))
    case.add("mean_rows", case.give("x", np.ones((3, 4))), IntegerArgument("width"))
    with pytest.raises(ProgramError, match="equation of mean_rows reads a number"):
        program_of_case(case)
    case = PipelineCase(result=np.empty(3))
    case.add("sqrt", case.give("x", np.ones(4)))
    with pytest.raises(ProgramError, match=r"t1 the shape \(4,\), the calls \(3,\)"):
        program_of_case(case)


def test_what_nothing_reads_is_said() -> None:
    case = PipelineCase(result=np.empty(4))
    given = case.give("x", np.ones(4))
    case.add("sqrt", given)
    case.add("square", given)
    made = program_of_case(case)
    assert made.losses == (PARTS, "Nothing reads t1: left out.")
    assert [s.out.tensor for s in made.program.statements] == ["t2"]
