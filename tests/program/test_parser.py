"""Program text to programs: declarations, statements, splitting, defaults."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.errors import ProgramError
from engine.program import (
    Access,
    BroadcastAdd,
    Format,
    LevelFormat,
    Op,
    Program,
    parse,
    program_from_json,
    program_to_json,
    verify,
)
from engine.program.printer import statement_text

D, C = LevelFormat.DENSE, LevelFormat.COMPRESSED
HEAD = "A: 4x4 csr\nB: 4x4 csr\nb: 4 dense\ns: scalar\n"


def lines(text: str) -> list[str]:
    return [statement_text(s) for s in parse(HEAD + text).statements]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2x3 dense", Format((D, D), (0, 1))),
        ("2x3 compressed", Format((C, C), (0, 1))),
        ("2x3 csr", Format((D, C), (0, 1))),
        ("2x3 csc", Format((D, C), (1, 0))),
        ("2x3 dcsr", Format((C, C), (0, 1))),
        ("2x3 dcsc", Format((C, C), (1, 0))),
        ("2 x 3 csf", Format((C, C), (0, 1))),
        ("2x3 dense order 1,0", Format((D, D), (1, 0))),
        ("2x3 [compressed, dense] order 1,0", Format((C, D), (1, 0))),
    ],
)
def test_formats(text: str, expected: Format) -> None:
    assert parse(f"T: {text}\nu[i] = T[i,j]").tensor("T").format == expected


def test_whole_program() -> None:
    program = parse(
        "\ufeff# a comment\r\n\r\nprogram p  // another\r\n  A: 3x4 csr\r\n\r\n"
        "// a third\r\n\tT[i] = A[i,j]\r\nZ[i] = relu(T[i])\r\noption broadcast_add dense"
    )
    assert program.name == "p"
    assert [t.name for t in program.tensors] == ["A", "T", "Z"]
    assert program.tensor("Z").shape == (3,)
    assert program.tensor("Z").format == Format.compressed(1)
    assert program.outputs == ("Z",)
    assert program.inputs == ("A",)
    assert program.broadcast_add is BroadcastAdd.DENSE
    assert [s.line for s in program.statements] == [7, 8]
    assert program.statements[0].column == 2


def test_declarations_come_first_in_tensor_order() -> None:
    program = parse("A: 3 dense\nU[i] = A[i]\nT[i] = U[i]\nT: 3 dense")
    assert [t.name for t in program.tensors] == ["A", "T", "U"]


def test_default_outputs_are_what_nothing_reads() -> None:
    assert parse(HEAD + "T[i] = A[i,j]\nU[i] = T[i]\nV[i] = T[i]").outputs == ("U", "V")


@pytest.mark.parametrize(
    ("text", "op", "constant"),
    [
        ("T[i,j] = A[i,j]", Op.SUM, None),
        ("T[j,i] = A[i,j]", Op.SUM, None),
        ("T = A[i,j]", Op.SUM, None),
        ("T[] = A[i,j]", Op.SUM, None),
        ("T[i] = sum[j] A[i,j]", Op.SUM, None),
        ("T[i,l] = A[i,j] * B[j,l]", Op.MUL, None),
        ("T[i,l] = sum[j](A[i,j] * B[j,l])", Op.MUL, None),
        ("T[i,j] = A[i,j] / b[i]", Op.DIV, None),
        ("T[i,j] = A[i,j] - b[j]", Op.SUB, None),
        ("T[i,j] = A[i,j] + s", Op.ADD, None),
        ("T[i] = max[j] A[i,j]", Op.MAX, None),
        ("T[i] = max[j](A[i,j])", Op.MAX, None),
        ("T[i] = gelu(b[i])", Op.GELU, None),
        ("T[i] = ((gelu((b[i]))))", Op.GELU, None),
        ("T[i] = 0.125 * b[i]", Op.SCALE, 0.125),
        ("T[i] = b[i] * 2 ", Op.SCALE, 2.0),
        ("T[i] = b[i] / 8", Op.SCALE, 0.125),
        ("T[i] = -b[i]", Op.SCALE, -1.0),
        ("T[i] = -2 * b[i]", Op.SCALE, -2.0),
        ("T[i] = 2 * 3 * b[i]", Op.SCALE, 6.0),
        ("T[i] = b[i] * (1 - 0.5)", Op.SCALE, 0.5),
        ("T[i] = b[i] + 1e-5", Op.SHIFT, 1e-5),
        ("T[i] = 1.5E+2 + b[i]", Op.SHIFT, 150.0),
        ("T[i] = b[i] - .5", Op.SHIFT, -0.5),
    ],
)
def test_one_operation_is_one_statement(text: str, op: Op, constant: float | None) -> None:
    (statement,) = parse(HEAD + text).statements
    assert statement.op is op
    assert statement.constant == constant


def test_products_associate_to_the_left() -> None:
    assert lines("T[i,l] = A[i,j] * B[j,k] * A[k,l]") == [
        "T_1[i,k] = A[i,j] * B[j,k]",
        "T[i,l] = T_1[i,k] * A[k,l]",
    ]


def test_parentheses_change_the_association() -> None:
    assert lines("T[i,l] = A[i,j] * (B[j,k] * A[k,l])") == [
        "T_1[j,l] = B[j,k] * A[k,l]",
        "T[i,l] = A[i,j] * T_1[j,l]",
    ]


def test_precedence() -> None:
    assert lines("T[i] = b[i] + b[i] * b[i] - b[i] / 2") == [
        "T_1[i] = b[i] * b[i]",
        "T_2[i] = b[i] + T_1[i]",
        "T_3[i] = 0.5 * b[i]",
        "T[i] = T_2[i] - T_3[i]",
    ]


def test_an_index_shared_by_two_factors_survives_until_the_last() -> None:
    assert lines("T[i] = A[i,j] * B[i,j] * b[j]") == [
        "T_1[i,j] = A[i,j] * B[i,j]",
        "T[i] = T_1[i,j] * b[j]",
    ]


def test_contraction_inside_a_function() -> None:
    assert lines("H[i,l] = relu(A[i,j] * B[j,l] + b[l])") == [
        "H_1[i,l] = A[i,j] * B[j,l]",
        "H_2[i,l] = H_1[i,l] + b[l]",
        "H[i,l] = relu(H_2[i,l])",
    ]


def test_a_scaled_sum_sums_first() -> None:
    assert lines("T[i] = 0.5 * A[i,j]") == ["T_1[i] = A[i,j]", "T[i] = 0.5 * T_1[i]"]


def test_constant_minus_tensor() -> None:
    assert lines("T[i] = 1 - b[i]") == ["T_1[i] = -1.0 * b[i]", "T[i] = T_1[i] + 1.0"]


def test_a_bound_index_hides_an_outer_one() -> None:
    assert lines("Y[i,j] = exp(A[i,j] - max[j] A[i,j])") == [
        "Y_1[i] = max[j] A[i,j]",
        "Y_2[i,j] = A[i,j] - Y_1[i]",
        "Y[i,j] = exp(Y_2[i,j])",
    ]


def test_explicit_sum_says_where() -> None:
    assert lines("T[i] = exp(sum[j] A[i,j])") == ["T_1[i] = A[i,j]", "T[i] = exp(T_1[i])"]
    assert lines("T[i] = sum[j](exp(A[i,j]))") == ["T_1[i,j] = exp(A[i,j])", "T[i] = T_1[i,j]"]
    assert lines("T[i] = sum[j](A[i,j] + b[j])") == ["T[i] = A[i,j] + b[j]"]


def test_fresh_names_avoid_taken_ones() -> None:
    out = lines("T_1[i] = b[i]\nT[i] = b[i] + b[i] + T_1[i]")
    assert out[1:] == ["T_2[i] = b[i] + b[i]", "T[i] = T_2[i] + T_1[i]"]


def test_words_are_only_reserved_where_they_matter() -> None:
    program = parse("order: 3x3 csr\nscalar[max] = order[max,program]")
    assert program.statements[0].out == Access("scalar", ("max",))
    assert parse("X': 3 dense\nT[i] = X'[i]").inputs == ("X'",)


def test_outer_sum_is_allowed_densely() -> None:
    text = "option broadcast_add dense\nT[i,j] = b[i] + b[j]"
    assert parse(HEAD + text).statements[0].op is Op.ADD


def test_final_output_may_be_dense() -> None:
    assert parse("A: 3 csf\nY: 3 dense\nY[i] = A[i]").tensor("Y").format.all_dense


def test_json_round_trip() -> None:
    program = parse(HEAD + "H[i,l] = relu(A[i,j] * B[j,l] + b[l]) * 2\nm = max[i,l] H[i,l]")
    assert program_from_json(program_to_json(program)) == program


@pytest.mark.parametrize(
    "text",
    ["", "[]", "3", "{}", '{"fuseloom": "program", "version": 2}', "[" * 100_000,
     '{"fuseloom": "program", "version": 1, "name": 3}'],
)  # fmt: skip
def test_malformed_json(text: str) -> None:
    with pytest.raises(ProgramError) as caught:
        program_from_json(text)
    assert "\n" not in str(caught.value)
    assert caught.value.hint


def program() -> Program:
    return parse(HEAD + "T[i,l] = A[i,j] * B[j,l]\nU[i,l] = relu(T[i,l])")


def test_programs_built_by_hand_are_verified_too() -> None:
    good = program()
    verify(good)
    mul, relu = good.statements
    for bad, message in [
        (replace(good, tensors=good.tensors[:-1]), "not among"),
        (replace(good, statements=(mul, replace(relu, out=Access("U", ("i",))))), "1 index"),
        (replace(good, statements=(replace(mul, operands=mul.operands[:1]), relu)), "2 operands"),
        (replace(good, statements=(replace(mul, constant=1.0), relu)), "takes no constant"),
        (replace(good, outputs=()), "no output"),
        (replace(good, name="a b"), "cannot be called"),
    ]:
        with pytest.raises(ProgramError, match=message):
            verify(bad)


def test_unary_cannot_reduce() -> None:
    good = program()
    tensors = (
        *good.tensors[:-1],
        replace(good.tensor("U"), shape=(4,), format=Format.compressed(1)),
    )
    relu = replace(good.statements[1], out=Access("U", ("i",)))
    with pytest.raises(ProgramError, match="cannot also reduce l"):
        verify(replace(good, tensors=tensors, statements=(good.statements[0], relu)))


def test_extents_and_reduced() -> None:
    assert program().extents[0] == {"i": 4, "j": 4, "l": 4}
    assert program().statements[0].reduced == ("j",)
