"""Blocks: storage of square tiles, and which dimensions of a program are blocked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from engine.errors import DataError, ProgramError
from engine.models import attention, gcn
from engine.program import (
    CompressedLevel,
    DenseLevel,
    Format,
    LevelFormat,
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

D, C, S = LevelFormat.DENSE, LevelFormat.COMPRESSED, LevelFormat.SINGLETON
BCSR = Tensor("A", (4, 6), Format((D, C), (0, 1), 2))
ARRAY = np.array(
    [[0, 0, 1, 0, 0, 0], [0, 0, 2, 3, 0, 0], [4, 0, 0, 0, 0, 5], [0, 0, 0, 0, 0, 0]], dtype=float
)
PRESENT = np.kron([[0, 1, 0], [1, 0, 1]], np.ones((2, 2))).astype(bool)


# Storage ----------------------------------------------------------------------------------------


def test_levels_hold_block_coordinates() -> None:
    a = StoredTensor.from_dense(BCSR, ARRAY)
    level = a.levels[1]
    assert a.levels[0] == DenseLevel(2)
    assert isinstance(level, CompressedLevel)
    assert (level.seg.tolist(), level.crd.tolist()) == ([0, 1, 3], [1, 0, 2])
    assert a.values.tolist() == [[[1, 0], [2, 3]], [[4, 0], [0, 0]], [[0, 5], [0, 0]]]
    assert a.values.dtype == np.float32
    assert a.nnz == 12
    assert a.bytes == 4 * (3 + 3 + 12)
    np.testing.assert_array_equal(a.to_dense(), ARRAY)
    np.testing.assert_array_equal(a.pattern(), PRESENT)


def test_tiles_keep_logical_axes_in_any_mode_order() -> None:
    turned = Tensor("A", (4, 6), Format((C, C), (1, 0), 2))
    a = StoredTensor.from_dense(turned, ARRAY)
    assert a.values.tolist() == [[[4, 0], [0, 0]], [[1, 0], [2, 3]], [[0, 5], [0, 0]]]
    np.testing.assert_array_equal(a.to_dense(), ARRAY)
    dense = StoredTensor.from_dense(Tensor("A", (4, 6), Format((D, D), (1, 0), 2)), ARRAY)
    assert dense.values[1].tolist() == [[4, 0], [0, 0]]  # second block row, first block column
    np.testing.assert_array_equal(dense.to_dense(), ARRAY)


def test_elements_of_a_block_are_all_stored() -> None:
    a = StoredTensor.from_coo(BCSR, [[3, 5], [1, 2]], [7, 8])
    coords, values = a.to_coo()
    assert coords.tolist() == [[0, 2], [0, 3], [1, 2], [1, 3], [2, 4], [2, 5], [3, 4], [3, 5]]
    assert values.tolist() == [0, 0, 8, 0, 0, 0, 0, 7]
    plain = a.with_format(Format.compressed(2))
    assert plain.nnz == 8
    np.testing.assert_array_equal(plain.pattern(), a.pattern())


def test_leading_dimensions_and_chosen_ones_stay_unblocked() -> None:
    q = Tensor("Q", (3, 4, 6), Format((C, C, D), (1, 0, 2), 2))
    assert q.format.blocked == (1, 2)
    chosen = Tensor("Q", (3, 4, 6), Format((C, D, S), (1, 2, 0), 2, (2,)))
    rng = np.random.default_rng(0)
    array = rng.integers(1, 9, q.shape) * (rng.random(q.shape) < 0.2)
    stored = StoredTensor.from_dense(q, array)
    np.testing.assert_array_equal(stored.to_dense(), array)
    assert stored.values.shape[1:] == (2, 2)
    one = np.zeros((3, 4, 6))
    one[[0, 2, 1], 1, [0, 3, 4]] = 5
    vectors = StoredTensor.from_dense(chosen, one)
    assert vectors.values.tolist() == [[5, 0], [0, 5], [5, 0]]
    np.testing.assert_array_equal(vectors.to_dense(), one)


def test_every_blocked_format_reads_back() -> None:
    rng = np.random.default_rng(11)
    for _ in range(300):
        rank, block = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        blocked = tuple(rng.permutation(rank)[: rng.integers(1, 3)].tolist())
        shape = tuple(
            int(rng.integers(1, 3)) * (block if axis in blocked else 1) for axis in range(rank)
        )
        levels = [D if rng.random() < 0.5 else C for _ in shape]
        order = tuple(rng.permutation(rank).tolist())
        tensor = Tensor("A", shape, Format(tuple(levels), order, block, blocked))
        array = rng.integers(1, 9, shape) * (rng.random(shape) < 0.3)
        a = StoredTensor.from_dense(tensor, array)
        np.testing.assert_array_equal(a.to_dense(), array)
        assert a.pattern()[array != 0].all()
        assert a.pattern().sum() == a.nnz
        again = StoredTensor.from_coo(tensor, *a.to_coo())
        assert again.content_hash() == a.content_hash()
        other = a.with_mode_order(tuple(rng.permutation(rank).tolist()))
        assert other.tensor.format.blocked == tensor.format.blocked
        np.testing.assert_array_equal(other.to_dense(), array)


def test_scipy_and_from_levels() -> None:
    a = StoredTensor.from_dense(BCSR, ARRAY)
    given = StoredTensor.from_scipy(BCSR, scipy.sparse.coo_array(ARRAY))
    assert given.content_hash() == a.content_hash()
    built = StoredTensor.from_levels(BCSR, [None, ([0, 1, 3], [1, 0, 2])], a.values)
    assert built.content_hash() == a.content_hash()
    plain = StoredTensor.from_dense(Tensor("A", (4, 6), Format((D, C), (0, 1))), ARRAY)
    assert plain.content_hash() != a.content_hash()


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
            "stores 1 positions, but 2 values",
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


# Programs ---------------------------------------------------------------------------------------

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
