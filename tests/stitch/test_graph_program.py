"""Programs of dense graphs: they compute what the graph means, or name the operation at fault."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from fuseloom.comparison.examples import EXAMPLES as PROGRAMS
from fuseloom.comparison.examples import example
from fuseloom.errors import ProgramError
from fuseloom.models import autoencoder, gcn, gpt3, graphsage, load
from fuseloom.program import Op, Program, parse, verify
from fuseloom.program import evaluate as reference
from fuseloom.program.conversion import Conversion
from fuseloom.program.functions import FUNCTIONS
from fuseloom.stitch.examples.models import EXAMPLES, example_inputs, read_example
from fuseloom.stitch.graph import DenseModule, random_inputs
from fuseloom.stitch.graph_program import CHOICES, program_of_module
from fuseloom.stitch.hlo import read_hlo
from fuseloom.stitch.meaning.evaluation import evaluate
from fuseloom.stitch.program_graph import dense_program, program_module
from tests.property.programs.filling import data_of
from tests.property.programs.making import Maker
from tests.stitch.random_graphs import random_module
from tests.stitch.test_program_graph import DENSE_FACTORS, STATEMENTS
from tests.tiers import counts

MODELS = {
    "gcn": gcn(nodes=12, features=6, hidden=5, classes=3),
    "graphsage": graphsage(nodes=11, features=6, hidden=5, classes=3),
    "autoencoder": autoencoder(batch=5, inputs=12, hidden=6),
    "gpt3": gpt3(tokens=16, width=8, heads=2, inner=12, decoders=2),
    **{name: load(name)[0] for name in ("attention", "heads", "spmm", "spmv", "nested")},
}
NUMBERS = "Elements of the type f32 become numbers, whose meaning is float64."
REFUSED = {
    "word2vec": "gather.3 (gather) is no statement: its places depend on data",
    "translation": "gather.3 (gather) is no statement: its places depend on data",
    "speech": "conv_general_dilated.2 (convolution) is no statement: it goes over windows",
    "residual_block": "conv_general_dilated.11 (convolution) is no statement: it goes over windows",
}
LARGE = {"attention"}
"""Examples whose values are compared on a smaller graph."""


def same(
    made: Conversion, module: DenseModule, inputs: dict[str, Any], tolerance: float = 1e-5
) -> None:
    """Compare the program's results with those of the graph."""
    verify(made.program)
    program_module(made.program)  # no statement has other elements than a dense one
    assert parse(str(made.program)).statements == made.program.statements
    names = [one.name for one in module.main.parameters]
    given = [name for name in names if _name_in(made.program, name)]
    data = {_name_in(made.program, name): np.asarray(inputs[name], float) for name in given}
    found = reference(made.program, data)
    expected = evaluate(module, inputs)
    assert len(expected) == len(made.program.outputs)
    for name, wanted in zip(made.program.outputs, expected, strict=True):
        scale = max(1.0, float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0)))
        got = found[name].dense()
        assert got.shape == wanted.shape
        np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * scale)


def _name_in(program: Program, parameter: str) -> str:
    name = parameter.replace(".", "_")
    return name if name in program.given else ""


def round_trip(program: Program, data: dict[str, Any], tolerance: float = 1e-9) -> Conversion:
    module = program_module(program, "f64")
    made = program_of_module(module)
    program_module(made.program)  # no statement has other elements than a dense one
    wanted = reference(dense_program(program), data)
    found = reference(made.program, {name: data[name] for name in made.program.given})
    for old, new in zip(program.outputs, made.program.outputs, strict=True):
        expected = wanted[old].dense()
        np.testing.assert_allclose(found[new].dense(), expected, rtol=tolerance, atol=tolerance)
    return made


def drawn(program: Program) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {name: rng.uniform(0.2, 1, program.tensor(name).shape) for name in program.given}


def of_text(operations: str, module: str = "") -> DenseModule:
    return read_hlo(f"HloModule m\n{module}ENTRY main {{\n{operations}\n}}")


@pytest.mark.parametrize("name", PROGRAMS)
def test_examples_go_to_graphs_and_back(name: str) -> None:
    program, _ = example(name)
    made = round_trip(program, drawn(program))
    assert made.losses == ()  # of float64
    assert made.program.outputs == program.outputs
    assert made.program.given == program.given


@pytest.mark.parametrize("name", MODELS)
def test_models_go_to_graphs_and_back(name: str) -> None:
    program = MODELS[name].program
    made = round_trip(program, drawn(program))
    assert len(made.program.statements) < 1.2 * len(program.statements) + 2


@pytest.mark.parametrize("name", ["gcn", "autoencoder", "spmm", "attention"])
def test_simple_programs_come_back_statement_by_statement(name: str) -> None:
    program = dense_program(MODELS[name].program)
    made = program_of_module(program_module(program)).program
    assert [(s.out.tensor, s.op, s.constant) for s in made.statements] == [
        (s.out.tensor, s.op, s.constant) for s in program.statements
    ]


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements_go_to_graphs_and_back(name: str) -> None:
    program = parse(DENSE_FACTORS + STATEMENTS[name])
    round_trip(program, drawn(program))


@pytest.mark.parametrize("op", FUNCTIONS, ids=lambda op: op.value)
def test_functions_of_an_element_come_back(op: Op) -> None:
    low, high = FUNCTIONS[op].domain
    program = parse(f"x: 8x9 dense\ny[j,i] = {FUNCTIONS[op].name}(x[i,j])")
    values = np.linspace(max(low, -4) + 0.01, min(high, 4), 72).reshape(8, 9)
    made = round_trip(program, {"x": np.round(values * 8) / 8 + 0.0625})
    if op not in (Op.TRUNC, Op.GELU):
        assert op in {s.op for s in made.program.statements}


@counts(40, 400)
def test_random_programs_come_back(count: int) -> None:
    refused = 0
    for seed in range(count):
        rng = random.Random(seed)
        maker = Maker(rng)
        text = maker.text(rng.randint(2, 6))
        try:
            program = parse(text)
            program_module(program)
        except ProgramError:
            continue
        positive = {x.name for x in maker.tensors if x.positive}
        data = {key: x.to_dense() for key, x in data_of(program, positive, rng).items()}
        try:
            round_trip(program, data)
        except ProgramError:
            refused += 1
    assert refused < count / 4


@counts(60, 600)
def test_random_graphs(count: int) -> None:
    for seed in range(count):
        module = random_module(random.Random(seed), 8)
        same(program_of_module(module), module, random_inputs(module.main, seed), 1e-4)


@pytest.mark.parametrize("name", EXAMPLES)
def test_models_in_hlo_are_converted_or_refused_by_name(name: str) -> None:
    module = read_example(name)
    if name in REFUSED:
        with pytest.raises(ProgramError) as refusal:
            program_of_module(module)
        assert refusal.value.message == REFUSED[name]
        assert refusal.value.hint
        assert refusal.value.line
        return
    made = program_of_module(module)
    assert made.losses[0] == NUMBERS
    if name not in LARGE:
        same(made, module, example_inputs(name), 1e-4)


ELEMENTWISE = {
    "minimum": "ROOT z = f32[3,4] minimum(x, y)",
    "quotient of a number": "c = f32[] constant(2)\nw = f32[3,4] broadcast(c), dimensions={}\n"
    "ROOT z = f32[3,4] divide(w, e)",
    "choice": "p = pred[3,4] compare(x, y), direction=LE\nROOT z = f32[3,4] select(p, x, e)",
    "conditions": "p = pred[3,4] compare(x, y), direction=GT\nq = pred[3,4] compare(x, e), "
    "direction=NE\nr = pred[3,4] and(p, q)\nn = pred[3,4] not(r)\nROOT z = f32[3,4] convert(n)",
    "bounds": "a = f32[] constant(-0.5)\nb = f32[] constant(0.5)\nROOT z = f32[3,4] clamp(a, x, b)",
    "power": "c = f32[] constant(3)\nw = f32[3,4] broadcast(c), dimensions={}\n"
    "ROOT z = f32[3,4] power(x, w)",
    "rounded": "ROOT z = f32[3,4] round-nearest-afz(x)",
    "tangents": "t = f32[3,4] tan(x)\ns = f32[3,4] sinh(x)\nu = f32[3,4] cosh(y)\n"
    "a = f32[3,4] add(t, s)\nROOT z = f32[3,4] add(a, u)",
    "integers": "i = s32[3,4] convert(x)\nj = s32[3,4] convert(e)\nk = s32[3,4] multiply(i, j)\n"
    "ROOT z = f32[3,4] convert(k)",
    "copy": "c = f32[3,4] copy(x)\nROOT z = f32[3,4] negate(c)",
    "padding": "c = f32[] constant(2)\nROOT z = f32[5,3] pad(x, c), padding=1_1x0_-1",
    "padding on one side": "c = f32[] constant(0)\nROOT z = f32[3,6] pad(x, c), padding=0_0x2_0",
    "reverse": "ROOT z = f32[3,4] reverse(x), dimensions={0,1}",
    "slice": "ROOT z = f32[2,2] slice(x), slice={[1:3], [0:4:3]}",
    "slice of what is repeated": "c = f32[3] slice(v), slice={[1:4]}\n"
    "b = f32[3,4] broadcast(c), dimensions={0}\nROOT z = f32[2,4] slice(b), slice={[1:3], [0:4]}",
    "dimensions of one": "r = f32[1,3,1,4] reshape(x)\nb = f32[3,4] reshape(r)\n"
    "ROOT z = f32[3,4] exponential(b)",
    "held dimensions of one": "s = f32[1,4] slice(x), slice={[1:2], [0:4]}\nr = f32[4] reshape(s)\n"
    "ROOT z = f32[2,2] reshape(r)",
    "reshape of what is repeated": "b = f32[2,4] broadcast(v), dimensions={1}\n"
    "ROOT z = f32[8] reshape(b)",
    "sum of what is repeated": "b = f32[2,4] broadcast(v), dimensions={1}\n"
    "c = f32[] constant(1)\nROOT z = f32[4] reduce(b, c), dimensions={0}, to_apply=plus",
    "largest": "c = f32[] constant(0.5)\nROOT z = f32[3] reduce(x, c), dimensions={1}, "
    "to_apply=larger",
    "smallest": "c = f32[] constant(inf)\nROOT z = f32[4] reduce(x, c), dimensions={0}, "
    "to_apply=smaller",
    "product of what is repeated": "b = f32[4,5] broadcast(v), dimensions={0}\n"
    "c = f32[5,4] broadcast(v), dimensions={1}\nROOT z = f32[4,4] dot(b, c), "
    "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    "two results, one twice": "s = f32[3,4] add(x, y)\n"
    "ROOT z = (f32[3,4], f32[3,4], f32[3,4]) tuple(s, s, x)",
    "a number as result": "c = f32[] constant(2)\nw = f32[3,4] broadcast(c), dimensions={}\n"
    "s = f32[3,4] add(x, y)\nROOT z = (f32[3,4], f32[3,4]) tuple(s, w)",
    "concatenation with numbers": "c = f32[] constant(2)\n"
    "w = f32[2,4] broadcast(c), dimensions={}\n"
    "ROOT z = f32[8,4] concatenate(x, w, y), dimensions={0}",
}
COMBINERS = "".join(
    f"{name} {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
    f"  ROOT c = f32[] {opcode}(a, b)\n}}\n"
    for name, opcode in (("plus", "add"), ("larger", "maximum"), ("smaller", "minimum"),
                         ("times", "multiply"))
)  # fmt: skip
HEAD = (
    "x = f32[3,4] parameter(0)\ny = f32[3,4] parameter(1)\nv = f32[4] parameter(2)\n"
    "e = f32[3,4] exponential(y)\n"
)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_operations(name: str) -> None:
    module = of_text(HEAD + ELEMENTWISE[name], COMBINERS)
    same(program_of_module(module), module, random_inputs(module.main))


FAULTS = {
    "sort": ("ROOT z = f32[3,4] sort(x), dimensions={1}, to_apply=less",
             "less {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
             "  ROOT c = pred[] compare(a, b), direction=LT\n}\n",
             "z (sort) is no statement: its order depends on data"),
    "array": ("c = f32[4] constant({1, 2, 3, 5})\nROOT z = f32[4] add(v, c)", "",
              "z (add) is no statement: an array of numbers that are known"),
    "product": ("c = f32[] constant(1)\nROOT z = f32[3] reduce(x, c), dimensions={1}, "
                "to_apply=times", COMBINERS,
                "z (reduce) is no statement: multiply of many elements"),
    "infinite": ("c = f32[] constant(inf)\nw = f32[3,4] broadcast(c), dimensions={}\n"
                 "ROOT z = f32[3,4] add(x, w)", "",
                 "z (add) is no statement: the number inf"),
    "between": ("c = f32[] constant(0)\nROOT z = f32[3,7] pad(x, c), padding=0_0x0_0_1", "",
                "z (pad) is no statement: numbers between elements"),
    "integers": ("i = s32[3,4] convert(x)\nROOT z = s32[3,4] divide(i, i)", "",
                 "z (divide) is no statement: integers that are rounded or wrap"),
    "bits": ("i = s32[3,4] convert(x)\nROOT z = s32[3,4] and(i, i)", "",
             "z (and) is no statement: bits of integers"),
    "complex": ("ROOT z = c64[3,4] complex(x, y)", "",
                "z (complex) is no statement: complex numbers"),
    "unknown": ("ROOT z = f32[3,4] remainder(x, y)", "",
                "z (remainder) is no statement: no statement computes it"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_what_has_no_statement_is_refused_by_name(name: str) -> None:
    operations, others, message = FAULTS[name]
    with pytest.raises(ProgramError) as refusal:
        program_of_module(of_text(HEAD + operations, others))
    assert refusal.value.message == message
    assert refusal.value.hint


def test_losses_are_those_that_occurred() -> None:
    text = "x.1 = f64[3] parameter(0)\ny = f64[3] parameter(1)\nROOT z = f64[3] negate(y)"
    assert program_of_module(of_text(text)).losses == ("No result needs 1 parameter: x.1.",)
    text = (
        "x = bf16[3] parameter(0)\np = pred[3] compare(x, x), direction=LT\n"
        "n = bf16[3] negate(x)\nd = bf16[3] abs(x)\nROOT z = bf16[3] select(p, x, n)"
    )
    assert program_of_module(of_text(text)).losses == (
        "Elements of the types bf16, pred become numbers, whose meaning is float64.",
        "No statement rounds its result to 16 bits.",
        "No result needs 1 operation: left out.",
        CHOICES,
    )


def test_calls_are_replaced_by_what_they_call() -> None:
    called = "half {\n  a = f64[3] parameter(0)\n  ROOT b = f64[3] negate(a)\n}\n"
    text = "x = f64[3] parameter(0)\nROOT z = f64[3] call(x), to_apply=half"
    made = program_of_module(of_text(text, called))
    assert made.losses == ("1 call became what was called.",)
    assert [s.op for s in made.program.statements] == [Op.SCALE]
