"""The browser's drawing of a memory: figures with units, latencies, channels."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom_workbench.base.help import QUANTITIES
from fuseloom_workbench.memory.view import GIGA, drawn, view


def told(explained):
    """The statistics that the run keeps, and what is drawn of them."""
    return explained.record.run.regions[0].memory, view(explained)["memory"]


def test_figures_carry_units_and_help(explained):
    memory, shown = told(explained)
    figures = {f["name"]: f for f in shown["figures"]}
    bandwidth = figures["achieved bandwidth"]
    assert bandwidth["value"] == f"{memory['bandwidth'] / 1e9:,.2f} GB/s"
    assert bandwidth["more"].endswith("% of 256.0 GB/s")
    assert figures["mean read latency"]["value"] == f"{memory['read_latency']:,.1f} cycles"
    assert figures["time"]["value"].endswith(" µs")
    assert {f["help"] for f in shown["figures"]} <= {q.key for q in QUANTITIES.values()}


def test_nothing_is_lost_between_run_and_drawing(explained):
    memory, shown = told(explained)
    assert sum(b["reads"] for b in shown["latencies"]) == memory["reads"]
    assert sum(b["writes"] for b in shown["latencies"]) == memory["writes"]
    assert len(shown["channels"]) == 16
    assert sum(c["rate"] for c in shown["channels"]) == pytest.approx(memory["bandwidth"] / GIGA)
    accesses = sum(c["reads"] for c in shown["channels"])
    assert accesses >= memory["reads"], "a read that crosses a burst is two accesses"
    assert shown["peak"] == pytest.approx(16)
    assert shown["rows"]
    assert json.loads(json.dumps(shown)) == shown


def test_bins_are_of_powers_of_two_and_begin_where_there_is_something(explained):
    _, shown = told(explained)
    bins = shown["latencies"]
    assert bins[0]["reads"] or bins[0]["writes"]
    assert all(b["to"] == 2 * b["from"] - 1 for b in bins)
    assert all(b["from"] == a["to"] + 1 for a, b in pairwise(bins))


def test_a_memory_without_limit_or_rows_says_so(explained):
    memory = dict(explained.record.run.regions[0].memory)
    rowless = [{**c, "hits": 0, "misses": 0, "conflicts": 0} for c in memory["channels"]]
    shown = drawn({**memory, "peak": None, "channels": rowless, "writes": 0})
    more = {f["name"]: (f["value"], f["more"]) for f in shown["figures"]}
    assert shown["peak"] is None
    assert not shown["rows"]
    assert more["achieved bandwidth"][1] == "no limit"
    assert more["row hits"] == ("–", "it has no rows")
    assert more["mean write latency"] == ("–", "no writes")


def test_without_a_memory_or_a_run_there_is_nothing_to_draw(session):
    found = view(session)
    assert (found["region"], found["there"], found["memory"]) == ("T1..H", False, None)
    assert all(Machine.preset(name).memory for name in found["machines"])
    session.set_machine("hbm2")
    found = view(session)
    assert (found["there"], found["memory"]) == (True, None)
