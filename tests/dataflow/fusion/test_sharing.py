"""Reductions over an index that what surrounds them iterates anyway."""

from fuseloom.dataflow.fusion.sharing import shareable
from fuseloom.dataflow.fusion.view_builder import SharingPreference, build_views
from fuseloom.program import parse

SOFTMAX = parse("S: 4x5 dcsr\nT[i,j] = relu(S[i,j])\nx[i] = max[j] T[i,j]\nY[i,j] = T[i,j] - x[i]")


def test_a_reduction_finds_the_index_around_it() -> None:
    roots, _ = build_views(
        SOFTMAX, SOFTMAX.statements, SOFTMAX.outputs, share=SharingPreference.APART
    )
    found = shareable(roots)
    assert found == ((0, "x", ("i",), "j"), "j")
    assert shareable(roots, {found[0]}) is None


def test_once_shared_nothing_is_left_to_find() -> None:
    roots, _ = build_views(SOFTMAX, SOFTMAX.statements, SOFTMAX.outputs)
    assert shareable(roots) is None
