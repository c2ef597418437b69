"""Which elements of a matrix are stored, drawn."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from fuseloom.errors import DataError
from fuseloom.program.patterns import MOST, pattern
from tests.program.test_trees import stored


def test_every_stored_element_is_a_square() -> None:
    made = pattern(stored("dcsr", [[0, 5, 6], [0, 0, 0], [7, 0, 2]]))
    assert str(made).splitlines() == ["A: 4 of 9 elements stored", "·##", "···", "#·#"]
    root = ElementTree.fromstring(made.svg)
    paths = [e for e in root.iter("{http://www.w3.org/2000/svg}path") if "fill" in e.attrib]
    (squares,) = paths
    assert squares.attrib["d"].count("M") == 3  # neighbours in a row are one


def test_zeros_that_are_stored_are_told() -> None:
    made = pattern(stored("csr block 2", [[0, 1, 0, 0], [0, 0, 0, 0]]))
    assert str(made).splitlines() == ["A: 4 of 8 elements stored, 3 of them 0", "o#··", "oo··"]
    assert "var(--warn)" in made.svg
    assert "stored" in str(pattern(stored("csr", np.zeros((2, 2)))))


@pytest.mark.parametrize("array", [np.ones(3), np.ones((2, 2, 2)), np.ones((MOST + 1, 2))])
def test_what_cannot_be_drawn_is_told(array: np.ndarray) -> None:
    with pytest.raises(DataError, match="is not drawn"):
        pattern(stored("compressed", array))


def test_large_ones_are_drawn_without_lines() -> None:
    made = pattern(stored("csr", np.eye(MOST)))
    assert "var(--line)" not in made.svg.partition("</style>")[2]
