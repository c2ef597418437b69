"""A run as plain data: kinds, figures that are known, and figures that are not."""

from __future__ import annotations

import json
from dataclasses import replace

from fuseloom.results.area import AreaUse
from fuseloom_workbench.costs.points import kind_of, own_point, record_point
from fuseloom_workbench.state.records import KeptRun

from ..outcomes import outcome


def test_kinds_are_presets_ones_own_and_found_ones(session):
    kept = KeptRun.of(session.built, outcome(session=session))
    assert kind_of(kept) == "partial"
    assert kind_of(replace(kept, name="C+S")) == "preset"
    mine = replace(kept, name="yours 1", preset=False)
    assert kind_of(mine) == "own"
    assert kind_of(replace(mine, searched=True)) == "searched"


def test_a_run_has_what_its_record_and_its_estimate_say(run_once):
    (kept,) = run_once.records.values()
    point = own_point(0, kept, 2 * kept.run.cycles)
    run, memory = kept.run, run_once.machine.memory
    assert (point["cycles"], point["flops"], point["bytes"]) == (run.cycles, run.flops, run.bytes)
    assert point["moved"] == sum(region.memory["bytes"] for region in run.regions)
    assert point["bandwidth"] == memory.peak_per_cycle(run_once.machine.clock_hz) == 256
    assert point["flops"] / point["cycles"] < point["peak"] == kept.expected.peak
    assert point["low"] <= point["estimated"] <= point["high"]
    assert (point["basis"], point["speedup"], point["ok"]) == ("exact", 2.0, True)
    assert point["energy"] == run_once.record.run.energy.joules
    assert point["on_chip"] == max(r.on_chip.held for r in run_once.estimate.regions)
    assert not point["bounded"]
    busy = sum(row["busy"] for region in run.regions for row in region.nodes)
    assert sum(point["families"].values()) == busy
    assert (point["area"], point["no_area"]) == (None, ""), "nobody has looked"
    for area in (AreaUse(8_765.0), AreaUse(reason="exp has no hardware")):
        run = kept.run.with_areas([area] * len(kept.run.regions))
        point = own_point(0, replace(kept, run=run), None)
        assert (point["area"], point["no_area"]) == (area.luts, area.reason)
    json.dumps(point)


def test_what_is_not_known_is_none(session):
    record = replace(outcome(session=session), check=None)
    bare = tuple(replace(region, nodes=None) for region in record.regions)
    point = record_point(replace(record, regions=bare))
    assert (point["ok"], point["moved"], point["estimated"], point["on_chip"]) == (None,) * 4
    assert point["energy"] is None
    assert point["families"] == {}
    old = replace(KeptRun.of(session.built, record), expected=None)
    point = own_point(3, old, None)
    assert (point["id"], point["basis"], point["low"], point["speedup"]) == (
        "run:3",
        "",
        None,
        None,
    )
    assert point["bandwidth"] is None
