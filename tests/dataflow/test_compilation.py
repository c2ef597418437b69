"""The compiled form of a program: copies named, channels sized, its schedule resolved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fuseloom.dataflow.compiler import compile_program, compile_region
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.models import load
from fuseloom.program import parse

SPMM = "A: 4x5 csr\nX: 5x3 dense\nT[i,j] = A[i,k] * X[k,j]\nH[i,j] = relu(T[i,j])"


def test_copies_are_sparse_tensors_in_another_mode_order() -> None:
    text = "A: 4x5 csr\nx: 4 dense\ny[j] = A[i,j] * x[i]\n"
    (region,) = compile_program(parse(text), "permute A to j,i; order y: j,i").regions
    assert region.copies == ("A",)
    dense = compile_program(parse(text.replace("csr", "dense")), "order y: j,i")
    assert dense.regions[0].copies == ()


def test_sized_channels_follow_the_extents_and_leave_the_rest() -> None:
    model, _ = load("gcn", "karate")
    compiled = compile_program(model.program, model.presets["partial"])
    sized = compiled.sized()
    assert all(s.capacity for r in sized.regions for s in r.graph.streams)
    assert not any(s.capacity for r in compiled.regions for s in r.graph.streams)
    for before, after in zip(compiled.regions, sized.regions, strict=True):
        assert after.graph.nodes == before.graph.nodes
        assert (after.region, after.table) == (before.region, before.table)


def test_text_has_every_region_table_and_graph() -> None:
    text = str(compile_program(parse(SPMM), "fuse T..H"))
    assert "T..H" in text
    assert "scan" in text


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("model", ["gcn", "graphsage", "autoencoder", "gpt3", "attention"])
def test_the_resolved_schedule_gives_the_same_graphs(model: str) -> None:
    """Read as text, with orders chosen, lanes, and regions cut where fusing was not possible."""
    loaded, _ = load(model, "random")
    for preset in loaded.presets.values():
        for more in ("", "; locate off", "; repeat references"):
            compiled = compile_program(loaded.program, preset + more)
            again = compile_program(loaded.program, str(compiled.resolved))
            assert [r.graph for r in again.regions] == [r.graph for r in compiled.regions]
            assert [r.name for r in again.regions] == [r.name for r in compiled.regions]
            assert again.resolved == compiled.resolved


def test_the_resolved_schedule_names_orders_that_were_chosen_later() -> None:
    compiled = compile_program(parse(SPMM), "fuse T..H; locate off")
    other = compile_region(compiled.regions[0].region, ("i", "j", "k"))
    chosen = replace(compiled, regions=(other,))
    assert str(chosen.resolved) == "fuse T..H; order T..H: i,j,k; locate off"
    assert compile_program(parse(SPMM), chosen.resolved).regions[0].graph == other.graph


TWICE = """X: 8x8 dense
W: 8x8 dense
V: 8x8 dense
A[i,o] = X[i,c] * W[c,o]
Y[i,c] = A[i,c] + X[i,c]
m[i] = Y[i,c]
D[i,c] = Y[i,c] - m[i]
G[i,o] = D[i,c] * V[c,o]
Z[i,c] = G[i,c] + Y[i,c]"""


@pytest.mark.parametrize("look_ups", ["on", "off"])
def test_a_product_whose_result_is_used_twice_is_computed_once(look_ups: str) -> None:
    """Y, needed again when its row is done, is one sum that is formed a second time."""
    program = parse(TWICE)
    rng = np.random.default_rng(0)
    data = {name: rng.random((8, 8)) for name in program.inputs}
    fused = compile_program(program, Schedule.parse(f"fuse A..Z; locate {look_ups}"))
    apart = compile_program(program)
    assert fused.regions[0].recomputed == {"Y": 2}
    assert not any(region.recomputed for region in apart.regions)
    run, separate = simulate(fused, data), simulate(apart, data)
    assert run.check().ok
    assert run.work.flops == separate.work.flops + 8 * 8


LAYER = "A: 6x5 dcsr\nB: 5x4 dense\nT[i,j] = A[i,k] * B[k,j]\nY[i,j] = relu(T[i,j])"


def test_the_resolved_schedule_names_regions_and_stores_not_what_made_them() -> None:
    text = LAYER
    cut = compile_program(parse(text), "fuse T..Y; materialise T; store T compressed,dense")
    named = "order T..T: i,k,j; order Y..Y: i,j; store T compressed,dense"
    assert str(cut.resolved) == named
    assert compile_program(parse(text), named).regions[1].graph == cut.regions[1].graph
    whole = compile_program(parse(text), "fuse T..Y where possible; store T compressed,dense")
    assert str(whole.resolved) == "fuse T..Y; order T..Y: i,k,j"
    scalars = compile_program(parse("a: scalar\nb[] = relu(a[])"))
    assert str(scalars.resolved) == ""


def test_tensors_between_regions_with_dense_levels_are_told() -> None:
    made = compile_program(
        parse(LAYER),
        "store T compressed,dense",
    )
    assert [(n, f.levels[1].value) for n, f in made.dense_levels.items()] == [("T", "dense")]
    assert made.source is not made.program
    assert not compile_program(parse(LAYER)).dense_levels
