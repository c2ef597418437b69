"""The kernels of Fig. 13."""

from __future__ import annotations

import pytest

from fuseloom.experiments.hardware_kernels import GROUPS, SMALLEST, KernelGroup, group, kernels


def test_groups_are_found_by_their_names() -> None:
    assert len({one.name for one in GROUPS}) == len(GROUPS)
    assert set(SMALLEST) <= set(GROUPS)
    assert group("GCN partial 2 lanes").settings == "parallel i by 2"
    with pytest.raises(KeyError):
        group("GCN")


def test_the_kernels_of_a_group_are_its_regions_without_those_left_out() -> None:
    whole = KernelGroup("GCN", "unfused")
    run = whole.run()
    assert run.check().ok
    names = [name for name, _ in kernels(run, whole)]
    assert len(names) == 8
    assert names[0] == "GCN T1"
    some = KernelGroup("GCN", "unfused", "", "some", ("T1", "T2"), ("T2",))
    assert list(kernels(run, some)) == [("GCN T1, some", 0)]


def test_the_smallest_have_capacities_and_the_latencies_of_the_modules() -> None:
    run = group("GCN partial").run()
    assert run.machine.name == "rtl"
    for region in run.regions:
        assert all(stream.capacity is not None for stream in region.region.graph.streams)
