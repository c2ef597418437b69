"""Timing constraints of a DRAM."""

from __future__ import annotations

from dataclasses import dataclass, fields

from fuseloom.errors import SimulationError
from fuseloom.results.declarations import Count, Record

MAX_TIMING = 1 << 17


def is_power(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def whole(owner: str, name: str, value: object, least: int, most: int = MAX_TIMING) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise SimulationError(
            f"{owner}: {name} is {value!r}", hint=f"an integer from {least} to {most}"
        )


@dataclass(frozen=True)
class DramTiming(Record):
    """JEDEC timing constraints, all in memory clocks.

    Attributes
    ----------
    cl, cwl : int
        tCL, tCWL: column command to the first beat of read or write data.
    rcd : int
        tRCD: activate to column command, reads and writes alike.
    rp, ras, rc : int
        tRP: precharge to activate; tRAS: activate to precharge; tRC: activate to activate of
        one bank.  tRC of 0 means tRAS + tRP.
    bl : int
        tBL: clocks of data bus that one access occupies.
    ccd_s, ccd_l : int
        tCCD: column command to column command of the same kind, in another bank group and in
        the same one.
    rrd_s, rrd_l : int
        tRRD: activate to activate, in another bank group and in the same one.
    faw : int
        tFAW: window that holds at most four activates.
    wr : int
        tWR: end of write data to precharge.
    rtp : int
        tRTP: read command to precharge.
    wtr_s, wtr_l : int
        tWTR: end of write data to read command, in another bank group and in the same one.
    rtw : int
        Read command to write command.  0 means tCL + tBL + 2 - tCWL: two idle clocks between
        the bursts.
    refi, rfc : int
        tREFI: refresh to refresh; tRFC: refresh to activate.
    """

    cl: Count
    cwl: Count
    rcd: Count
    rp: Count
    ras: Count
    bl: Count
    ccd_s: Count
    ccd_l: Count
    rrd_s: Count
    rrd_l: Count
    faw: Count
    wr: Count
    rtp: Count
    wtr_s: Count
    wtr_l: Count
    refi: Count
    rfc: Count
    rc: Count = 0
    rtw: Count = 0

    def __post_init__(self) -> None:
        optional = ("rc", "rtw", "wtr_s", "wtr_l", "rtp", "wr", "faw")
        for item in fields(self):
            least = 0 if item.name in optional else 1
            whole("timing", f"t{item.name.upper()}", getattr(self, item.name), least)
        for short, long in (("ccd_s", "ccd_l"), ("rrd_s", "rrd_l"), ("wtr_s", "wtr_l")):
            if getattr(self, short) > getattr(self, long):
                raise SimulationError(
                    f"timing: t{short.upper()} is longer than t{long.upper()}",
                    hint="the constraint within a bank group is the stricter one",
                )
        if self.ccd_s < self.bl:
            raise SimulationError(
                f"timing: bursts of tBL = {self.bl} overlap at tCCD_S = {self.ccd_s}",
                hint="tCCD_S is at least tBL",
            )
        if self.rc and self.rc < self.ras + self.rp:
            raise SimulationError(
                f"timing: tRC = {self.rc} is shorter than tRAS + tRP", hint="0 derives it"
            )
        if self.rtw and self.rtw < self.cl + self.bl - self.cwl:
            raise SimulationError(
                f"timing: tRTW = {self.rtw} lets write data meet read data",
                hint=f"at least tCL + tBL - tCWL = {self.cl + self.bl - self.cwl}; 0 derives it",
            )
        if self.refi < self.rfc + 2 * self.longest_access:
            raise SimulationError(
                f"timing: refreshes every tREFI = {self.refi} leave no time for accesses",
                hint=f"at least tRFC + {2 * self.longest_access}, two accesses from ACT to ACT",
            )

    @property
    def longest_access(self) -> int:
        """Clocks from one activate of a bank to the next at most, whatever came before."""
        column = max(self.read_to_write, self.cwl + self.bl + self.wtr_l, self.ccd_l)
        close = max(self.rtp, self.cwl + self.bl + self.wr)
        opened = max(self.row_cycle, self.rcd + column + close + self.rp)
        return opened + max(self.faw, self.rrd_l)

    @property
    def row_cycle(self) -> int:
        """tRC, given or derived."""
        return self.rc or self.ras + self.rp

    @property
    def read_to_write(self) -> int:
        """tRTW, given or derived; never less than one clock."""
        return self.rtw or max(1, self.cl + self.bl + 2 - self.cwl)
