"""The table of passes: what compiling runs by default, and what it runs when told."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from fuseloom.dataflow.compilation import CompiledRegion, passes_text
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.samml.lowering import lower
from fuseloom.dataflow.samml.passes import PASSES, Pass, PassStage, Setting, run_passes
from fuseloom.dataflow.samml.passes.lookups import remove_locators
from fuseloom.errors import GraphError
from fuseloom.program import parse

ROOT = Path(__file__).parents[4]
TEXT = """
A: 4x5 csr
B: 5x3 dense
C[i,k] = A[i,j] * B[j,k]
"""
SQUARE = """
A: 4x5 dcsr
C[i,j] = A[i,j] * A[i,j]
"""
LANES = "parallel i by 2"


def region(text: str, schedule: str = "", passes: list[str] | None = None) -> CompiledRegion:
    return compile_program(parse(text), schedule, passes=passes).regions[0]


def test_the_default_pipeline_is_the_tables() -> None:
    names = [name for name, each in PASSES.items() if each.place is PassStage.DEFAULT]
    for schedule in ("", LANES):
        default, named = region(TEXT, schedule), region(TEXT, schedule, names)
        assert [change.name for change in default.changes] == names
        assert (named.graph, named.changes) == (default.graph, default.changes)


def test_changes_say_what_each_pass_did() -> None:
    whole, dealt = region(TEXT), region(TEXT, LANES)
    _, parallelise = dealt.changes
    assert parallelise.nodes == (len(whole.graph.nodes), len(dealt.graph.nodes))
    assert parallelise.streams == (len(whole.graph.streams), len(dealt.graph.streams))
    assert len(dealt.graph.nodes) > len(whole.graph.nodes)


def test_a_pass_that_lowering_leaves_nothing_to_do_is_run_after_others_only() -> None:
    ran: list[str] = []

    def rewrite(name: str) -> Pass:
        def run(graph: Graph, setting: Setting) -> Graph:
            ran.append(name)
            return replace(graph, name=f"{graph.name} {name}")

        return Pass(name, "", PassStage.DEFAULT, run, idle=lambda graph: name == "idle")

    idle, busy = rewrite("idle"), rewrite("busy")
    setting = Setting((), dict)
    graph, changes = run_passes(Graph("g", (), ()), {}, (idle, busy, idle), setting)
    assert ran == ["busy", "idle"]
    assert graph.name == "g busy idle"
    assert [change.name for change in changes] == ["idle", "busy", "idle"]


def test_no_passes_give_the_graph_as_lowered() -> None:
    bare = region(SQUARE, passes=[])
    assert bare.graph == lower(bare.table)
    assert not bare.changes


def test_named_passes_run_in_their_order_and_no_others() -> None:
    found = region(TEXT, passes=["remove-locators"])
    assert found.graph == remove_locators(lower(found.table))
    assert found.graph != region(TEXT).graph
    back = region(TEXT, passes=["remove-locators", "insert-locators", "clean"])
    assert [change.name for change in back.changes] == [
        "remove-locators", "insert-locators", "clean",
    ]  # fmt: skip
    assert len(back.graph.nodes) == len(region(TEXT).graph.nodes)
    sized = region(TEXT, passes=["clean", "size-buffers"])
    assert all(stream.capacity for stream in sized.graph.streams)


def test_passes_can_be_run_again_over_the_tables() -> None:
    compiled = compile_program(parse(TEXT), LANES)
    names = ["clean", "parallelise", "size-buffers"]
    (again,) = compiled.with_passes(names).regions
    told = region(TEXT, LANES, names)
    assert (again.graph, again.changes) == (told.graph, told.changes)


@pytest.mark.parametrize(
    ("passes", "problem"),
    [
        (["cleen"], "no pass is called 'cleen'.*did you mean 'clean'"),
        (["size-buffers", "clean"], "pass clean comes after size-buffers.*put size-buffers last"),
        (["clean"], "the schedule asks for the pass parallelise"),
    ],
)
def test_what_cannot_be_is_refused(passes: list[str], problem: str) -> None:
    with pytest.raises(GraphError) as caught:
        region(TEXT, LANES, passes)
    assert re.search(problem, str(caught.value))


def test_the_table_is_shown_with_what_ran() -> None:
    table, regions = passes_text(compile_program(parse(SQUARE))).split("\n\n")
    assert [line.split()[0] for line in table.splitlines()] == list(PASSES)
    shown = r"C\n  clean +nodes \d+ -> \d+, streams \d+ -> \d+\n  parallelise .*"
    assert re.fullmatch(shown, regions)
    assert passes_text(compile_program(parse(SQUARE), passes=[])).endswith("C: as lowered")


def test_the_documentation_has_the_same_table() -> None:
    text = (ROOT / "docs/passes.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| ([\w ,]+) \| (.+) \|$", text, re.MULTILINE)
    assert rows == [(each.name, each.place.value, each.text) for each in PASSES.values()]
