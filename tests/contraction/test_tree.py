"""Contraction trees of programs, and what is none."""

from __future__ import annotations

import pytest

from fuseloom.contraction.shipped import SHIPPED, shipped
from fuseloom.contraction.tree import ContractionTree
from fuseloom.errors import ProgramError
from fuseloom.program import Op, Program, parse, verify

HEAD = "A: 4x5 csf\nB: 5x6 csf\nC: 6x3 csf\n"


def tree(text: str) -> ContractionTree:
    return ContractionTree.of(parse(HEAD + text))


def test_an_index_has_one_name_throughout_and_no_other_index_has_it() -> None:
    found = tree("X[p,q] = A[p,k] * B[k,q]\nR[i,l] = X[i,k] * C[k,l]")
    first, last = found.contractions
    assert str(last) == "R[i,l] = X[i,k] * C[k,l]"
    assert first.out.indices == ("i", "k")
    (summed,) = set(first.indices) - set(first.out.indices)
    assert summed not in last.indices
    assert found.extents == {"i": 4, "k": 6, summed: 5, "l": 3}


def test_what_a_tree_knows() -> None:
    found = tree("X[i,k] = A[i,j] * B[j,k]\nR[i,l] = X[i,k] * C[k,l]")
    assert [a.tensor for a in found.inputs] == ["A", "B", "C"]
    assert [a.tensor for a in found.intermediates] == ["X"]
    assert found.consumer["X"].name == "R"
    assert found.result.tensor == "R"


def test_a_sum_of_one_tensor_is_a_contraction() -> None:
    found = tree("X[j] = A[i,j]\nR[k] = X[j] * B[j,k]")
    assert [len(c.operands) for c in found.contractions] == [1, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("R[i,k] = relu(A[i,k])", "is made by 'relu'"),
        ("R[i,l] = product(A[i,j], B[j,k], C[k,l])", "product of 3 tensors at once"),
        ("X[i,k] = A[i,j] * B[j,k]\nR[i,k] = X[i,k] * X[i,k]", "X is read 2 times"),
        ("X[i,k] = A[i,j] * B[j,k]\nY[j,l] = B[j,k] * C[k,l]", "has one result, here are 2"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message) as caught:
        tree(text)
    assert caught.value.hint


def renamed(program: Program) -> list[tuple[Op, list[tuple[str, tuple[int, ...]]]]]:
    """The live statements with numbers in place of names of indices."""
    return [
        (
            s.op,
            [
                (access.tensor, tuple(s.indices.index(x) for x in access.indices))
                for access in (s.out, *s.operands)
            ],
        )
        for s in program.live
    ]


@pytest.mark.parametrize("name", SHIPPED)
def test_networks_go_to_programs_and_back(name: str) -> None:
    program = shipped(name).program
    made = ContractionTree.of(program).to_program()
    assert made.losses == ()
    assert renamed(made.program) == renamed(program)
    used = {access.tensor for s in program.live for access in (s.out, *s.operands)}
    assert made.program.tensors == tuple(t for t in program.tensors if t.name in used)
    assert made.program.outputs == program.outputs
    verify(made.program)
    assert ContractionTree.of(made.program).contractions == ContractionTree.of(program).contractions


def test_what_is_left_out_on_the_way_to_a_program_is_said() -> None:
    made = tree("X[i,k] = nonzero(A[i,j] * B[j,k])\nR[i,l] = X[i,k] * C[k,l]").to_program()
    assert made.losses == ("X no longer leaves its zeros out.",)
    assert not any(s.nonzero for s in made.program.statements)
