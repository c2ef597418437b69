"""Nests of loops, run as machine code: what fills each buffer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from fuseloom.access.loops import LEAST, TOGETHER, LoopNests, maximum
from fuseloom.access.views import ElementView, TupleView, of_buffer
from fuseloom.codegen.code_folder import ENVIRONMENT
from fuseloom.codegen.compile import build
from fuseloom.codegen.imperative import For, Int, Real
from fuseloom.errors import DataError

DATA = np.arange(12.0).reshape(3, 4) - 5
VIEW = of_buffer("r0", DATA.shape)
TURNED = ElementView((4, 3), lambda x: VIEW.read([x[1], x[0]]))


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path))


def _run(nests: LoopNests, name: str) -> npt.NDArray[np.float64]:
    """The contents of a buffer after all nests."""
    arrays = {"r0": DATA.ravel()} | {x: np.full(n, np.nan) for x, n in nests.buffers.items()}
    routines = nests.routines()
    for routine, call in zip(routines, build(routines).calls, strict=True):
        call(np.zeros(1, dtype=np.int64), [arrays[array.name] for array in routine.arrays])
    return arrays[name]


def test_views_are_put_one_after_the_other() -> None:
    nests = LoopNests(["r0"])
    made = nests.filled([TURNED, TURNED], (4, 6), 1)
    assert (made.buffer, made.dims) == ("r1", (4, 6))
    assert np.array_equal(_run(nests, "r1").reshape(4, 6), np.hstack([DATA.T, DATA.T]))


@pytest.mark.parametrize(("value", "around"), [(Real(0.0), 0.0), (LEAST, -np.inf)])
def test_padding_surrounds(value: Real, around: float) -> None:
    nests = LoopNests(["r0"])
    nests.padded(VIEW, (3, 7), 1, 1, value)
    wanted = np.pad(DATA, ((0, 0), (1, 2)), constant_values=around)
    assert np.array_equal(_run(nests, "r1").reshape(3, 7), wanted)


@pytest.mark.parametrize("largest", [False, True])
def test_sums_and_largest_values(largest: bool) -> None:
    nests = LoopNests(["r0"])
    negative = ElementView((3, 2), lambda x: VIEW.read([Int(0), x[1]]))
    nests.reduced([VIEW, negative], (3,), largest=largest)
    rows = np.hstack([DATA, np.tile(DATA[0, :2], (3, 1))])
    assert np.array_equal(_run(nests, "r1"), rows.max(1) if largest else rows.sum(1))


def test_tuples_are_copied_and_views_are_not() -> None:
    nests = LoopNests(["r0"])
    assert nests.plain(VIEW) is VIEW
    assert not nests.buffers
    made = nests.plain(TupleView(1, (VIEW, ElementView((3, 4), lambda _: Real(7.0)))))
    assert made.dims == (3, 2, 4)
    wanted = np.stack([DATA, np.full((3, 4), 7.0)], axis=1)
    assert np.array_equal(_run(nests, made.buffer).reshape(3, 2, 4), wanted)


def test_routines_have_few_nests_and_the_arrays_that_they_touch() -> None:
    nests = LoopNests(["r0", "given"])
    last = VIEW
    for _ in range(TOGETHER + 2):
        last = nests.filled([last], last.dims, 0)
    routines = nests.routines()
    assert [len(routine.body) for routine in routines] == [TOGETHER, 2]
    assert [array.name for array in routines[0].arrays] == ["r0", *list(nests.buffers)[:TOGETHER]]
    assert [array.written for array in routines[0].arrays] == [False] + [True] * TOGETHER
    variables = [x.name for routine in routines for x in routine.body if isinstance(x, For)]
    assert len(set(variables)) == TOGETHER + 2


def test_an_extent_of_one_has_no_loop() -> None:
    nests = LoopNests(["r0"])
    nests.filled([of_buffer("r0", (1, 1))], (1, 1), 0)
    (routine,) = nests.routines()
    assert not any(isinstance(command, For) for command in routine.body)
    assert _run(nests, "r1").tolist() == [-5.0]


def test_a_buffer_beyond_memory_is_refused() -> None:
    nests = LoopNests(["r0"])
    with pytest.raises(DataError, match="buffer"):
        nests.filled([VIEW], (2**40,), 0)


def test_the_larger_of_two() -> None:
    nests = LoopNests(["r0"])
    kept = ElementView(DATA.shape, lambda x: maximum(VIEW.read(x), Real(0.0)))
    nests.filled([kept], DATA.shape, 0)
    assert np.array_equal(_run(nests, "r1"), DATA.clip(0).ravel())
