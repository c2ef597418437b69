"""Files, modules and functions of MLIR text as syntax trees."""

from __future__ import annotations

import pytest

from fuseloom.errors import ParseError
from fuseloom.frontends.mlir import from_mlir
from fuseloom.frontends.mlir.parser import parse_file

FUNCTION = "func.func @{0}(%a: tensor<4xf32>) -> tensor<4xf32> {{ return %a : tensor<4xf32> }}"


def test_a_function_with_its_argument_and_operation() -> None:
    (function,) = parse_file(FUNCTION.format("main")).functions
    assert (function.name, function.place) == ("main", (1, 11))
    (argument,) = function.arguments
    assert argument.type.rank == 1
    assert function.operations is not None
    assert len(function.operations) == 1


def test_modules_may_be_named_nested_or_missing() -> None:
    one, two = FUNCTION.format("f"), FUNCTION.format("g")
    assert parse_file(one).name is None
    nested = parse_file(f"module @outer {{ {one} module @inner {{ {two} }} }}")
    assert nested.name == "outer"
    assert [function.name for function in nested.functions] == ["f", "g"]
    assert parse_file("").functions == ()


def test_text_attributes_of_a_module_are_kept() -> None:
    text = 'module attributes {a.b = "x", "c" = "y", unit, n = 3 : i32} {}'
    assert [(key, value) for key, value, _ in parse_file(text).settings] == [
        ("a.b", "x"),
        ("c", "y"),
    ]


def test_declarations_have_no_operations() -> None:
    (function,) = parse_file("func.func private @f(tensor<4xf32>) -> tensor<4xf32>").functions
    assert function.operations is None
    assert function.arguments == ()


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        (FUNCTION.format("f") + "\n" + FUNCTION.format("f"), (2, 11), "@f is defined twice"),
        ("func.func @f(tensor<4xf32>) { return }", (1, 14), "an argument has no name"),
        ("func.func @f() { ^bb0: return }", (1, 18), "a function of several blocks"),
        ('"func.func"() : () -> ()', (1, 1), "the generic form of an operation"),
        ("module {", (1, 9), "the end of the text is not expected here"),
        ("func.func @f() {", (1, 17), "the end of the text is not expected here"),
        ("return", (1, 1), "'return' is not expected here"),
        ("func.func main()", (1, 11), "'main' is not expected here"),
        ("module { " * 101 + "}" * 101, (1, 901), "nested more than 100 deep"),
    ],
    ids=lambda x: x[:24] if isinstance(x, str) else "",
)
def test_refusals_have_a_place(text: str, place: tuple[int, int], reason: str) -> None:
    with pytest.raises(ParseError, match=reason) as caught:
        from_mlir(text)  # functions that cannot be read say so when they are needed
    assert (caught.value.line, caught.value.column) == place
