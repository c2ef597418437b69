"""Reads at sums of indices: relations solved, windows inside and beyond a tensor."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

import fuseloom as fl
from fuseloom.errors import ProgramError
from fuseloom.program.windows import (
    IndexSum,
    WindowView,
    are_filled,
    check_windows,
    has_windows,
    index_places,
    is_inside,
)


def _view(**terms: int) -> WindowView:
    offset = terms.pop("offset", 0)
    return WindowView("x", (9,), (IndexSum(tuple(terms.items()), offset),))


def test_a_filled_window_has_an_element_everywhere() -> None:
    extents: Mapping[str, int] = {"i": 5, "k": 3, "f": 2}
    inside, padded = _view(i=1, k=1), _view(i=2, k=1, offset=-1)
    assert are_filled([inside, padded], extents, ["k"])
    assert not are_filled([padded, padded], extents, ["k"])  # both may lack the same elements
    assert not are_filled([_view(i=4, k=1)], extents, ["k"])
    assert not are_filled([padded], extents, [])


def test_relations_in_one_statement_are_solved_together() -> None:
    program = fl.parse("""
    x: 20 dense
    M[i,k,j]: 4x3x9 csf where j = i + 2*k + 1
    N[j,l]: 9x20 csr where l = 2*j + 1
    y[i,k] = product(x[l], N[j,l], M[i,k,j])
    """)
    places = index_places(program.statements[0], program.extents[0], program)
    assert places.places["l"] == IndexSum((("i", 2), ("k", 4)), 3)


def test_windows_without_a_term_are_refused() -> None:
    with pytest.raises(ProgramError, match="backwards"):
        check_windows([_view(i=-1, offset=8)], {"i": 9})
    with pytest.raises(ProgramError, match="more than two indices"):
        check_windows([_view(i=1, j=1, k=1)], {"i": 2, "j": 2, "k": 2})


def test_a_window_is_inside_if_both_its_ends_are() -> None:
    extents = {"i": 7, "k": 3}
    assert is_inside(_view(i=1, k=1), extents)
    assert not is_inside(_view(i=1, k=1, offset=1), extents)
    assert not is_inside(_view(i=1, k=1, offset=-1), extents)
    assert has_windows(_view(i=1, k=1), ["k"])
    assert not has_windows(_view(i=1), ["k"])
