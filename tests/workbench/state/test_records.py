"""The record of a run: its names, its verdict, and the findings of an explained run."""

from __future__ import annotations

from dataclasses import replace

from fuseloom_workbench.state.records import KeptRun, ports_of, source_of, standin_text

from ..outcomes import outcome


def kept(session, **how) -> KeptRun:
    return KeptRun.of(session.built, outcome(session=session, **how))


def test_a_run_knows_what_it_was_a_run_of(session):
    run = kept(session)
    assert run.configuration == session.built.configuration
    assert run.preset
    assert run.machine == "default"
    assert run.data == source_of(session.built).label
    assert run.standin == ""
    assert run.max_rel_error == 3e-7


def test_a_stand_in_is_loud(session):
    run = kept(session)
    data = replace(run.run.data, standin=True)
    loud = replace(run, run=replace(run.run, data=data))
    assert loud.standin == standin_text(data.label)
    assert loud.standin.startswith("stand-in: NOT the real graph")


def test_without_a_check_nothing_is_known(session):
    run = kept(session)
    unchecked = replace(run, run=replace(run.run, check=None))
    assert unchecked.max_rel_error == float("inf")
    assert unchecked.verdict == "not compared with the dense reference"


def test_paths_are_kept_only_from_a_run_of_as_many_cycles(session, explained):
    (known,) = explained.records.values()
    assert known.run.explained
    cycles = known.run.cycles
    same = KeptRun.of(explained.built, outcome(cycles, session=explained))
    other = KeptRun.of(explained.built, outcome(cycles + 1, session=explained))
    assert same.with_paths_of(known).run.explained
    assert same.with_paths_of(known).run.cycles == cycles
    assert other.with_paths_of(known) is other
    assert same.with_paths_of(None) is same
    assert known.with_paths_of(same) is known


def test_events_are_kept_when_it_is_run_again_without(explained):
    (known,) = explained.records.values()
    regions = [
        replace(region, timeline={**region.timeline, "events": f"{number}.events"})
        for number, region in enumerate(known.run.regions)
    ]
    with_events = replace(known, run=replace(known.run, regions=tuple(regions)))
    again = known.with_paths_of(with_events)
    assert [r.timeline["events"] for r in again.run.regions] == ["0.events", "1.events"]
    assert with_events.with_paths_of(known) is with_events


def test_ports_belong_to_the_node_they_serve(explained):
    (known,) = explained.records.values()
    region = known.run.regions[0]
    served = {row["owner"] for row in region.nodes if row["owner"] != row["node"]}
    assert served
    for node in served:
        assert all(row["owner"] == node != row["node"] for row in ports_of(region, node))
    port = next(row["node"] for row in region.nodes if row["owner"] != row["node"])
    assert ports_of(region, port) == []
