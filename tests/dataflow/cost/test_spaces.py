"""Estimates choose right: a few of the spaces that ``benchmarks/estimate.py`` prints all of.

A space has every legal schedule of a program on a matrix, and each is simulated.
"""

from __future__ import annotations

import pytest

from benchmarks.estimate import REGRET, RHO, measure, rank_correlation, regret
from benchmarks.spaces import space
from fuseloom.dataflow.cost import EstimateMode, sampling

SPACES = [
    ("chain", "power law"),
    ("masked", "clustered"),
    ("SDDMM X", "bipartite"),
    ("GCN", "Karate"),
    pytest.param("edge", "arrow", marks=pytest.mark.fuzz),  # a large space
    pytest.param("SDDMM X", "blocks", marks=pytest.mark.fuzz),  # likewise
]


@pytest.mark.parametrize(("program", "family"), SPACES)
def test_the_schedule_with_the_least_estimate_is_the_fastest(program: str, family: str) -> None:
    chosen = space(program, family, 24)
    assert chosen is not None
    assert len(chosen.schedules) >= 4
    row = measure(chosen, EstimateMode.EXACT)
    assert row.rho >= RHO
    assert row.regret <= REGRET
    assert row.errors[1] <= 0.02
    assert row.bounds is not None
    assert row.bounds[-1] <= 1.0
    assert row.bounds[0] >= 0.9


CHANNELS = [
    ("chain", "clustered", 2),
    ("masked", "power law", 4),
    ("edge", "banded", 2),
    ("SDDMM X", "blocks", 4),
    ("SDDMM X", "Karate", 2),
]
"""Programs, matrices, and how much channels hold: 2 or 4, the other one where ``fuzz`` is asked."""


@pytest.mark.parametrize(
    ("program", "family", "capacity"),
    [
        *CHANNELS,
        *(
            pytest.param(program, family, 6 - capacity, marks=pytest.mark.fuzz)
            for program, family, capacity in CHANNELS
        ),
    ],
)
def test_channels_with_a_bound(program: str, family: str, capacity: int) -> None:
    chosen = space(program, family, 24)
    assert chosen is not None
    row = measure(chosen.sized(capacity), EstimateMode.EXACT)
    assert row.regret <= REGRET
    assert row.errors[1] <= 0.15
    assert row.bounds is not None
    assert row.bounds[-1] <= 1.0


@pytest.mark.parametrize(
    ("program", "family"), [("chain", "power law"), ("edge", "clustered"), ("SDDMM X", "arrow")]
)
def test_samples_choose_right_too(
    program: str, family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With so few elements that few coordinates are executed."""
    monkeypatch.setattr(sampling, "SAMPLED_ELEMENTS", 1e5)
    chosen = space(program, family, 200)
    assert chosen is not None
    row = measure(chosen, EstimateMode.SAMPLED)
    assert row.rho >= 0.94
    assert row.regret <= REGRET
    assert row.errors[0] <= 0.1
    assert row.errors[1] <= 0.3
    assert row.inside >= 0.9


def test_spaces_have_permuted_copies_and_fused_regions() -> None:
    chosen = space("chain", "uniform", 12)
    assert chosen is not None
    assert any(region.copies for region in chosen.regions.values())
    assert {name for name, _ in chosen.regions} == {"T", "Y", "T..Y"}
    assert len({len(keys) for keys in chosen.schedules}) == 2


def test_what_choosing_costs() -> None:
    assert regret([3.0, 1.0, 2.0], [30, 15, 10]) == 1.5
    assert rank_correlation([1.0, 2.0, 3.0], [10, 20, 30]) == 1.0
    assert rank_correlation([2.0, 2.0], [7, 7]) == 1.0
