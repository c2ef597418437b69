"""Damaged files give an error of ours or a program, never anything else."""

from __future__ import annotations

import random
import re

import pytest

from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.errors import FuseloomError
from fuseloom.frontends.mlir import from_mlir, to_mlir
from fuseloom.frontends.mlir.tokens import tokenize
from fuseloom.program import verify

from .files import NAMES, text_of

WORDS = (
    "%0", "%out", "%9#3", "#map", "#csr", "0", "-1", "99999999999999999999", "0xFF", "0x7FC00000",
    "1.0e999", "f32", "i64", "index", "tensor<", "tensor<4xf32>", "tensor<?x?xf32>", "(", ")", "{",
    "}", "[", "]", "<", ">", ",", ":", "->", "=", "dense<", "dense<[]>", "return", "linalg.yield",
    "arith.addf", "arith.maximumf", "ins", "outs", '"parallel"', '"reduction"', "affine_map", "d0",
    "call @main()", "@main", "module", "func.func", "?", "compressed", "singleton", "loc(",
)  # fmt: skip


def placed(problem: FuseloomError) -> None:
    assert problem.line
    assert problem.hint, problem


def read(text: str) -> None:
    """A program that verifies, with a schedule that reads and a text that reads; or our error."""
    try:
        given = from_mlir(text)
    except FuseloomError as problem:
        placed(problem)
        return
    verify(given.program)
    schedule = Schedule.parse(given.schedule)
    again = from_mlir(to_mlir(given.program, schedule))
    assert again.program.statements == given.program.statements


@pytest.mark.parametrize("name", NAMES)
def test_truncated(name: str) -> None:
    text = text_of(name)
    rng = random.Random(name)
    for _ in range(12):
        read(text[: rng.randrange(len(text))])


def _mutated(text: str, rng: random.Random) -> str:
    tokens = tokenize(text)
    lines = text.split("\n")
    for _ in range(rng.randint(1, 3)):
        token = rng.choice(tokens)
        row, column = token.place[0] - 1, token.place[1] - 1
        line = lines[row]
        match rng.randrange(5):
            case 0:
                lines[row] = line[:column] + line[column + len(token.text) :]
            case 1:
                lines[row] = f"{line[:column]} {rng.choice(WORDS)} {line[column:]}"
            case 2:
                other = rng.choice(WORDS)
                lines[row] = f"{line[:column]} {other} {line[column + len(token.text) :]}"
            case 3:
                other = rng.choice(tokens).text
                lines[row] = f"{line[:column]} {other} {line[column + len(token.text) :]}"
            case _:
                lines[row] = re.sub(r"\d", lambda _: str(rng.randrange(10)), line, count=2)
    return "\n".join(lines)


@pytest.mark.parametrize("name", NAMES)
def test_mutated(name: str) -> None:
    rng = random.Random(f"{name} mutated")
    for _ in range(20):
        read(_mutated(text_of(name), rng))


@pytest.mark.parametrize("seed", range(5))
def test_noise(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(40):
        read(" ".join(rng.choices(WORDS, k=rng.randint(1, 30))))


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "module {" * 5_000,
        "#a = {x = " + "[" * 50_000,
        "func.func @f() { %0 = arith.constant dense<" + "[" * 50_000,
        "#a = affine_map<(" + "d, " * 50_000,
        "// " + "x" * 2_000_000,
    ],
    ids=["brackets", "modules", "attributes", "lists", "dimensions", "length"],
)
def test_hostile(text: str) -> None:
    with pytest.raises(FuseloomError):
        from_mlir(text)


def test_doubling() -> None:
    """Values that double with each line, in a region and by calls, are refused in time."""
    region = "\n".join(f"%{n + 1} = arith.mulf %{n}, %{n} : f32" for n in range(60))
    with pytest.raises(FuseloomError, match="more than 1,000 operations"):
        from_mlir(
            f"""#m = affine_map<(i) -> (i)>
            func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {{
              %y = linalg.generic {{indexing_maps = [#m, #m], iterator_types = ["parallel"]}}
                ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) {{
              ^bb0(%0: f32, %o: f32):
                {region}
                linalg.yield %60 : f32
              }} -> tensor<4xf32>
              return %y : tensor<4xf32>
            }}"""
        )
    type_ = "(tensor<4xf32>) -> tensor<4xf32>"
    functions = "\n".join(
        f"""func.func @f{n}(%a: tensor<4xf32>) -> tensor<4xf32> {{
          %0 = call @f{n + 1}(%a) : {type_}
          %1 = call @f{n + 1}(%0) : {type_}
          return %1 : tensor<4xf32>
        }}"""
        for n in range(40)
    )
    last = """func.func @f40(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }"""
    with pytest.raises(FuseloomError, match="more than 5,000 functions and calls"):
        from_mlir(functions + last)


def test_depth() -> None:
    """Long chains, in a region and of calls, are refused before Python's stack ends."""
    region = "\n".join(f"%{n + 1} = math.exp %{n} : f32" for n in range(400))
    with pytest.raises(FuseloomError, match="nests more than 100"):
        from_mlir(
            f"""#m = affine_map<(i) -> (i)>
            func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {{
              %y = linalg.generic {{indexing_maps = [#m, #m], iterator_types = ["parallel"]}}
                ins(%a : tensor<4xf32>) outs(%a : tensor<4xf32>) {{
              ^bb0(%0: f32, %o: f32):
                {region}
                linalg.yield %400 : f32
              }} -> tensor<4xf32>
              return %y : tensor<4xf32>
            }}"""
        )
    functions = "\n".join(
        f"func.func @f{n}() {{ call @f{n + 1}() : () -> () return }}" for n in range(200)
    )
    with pytest.raises(FuseloomError, match="calls are nested more than 50 deep"):
        from_mlir(functions + "func.func @f200() { return }")


def test_many_of_everything() -> None:
    """Files near the limit of the text are read or refused in reasonable time."""
    functions = "\n".join(f"func.func @f{n}() {{ return }}" for n in range(20_000))
    with pytest.raises(FuseloomError, match="more than 5,000 functions"):
        from_mlir(functions)
    lines = "\n".join(
        f"%{n + 1} = linalg.exp ins(%{n} : tensor<4xf32>) outs(%e : tensor<4xf32>)"
        for n in range(5_100)
    )
    with pytest.raises(FuseloomError, match="the limit is 5,000"):
        from_mlir(
            f"""func.func @f(%0: tensor<4xf32>) -> tensor<4xf32> {{
            %e = tensor.empty() : tensor<4xf32>
            {lines}
            return %5100 : tensor<4xf32>
            }}"""
        )
