"""Program text to programs: declarations, statements, splitting, defaults."""

from __future__ import annotations

from fuseloom.program import (
    Access,
    BroadcastAdd,
    Format,
    Op,
    parse,
)
from tests.program.parsing import HEAD


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


def test_words_are_only_reserved_where_they_matter() -> None:
    program = parse("order: 3x3 csr\nscalar[max] = order[max,program]")
    assert program.statements[0].out == Access("scalar", ("max",))
    assert parse("X': 3 dense\nT[i] = X'[i]").inputs == ("X'",)


def test_outer_sum_is_allowed_densely() -> None:
    text = "option broadcast_add dense\nT[i,j] = b[i] + b[j]"
    assert parse(HEAD + text).statements[0].op is Op.ADD


def test_final_output_may_be_dense() -> None:
    assert parse("A: 3 csf\nY: 3 dense\nY[i] = A[i]").tensor("Y").format.all_dense
