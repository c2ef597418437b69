"""Blocks: storage of square tiles, and which dimensions of a program are blocked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from fuseloom.errors import DataError, ProgramError
from fuseloom.models import attention, gcn
from fuseloom.program import (
    Format,
    Program,
    StoredTensor,
    Tensor,
    block_program,
    blocking,
    check_data,
    evaluate,
    parse,
    print_program,
    program_from_json,
    program_to_json,
    verify,
)
from tests.program.blocked import ARRAY, BCSR, C, D, S


def test_data_are_brought_into_blocks() -> None:
    program = parse("A: 4x6 csr block 2\ns[i] = A[i,j]")
    given = [
        ARRAY,
        scipy.sparse.csr_array(ARRAY),
        StoredTensor.from_dense(Tensor("Q", (4, 6), Format.compressed(2)), ARRAY),
        StoredTensor.from_dense(Tensor("Q", (4, 6), Format((C, S), (1, 0), 2)), ARRAY),
    ]
    hashes = {check_data(program, {"A": a})["A"].content_hash() for a in given}
    assert hashes == {StoredTensor.from_dense(BCSR, ARRAY).content_hash()}


def test_an_empty_tensor_keeps_the_shape_of_its_blocks() -> None:
    a = StoredTensor.from_dense(
        Tensor("A", (4, 6), Format.compressed(2).in_blocks(2, (0, 1))), 0 * ARRAY
    )
    assert a.values.shape == (0, 2, 2)
    assert not a.pattern().any()
    assert a.with_mode_order((1, 0)).nnz == 0


def test_data_that_do_not_fit_are_refused() -> None:
    for build, message in [
        (
            lambda: StoredTensor.from_levels(BCSR, [None, ([0, 1, 1], [1])], [[1, 2]]),
            "A has blocks of 2x2, but its values have shape 1x2",
        ),
        (
            lambda: StoredTensor.from_levels(
                Tensor("A", (2,), Format((D,), (0,))), [None], [[1, 2]]
            ),
            "A has single values, but its values have shape 1x2",
        ),
        (
            lambda: StoredTensor.from_levels(BCSR, [None, ([0, 1, 1], [1])], np.ones((2, 2, 2))),
            "stores 1 position, but 2 values",
        ),
        (
            lambda: StoredTensor.from_levels(BCSR, [None, ([0, 1, 1], [3])], np.ones((1, 2, 2))),
            r"coordinate 3 at position 0 is outside 0\.\.2",
        ),
        (lambda: StoredTensor.from_coo(BCSR, [[0, 6]], [1]), r"coordinate 6 .*outside 0\.\.5"),
        (lambda: StoredTensor.from_coo(BCSR, [[3, 5], [3, 5]], [1, 1]), r"\[3,5\] is given twice"),
        (
            lambda: StoredTensor.from_dense(replace(BCSR, format=Format((D, C), (0, 1), 4)), ARRAY),
            "block 4 does not divide dimension 1 of A, which is 6",
        ),
    ]:
        with pytest.raises(DataError, match=message) as caught:
            build()
        assert caught.value.hint


SPMM = "A: 8x8 csr block 4\nX: 8x4 dense block 4\nT[i,j] = A[i,k] * X[k,j]\n"


def test_results_inherit_the_blocks_of_their_indices() -> None:
    program = parse(SPMM + "s[i] = T[i,j]\nn = s[i]")
    found = blocking(program)
    assert found.edge == 4
    assert dict(found.dims) == {"A": (0, 1), "X": (0, 1), "T": (0, 1), "s": (0,), "n": ()}
    assert program.tensor("T").format == Format.compressed(2).in_blocks(4, (0, 1))
    assert program.tensor("n").format.block == 1


def test_any_two_dimensions_of_a_result_may_be_blocked() -> None:
    text = "A: 3x8 csr block 4 over 1\nB: 8x5 csr block 4 over 0\nT[j,i,l] = A[i,j] * B[j,l]"
    program = parse(text)
    assert program.tensor("T").format.blocked == (0,)
    assert parse(print_program(program)) == program


def test_declared_results_take_part() -> None:
    declared = parse("Y: 8x4 csf order 1,0\n" + SPMM + "Y[i,j] = relu(T[i,j])")
    assert declared.tensor("Y").format == Format((C, C), (1, 0), 4)
    said = parse("Y: 8x4 csf order 1,0 block 4\n" + SPMM + "Y[i,j] = relu(T[i,j])")
    assert said.tensor("Y").format == declared.tensor("Y").format


def test_block_one_is_no_block() -> None:
    assert parse(SPMM.replace("block 4", "block 1")) == parse(SPMM.replace(" block 4", ""))


@pytest.mark.parametrize(
    "program",
    [
        parse(SPMM),
        block_program(gcn(nodes=16, features=8, hidden=8, classes=4).program, 4),
        block_program(attention(8, 4).program, 2),
        parse("Q: 3x4x4 csf block 2\nM: 4 coo\n".replace("M: 4 coo\n", "") + "s[h,i] = Q[h,i,j]"),
    ],
    ids=["spmm", "gcn", "attention", "batched"],
)
def test_text_and_json_read_back(program: Program) -> None:
    verify(program)
    assert parse(print_program(program)) == program
    assert program_from_json(program_to_json(program)) == program


def test_json_from_before_blocks_reads() -> None:
    program = parse(SPMM.replace(" block 4", ""))
    text = program_to_json(program).replace(', "block": 1, "blocked": []', "")
    assert "block" not in text
    assert program_from_json(text) == program


def test_masked_meaning_is_that_of_blocks() -> None:
    """A stored block holds explicit zeros, which exp makes 1."""
    program = parse("A: 4x4 csr block 2\ne[i,j] = exp(A[i,j])")
    array = np.zeros((4, 4))
    array[3, 0] = 2.0
    e = evaluate(program, {"A": array})["e"]
    np.testing.assert_array_equal(e.present, np.kron([[0, 0], [1, 0]], np.ones((2, 2))) > 0)
    assert e.values[2:, :2].tolist() == [[1, 1], [np.exp(2), 1]]


BATCHED = """
Q: 3x8x4 dense
K: 3x8x4 dense
M: 8x8 csr
b: 3x8 dense
S[h,i,j] = Q[h,i,k] * K[h,j,k]
P[h,i,j] = S[h,i,j] * M[i,j]
Z[h,i,j] = P[h,i,j] + b[h,j]
"""


def test_batch_dimensions_stay_as_they_are() -> None:
    program = block_program(parse(BATCHED), 4)
    verify(program)
    assert dict(blocking(program).dims) == {
        "Q": (1, 2), "K": (1, 2), "M": (0, 1), "b": (1,), "S": (1, 2), "P": (1, 2), "Z": (1, 2),
    }  # fmt: skip
    assert "b: 3x8 dense block 4 over 1" in print_program(program)
    assert block_program(program, 1) == parse(BATCHED)
    assert block_program(block_program(parse(BATCHED), 2), 4) == program


def test_batch_dimensions_are_those_stored_outside() -> None:
    """Heads in the middle of the shape, but outermost in memory and in the scores."""
    form = "8x3x4 dense order 1,0,2"
    program = parse(f"Q: {form}\nK: {form}\nS[h,i,l] = Q[i,h,e] * K[l,h,e]")
    blocked = block_program(program, 4)
    assert dict(blocking(blocked).dims) == {"Q": (0, 2), "K": (0, 2), "S": (1, 2)}
    verify(blocked)


def test_an_edge_that_does_not_divide_is_refused() -> None:
    with pytest.raises(
        ProgramError, match="block 3 does not divide dimension 1 of Q, which is 8"
    ) as caught:
        block_program(parse(BATCHED), 3)
    assert caught.value.hint == "its divisors are 1, 2, 4, 8"
    for edge in (0, -2, 5000):
        with pytest.raises(ProgramError, match=f"block edge of Q is {edge}"):
            block_program(parse(BATCHED), edge)


def test_a_result_that_lost_its_blocks_is_refused() -> None:
    program = parse(SPMM)
    plain = program.with_tensor(Tensor("T", (8, 4), Format.compressed(2)))
    with pytest.raises(
        ProgramError, match="T is not blocked, but by its indices it is blocked over 0,1"
    ):
        verify(plain)
