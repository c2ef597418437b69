"""The tables that commands print, character by character."""

from __future__ import annotations

from fuseloom.cli.tables import (
    channel_table,
    energy_line,
    memory_table,
    orders_table,
    run_table,
    statistics_table,
    summary_table,
)
from fuseloom.results.energy import EnergyUse
from fuseloom.results.record import MachineId, RegionRecord, RunRecord

MEMORY = {
    "reads": 3571, "writes": 147, "bytes": 118_976, "bandwidth": 9.73e9, "share": 0.038,
    "hit_rate": 0.898, "read_latency": 32.4,
}  # fmt: skip
REGIONS = (
    RegionRecord("T1..H", ("i",), 12_222, 30_668, 119_724, memory=MEMORY),
    RegionRecord("T5..Y", ("i",), 55_633_949_328, 1, 222_891_839_908),
)


def test_figures_of_a_run() -> None:
    record = RunRecord("gcn", "", MachineId("hbm2", ""), None, REGIONS, None, 0.0)
    assert run_table(record) == [
        "region                           cycles          FLOPs          bytes",
        "T1..H                            12,222         30,668        119,724",
        "T5..Y                    55,633,949,328              1 222,891,839,908",
        "total                    55,633,961,550         30,669 222,891,959,632",
    ]


def test_memories() -> None:
    assert memory_table(REGIONS) == [
        "memory                          reads       writes   moved, bytes     GB/s  of peak  "
        "row hits  latency",
        "T1..H                           3,571          147        118,976     9.73     3.8%  "
        "   89.8%     32.4",
    ]
    assert memory_table(REGIONS[1:]) == []


def test_energies() -> None:
    used = EnergyUse({"add": 1e-8, "channel": 0.4e-3, "memory": 0.6e-3, "buffer": 1e-9}, 2e-3)
    assert energy_line(used) == (
        "energy: 1 mJ, 60% memory, 40% channel; energy-delay product: 2e-06 J s"
    )
    assert energy_line(EnergyUse({"add": 2.5e-13}, 1.0)) == (
        "energy: 0.00025 nJ, 100% add; energy-delay product: 2.5e-13 J s"
    )
    assert energy_line(EnergyUse({"memory": 1234.5}, 0.0)).startswith("energy: 1234 J, 100% mem")
    assert energy_line(EnergyUse()) == "energy: 0 nJ; energy-delay product: 0 J s"


def test_orders() -> None:
    graphs = [
        {"chosen": True, "order": ["i", "k"], "orders": 1, "cycles": 49_039.4, "reason": None},
        {"chosen": False, "order": ["k"], "orders": 12, "cycles": None, "reason": "it is not so"},
    ]
    assert orders_table(graphs) == [
        "  * i→k                                     1 order   49,039 cycles",
        "    k                                      12 orders  it is not so",
    ]


def test_statistics() -> None:
    level = {
        "size": 34, "fibers": 1, "positions": 34, "mean": 34.0, "second_moment": 1156.0,
        "longest": 34, "empty": 0,
    }  # fmt: skip
    assert statistics_table({"A": [level]}) == [
        "tensor   level       size     fibers    positions       mean  mean square  longest"
        "    empty",
        "A            0         34          1           34      34.00     1,156.00       34"
        "        0",
    ]


def test_paths_and_channels() -> None:
    rows = [{"cycles": 1200, "share": 0.5, "segments": 3, "what": "LS A.i works"}]
    assert summary_table(rows) == [
        "  cycles  share  times  what",
        "   1,200  50.0%      3  LS A.i works",
    ]
    channel = {
        "mean": 0.25, "most": 4, "capacity": None, "label": "A.i crd",
        "producer": {"label": "LS A.i"}, "consumer": {"label": "Rep"},
    }  # fmt: skip
    assert channel_table([channel, {**channel, "capacity": 4}]) == [
        "  mean  most  slots  stream",
        "   0.2     4      -  A.i crd (LS A.i to Rep)",
        "   0.2     4      4  A.i crd (LS A.i to Rep)",
    ]
