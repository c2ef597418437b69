"""The drawings of a module as plain data: layers, kernels and their readers, refusals, counts."""

from __future__ import annotations

import json

import pytest

from fuseloom.stitch.end_to_end import EndToEnd
from fuseloom.stitch.examples.models import read_example
from fuseloom.stitch.frames import fuse_module
from fuseloom.stitch.hlo import read_hlo
from fuseloom.stitch.shared_memory import SpaceSharing
from fuseloom_workbench.kernels import view

LIVENESS = SpaceSharing.LIVENESS


@pytest.fixture(scope="module")
def speech():
    return fuse_module(read_example("speech"))


def shown(frame):
    return view.frame_view(frame, 20_480, LIVENESS, frozenset({frame.fusion.kernels[0].name}))


def test_operations_have_their_layers_and_kernels(speech):
    frame = speech.frames[0]
    made = shown(frame)
    operations = made["operations"]
    for one in operations:
        for number in one["operands"]:
            assert operations[number]["span"] > one["span"]
        home = frame.fusion.kernel_of.get(one["name"])
        assert (one["kernel"] >= 0) == (home is not None)
        if home is not None:
            assert made["kernels"][one["kernel"]]["name"] == home.name
            assert one["root"] == (one["name"] in home.roots)
    assert {one["opcode"] for one in operations if one["wall"]} == {"convolution", "dot", "while"}
    assert made["walls"] == sorted({one["span"] for one in operations if one["wall"]})
    assert {one["opcode"] for one in operations if one["value"]} >= {"parameter", "constant"}
    assert all(one["line"] for one in operations)
    json.dumps(made)


def test_kernels_say_what_they_read_also_through_loops(speech):
    made = shown(speech.frames[0])
    kernels, operations = made["kernels"], made["operations"]
    assert [one["chosen"] for one in kernels] == [True] + [False] * (len(kernels) - 1)
    for number, kernel in enumerate(kernels):
        own = [one for one in operations if one["kernel"] == number]
        assert kernel["count"] == len(own)
        assert kernel["span"] == [min(x["span"] for x in own), max(x["span"] for x in own)]
        direct = {
            operations[n]["kernel"] for one in own for n in one["operands"]
        } - {-1, number}  # fmt: skip
        assert direct <= set(kernel["reads"])
        assert all(other < number for other in kernel["reads"])
        assert (kernel["colour"] == 0) == kernel["call"]
        assert kernel["call"] == (kernel["blocks"] == 0)
    through = [
        one for number, one in enumerate(kernels)
        if set(one["reads"]) - {
            operations[n]["kernel"] for x in operations if x["kernel"] == number
            for n in x["operands"]
        }
    ]  # fmt: skip
    assert through  # what reads a loop reads what goes into it


def test_refusals_and_rules_are_those_of_fusion(speech):
    fusion = speech.frames[0].fusion
    made = shown(speech.frames[0])
    assert len(made["refused"]) == len(fusion.refused) == sum(n for _, n in made["rules"])
    first = made["refused"][0]
    assert set(first) == {"operation", "root", "reader", "rule", "dims"}


def test_buffers_that_do_not_fit_are_no_plan():
    made = fuse_module(read_example("attention"))
    (kernel,) = made.frames[0].fusion.kernels
    fusion = made.frames[0].fusion
    assert view.plan_of(fusion, kernel, 20_480, LIVENESS).byte_size == 16_640
    assert view.plan_of(fusion, kernel, 100, LIVENESS) is None


def test_counts_of_frames_add_up(speech):
    made = view.counts_view(speech)
    assert [one["name"] for one in made["frames"]] == [
        frame.computation.name for frame in speech.frames
    ]
    for way, whole in made["whole"].items():
        for key in ("kernels", "calls", "read", "written", "moved"):
            assert whole[key] == sum(one[way][key] for one in made["frames"])
        assert whole["moved"] == whole["read"] + whole["written"]
    assert made["whole"]["fused"]["kernels"] == speech.count
    assert made["whole"]["baseline"]["kernels"] == speech.baseline_count


def test_the_kernel_with_the_most_operations_is_looked_at_first(speech):
    kernels = speech.frames[0].fusion.kernels
    first = view.default_kernel(kernels)
    assert not first.is_call
    assert len(first.operations) == max(len(one.operations) for one in kernels if not one.is_call)
    none = fuse_module(read_hlo("HloModule m\nENTRY e { ROOT x = f32[2] parameter(0) }"))
    assert view.default_kernel(none.frames[0].fusion.kernels) is None
    assert shown_of_nothing(none)["kernels"] == []


def shown_of_nothing(made):
    return view.frame_view(made.frames[0], 20_480, LIVENESS, frozenset())


def test_measured_times_are_in_seconds():
    made = view.measured_view(
        EndToEnd(20, 60, 0, 40, 62e6, 100e6, 2, 5, ("sort",), ("while",))
    )  # fmt: skip
    assert made["speedup"] == pytest.approx(100 / 62)
    assert (made["fused"], made["baseline"]) == (pytest.approx(0.062), pytest.approx(0.1))
    assert (made["fusable_ratio"], made["fusion_speedup"]) == (0.6, 3.0)
    assert made["kernels"] == [2, 5]
    assert (made["evaluated"], made["left_out"]) == (["sort"], ["while"])
