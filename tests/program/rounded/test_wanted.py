"""The part of the operands on which some elements of a result depend."""

from __future__ import annotations

import numpy as np

from fuseloom.program import parse
from fuseloom.program.rounded.tensors import Box, Elements, Listed
from fuseloom.program.rounded.wanted import Wanted


def needed(
    text: str, box: Box, leaf: dict[str, Elements] | None = None
) -> dict[str, list[list[int] | None]]:
    program = parse(text)
    wanted = Wanted(program, {program.outputs[0]: box})
    for statement in reversed(program.live):
        wanted.ask(statement, lambda name, inside: known(leaf or {}, name, inside))
    return {
        name: [None if only is None else only.tolist() for only in made]
        for name, made in wanted.boxes.items()
    }


def known(leaf: dict[str, Elements], name: str, inside: Box) -> Elements | None:
    return leaf[name].restricted(inside) if name in leaf else None


ROWS = np.array([0, 2])
GRAPH = Listed(np.array([[0, 1, 2, 2], [5, 1, 3, 5]]), np.ones(4))


def test_a_product_needs_of_the_other_factor_what_the_known_one_meets() -> None:
    text = "A: 6x6 csr\nX: 6x4 dense\nT[i,j] = A[i,k] * X[k,j]"
    assert needed(text, (ROWS, None)) == {
        "T": [[0, 2], None], "A": [[0, 2], None], "X": [None, None],
    }  # fmt: skip
    known = needed(text, (ROWS, None), {"A": GRAPH})
    assert known["A"] == [[0, 2], [3, 5]]
    assert known["X"] == [[3, 5], None]


def test_two_layers_of_a_graph_need_the_neighbours_of_neighbours() -> None:
    text = "A: 6x6 csr\nX: 6x4 dense\nH[i,j] = A[i,k] * X[k,j]\nY[i,j] = A[i,k] * H[k,j]"
    known = needed(text, (np.array([0]), None), {"A": GRAPH})
    assert known["H"] == [[5], None]
    assert known["X"] == [[], None]  # row 5 of the graph is empty
    assert known["A"] == [[0, 5], [5]]  # one use wants row 0, the other row 5


def test_what_one_reader_needs_whole_is_needed_whole() -> None:
    text = "X: 6x4 dense\nm[j] = max[i] X[i,j]\nd[i,j] = X[i,j] - m[j]"
    assert needed(text, (ROWS, None))["X"] == [None, None]


def test_rows_of_a_sum_are_seen_from_all_that_is_in_them() -> None:
    text = "A: 6x6 csr\nb: 6 dense\nT[i,j] = A[i,j] + b[j]"
    columns = np.array([1])
    assert needed(text, (None, columns)) == {"T": [None, [1]], "A": [None, None], "b": [None]}
    assert needed(text, (ROWS, columns))["A"] == [[0, 2], None]
    same = "A: 6x6 csr\nB: 6x6 csr\nT[i,j] = A[i,j] + B[i,j]"
    assert needed(same, (ROWS, columns))["B"] == [[0, 2], [1]]


def test_concats_and_reshapes_ask_for_everything_along_what_they_move() -> None:
    text = "A: 6x6 csr\nB: 6x2 csr\nT[i,c] = concat[c](A[i,c], B[i,c])"
    assert needed(text, (ROWS, np.array([7])))["B"] == [[0, 2], None]
    text = "A: 6x6 csr\nR: 36 csf\nR[x] = reshape(A[i,j])"
    assert needed(text, (ROWS,))["A"] == [None, None]
