"""The attribution of a run's cycles: trees that add up, whatever the record holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.sim.explain.data import Detail
from fuseloom.dataflow.sim.observe import Observe
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.records import program_record
from fuseloom.dataflow.why.attribution import (
    EARLIER,
    RESHAPED,
    SMALLER,
    UNEXPLAINED,
    AttributedCycles,
    AttributionLevel,
    attribution,
)
from fuseloom.program import parse
from tests.dataflow.why.explained import FULL, PARTIAL, explained


def part(tree: AttributedCycles, *names: str) -> AttributedCycles:
    for name in names:
        tree = next(p for p in tree.parts if p.name == name)
    return tree


def by_node(tree: AttributedCycles) -> dict[tuple[str, int], int]:
    found: dict[tuple[str, int], int] = {}
    for leaf in tree.leaves():
        key = leaf.name(AttributionLevel.REGION), leaf.node
        found[key] = found.get(key, 0) + leaf.cycles
    return found


def test_the_full_fusion_goes_to_the_adder_of_the_second_product() -> None:
    made = explained(FULL)
    tree = attribution(made.record, made.compilation)
    assert tree.cycles == made.run.cycles == 49_474
    adder = part(tree, "T1..Y", "T2", "n", "Acc1_p")
    assert part(adder, "working").cycles == 48_670
    assert adder.level is AttributionLevel.NODE
    assert made.compilation.regions[0].graph.nodes[adder.node].label == "Acc1_p"
    assert part(tree, "T1..Y", "T2").cycles == max(p.cycles for p in tree.parts[0].parts)


def test_two_regions_add_up() -> None:
    made = explained(PARTIAL)
    tree = attribution(made.record, made.compilation)
    assert tree.cycles == 14_106
    assert [p.name for p in tree.parts] == ["T1..H", "T5..Y"]
    assert [p.cycles for p in tree.parts] == [r.cycles for r in made.run.regions]
    assert sum(leaf.cycles for leaf in tree.leaves()) == 14_106


def test_what_was_not_explained_says_so() -> None:
    made = explained(PARTIAL)
    regions = (made.record.regions[0], replace(made.record.regions[1], path=None))
    tree = attribution(replace(made.record, regions=regions), made.compilation)
    assert [p.name for p in tree.parts[1].parts] == [UNEXPLAINED]
    assert sum(leaf.cycles for leaf in tree.leaves()) == tree.cycles


def test_rows_that_a_record_leaves_out_are_told_by_node() -> None:
    made = explained(PARTIAL)
    record = program_record(made.run, None, Detail(rows=1))
    tree = attribution(record, made.compilation)
    whole = attribution(made.record, made.compilation)
    assert any(leaf.names[AttributionLevel.CAUSE] == SMALLER for leaf in tree.leaves())
    assert by_node(tree) == by_node(whole)


def test_a_path_of_which_only_the_end_is_known_has_its_beginning() -> None:
    made = explained(FULL)
    region = made.record.regions[0]
    path = {**region.path, "start": 40_000}
    cut = 40_000 - region.path["start"]
    first = path["summary"][0]
    path["summary"] = [{**first, "cycles": first["cycles"] - cut}, *path["summary"][1:]]
    path["shares"] = {}
    record = replace(made.record, regions=(replace(region, path=path),))
    tree = attribution(record, made.compilation)
    assert part(tree, "T1..Y", EARLIER).cycles == 40_000
    assert sum(p.cycles for p in tree.parts[0].parts) == tree.cycles


def test_reshapes_have_a_place() -> None:
    program = parse("A: 4x4 csr\nB: 16 dense\nT[i,j] = relu(A[i,j])\nB[k] = reshape(T[i,j])")
    data = {"A": np.eye(4)}
    compiled = compile_program(program)
    run = simulate(compiled, data, engine="interpreter", observe=Observe(log=True))
    tree = attribution(program_record(run, None, Detail()), compiled)
    assert [(p.name, p.cycles) for p in tree.parts][-1] == ("B", 0)
    assert tree.parts[-1].parts[0].name == RESHAPED


def test_another_program_is_refused() -> None:
    with pytest.raises(ValueError, match="other regions"):
        attribution(explained(FULL).record, explained(PARTIAL).compilation)


def test_a_tree_is_plain_data() -> None:
    made = explained(FULL)
    told = attribution(made.record, made.compilation).to_dict()
    assert told["level"] == "run"
    assert told["parts"][0]["parts"][0]["name"] == "T2"
