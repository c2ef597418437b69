"""Fig. 12: how bars follow from runs."""

from __future__ import annotations

import pytest

from fuseloom.experiments.accounting import PAPER, SCANS, width
from fuseloom.experiments.recipe import (
    AccountingMode,
    ExperimentSize,
    MissingError,
    RecipeResults,
    RegionResult,
    Result,
)
from fuseloom.experiments.recipes.fusion import FUSION, cycles, decoder_totals


def region(name: str, cycles: float) -> RegionResult:
    return RegionResult(name, cycles, 0.0, 0.0, cycles, 0.0)


def result(**regions: float) -> Result:
    return Result(tuple(region(name.replace("__", ".."), c) for name, c in regions.items()))


def decoder() -> RecipeResults:
    return RecipeResults(
        {
            "gpt3.full": result(U1t__Vb1=10, S1__O1=99, Ap1__Vb2=7, S2__O2=99, Ap2__X2=5),
            "gpt3.unfused": result(U1=1, Qp1=2, S1=99, P1=99, Z1=99, x1__R1=99, O1=99, Ap1=4),
            "heads.64.full": result(S__O=3),
            "heads.64.unfused": result(S=20, P=1),
        }
    )


def test_twelve_decoders() -> None:
    """Projections count three times; attention is that of its own blocks."""
    assert decoder_totals(decoder(), 64) == {
        "unfused": 12 * (1 + 2 + 4 + 21),
        "partial": 12 * (30 + 3 + 5),
        "full": 30 + 12 * 3 + 11 * 7 + 5,
    }
    with pytest.raises(MissingError):
        decoder_totals(decoder(), 32)


def test_the_wide_addition_of_graphsage() -> None:
    runs = RecipeResults({f"graphsage.cora.{x}": result(N1=100) for x in ("unfused", "partial")})
    wide = 2_708 * 1_433
    assert width("cora", ExperimentSize.FULL) == wide
    assert cycles(runs, "graphsage.cora", "unfused", ExperimentSize.FULL) == 100 + wide
    assert cycles(runs, "graphsage.cora", "partial", ExperimentSize.FULL) == 100
    assert width("power-law", ExperimentSize.SMOKE) == 40 * 24
    assert width("karate", ExperimentSize.SMOKE) == 34 * 34


def test_accounting_of_data_sets() -> None:
    every = FUSION.configurations(ExperimentSize.FULL, AccountingMode.PAPER)
    cora = every["gcn.cora.full"]
    assert dict(cora.options)["density"] == PAPER["cora"].density == 0.359
    assert cora.settings == SCANS
    assert "locate off" not in every["gcn.collab.partial"].settings
    assert every["graphsage.dblp.full"].options == every["gcn.dblp.full"].options
    ours = FUSION.configurations(ExperimentSize.FULL, AccountingMode.OURS)
    assert ours["gcn.cora.full"].settings == ""


def test_the_constants_that_densities_were_found_by() -> None:
    """unfused = max(nnz·F, N²) + N·F·(w + 1) + N² + small, to a tenth of a per cent."""
    from fuseloom.experiments.claims import published
    from fuseloom.models.datasets import GRAPHS

    for data in ("cora", "cora_ml", "dblp"):
        facts, weights = GRAPHS[data], 16 * PAPER[data].density
        n, f = facts.nodes, facts.features
        made = max(facts.edges * f, n**2) + n * f * (weights + 1) + n**2
        told = published()[f"12.gcn.{data}.unfused"].expected
        assert made == pytest.approx(told, rel=0.011)
