"""The tree of a tensor's fibers, drawn."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from fuseloom.errors import DataError
from fuseloom.program import StoredTensor, parse
from fuseloom.program.trees import MOST, WIDE, fiber_tree


def stored(fmt: str, array: object) -> StoredTensor:
    values = np.asarray(array, dtype=float)
    shape = "x".join(map(str, values.shape))
    indices = "ijkl"[: values.ndim]
    program = parse(f"A: {shape} {fmt}\ny[i] = A[{','.join(indices)}]")
    return StoredTensor.from_dense(program.tensor("A"), values)


def texts(tensor: StoredTensor, **more: bool) -> list[str]:
    root = ElementTree.fromstring(fiber_tree(tensor, **more).svg)
    return [e.text or "" for e in root.iter("{http://www.w3.org/2000/svg}text")]


def test_every_coordinate_and_value_is_in_a_box() -> None:
    found = texts(stored("dcsr", [[0, 5, 0], [0, 0, 0], [7, 0, 2]]))
    heads = ["level 0 compressed", "level 1 compressed", "values"]
    assert found[:3] == heads
    assert sorted(set(found) - set(heads)) == ["0", "1", "2", "5", "7", "A, 3 stored"]
    assert len(found) == len(heads) + 2 + 3 + 3 + 1  # rows, columns, values, and the name


def test_empty_fibers_are_seen() -> None:
    assert "empty" in texts(stored("csr", [[0, 0], [1, 0]]))
    assert "empty" in texts(stored("dcsr", np.zeros((2, 2))))


def test_references_are_positions() -> None:
    found = texts(stored("dcsr", [[0, 5], [6, 7]]), references=True)
    assert {"@0", "@1", "@2"} <= set(found)


def test_large_tensors_are_cut_off_and_say_so() -> None:
    drawing = fiber_tree(stored("dense", np.ones((40, 40))))
    boxes = drawing.svg.count("<rect")
    assert boxes <= 2 * MOST
    assert f"+{40 - WIDE}" in str(drawing)


def test_names_are_escaped_and_counted() -> None:
    tensor = stored("csr", [[1.0]])
    assert "<script" not in fiber_tree(tensor, ["<script>", "j"]).svg
    with pytest.raises(DataError, match="has 2 levels, 1 names"):
        fiber_tree(tensor, ["i"])


def test_blocks_are_refused() -> None:
    with pytest.raises(DataError, match="stored in blocks"):
        fiber_tree(stored("csr block 2", np.ones((4, 4))))
