"""Values of modules: models equal to JAX, what is refused, and limits."""

from __future__ import annotations

import random
import re
import tracemalloc
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuseloom.errors import DataError, FuseloomError, ProgramError
from fuseloom.stitch.examples.models import EXAMPLES, example_inputs, read_example
from fuseloom.stitch.graph import DenseModule, DenseOperation
from fuseloom.stitch.hlo import read_hlo
from fuseloom.stitch.meaning import control, evaluation
from fuseloom.stitch.meaning.evaluation import MEANINGS, evaluate, value_of
from fuseloom.stitch.shapes import TensorShape
from tests.stitch.meaning.cases import CASES
from tests.stitch.meaning.cases.operation_case import Halves, OperationCase, case, floats

SEED = 1
PLACES = 48
TOLERANCE = 1e-5
"""Of values, relative to the largest of a result."""


@pytest.fixture(scope="module")
def expected() -> Mapping[str, np.ndarray]:
    with np.load(Path(__file__).with_name("expected.npz")) as stored:
        return dict(stored)


@pytest.mark.parametrize("name", EXAMPLES)
def test_models_equal_jax(name: str, expected: Mapping[str, np.ndarray]) -> None:
    results = evaluate(read_example(name), example_inputs(name, SEED))
    assert len(results) == sum(key.startswith(f"{name}/") for key in expected)
    for k, result in enumerate(results):
        norm, *elements = expected[f"{name}/{k}"][1:]
        assert result.dtype == np.float32
        assert np.isfinite(result).all()
        flat = result.reshape(-1).astype(np.float64)
        places = np.random.default_rng(k).integers(0, flat.size, min(PLACES, flat.size))
        largest = np.abs(flat).max()
        np.testing.assert_allclose(flat[places], elements, rtol=0, atol=TOLERANCE * largest)
        np.testing.assert_allclose(np.linalg.norm(flat), norm, rtol=TOLERANCE)


def test_results_are_flat() -> None:
    rows = "t = (f32[2], f32[3]) tuple(x, y)\nROOT r = ((f32[2], f32[3]), f32[2]) tuple(t, x)"
    assert [one.shape for one in case(rows, x=floats(2), y=floats(3)).results()] == [
        (2,), (3,), (2,)
    ]  # fmt: skip


def test_one_operation() -> None:
    module = read_example("attention")
    add = DenseOperation("y", "add", TensorShape("f32", (2,)), ("a", "b"))
    one = np.ones(2, np.float32)
    assert value_of(module, add, [one, one]).tolist() == [2, 2]
    with pytest.raises(ProgramError, match=r"y \(add\) has 1 operands"):
        value_of(module, add, [one])


@pytest.mark.parametrize("choice", ["add", "multiply", "divide"])
def test_bf16_is_rounded_behind_each_operation(choice: str) -> None:
    x, y = floats(50), floats(50, seed=1)
    rows = f"a = bf16[50] {choice}(x, y)\nROOT r = bf16[50] {choice}(a, y)"
    (made,) = case(rows, x=Halves(x), y=Halves(y)).results()
    function = getattr(np, choice)

    def rounded(value: np.ndarray) -> np.ndarray:
        bits = value.astype(np.float32).view(np.uint32).astype(np.int64)
        low = bits & 0xFFFF
        up = (low > 0x8000) | ((low == 0x8000) & ((bits >> 16) & 1 == 1))
        return (((bits >> 16) + up) << 16).astype(np.uint32).view(np.float32)

    second = rounded(y)
    wanted = rounded(function(rounded(function(rounded(x), second)), second))
    np.testing.assert_array_equal(made, wanted)


REFUSED = {
    "rng": ('ROOT r = f32[3] rng(x, x), distribution=rng_uniform', "random numbers"),
    "rng-bit-generator": (
        "ROOT r = f32[3] rng-bit-generator(x), algorithm=rng_default", "random numbers",
    ),
    "custom-call": (
        'ROOT r = f32[3] custom-call(x), custom_call_target="lapack_sgesv"',
        "of lapack_sgesv: it stands for code of another library",
    ),
    "infeed": ("ROOT r = (f32[3], s32[]) infeed(x)", "side effects"),
    "outfeed": ("ROOT r = f32[3] outfeed(x, x)", "side effects"),
    "all-reduce": ("ROOT r = f32[3] all-reduce(x), replica_groups={}, to_apply=f", "machines"),
    "partition-id": ("ROOT r = u32[] partition-id()", "several machines"),
    "copy-start": ("ROOT r = (f32[3], f32[3], u32[]) copy-start(x)", "several threads"),
    "set-dimension-size": (
        "ROOT r = f32[3] set-dimension-size(x, x), dimensions={0}", "known in a run only",
    ),
    "brand-new": ("ROOT r = f32[3] brand-new(x), a=b", "the opcode is not known"),
}  # fmt: skip


@pytest.mark.parametrize("opcode", REFUSED)
def test_what_has_no_meaning_here(opcode: str) -> None:
    body, words = REFUSED[opcode]
    assert opcode not in MEANINGS
    one = case(body, "f { ROOT x = f32[] parameter(0) }", x=floats(3))
    with pytest.raises(ProgramError) as caught:
        one.results()
    assert caught.value.message.startswith(f"r ({opcode}) has no meaning here")
    assert caught.value.line == 5
    assert words in caught.value.message


TEXT = """HloModule m
ENTRY main {
  x = f32[2,3] parameter(0)
  k = s32[] parameter(1)
  ROOT r = (f32[2,3], s32[]) tuple(x, k)
}
"""


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"x": np.zeros((2, 3))}, "no value for the parameter k"),
        ({"x": np.zeros((2, 3)), "k": 1, "z": 1}, "z is no parameter of main"),
        ({"x": np.zeros((3, 2)), "k": 1}, "x is f32[2,3], and gets float64[3,2]"),
        ({"x": np.zeros((2, 3)), "k": 1.5}, "k is s32[], and gets float64[]"),
        ({"x": np.array([["a"] * 3] * 2), "k": 1}, "x is f32[2,3]"),
        ({"x": np.zeros((2, 3), complex), "k": 1}, "x is f32[2,3]"),
    ],
)
def test_inputs_that_do_not_fit(inputs: dict[str, Any], words: str) -> None:
    with pytest.raises(DataError) as caught:
        evaluate(read_hlo(TEXT), inputs)
    assert words in caught.value.message


def test_inputs_are_converted_to_the_type_of_their_parameter() -> None:
    x, k = evaluate(read_hlo(TEXT), {"x": np.ones((2, 3), np.int8), "k": 3})
    assert (x.dtype, k.dtype) == (np.float32, np.int32)


def test_parameters_that_are_tuples() -> None:
    text = (
        "HloModule m ENTRY e {\n  t = (f32[2], s32[]) parameter(0)\n"
        "  ROOT r = f32[2] get-tuple-element(t), index=0\n}"
    )
    module = read_hlo(text)
    (made,) = evaluate(module, {"t": (np.float32([1, 2]), np.int32(0))})
    assert made.tolist() == [1, 2]
    for bad in (np.zeros(2), (np.zeros(2),)):
        with pytest.raises(DataError, match="no tuple of its length"):
            evaluate(module, {"t": bad})


def doubling(levels: int) -> DenseModule:
    rows = ["f0 {\n  x = f32[] parameter(0)\n  ROOT y = f32[] add(x, x)\n}"]
    rows += [
        f"f{k} {{\n  x = f32[] parameter(0)\n  y = f32[] call(x), to_apply=f{k - 1}\n"
        f"  ROOT z = f32[] call(y), to_apply=f{k - 1}\n}}"
        for k in range(1, levels)
    ]
    call = f"ROOT y = f32[] call(x), to_apply=f{levels - 1}"
    main = f"ENTRY e {{\n  x = f32[] parameter(0)\n  {call}\n}}"
    return read_hlo("HloModule m\n" + "\n".join([*rows, main]))


def test_calls_that_multiply_end(monkeypatch: pytest.MonkeyPatch) -> None:
    (made,) = evaluate(doubling(4), {"x": np.float32(1)})
    assert float(made) == 2.0**8
    monkeypatch.setattr(evaluation, "MOST_STEPS", 1_000)
    with pytest.raises(ProgramError, match="beyond the 1,000 operations"):
        evaluate(doubling(40), {"x": np.float32(1)})


@pytest.mark.parametrize("around", ["", "reduce"])
def test_calls_within_each_other_have_a_limit(around: str) -> None:
    rows = [
        "f0 {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] add(x, y)\n}"
    ]
    rows += [
        f"f{k} {{\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n"
        f"  ROOT z = f32[] call(x, y), to_apply=f{k - 1}\n}}"
        for k in range(1, 500)
    ]
    root = "f32[] reduce(x, y), dimensions={0}" if around else "f32[] call(y, y)"
    main = (
        "ENTRY e {\n  x = f32[4] parameter(0)\n  y = f32[] constant(1)\n"
        f"  ROOT r = {root}, to_apply=f499\n}}"
    )
    with pytest.raises(ProgramError, match="more than 100 calls are within each other"):
        evaluate(read_hlo("HloModule m\n" + "\n".join([*rows, main])), {"x": floats(4)})


def test_memory_has_a_limit() -> None:
    with pytest.raises(ProgramError, match=r"r \(iota\) makes more than 4,294,967,296 bytes"):
        case("ROOT r = f32[100000,100000] iota(), iota_dimension=0").results()


def test_values_that_are_kept_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "MOST_LIVE", 100)
    x = floats(10)
    chain = "a = f32[10] negate(x)\nb = f32[10] negate(a)\nROOT r = f32[10] negate(b)"
    case(chain, x=x).results()
    kept = "a = f32[10] negate(x)\nb = f32[10] negate(a)\nc = f32[10] negate(b)\n"
    with pytest.raises(ProgramError, match=r"c \(negate\) brings values to more than 100 bytes"):
        case(kept + "ROOT r = (f32[10], f32[10], f32[10]) tuple(a, b, c)", x=x).results()


def test_values_are_given_back_behind_their_last_reader() -> None:
    rows = ["y0 = f32[1000000] negate(x)"]
    rows += [f"y{k} = f32[1000000] negate(y{k - 1})" for k in range(1, 40)]
    one = case("\n".join([*rows, "ROOT r = f32[1000000] negate(y39)"]), x=floats(1_000_000))
    tracemalloc.start()
    one.results()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 24_000_000


def test_numbers_that_are_none_pass_through_a_softmax() -> None:
    scores = np.zeros((8, 64, 64, 64), np.float32)
    scores[0, 0, 0] = -np.inf
    scores[0, 0, 1, 0] = np.nan
    scores[0, 0, 2] = [0, *[-np.inf] * 63]
    values = np.ones_like(scores)
    (made,) = evaluate(read_example("attention"), {"scores.1": scores, "values.1": values})
    rows = made[0, 0, :4, 0]
    np.testing.assert_array_equal(rows, np.float32([np.nan, np.nan, 1, 1]))


PIECES = [
    "0",
    "1",
    "-1",
    "7",
    "{",
    "}",
    "(",
    ")",
    ",",
    "x",
    "f32",
    "s32",
    "bf16",
    "c64",
    "pred",
    "999999999999",
    "{}",
    "nan",
    "true",
    "add",
    "reduce",
]


def test_damaged_texts_are_computed_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "MOST_ITERATIONS", 100)
    rng = random.Random(5)
    names = list(CASES)
    refused = 0
    for _ in range(3_000):
        one = CASES[rng.choice(names)]
        pieces = re.findall(r"[\w.\-]+|\s+|.", one.text)
        for _ in range(rng.randint(1, 2)):
            place = rng.randrange(len(pieces))
            pieces[place] = rng.choice(["", rng.choice(pieces), rng.choice(PIECES)])
        try:
            OperationCase("".join(pieces), one.inputs).results()
        except FuseloomError:
            refused += 1
    assert 1_500 < refused < 3_000
