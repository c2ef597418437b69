"""The record of a run: it reads back what it wrote, and refuses what is no record."""

from __future__ import annotations

import copy
import json
import random
from dataclasses import replace
from typing import Any

import pytest

from fuseloom.errors import RecordError
from fuseloom.results.area import AreaUse
from fuseloom.results.check import Against, Check
from fuseloom.results.document import DocumentKind
from fuseloom.results.energy import EnergyTerm, EnergyUse
from fuseloom.results.record import DataSource, MachineId, RegionRecord, RunRecord
from fuseloom.results.run_parts import NodeName, NodeRow
from tests.schemas import check_document

MACHINE = MachineId("default", "0123456789abcdef")
SMALL = RunRecord(
    "chain",
    "fuse y..z",
    MACHINE,
    DataSource("Cora (stand-in, seed 0)", "made up", True, {"hidden": 16, "density": 0.5}),
    (
        RegionRecord("y", ("i", "j"), 120, 9.0, 36.0, 40),
        RegionRecord("z", ("i",), 10**19, 1.5, 0.0, 2),
    ),
    Check(3e-7, True),
    0.25,
)


def named(node: int, label: str) -> NodeName:
    """A node, as rows name it."""
    return {"node": node, "owner": node, "label": label}


def row(node: int, label: str) -> NodeRow:
    """What it did: nothing."""
    counts = dict.fromkeys(("tokens", "tokens_in", "tokens_out", "idle", "first", "last"), 0)
    shares = dict.fromkeys((*ACTIVITIES, "busy_share"), 0)
    made: Any = {
        **named(node, label),
        "op": "root",
        "origin": "",
        **counts,
        **shares,
        "energy": 2e-9 * node,
    }
    return made


ACTIVITIES = ("busy", "stall_input", "stall_output", "stall_memory", "idle")
MEMORY: Any = {
    "name": "hbm2", "cycles": 5, "seconds": 5e-9, "reads": 1, "writes": 0, "requested": 64,
    "read_latency": 20.5, "write_latency": 0, "read_histogram": [0, 1], "write_histogram": [],
    "peak": None, "channels": [], "bytes": 64, "bandwidth": 1.5e9, "share": 0, "hit_rate": 1,
}  # fmt: skip
PATH: Any = {
    "cycles": 5,
    "start": 0,
    "summary": [],
    "summaries": 0,
    "segments": [],
    "pieces": 0,
    "what_if": [],
    "shares": {"3": 0.5},
    "streams": [0],
}
GRAPH = RunRecord(
    "SAM",
    "",
    MACHINE,
    None,
    (
        RegionRecord(
            "SAM", (), 5, 1, 4, None,
            nodes=(row(0, "root"), row(3, "LS")),
            timeline={
                "width": 2,
                "events": None,
                "cycles": {key: [[1, 2], [0, 3]] for key in ACTIVITIES},
            },
            memory=MEMORY,
            path=PATH,
            energy=EnergyUse({"channel": 1e-9, "memory": 5e-9}, 5e-9),
            energy_terms=(
                EnergyTerm("channel", 500, "words", 2.0, "the machine's own"),
                EnergyTerm("memory", 1250.0, "bits", 4.0, "default"),
            ),
            channels=(
                {
                    "stream": 0, "label": "crd i", "producer": named(0, "root"),
                    "consumer": named(3, "LS"), "mean": 0.5, "most": 1, "capacity": None,
                    "tokens": 4,
                },
            ),
        ),
    ),
    Check(float("inf"), against=Against.EXPECTED, shape=(2,), expected_shape=(3,)),
    0.0,
    ({"rule": "R1", "node": "3", "change": "dropped", "why": "wrong"},),
    {
        "x": {
            "levels": [{"seg": [0, 2], "crd": [0, 1]}], "level_values": [1.0, None], "shape": [2],
            "coordinates": [[0], [1]], "values": [1.0, None], "problem": None,
        }
    },
)  # fmt: skip
AREAS = (AreaUse(8_765.5, 1_234.0, 2.0), AreaUse(9_000.0, 1_000.0, 0.0))
WITH_AREA = SMALL.with_areas(AREAS)
RECORDS = [
    SMALL,
    GRAPH,
    replace(GRAPH, check=None, outputs={}),
    replace(SMALL, regions=()),
]
EVERY = [*RECORDS, WITH_AREA, SMALL.with_areas([AREAS[0], AreaUse(reason="exp has no hardware")])]


@pytest.mark.parametrize("record", EVERY)
def test_a_record_reads_back(record: RunRecord) -> None:
    text = record.to_json()
    assert "\n" not in text
    assert RunRecord.from_json(text) == record
    assert RunRecord.from_dict(record.to_dict()) == record


def test_totals_are_sums() -> None:
    assert SMALL.cycles == 10**19 + 120
    assert (SMALL.flops, SMALL.bytes, SMALL.tokens) == (10.5, 36.0, 42)
    assert GRAPH.tokens is None
    assert SMALL.energy is None
    assert GRAPH.energy == GRAPH.regions[0].energy
    assert replace(GRAPH, regions=(*GRAPH.regions, *SMALL.regions)).energy is None
    twice = replace(GRAPH, regions=2 * GRAPH.regions).energy
    assert twice == EnergyUse({"channel": 2e-9, "memory": 1e-8}, 1e-8)
    assert (SMALL.ok, GRAPH.ok, replace(GRAPH, check=None).ok) == (True, False, True)
    assert (SMALL.explained, GRAPH.explained) == (False, True)
    assert GRAPH.regions[0].rows[3]["label"] == "LS"


def test_the_area_is_that_of_the_largest_region() -> None:
    assert SMALL.area is None
    assert WITH_AREA.area == AREAS[1]
    unknown = AreaUse(reason="exp has no hardware")
    assert SMALL.with_areas([AREAS[0], unknown]).area == unknown
    looked = replace(SMALL.regions[0], area=AREAS[0])
    assert replace(SMALL, regions=(looked, SMALL.regions[1])).area is None, "one was not looked at"
    with pytest.raises(ValueError, match="shorter"):
        SMALL.with_areas(AREAS[:1])
    told = WITH_AREA.to_dict()
    with pytest.raises(RecordError):
        RunRecord.from_dict({**told, "area": {**told["area"], "luts": 1.0}})


def test_a_plain_record_follows_the_schema() -> None:
    for record in EVERY:
        check_document(record.to_dict(), DocumentKind.RUN)


@pytest.mark.parametrize("version", [1, 2, 7, "6", 6.0, "5", 5.0, "4", 4.0, "3", 3.0, True, None])
def test_other_versions_are_refused(version: Any) -> None:
    with pytest.raises(RecordError, match=f"a run record of version {version}, not 6"):
        RunRecord.from_dict({**SMALL.to_dict(), "version": version})


def without_area(record: RunRecord) -> dict[str, Any]:
    """A record as version 5 had it."""
    told = {**record.to_dict(), "version": 5}
    del told["area"]
    for region in told["regions"]:
        del region["area"]
    return told


@pytest.mark.parametrize("record", EVERY)
def test_a_record_without_area_is_read(record: RunRecord) -> None:
    read = RunRecord.from_dict(without_area(record))
    own = tuple(replace(region, area=None) for region in record.regions)
    assert read == replace(record, regions=own)
    assert RunRecord.from_json(read.to_json()) == read


@pytest.mark.parametrize("change", [
    lambda told: told.update(area=None),
    lambda told: told["regions"][0].update(area=None),
    lambda told: told["regions"][0].pop("energy_terms"),
    lambda told: told.update(regions=3),
])  # fmt: skip
def test_what_version_5_had_not_is_refused_in_it(change: Any) -> None:
    told = without_area(GRAPH)
    change(told)
    with pytest.raises(RecordError):
        RunRecord.from_dict(told)


def without_terms(record: RunRecord) -> dict[str, Any]:
    """A record as version 4 had it."""
    told = {**without_area(record), "version": 4}
    for region in told["regions"]:
        del region["energy_terms"]
    return told


@pytest.mark.parametrize("record", RECORDS)
def test_a_record_without_terms_of_its_energy_is_read(record: RunRecord) -> None:
    read = RunRecord.from_dict(without_terms(record))
    own = tuple(replace(region, energy_terms=None) for region in record.regions)
    assert read == replace(record, regions=own)
    assert RunRecord.from_json(read.to_json()) == read


@pytest.mark.parametrize("change", [
    lambda told: told["regions"][0].update(energy_terms=None),
    lambda told: told["regions"][0].pop("energy"),
    lambda told: told.update(regions=3),
])  # fmt: skip
def test_what_version_4_had_not_is_refused_in_it(change: Any) -> None:
    told = without_terms(GRAPH)
    change(told)
    with pytest.raises(RecordError):
        RunRecord.from_dict(told)


def without_energy(record: RunRecord) -> dict[str, Any]:
    """A record as version 3 had it."""
    told = {**without_terms(record), "version": 3}
    del told["energy"]
    for region in told["regions"]:
        del region["energy"]
        for node in region["nodes"] or ():
            del node["energy"]
    return told


@pytest.mark.parametrize("record", RECORDS)
def test_a_record_without_energy_is_read(record: RunRecord) -> None:
    read = RunRecord.from_dict(without_energy(record))
    assert read.energy is None
    assert (read.cycles, read.check) == (record.cycles, record.check)
    for region, own in zip(read.regions, record.regions, strict=True):
        rows = None if own.nodes is None else tuple({**n, "energy": None} for n in own.nodes)
        assert region == replace(own, energy=None, energy_terms=None, nodes=rows)
    assert RunRecord.from_json(read.to_json()) == read


@pytest.mark.parametrize("change", [
    lambda told: told.update(energy=None),
    lambda told: told["regions"][0].update(energy=None),
    lambda told: told.update(regions=3),
    lambda told: told.update(regions=[3]),
    lambda told: told["regions"][0].update(nodes=3),
    lambda told: told["regions"][0].update(nodes=[3]),
])  # fmt: skip
def test_what_was_wrong_in_it_is_refused(change: Any) -> None:
    told = without_energy(GRAPH)
    change(told)
    with pytest.raises(RecordError):
        RunRecord.from_dict(told)


@pytest.mark.parametrize("data", [None, [], 3, "run", {}, {"fuseloom": "trace", "version": 1}])
def test_other_documents_are_refused(data: Any) -> None:
    with pytest.raises(RecordError, match="not a fuseloom run record"):
        RunRecord.from_dict(data)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("name", 3, "run.name is 3 (hint: a text)"),
        ("schedule", None, "run.schedule is None"),
        ("seconds", -1, "run.seconds is -1"),
        ("seconds", float("nan"), "run.seconds is nan"),
        ("cycles", 119, "the sum over the regions"),
        ("tokens", None, "run.tokens is None (hint: 42, the sum"),
        ("flops", True, "run.flops is True"),
        ("extra", 1, "run has an unknown 'extra'"),
        ("machine", "default", "run.machine is 'default' (hint: an object)"),
        ("machine.fingerprint", None, "run.machine.fingerprint is None"),
        ("machine.colour", "red", "run.machine has an unknown 'colour'"),
        ("data", [], "run.data is list"),
        ("data.standin", "yes", "run.data.standin is 'yes'"),
        ("regions", {}, "run.regions is dict (hint: a list)"),
        ("regions.1", None, "run.regions[1] is None"),
        ("regions.0.cycles", 12.5, "run.regions[0].cycles is 12.5"),
        ("regions.0.cycles", -1, "run.regions[0].cycles is -1"),
        ("regions.0.cycles", True, "run.regions[0].cycles is True"),
        ("regions.0.order", ["i", 2], "run.regions[0].order[1] is 2"),
        ("regions.0.order", "ij", "run.regions[0].order is 'ij'"),
        ("regions.0.nodes", [1], "run.regions[0].nodes[0] is 1"),
        ("regions.0.path", "x" * 500, "run.regions[0].path is 'xxx"),
        ("regions.0.memory", 0, "run.regions[0].memory is 0"),
        ("regions.0.nodes", [row(0, "a"), {"node": 1}], "run.regions[0].nodes[1] has no 'owner'"),
        ("regions.0.nodes", [{**row(0, "a"), "idle": -1}], "nodes[0].idle is -1 (hint: an int"),
        ("regions.0.nodes", [{**row(0, "a"), "x": 1}], "nodes[0] has an unknown 'x' (hint: known"),
        (
            "regions.0.memory",
            {**MEMORY, "hit_rate": 2},
            "hit_rate is 2 (hint: a number from 0",
        ),
        ("data.options", {"a": 1, "b": "2"}, "run.data.options.b is '2' (hint: a number that"),
        ("data.options", {"a": float("inf")}, "run.data.options.a is inf (hint: a number that"),
        ("data.options", {1: 2}, "run.data.options has an unknown '1' (hint: a text)"),
        ("regions.0.path", {**PATH, "shares": {"x": 1}}, "path.shares has an unknown 'x' (hint: a"),
        ("check.ok", False, "run.check.ok is False, its figures say True"),
        ("check.against", [], "run.check.against is list"),
        ("check.against", "it", "is 'it' (hint: 'the dense reference' or 'the expected values')"),
        ("repairs", None, "run.repairs is None"),
        ("outputs", [], "run.outputs is list"),
    ],
)
def test_what_is_wrong_is_named(path: str, value: Any, message: str) -> None:
    data = SMALL.to_dict()
    *places, last = path.split(".")
    inner: Any = data
    for place in places:
        inner = inner[int(place) if place.isdigit() else place]
    inner[int(last) if last.isdigit() else last] = value
    with pytest.raises(RecordError) as refused:
        RunRecord.from_dict(data)
    assert message in str(refused.value)
    assert len(str(refused.value)) < 400


def test_every_field_is_needed() -> None:
    data = SMALL.to_dict()
    for path in [(), ("machine",), ("data",), ("check",), ("regions", 1)]:
        whole: Any = data
        for place in path:
            whole = whole[place]
        for name in whole:
            changed = copy.deepcopy(data)
            inner: Any = changed
            for place in path:
                inner = inner[place]
            del inner[name]
            with pytest.raises(RecordError):
                RunRecord.from_dict(changed)


@pytest.mark.parametrize(
    "text", ["", "{", "[" * 100_000, "NaN", '{"seconds": Infinity}', "1" * 5000, '"\\ud800"']
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(RecordError):
        RunRecord.from_json(text)


def test_damaged_text_gives_a_record_or_is_refused() -> None:
    text = GRAPH.to_json()
    rng = random.Random(20_261_122)
    refused = 0
    for trial in range(400):
        at = rng.randrange(len(text))
        changed = text[:at] + chr(rng.randrange(32, 127)) + text[at + 1 :]
        try:
            RunRecord.from_json(text[:at] if trial % 4 == 0 else changed)
        except RecordError:
            refused += 1
    assert refused > 200


def test_nothing_infinite_is_written() -> None:
    memory = {**MEMORY, "peak": float("inf"), "read_histogram": (1, float("nan"))}
    region = replace(SMALL.regions[0], memory=memory)
    (written,) = json.loads(replace(SMALL, regions=(region,)).to_json())["regions"]
    assert written["memory"] == {**MEMORY, "peak": None, "read_histogram": [1, None]}
