"""Terms as programs: both compute the same, and what is no statement is refused."""

from __future__ import annotations

import numpy as np
import pytest

import fuseloom as fl
from fuseloom.access.constructs import ShapeError
from fuseloom.access.constructs.construct import Array
from fuseloom.access.hardware import SystolicArray
from fuseloom.access.kernels import (
    Convolution,
    apply,
    batched_matmul,
    conv2d,
    dense,
    matmul,
    pool2d,
)
from fuseloom.access.mapping import map_term
from fuseloom.access.meaning import evaluate, shapes_of
from fuseloom.access.named_kernels import KERNELS, named_kernel
from fuseloom.access.program_layers import layers_of_program
from fuseloom.access.rules.soundness import random_term
from fuseloom.access.shapes import AccessShape
from fuseloom.access.term_program import FLOATS, program_of_term
from fuseloom.access.terms import Term, subterms, tensor, tensors
from fuseloom.access.torch_layers import layers_of
from fuseloom.comparison.examples import EXAMPLES, example
from fuseloom.errors import ProgramError
from fuseloom.program.conversion import Conversion
from tests.access.test_kernels import LAYERS

MAPPED_ONTO = SystolicArray(4, 4)
TERMS = [
    *map(conv2d, LAYERS),
    matmul(8, 12, 8),
    dense(3, 20, 11),
    batched_matmul(2, 3, 4, 5),
    pool2d(Convolution(1, 2, 6, 6, 2, (3, 3), (2, 2), (1, 1)), "max"),
    pool2d(Convolution(1, 2, 6, 6, 2, (2, 2), (2, 2)), "mean"),
]


def _values(made: Conversion, data: dict[str, Array]) -> Array:
    (output,) = made.program.outputs
    return np.asarray(fl.evaluate(made.program, data)[output].dense(), dtype=np.float64)


def _equal(term: Term, seed: int = 0) -> Conversion:
    """The program of a term, which computes its value of random integers."""
    random = np.random.default_rng(seed)
    data = {x: random.integers(-4, 5, n).astype(np.float64) for x, n in tensors(term).items()}
    made = program_of_term(term)
    wanted = evaluate(term, data)
    found = _values(made, data)
    assert found.shape == wanted.shape
    assert np.allclose(found, wanted, rtol=1e-6, atol=1e-6)
    return made


def _text(made: Conversion) -> list[str]:
    return str(made.program).splitlines()


@pytest.mark.parametrize("term", TERMS)
def test_a_kernel_and_its_mapping_are_programs(term: Term) -> None:
    assert not any("systolic" in loss for loss in _equal(term).losses)
    mapped = map_term(term, MAPPED_ONTO).after
    losses = _equal(mapped).losses
    calls = {x for x in subterms(mapped) if x.construct == "systolicArray"}
    if calls:
        assert losses[0].startswith(f"{len(calls)} call")
    assert losses[-1] == FLOATS


@pytest.mark.parametrize("name", KERNELS)
def test_named_kernels(name: str) -> None:
    _equal(named_kernel(name, KERNELS[name].example))


@pytest.mark.deep  # needs PyTorch
def test_torch_layers() -> None:
    torch = pytest.importorskip("torch")
    network = torch.nn.Sequential(
        torch.nn.Conv2d(2, 4, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(),
        torch.nn.Linear(64, 3),
    )  # fmt: skip
    layers, _ = layers_of(network, [torch.ones(1, 2, 4, 4)])
    assert len(layers) == 2
    for layer in layers:
        assert np.allclose(_values(program_of_term(layer.term), dict(layer.data)), layer.result)


@pytest.mark.parametrize("name", EXAMPLES)
def test_layers_of_programs_there_and_back(name: str) -> None:
    program, _ = example(name)
    layers, _ = layers_of_program(program)
    for layer in layers:
        made = program_of_term(layer.term, layer.name)
        assert made.program.name == layer.name
        assert np.allclose(_values(made, dict(layer.data)), layer.result)
        (back,), others = layers_of_program(made.program)
        assert back.term == layer.term
        assert not others


@pytest.mark.parametrize(
    "text",
    [
        "x: 9 dense\nw: 3 dense\ny: 5 csf\ny[i] = x[2*i+k-1] * w[k]",
        "x: 12 dense\nw: 3 dense\ny[i] = x[i+2*k] * w[k]",
        "x: 2x9 dense\nw: 3x2 dense\ny[n,f] = x[n,i+k] * w[k,f]",
        "A: 4x5x6 dense\nB: 6x5x3 dense\nC[j,i] = A[i,k,l] * B[l,k,j]",
        "x: 12 dense\nk: index 3\ny[i] = sum[k] x[3*i+k]",
    ],
)
def test_windows_there_and_back(text: str) -> None:
    layers, _ = layers_of_program(fl.parse(text))
    for layer in layers:
        made = program_of_term(layer.term)
        assert np.allclose(_values(made, dict(layer.data)), layer.result)
        (back,), _ = layers_of_program(made.program)
        assert back.term == layer.term


def test_statements_read_where_patterns_do() -> None:
    made = _equal(matmul(4, 3, 2))
    assert _text(made)[-2] == "R[i,j] = activations[i,k] * weights[k,j]"
    assert made.losses == (
        "Which dimensions are accessed and which are computed on is left out.", FLOATS,
    )  # fmt: skip
    convolution = _equal(conv2d(Convolution(1, 3, 8, 8, 4, (3, 3))))
    assert len(convolution.program.statements) == 2  # the windows, and their product


A, B = tensor("A", (6, 5)), tensor("B", (5, 6))
ROWS = apply("access", A, 1)
TURNED = apply("transpose", apply("access", B, 1), (1, 0))
HALF = apply("insert-axis", apply("insert-axis", apply("literal", 0.5), 0), 1)
ROW = apply("squeeze", apply("slice", ROWS, 0, 2, 3), 0)


@pytest.mark.parametrize(
    "term",
    [
        A,
        apply("literal", -2.5),
        TURNED,
        ROW,
        apply("pair", ROWS, TURNED),
        apply("cartProd", ROWS, TURNED),
        apply("windows", apply("access", A, 0), (3, 2), (2, 1)),
        apply("box", A, (1, 2), (5, 4)),
        apply("concat", ROWS, TURNED, 1),
        apply("flatten", apply("access", A, 2)),
        apply("reshape", TURNED, AccessShape((2, 3), (5, 1))),
        apply("reshape", apply("access", TURNED, 0), AccessShape((), (10, 3))),
        apply("pad", ROWS, "zero", 1, 2, 1),
        apply("pad", apply("slice", ROWS, 1, 1, 4), "zero", 1, 2, 1),
        apply("slice", apply("pad", ROWS, "zero", 1, 3, 0), 1, 0, 2),
        apply("broadcast", apply("insert-axis", ROW, 0), AccessShape((3,), (5,))),
        *(apply("compute", x, apply("pair", ROWS, TURNED))
          for x in ("dotProd", "elementwiseAdd", "elementwiseMul", "reduceSum", "reduceMax")),
        *(apply("compute", x, ROWS) for x in
          ("dotProd", "elementwiseAdd", "elementwiseMul", "reduceSum", "reduceMax", "relu",
           "softmax")),
        *(apply("compute", x, apply("pad", ROWS, "zero", 1, 1, 0)) for x in
          ("reduceMax", "softmax", "relu")),
        apply("compute", "reduceMax", apply("pad", ROWS, "minimum", 1, 1, 1)),
        apply("compute", "elementwiseMul", apply("pair", ROWS, apply(
            "broadcast", apply("reshape", apply("access", HALF, 1), AccessShape((1,), (1,))),
            AccessShape((6,), (5,))))),
        apply("compute", "elementwiseAdd", apply("pair", ROWS, apply(
            "broadcast", apply("insert-axis", ROW, 0), AccessShape((6,), (5,))))),
        apply("systolicArray", 5, 6, ROWS, apply("access", B, 0)),
    ],
)  # fmt: skip
def test_every_construct(term: Term) -> None:
    made = _equal(term)
    assert fl.parse(str(made.program)) == made.program


def test_names_that_the_language_does_not_have() -> None:
    term = apply("compute", "reduceSum", apply("pair", tensor("a.b", (3,)), tensor("max", (3,))))
    made = _made_of_two(term)
    assert made.losses[:2] == ("Tensor a.b is called a_b.", "Tensor max is called max_.")
    assert _made_of_two(apply("pair", tensor("R", (3,)), tensor("t1", (3,)))).program.outputs == (
        "R_",
    )


def _made_of_two(term: Term) -> Conversion:
    made = program_of_term(term)
    assert len(made.program.inputs) >= 2
    return made


@pytest.mark.parametrize(
    ("term", "words"),
    [
        (apply("pad", ROWS, "minimum", 1, 1, 0), "pad at the root .* minus infinity"),
        (apply("compute", "relu", apply("transpose", apply("pad", ROWS, "minimum", 1, 1, 0),
               (1, 0))), "compute relu at the root .* minus infinity"),
        (apply("transpose", apply("compute", "reduceMax", apply(
            "windows", apply("access", apply("pad", A, "minimum", 0, 2, 0), 1), (2,), (1,))),
            (0, 1)), "compute reduceMax at 0 .* the largest of nothing"),
        (apply("compute", "dotProd", apply("access", tensor("C", (40, 2)), 0)),
         "compute dotProd at the root .* 40 elements"),
        (apply("literal", float("inf")), "literal at the root .* finite"),
        (apply("cartProd", *[apply("access", tensor("D", (2,) * 7), 7)] * 2),
         "cartProd at the root .* 14 dimensions, more than 12"),
    ],
)  # fmt: skip
def test_what_is_no_statement_names_the_construct(term: Term, words: str) -> None:
    with pytest.raises(ProgramError, match=words) as refused:
        program_of_term(term)
    assert refused.value.hint


def test_operands_that_do_not_fit() -> None:
    with pytest.raises(ShapeError):
        program_of_term(apply("pair", ROWS, B))


def test_random_terms_are_equal_or_refused() -> None:
    """Every construct; few are refused, most of them for infinities."""
    converted, refused, random = 0, [], np.random.default_rng(11)
    while converted < 150:
        term = random_term(random, int(random.integers(1, 4)))
        try:
            shapes = shapes_of(term)
        except ShapeError:
            continue
        if max(shape.elements for shape in shapes.values()) > 2_000:
            continue
        try:
            _equal(term, converted)
        except ProgramError as error:
            refused.append(error.message)
            continue
        converted += 1
    assert len(refused) < 15
    assert all("infinity" in x or "dimensions" in x for x in refused)
