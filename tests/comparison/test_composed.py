"""Calls that are kernels of other systems: whole, in tiles and with breaks they are right."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from fuseloom.calls.measuring import TiledSchedule, measure
from fuseloom.cli.main import main
from fuseloom.comparison.black_boxes import KernelBox, array_call, loop_nest, stitched
from fuseloom.comparison.composed import COMPOSED, softmax_text
from fuseloom.errors import ProgramError
from fuseloom.exploration.call_runs import keep_calls
from fuseloom.exploration.store import RunStore

EXTENTS = {"h": 37, "w": 6}
"""No tile but the whole divides the rows."""


@pytest.mark.parametrize("name", COMPOSED)
def test_compositions_are_right_in_tiles_of_every_size(name):
    case = COMPOSED[name].make(EXTENTS)
    schedules = [TiledSchedule(tile, breaks) for tile in (5, 16, 37) for breaks in ((), (1,), (2,))]
    for made in measure(case, "n", schedules, rounds=1):
        assert made.max_rel_error < 2e-6, made.schedule
        assert made.unfused_error / made.scale < 2e-6


def test_sums_over_neighbours_need_all_features():
    case = COMPOSED["graph-layer-composed"].make(EXTENTS)
    fused, apart = (
        measure(case, "n", [TiledSchedule(10, breaks)], rounds=1)[0] for breaks in ((), (1,))
    )
    assert (fused.counts.recomputation["T"], apart.counts.recomputation["T"]) == (4.0, 1.0)


def test_a_box_is_compiled_once_for_each_shape():
    asked = []

    def text(shape):
        asked.append(shape)
        return softmax_text(shape)

    box = KernelBox(text, stitched)
    for rows in (3, 4, 3):
        given = np.random.default_rng(rows).standard_normal((rows, 5)).astype(np.float32)
        out = np.empty_like(given)
        box(given, out)
        np.testing.assert_allclose(out.sum(axis=1), 1.0, rtol=1e-6)
    assert asked == [(3, 5), (4, 5)]


def test_a_loop_nest_takes_other_patterns_than_its_first():
    box = KernelBox(
        lambda a, b: f"A: {a[0]}x{a[1]} csr\nB: {b[0]}x{b[1]} dense\nC[i,j] = A[i,k] * B[k,j]",
        loop_nest,
    )
    rng = np.random.default_rng(0)
    dense = rng.standard_normal((6, 3))
    for density in (0.1, 0.9, 0.0):
        sparse = scipy.sparse.random_array((8, 6), density=density, format="csr", rng=rng)
        out = np.empty((8, 3))
        box(sparse, dense, out)
        np.testing.assert_allclose(out, sparse @ dense, rtol=1e-12, atol=1e-12)


def test_an_array_takes_one_layer():
    box = KernelBox(softmax_text, array_call)
    with pytest.raises(ProgramError, match="one product, convolution or pooling"):
        box(np.zeros((3, 5), np.float32), np.empty((3, 5), np.float32))


def test_runs_of_compositions_are_kept(tmp_path):
    case = COMPOSED["graph-layer-composed"].make(EXTENTS)
    made = measure(case, "n", [TiledSchedule(16)], rounds=1)
    with RunStore(tmp_path / "runs.sqlite") as store:
        fused, whole = keep_calls(store, case, made, "composed", "random")
        assert fused.ok
        assert whole.ok
        assert len(list(store.whole())) == 2


def test_the_command_has_them_by_name(capsys):
    words = ["calls", "attention-composed", "--extents", "h=32,w=8", "--tile", "8", "--rounds", "1"]
    assert main(words) == 0
    assert "fused" in capsys.readouterr().out
