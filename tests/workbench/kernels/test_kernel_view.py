"""The drawings of a kernel as plain data: schedules, buffers over phases, code."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from fuseloom.stitch.examples.models import read_example
from fuseloom.stitch.frames import FusedFrame, fuse_module
from fuseloom.stitch.fusion import fuse
from fuseloom.stitch.hlo import read_hlo
from fuseloom.stitch.kernel_code import KernelLanguage
from fuseloom.stitch.kernel_memory import dataflow_of, memory_of
from fuseloom.stitch.opcodes import ProductFusion
from fuseloom.stitch.schedules import divisions_of, schedules_of
from fuseloom.stitch.shared_memory import SpaceSharing
from fuseloom.stitch.tuning import TunedKernel, TuningCandidate
from fuseloom.stitch.xla_rules import xla_fusion
from fuseloom_workbench.kernels import kernel_view

LIVENESS = SpaceSharing.LIVENESS


@pytest.fixture(scope="module")
def attention():
    made = fuse_module(read_example("attention"))
    return made, made.frames[0], made.frames[0].fusion.kernels[0]


def test_every_schedule_of_the_root_is_listed_once(attention):
    _, frame, kernel = attention
    made = kernel_view.schedules_view(frame, kernel, 20_480, LIVENESS)
    dims = (8, 64, 64, 64)
    assert made["dims"] == list(dims)
    assert [row["schedule"] for row in made["rows"]] == [str(x) for x in divisions_of(dims)]
    listed = [x for row in made["rows"] for x in (row["schedule"], *row["alike"])]
    assert sorted(listed) == sorted(map(str, schedules_of(dims)))
    (now,) = (row for row in made["rows"] if row["current"])
    assert (now["schedule"], now["blocks"], now["bytes"]) == ("row 1/64", 512, 16_640)
    for row in made["rows"]:
        assert row["fits"] == (row["bytes"] is not None)
        assert row["fits"] != bool(row["rule"])
    wrong = next(row for row in made["rows"] if row["operation"])
    assert wrong["operation"] in kernel.operations
    assert wrong["reader"] in kernel.operations
    full = next(row for row in made["rows"] if not row["fits"] and not row["operation"])
    assert "and a block has 20,480" in full["rule"]
    json.dumps(made)


def test_a_call_has_no_schedules_buffers_or_code():
    made = fuse_module(read_example("attention"), ProductFusion.NEVER)
    frame = made.frames[0]
    call = next(one for one in frame.fusion.kernels if one.is_call)
    shown = kernel_view.schedules_view(frame, call, 20_480, LIVENESS)
    assert (shown["rows"], shown["reason"]) == ([], "a call of a library: dot")
    memory = kernel_view.memory_view(frame, call, 20_480, LIVENESS)
    assert (memory["phases"], memory["reason"]) == ([], "a call of a library: dot")
    codes = kernel_view.codes_view(made.module, frame, call, 20_480, LIVENESS)
    assert {code["reason"] for code in codes} == {"a call of a library: dot"}


def test_buffers_lie_within_the_memory_and_do_not_overlap(attention):
    _, frame, kernel = attention
    for sharing in SpaceSharing:
        made = kernel_view.memory_view(frame, kernel, 65_536, sharing)
        for one in made["buffers"]:
            assert 0 <= one["at"] <= one["at"] + one["bytes"] <= made["size"]
            assert made["phases"][one["first"]] == one["name"]
        for a in made["buffers"]:
            for b in made["buffers"]:
                apart = a["at"] + a["bytes"] <= b["at"] or b["at"] + b["bytes"] <= a["at"]
                if a is not b and not apart:  # one after another, or in place
                    first, second = sorted((a, b), key=lambda one: one["first"])
                    assert first["last"] <= second["first"]
        shared = [one["name"] for one in made["buffers"] if one["shares"]]
        assert len(shared) == {"none": 0, "dominance": 1, "liveness": 2}[sharing]


def test_buffers_are_given_up_below_a_limit_and_then_none_fit(attention):
    _, frame, kernel = attention
    made = kernel_view.memory_view(frame, kernel, 1_024, LIVENESS)
    assert [one["name"] for one in made["given_up"]] == ["exp.1", "div.7"]
    assert made["given_up"][0]["bytes"] == 16_384
    assert made["size"] == 512
    none = kernel_view.memory_view(frame, kernel, 64, LIVENESS)
    assert "need 512 bytes of shared memory" in none["reason"]
    assert none["buffers"] == []


def test_phases_of_operations_are_those_that_compute_them(attention):
    _, frame, kernel = attention
    flow = dataflow_of(frame.fusion.computation, kernel)
    plan = memory_of(frame.fusion.computation, kernel)
    lit = kernel_view.phases_by_operation(flow, plan)
    assert set(lit) == set(kernel.operations)
    assert lit["reduce_max.7"] == ["reduce_max.7"]
    assert lit["sub.7"] == ["exp.1"]
    few = memory_of(frame.fusion.computation, kernel, 1_024)
    again = kernel_view.phases_by_operation(flow, few)
    assert again["exp.1"] == ["reduce_sum.7", "dot_general.1"]  # computed where it is read


def test_long_chains_without_buffers_are_drawn():
    lines = [f"  y{n} = f32[8,4] negate(y{n - 1})" for n in range(1, 1_200)]
    text = "HloModule m\nENTRY e {\n  y0 = f32[8,4] parameter(0)\n" + "\n".join(lines)
    graph = read_hlo(f"{text}\n  ROOT z = f32[8,4] abs(y1199)\n}}").main
    frame = FusedFrame(graph, fuse(graph), xla_fusion(graph))
    made = kernel_view.memory_view(frame, frame.fusion.kernels[0], 20_480, LIVENESS)
    assert made["phases"] == ["z"]
    assert made["lit"]["y1"] == ["z"]


def test_code_is_there_in_each_language(attention):
    made, frame, kernel = attention
    codes = kernel_view.codes_view(made.module, frame, kernel, 20_480, LIVENESS)
    assert [code["language"] for code in codes] == [one.value for one in KernelLanguage]
    for code in codes:
        assert code["lines"]
        assert not code["reason"]
        assert not code["cut"]
    assert any("/* exp.1 */" in line for line in codes[0]["lines"])


def test_only_schedules_that_all_roots_share_have_times(attention):
    _, _, kernel = attention
    one, two = kernel.satisfiable[:2]
    tuned = TunedKernel(
        replace(kernel, schedule=two), 2e3,
        (
            TuningCandidate((one,), 1, 4e3, True), TuningCandidate((two,), 2, 2e3, True, 3e3),
            TuningCandidate((one, two), 2, 1e3, True), TuningCandidate((two,), 2, 9e3, False),
        ), 0, 0,
    )  # fmt: skip
    made = kernel_view.times_view(tuned)
    assert made["best"] == str(two)
    assert set(made["rows"]) == {str(one), str(two)}
    assert made["rows"][str(one)] == {"predicted": pytest.approx(4e-6), "measured": None}
    assert made["rows"][str(two)]["measured"] == pytest.approx(3e-6)
