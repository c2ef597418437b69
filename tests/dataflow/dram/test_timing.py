"""Every timing rule on a few accesses, worked out by hand.

The memory runs at the clock of the machine and its controller takes no time.  Unless a test says
otherwise: tCL 10, tCWL 6, tRCD 7, tRP 8, tRAS 20 (tRC 28), tBL 2, tCCD 2 and 5, tRRD 3 and 6,
tWR 9, tRTP 4, tWTR 3 and 7, tRTW 10 + 2 + 2 - 6 = 8, no tFAW.  A read is answered 12 clocks
after its command, a write 8.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fuseloom.dataflow.dram import Dram, DramAddress, DramTiming, Mapping, trace
from fuseloom.dataflow.dram.state import AT_CHANNELS, C_REFRESHES
from tests.dataflow.dram.driving import plain, run

TIMING = DramTiming(
    cl=10, cwl=6, rcd=7, rp=8, ras=20, bl=2, ccd_s=2, ccd_l=5, rrd_s=3, rrd_l=6, faw=0, wr=9,
    rtp=4, wtr_s=3, wtr_l=7, refi=1000, rfc=50,
)  # fmt: skip
DRAM = Dram(
    "hand", channels=1, pseudo_channels=1, bank_groups=2, banks=4, rows=16, row_bytes=256,
    access_bytes=32, tck_ps=1000, timing=TIMING, controller_latency=0, refresh=False,
)  # fmt: skip


def at(group: int = 0, bank: int = 0, row: int = 0, column: int = 0) -> int:
    return Mapping.of(DRAM).address(DramAddress(0, group, bank, row, column))


def read(time: int = 0, *place: int) -> tuple[int, int, int, int]:
    return time, at(*place), 32, 0


def write(time: int = 0, *place: int) -> tuple[int, int, int, int]:
    return time, at(*place), 32, 1


def times(
    *requests: tuple[int, int, int, int],
    timing: dict[str, int] | None = None,
    clock_hz: float = 1e9,
    **changes: Any,
) -> list[int]:
    """Answers to requests of one port, in their order."""
    dram = replace(DRAM, timing=replace(TIMING, **(timing or {})), **changes)
    _, answers = run(dram, list(requests), clock_hz=clock_hz, drive=plain)
    return answers[0, :, 1].tolist()


def test_one_read_and_one_write() -> None:
    assert times(read()) == [7 + 10 + 2]  # tRCD, tCL, tBL
    assert times(write()) == [7 + 6 + 2]  # tRCD, tCWL, tBL
    assert times(read(), timing={"rcd": 9}) == [21]
    assert times(read(), timing={"cl": 15}) == [24]
    assert times(write(), timing={"cwl": 8}) == [17]


def test_ccd_l_between_hits_of_one_group() -> None:
    assert times(read(), read(0, 0, 0, 0, 1)) == [19, 7 + 5 + 12]


def test_ccd_s_between_groups() -> None:
    # ACT 0 and 3, RD 7; the other RD could go at 3 + 7 = 10 but for tCCD_S.
    assert times(read(), read(0, 1), timing={"ccd_s": 6, "ccd_l": 6}) == [19, 7 + 6 + 12]


def test_bursts_fill_the_data_bus_and_no_more() -> None:
    # ACT 0, 3: from 10 on both groups have hits; a burst of 4 clocks every 4.
    requests = [read(0, k % 2, 0, 0, k // 2) for k in range(6)]
    got = times(*requests, timing={"bl": 4, "ccd_s": 4, "ccd_l": 5})
    assert got == [7 + 14, 11 + 14, 15 + 14, 19 + 14, 23 + 14, 27 + 14]


def test_rrd_s_between_groups() -> None:
    assert times(read(), read(0, 1)) == [19, 3 + 7 + 12]
    assert times(read(), read(0, 1), timing={"rrd_s": 5}) == [19, 5 + 7 + 12]


def test_rrd_l_within_a_group() -> None:
    assert times(read(), read(0, 0, 1)) == [19, 6 + 7 + 12]


def test_faw_holds_the_fifth_activate() -> None:
    requests = [read(0, 0, bank) for bank in range(4)] + [read(0, 1)]
    timing = {"rrd_s": 3, "rrd_l": 3, "faw": 30, "ccd_l": 2}
    # ACT 0, 3, 6, 9, then 30.
    assert times(*requests, timing=timing) == [19, 22, 25, 28, 30 + 7 + 12]


CONFLICT = read(), read(0, 0, 0, 1)


def test_ras_and_rp_between_rows() -> None:
    # ACT 0, RD 7, PRE 20, ACT 28, RD 35.
    assert times(*CONFLICT) == [19, 20 + 8 + 7 + 12]
    assert times(*CONFLICT, timing={"ras": 25}) == [19, 25 + 8 + 7 + 12]
    assert times(*CONFLICT, timing={"rp": 18}) == [19, 20 + 18 + 7 + 12]


def test_rc_between_activates_of_a_bank() -> None:
    assert times(*CONFLICT, timing={"rc": 40}) == [19, 40 + 7 + 12]


def test_rtp_before_a_precharge() -> None:
    # RD 7, PRE 37, ACT 45.
    assert times(*CONFLICT, timing={"rtp": 30}) == [19, 7 + 30 + 8 + 7 + 12]


def test_wr_before_a_precharge() -> None:
    # WR 7, data until 15, PRE 24, ACT 32.
    assert times(write(), read(10, 0, 0, 1)) == [15, 15 + 9 + 8 + 7 + 12]


def test_wtr_l_within_a_group() -> None:
    assert times(write(), read(8, 0, 0, 0, 1)) == [15, 15 + 7 + 12]


def test_wtr_s_between_groups() -> None:
    # ACT of the read at 8, so tRCD allows 15, tWTR_S 18.
    assert times(write(), read(8, 1)) == [15, 15 + 3 + 12]


def test_turnaround_from_read_to_write() -> None:
    # RD 7, its data from 17 to 19; two idle clocks; write data from 21.
    assert times(read(), write(8, 0, 0, 0, 1)) == [19, 7 + 8 + 8]
    assert times(read(), write(8, 0, 0, 0, 1), timing={"rtw": 20}) == [19, 7 + 20 + 8]


def test_a_refresh_closes_rows_and_blocks_all_banks() -> None:
    # ACT 995; the RD of 1002 is behind the refresh due at 1000.  PREA 1015 (tRAS), REF 1023,
    # ACT 1073.
    assert times(read(995), refresh=True) == [995 + 20 + 8 + 50 + 7 + 12]
    assert times(read(995), refresh=False) == [995 + 19]
    # Nothing open: REF at 1000 itself.
    assert times(read(1010), refresh=True) == [1000 + 50 + 7 + 12]
    assert times(read(1051), refresh=True) == [1051 + 19]


def test_refreshes_of_a_long_gap_are_all_counted() -> None:
    dram = replace(DRAM, refresh=True)
    for size in (0, 10_000):
        requests = [read(0), read(1_000_005)]
        m, answers = run(dram, requests, trace=size, drive=plain)
        assert answers[0, :, 1].tolist() == [19, 1_000_000 + 50 + 19]
        assert m[m[AT_CHANNELS] + C_REFRESHES] == 1000
        if size:
            assert [c.time for c in trace(m) if c.name == "REF"][1:4] == [2000, 3000, 4000]


def test_closed_pages_precharge_by_themselves() -> None:
    # RDA 7; the bank closes at 20 (tRAS) and opens at 28.
    assert times(read(), read(0, 0, 0, 0, 1), policy="closed") == [19, 20 + 8 + 7 + 12]
    # tRTP later than tRAS: closes at 37.
    assert times(*CONFLICT, timing={"rtp": 30}, policy="closed") == [19, 37 + 8 + 7 + 12]
    # WRA 7, data until 15, closes at 24.
    assert times(write(), read(10), policy="closed") == [15, 15 + 9 + 8 + 7 + 12]


def test_clock_domains_round_up_both_ways() -> None:
    # Cycle 1 is at 1000 ps, clock 2 (1400 ps); data at clock 2 + 19 = 21, 14700 ps, cycle 15.
    assert times(read(1), tck_ps=700) == [15]
    # Three cycles in the controller: two before, so 3000 ps is clock 5; 24 clocks are 16800 ps,
    # cycle 17; one after.
    assert times(read(1), tck_ps=700, controller_latency=3) == [18]
    # A machine of 2 GHz: cycle 3 is at 1500 ps, clock 2; 21 clocks are 42 cycles.
    assert times(read(3), clock_hz=2e9) == [42]


def test_hits_go_first_but_only_so_often() -> None:
    hits = [read(0, 0, 0, 0, k) for k in (1, 2, 3)]
    # ACT 0, RD 7, hits at 12, 17, 22; then PRE max(20, 26), ACT 34, RD 41.
    assert times(read(), read(0, 0, 0, 1), *hits) == [19, 53, 24, 29, 34]
    # One may overtake: RD 12, PRE 20, ACT 28, RD 35; PRE 48, ACT 56, RD 63 and 68.
    assert times(read(), read(0, 0, 0, 1), *hits, row_hit_cap=1) == [19, 47, 24, 75, 80]


def test_reads_go_before_writes_until_these_are_many_or_old() -> None:
    reads = [read(0, 0, 0, 0, k) for k in range(6)]  # RD at 7, 12, 17, 22, 27, 32
    old = write(0, 0, 0, 0, 7)
    assert times(old, *reads)[0] == 32 + 8 + 8
    # From clock 20 on the write is old: RD 7, 12, 17, WR 17 + 8.
    assert times(old, *reads, write_patience=20)[:5] == [25 + 8, 19, 24, 29, 33 + 7 + 12]
    # Two writes start a drain to none at once: WR 7 and 12, the reads after data and tWTR_L.
    many: dict[str, Any] = {"write_queue": 2, "write_high": 2, "write_low": 0}
    assert times(old, old, *reads, **many)[:3] == [15, 20, 20 + 7 + 12]


def test_a_request_of_many_accesses_is_complete_with_the_last() -> None:
    # Groups take turns: ACT 0 and 3; RD 7, 10, 12 (tCCD_L), 15.
    assert times((0, at(), 128, 0)) == [15 + 12]
    # Two bytes on both sides of a boundary are two accesses.
    assert times((0, at() + 31, 2, 0)) == [10 + 12]
