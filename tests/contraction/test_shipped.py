"""Networks that come with the program."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.contraction.networks import read_extents
from fuseloom.contraction.shipped import SHIPPED, shipped
from fuseloom.errors import ProgramError
from tests.contraction.drawn import data_of, wanted


@pytest.mark.parametrize("name", SHIPPED)
def test_its_tree_computes_its_string(name: str) -> None:
    tree = shipped(name)
    assert tree.extents == read_extents(SHIPPED[name].extents)
    data = data_of(tree)
    names = sorted(data)
    want = np.einsum(SHIPPED[name].einsum, *(data[n] for n in names), optimize=True)
    np.testing.assert_allclose(wanted(tree, data), want, atol=1e-9)


def test_a_name_that_is_not_known() -> None:
    with pytest.raises(ProgramError, match="no network is called"):
        shipped("nothing")
