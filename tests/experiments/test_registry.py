"""Every recipe, at its smallest size, and what holds for all of them."""

from __future__ import annotations

import re

import pytest

from fuseloom.errors import UsageError
from fuseloom.experiments.claims import ClaimVerdict, published
from fuseloom.experiments.driver import Figure, claims_of
from fuseloom.experiments.recipe import AccountingMode, ExperimentSize, Panel, RecipeResults
from fuseloom.experiments.registry import RECIPES, chosen
from fuseloom.experiments.workloads import WORKLOADS, load


@pytest.mark.parametrize("id_", RECIPES)
def test_at_the_smallest_size_every_claim_holds(smoke, id_) -> None:
    figure = smoke[id_]
    for claim in figure.claims:
        assert claim.verdict is ClaimVerdict.HOLDS, (claim.published.id, claim.got, claim.reason)
    for label in figure.recipe.configurations(ExperimentSize.SMOKE, AccountingMode.PAPER):
        result = figure.results[label]
        assert result.ok, result.check
        assert result.cycles > 0
        assert result.estimated or "matches" in result.check
    assert figure.panels
    for panel in figure.panels:
        assert isinstance(panel, Panel)
        assert panel.text or any(y is not None for series in panel.series for y in series.y)


@pytest.mark.parametrize("id_", RECIPES)
def test_every_figure_claims_something_at_the_smallest_size(smoke, id_) -> None:
    assert smoke[id_].claims


def test_a_published_cycle_count_is_simulated_at_the_smallest_size(smoke) -> None:
    (claim,) = (c for c in smoke["12"].claims if c.published.id == "12.gcn.cora.unfused")
    assert claim.published.expected == 48_998_261
    assert not smoke["12"].results["gcn.cora.unfused"].estimated


def test_every_table_and_figure_is_there() -> None:
    wanted = "table1 table2 table3 table4 1 4b 5 9 12 13 14 15 16a 16b 17 18 ours"
    assert [*RECIPES] == wanted.split()


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=lambda recipe: recipe.id)
def test_texts_are_three_sentences(recipe) -> None:
    """Figure numbers and units have points, too; a sentence ends before a capital."""
    assert len(re.findall(r"[.?!](?= [A-Z]|$)", recipe.text)) == 3, recipe.text


def test_every_claim_has_a_number_and_every_figure_a_claim() -> None:
    computed = {
        id_
        for recipe in RECIPES.values()
        for size in ExperimentSize
        for mode in AccountingMode
        for id_ in recipe.values(size, mode)
    }
    assert set(published()) <= computed
    assert {claim.figure for claim in published().values()} == set(RECIPES)


def test_configurations_are_of_known_workloads_and_compile() -> None:
    """All of them can be named; the smallest ones are loaded."""
    for recipe in RECIPES.values():
        for size in ExperimentSize:
            for mode in AccountingMode:
                every = recipe.configurations(size, mode)
                assert {c.workload for c in every.values()} <= set(WORKLOADS)
                assert recipe.heavy(size, mode) <= set(every)
    loaded = {
        load(c).model.program.name
        for c in RECIPES["12"].configurations(ExperimentSize.SMOKE, AccountingMode.OURS).values()
    }
    assert loaded == {"gcn", "graphsage", "autoencoder", "gpt3", "heads"}


@pytest.mark.parametrize("mode", AccountingMode)
@pytest.mark.parametrize("recipe", RECIPES.values(), ids=lambda recipe: recipe.id)
def test_of_what_was_not_run_there_are_no_numbers(recipe, mode) -> None:
    for size in ExperimentSize:
        nothing = RecipeResults({})
        figure = Figure(recipe, size, mode, nothing, ())
        for claim in claims_of(recipe, nothing, size, mode):
            computed = recipe.id in ("table1", "table4", "9")
            assert computed or claim.verdict is ClaimVerdict.MISSING, claim
        for panel in figure.panels:
            mine = [y for s in panel.series if s.whose == "ours" for y in s.y]
            assert not any(y is not None for y in mine)


def test_recipes_by_their_ids() -> None:
    assert [r.id for r in chosen(["16"])] == ["16a", "16b"]
    assert [r.id for r in chosen(["fig18", "T4", "20"])] == ["table4", "9", "18"]
    assert [r.id for r in chosen([])] == [*RECIPES]
    for wrong in ("19", "", "table5", "1" * 500):
        with pytest.raises(UsageError, match="no table or figure"):
            chosen([wrong])
