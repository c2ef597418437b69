"""The rules of the DRAM protocol, written down anew: which command may follow which, when."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from fuseloom.dataflow.dram import Dram, DramCommand, DramTiming

READS, WRITES = ("RD", "RDA"), ("WR", "WRA")
COLUMNS = READS + WRITES


def gap(t: DramTiming, a: DramCommand, b: DramCommand) -> int:
    """Clocks that must lie between ``a`` and a later ``b`` of the same channel."""
    same_group = a.bankgroup == b.bankgroup
    every = "REF" in (a.name, b.name) or "PREA" in (a.name, b.name)
    same_bank = every or (same_group and a.bank == b.bank)
    written = t.cwl + t.bl
    row_cycle = t.rc if t.rc else t.ras + t.rp
    least = 1
    if a.name == "REF":
        return t.rfc if b.name in ("ACT", "REF") else least
    if a.name == "ACT" and b.name == "ACT":
        least = row_cycle if same_bank else t.rrd_l if same_group else t.rrd_s
    elif a.name == "ACT" and b.name == "REF":
        least = row_cycle
    elif a.name == "ACT" and b.name in COLUMNS and same_bank:
        least = t.rcd
    elif a.name == "ACT" and b.name in ("PRE", "PREA") and same_bank:
        least = t.ras
    elif a.name in ("PRE", "PREA") and b.name in ("ACT", "REF") and same_bank:
        least = t.rp
    elif a.name in COLUMNS and b.name in COLUMNS:
        if a.name in READS and b.name in WRITES:
            least = t.rtw if t.rtw else max(1, t.cl + t.bl + 2 - t.cwl)
        elif a.name in WRITES and b.name in READS:
            least = written + (t.wtr_l if same_group else t.wtr_s)
        else:
            least = t.ccd_l if same_group else t.ccd_s
    elif a.name in COLUMNS and b.name in ("PRE", "PREA") and same_bank:
        least = t.rtp if a.name in READS else written + t.wr
    elif a.name in ("RDA", "WRA") and b.name in ("ACT", "REF") and same_bank:
        least = t.rp + (t.rtp if a.name in READS else written + t.wr)
    return max(1, least)


def longest(t: DramTiming) -> int:
    """No rule reaches further back."""
    return max(t.rfc, t.faw, t.rc, t.ras + t.rp) + t.cl + t.cwl + 3 * t.bl + t.wr + t.rp + t.rtw


def check(config: Dram, commands: Sequence[DramCommand]) -> None:
    """Fail unless every command of the trace keeps every rule."""
    channels: dict[int, list[DramCommand]] = defaultdict(list)
    for command in commands:
        channels[command.channel].append(command)
    for channel in channels.values():
        check_gaps(config.timing, channel)
        check_states(config, channel)
        check_bursts(config.timing, channel)
        if config.refresh:
            check_refreshes(config.timing, channel)


def check_gaps(t: DramTiming, commands: list[DramCommand]) -> None:
    reach = longest(t)
    activates: list[int] = []
    for j, b in enumerate(commands):
        for i in range(j - 1, -1, -1):
            a = commands[i]
            if a.time <= b.time - reach:
                break
            assert b.time - a.time >= gap(t, a, b), (a, b)
        if b.name == "ACT":
            activates.append(b.time)
            if len(activates) > 4:
                assert b.time - activates[-5] >= t.faw, b


def check_states(config: Dram, commands: list[DramCommand]) -> None:
    """Rows are open when they are used and closed when they are opened."""
    t = config.timing
    rows: dict[tuple[int, int], int] = {}
    activated: dict[tuple[int, int], int] = {}
    closed: dict[tuple[int, int], int] = {}
    for command in commands:
        bank = command.bankgroup, command.bank
        if command.name == "ACT":
            assert bank not in rows, command
            assert command.time >= closed.get(bank, 0) + t.rp or bank not in closed
            rows[bank] = command.row
            activated[bank] = command.time
        elif command.name in COLUMNS:
            assert rows[bank] == command.row, command
            assert (command.name in ("RDA", "WRA")) == (config.policy == "closed")
            if command.name in ("RDA", "WRA"):
                reach = t.rtp if command.name == "RDA" else t.cwl + t.bl + t.wr
                closed[bank] = max(activated[bank] + t.ras, command.time + reach)
                del rows[bank]
        elif command.name == "PRE":
            assert rows.pop(bank) == command.row, command
        elif command.name == "PREA":
            assert rows, command
            rows.clear()
        else:
            assert not rows, command
            assert all(command.time >= time + t.rp for time in closed.values()), command


def check_bursts(t: DramTiming, commands: list[DramCommand]) -> None:
    """Data never overlap on the bus."""
    starts = sorted(
        command.time + (t.cl if command.name in READS else t.cwl)
        for command in commands
        if command.name in COLUMNS
    )
    assert all(after - before >= t.bl for before, after in pairwise(starts))


def check_refreshes(t: DramTiming, commands: list[DramCommand]) -> None:
    """One per tREFI, no earlier than due and as soon after as banks can close."""
    slack = longest(t)
    for k, command in enumerate(c for c in commands if c.name == "REF"):
        due = (k + 1) * t.refi
        assert due <= command.time <= due + slack, command
    last = commands[-1].time
    assert sum(c.name == "REF" for c in commands) >= (last - slack) // t.refi
