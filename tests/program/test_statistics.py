"""Statistics of stored tensors, against counts over dense arrays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from fuseloom.program import StoredTensor, parse, statistics
from fuseloom.program.statistics import TensorStatistics, join_rate, visits


def array(
    seed: int, shape: tuple[int, ...] = (9, 7), density: float = 0.3
) -> npt.NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) * (rng.random(shape) < density)


def stored(values: npt.NDArray[np.float64], fmt: str = "dcsr") -> StoredTensor:
    shape = "x".join(map(str, values.shape))
    indices = ",".join("ijkl"[: values.ndim])
    tensor = parse(f"A: {shape} {fmt}\nT[{indices}] = relu(A[{indices}])").tensor("A")
    return StoredTensor.from_dense(tensor, values)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("fmt", ["csr", "dcsr", "csc", "coo"])
def test_fibers_of_matrices(seed: int, fmt: str) -> None:
    values = array(seed)
    values[3] = 0  # an empty row
    pattern = (values if fmt != "csc" else values.T) != 0
    degrees = pattern.sum(axis=1)
    if fmt in ("dcsr", "coo"):
        degrees = degrees[degrees > 0]
    outer, inner = TensorStatistics.of(stored(values, fmt)).levels
    np.testing.assert_array_equal(inner.lengths, degrees)
    np.testing.assert_array_equal(inner.histogram, pattern.sum(axis=0))
    assert inner.fibers == outer.positions == len(degrees)
    assert inner.positions == pattern.sum()
    assert inner.mean == pytest.approx(degrees.mean())
    assert inner.second_moment == pytest.approx((degrees**2).mean())
    assert inner.longest == degrees.max()
    assert inner.empty == (degrees == 0).sum()
    assert (outer.fibers, outer.size) == (1, pattern.shape[0])
    assert inner.summary()["positions"] == inner.positions


def test_levels_of_higher_rank_and_dense_ones() -> None:
    values = array(1, (4, 3, 5), 0.4)
    values[2] = 0
    outer, middle, inner = TensorStatistics.of(stored(values, "csf")).levels
    pattern = values != 0
    np.testing.assert_array_equal(middle.lengths, pattern.any(axis=2).sum(axis=1)[[0, 1, 3]])
    np.testing.assert_array_equal(middle.histogram, pattern.any(axis=2).sum(axis=0))
    np.testing.assert_array_equal(inner.histogram, pattern.sum(axis=(0, 1)))
    assert (outer.positions, inner.positions) == (3, pattern.sum())
    dense = TensorStatistics.of(stored(values, "dense")).levels
    assert [level.positions for level in dense] == [4, 12, 60]
    assert [level.fibers for level in dense] == [1, 4, 12]
    assert dense[2].lengths.tolist() == [5] * 12
    assert dense[1].histogram.tolist() == [4] * 3
    assert dense[1].summary()["second_moment"] == 9


def test_join_rates() -> None:
    a, b = array(2, (20, 15)), array(3, (30, 15))
    first, second = (TensorStatistics.of(stored(m)).levels[1] for m in (a, b))
    rows = [m[(m != 0).any(axis=1)] != 0 for m in (a, b)]
    met = [[(x & y).sum() for y in rows[1]] for x in rows[0]]
    expected = np.sum(met) / (rows[0].sum() * len(rows[1]))
    assert join_rate(first, second) == pytest.approx(expected)
    assert join_rate(second, first) == pytest.approx(np.sum(met) / (rows[1].sum() * len(rows[0])))
    empty = TensorStatistics.of(stored(np.zeros((4, 15)))).levels[1]
    assert join_rate(first, empty) == join_rate(empty, first) == 0
    with pytest.raises(ValueError, match="not of one index"):
        join_rate(first, TensorStatistics.of(stored(array(1))).levels[1])


@pytest.mark.parametrize("fmt", ["csr", "dcsr"])
def test_visits_are_two_hop_paths(fmt: str) -> None:
    values = array(4, (12, 12))
    paths = ((values != 0).astype(int) @ (values != 0).astype(int)).sum()
    made = TensorStatistics.of(stored(values, fmt))
    assert visits(made.levels[1], made) == paths
    with pytest.raises(ValueError, match="rows of a matrix"):
        visits(TensorStatistics.of(stored(array(1))).levels[1], made)


def test_tensors_stored_alike_share_their_statistics() -> None:
    program = parse("A: 3x4 csr\nB: 3x4 csr\nC: 4x3 csr\ny[i] = A[i,j] * B[i,j]\nz[i] = C[i,j]")
    array = np.array([[1, 0, 1, 1], [0, 0, 0, 0], [0, 0, 2, 0]])

    def of(name: str, given: npt.NDArray[np.int64]) -> TensorStatistics:
        return TensorStatistics.of(StoredTensor.from_dense(program.tensor(name), given))

    first = of("A", array)
    assert of("A", array) is first
    assert of("B", 7 * array) is first  # names and values do not count
    assert of("A", array[::-1]) is not first
    assert of("C", array.T) is not first


def test_statistics_are_kept_up_to_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = statistics.StatisticsCache(20_000)
    monkeypatch.setattr(statistics, "KEPT", kept)
    tensor = parse("A: 40x40 csr\ny[i] = A[i,j]").tensor("A")
    rng = np.random.default_rng(0)
    arrays = [rng.random((40, 40)) < 0.2 for _ in range(8)]
    made = [TensorStatistics.of(StoredTensor.from_dense(tensor, a)) for a in arrays]
    assert 0 < kept.held <= kept.limit
    assert 0 < len(kept.entries) < 8
    assert TensorStatistics.of(StoredTensor.from_dense(tensor, arrays[-1])) is made[-1]
    assert TensorStatistics.of(StoredTensor.from_dense(tensor, arrays[0])) is not made[0]
