"""Nests of loops, run as machine code: what fills each buffer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pytest

from fuseloom.access.loops import (
    CHUNK,
    LEAST,
    LEAST_LANES,
    MOST_IN_CHUNK,
    MOST_LANES,
    PACKED_FROM,
    TILE,
    TOGETHER,
    LoopNests,
    ResultPlace,
    maximum,
)
from fuseloom.access.views import (
    ElementView,
    TupleView,
    accesses,
    of_buffer,
    reshaped,
    strides,
)
from fuseloom.codegen.code_folder import ENVIRONMENT
from fuseloom.codegen.compile import build
from fuseloom.codegen.imperative import Command, For, Int, Put, Real, Set
from fuseloom.errors import DataError

DATA = np.arange(12.0).reshape(3, 4) - 5
VIEW = of_buffer("r0", DATA.shape)
TURNED = ElementView((4, 3), lambda x: VIEW.read([x[1], x[0]]))


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path))


def _run(
    nests: LoopNests, name: str, data: Mapping[str, npt.NDArray[np.float64]] = MappingProxyType({})
) -> npt.NDArray[np.float64]:
    """The contents of a buffer after all nests."""
    arrays = {"r0": DATA.ravel()} | {x: np.full(n, np.nan) for x, n in nests.buffers.items()}
    arrays |= {name: array.ravel() for name, array in data.items()}
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


def _factors(m: int, k: int, n: int, *, turned: bool = False) -> list[ElementView]:
    """A product of matrices as factors: m × k, and k × n or its transpose."""
    first, second = of_buffer("r0", (m, k)), of_buffer("r1", (n, k) if turned else (k, n))
    return [
        ElementView((m, n, k), lambda x: first.read([x[0], x[2]])),
        ElementView((m, n, k), lambda x: second.read([x[1], x[2]] if turned else [x[2], x[1]])),
    ]


def _innermost(body: tuple[Command, ...]) -> Iterator[tuple[str, Put]]:
    """What is stored in loops without others, and their variables."""
    for command in body:
        if isinstance(command, For):
            yield from _innermost(command.body)
            for inner in command.body:
                if isinstance(inner, Put):
                    yield command.name, inner


EXTENTS = [
    (3, 5, 4),
    (7, CHUNK, 30),
    (9, 2 * CHUNK + 3, MOST_LANES + 5),
    (TILE // MOST_LANES + 6, MOST_IN_CHUNK, MOST_LANES),
    (2, 1, 2 * MOST_LANES),
    (1, 40, 33),
    (6, 50, LEAST_LANES - 1),
]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("m", "k", "n"), EXTENTS)
def test_sums_of_products_in_tiles_and_chunks(m: int, k: int, n: int, turned: bool) -> None:
    """Integers, whose sums are exact in any order; a second product is added to the first."""
    random = np.random.default_rng(m * k)
    first, second = (random.integers(-9, 9, dims).astype(np.float64) for dims in ((m, k), (k, n)))
    nests = LoopNests(["r0", "r1"])
    factors = _factors(m, k, n, turned=turned)
    made = nests.summed(factors, (m, n))
    data = {"r0": first, "r1": np.ascontiguousarray(second.T) if turned else second}
    assert np.array_equal(_run(nests, made.buffer, data).reshape(m, n), first @ second)
    nests.summed(factors, (m, n), ResultPlace(made, add=True))
    assert np.array_equal(_run(nests, made.buffer, data).reshape(m, n), 2 * first @ second)


def test_the_innermost_loop_runs_through_neighbours() -> None:
    nests = LoopNests(["r0", "r1"])
    nests.summed(_factors(20, 3 * CHUNK, 30), (20, 30))
    (routine,) = nests.routines()
    found = list(_innermost(routine.body))
    assert found
    for name, put in found:
        assert _moves_with(name, put) == {0, 1}


def _moves_with(name: str, put: Put) -> set[int]:
    """How far the places that a command reads and writes move with a variable."""
    found = {strides(access.index).get(name, 0) for access in accesses(put.value)}
    return found | {strides(put.index).get(name, 0)}


def test_what_is_read_often_is_copied_in_order() -> None:
    """The rows of a transposed matrix are read once for each row of the other."""
    for rows, copies in ((PACKED_FROM - 1, 0), (PACKED_FROM, 1)):
        nests = LoopNests(["r0", "r1"])
        nests.summed(_factors(rows, 20, 30, turned=True), (rows, 30))
        assert len(nests.buffers) == 1 + copies
        assert list(nests.buffers.values())[1:] == [600] * copies
        (routine,) = nests.routines()
        totals = any(isinstance(x, Set) for x in _commands(routine.body))
        assert totals == (copies == 0)


def _commands(body: tuple[Command, ...]) -> Iterator[Command]:
    for command in body:
        yield command
        if isinstance(command, For):
            yield from _commands(command.body)


@pytest.mark.parametrize("largest", [False, True])
def test_targets_that_were_flattened(largest: bool) -> None:
    """Results belong into a transposed buffer, by an index that runs through two dimensions."""
    nests = LoopNests(["r0"])
    buffer = nests.buffer((5, 4, 3))
    place = reshaped(ElementView((3, 4, 5), lambda x: buffer.read([x[2], x[1], x[0]])), (12, 5))
    assert place is not None
    source = ElementView((12, 5, 2), lambda x: of_buffer("r0", (12, 5, 2)).read(x))
    nests.reduced([source], (12, 5), largest=largest, target=ResultPlace(place))
    data = np.random.default_rng(3).integers(-9, 9, (12, 5, 2)).astype(np.float64)
    values = data.max(2) if largest else data.sum(2)
    wanted = values.reshape(3, 4, 5).transpose(2, 1, 0)
    assert np.array_equal(_run(nests, buffer.buffer, {"r0": data}).reshape(5, 4, 3), wanted)


def test_what_is_flattened_in_another_way_is_copied_first() -> None:
    nests = LoopNests(["r0"])
    buffer = nests.buffer((2, 6))
    place = reshaped(ElementView((6, 2), lambda x: buffer.read([x[1], x[0]])), (12,))
    assert place is not None
    alike = reshaped(ElementView((3, 4), lambda x: TURNED.read([x[1], x[0]])), (12,))
    assert alike is not None
    nests.put(alike, ResultPlace(place))
    assert np.array_equal(_run(nests, buffer.buffer).reshape(2, 6), DATA.reshape(6, 2).T)
    assert len(nests.buffers) == 1
    other = reshaped(TURNED, (12,))
    assert other is not None
    nests.put(other, ResultPlace(place, add=True))
    assert len(nests.buffers) == 2
    wanted = DATA.reshape(6, 2).T + DATA.T.reshape(6, 2).T
    assert np.array_equal(_run(nests, buffer.buffer).reshape(2, 6), wanted)


@pytest.mark.parametrize("dims", [(3, 4), (19, 24), (5, 40)])
def test_a_transposed_copy_in_blocks(dims: tuple[int, int]) -> None:
    data = np.arange(1.0 * dims[0] * dims[1]).reshape(dims)
    view = of_buffer("r0", dims)
    nests = LoopNests(["r0"])
    made = nests.filled([ElementView(dims[::-1], lambda x: view.read(x[::-1]))], dims[::-1], 0)
    assert np.array_equal(_run(nests, made.buffer, {"r0": data}).reshape(dims[::-1]), data.T)
