"""Memories one can buy, with values of the class that JEDEC's standards and vendors give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fuseloom.dataflow.dram.config import Config, Dram, Ideal, Queues
from fuseloom.dataflow.dram.timing import DramTiming
from fuseloom.errors import SimulationError


def hbm2(**changes: Any) -> Dram:
    """One HBM2 stack, 4 GiB, 256 GB/s.

    8 channels of 2 pseudo channels of 64 bits at 2 Gb/s per pin.  The clock is 1 GHz, so every
    clock below is also a nanosecond; a burst of 4 beats (32 bytes) takes 2.

    tCL 14, tCWL 4, tRCD 14, tRP 14, tRAS 34, tRC 48; tCCD 2 and 4; tRRD 4 and 6; tFAW 16 (four
    activates of 1 KiB rows; vendors differ, up to 30); tWR 16, tRTP 5; tWTR 6 and 8; tRTW 14;
    tREFI 3900, tRFC 260 (4 Gbit per channel).

    The two pseudo channels of a channel share pins for commands.  At one column command per two
    clocks each they rarely meet there: each has a command bus of its own here.

    Parameters
    ----------
    **changes
        Fields of :class:`Dram` to set otherwise.
    """
    timing = DramTiming(
        cl=14,
        cwl=4,
        rcd=14,
        rp=14,
        ras=34,
        bl=2,
        ccd_s=2,
        ccd_l=4,
        rrd_s=4,
        rrd_l=6,
        faw=16,
        wr=16,
        rtp=5,
        wtr_s=6,
        wtr_l=8,
        refi=3900,
        rfc=260,
    )
    preset = Dram(
        name="hbm2",
        channels=8,
        pseudo_channels=2,
        bank_groups=4,
        banks=4,
        rows=1 << 14,
        row_bytes=1 << 10,
        access_bytes=32,
        tck_ps=1000,
        timing=timing,
    )
    return replace(preset, **changes)


def ddr4_3200(**changes: Any) -> Dram:
    """One channel of DDR4-3200, one rank of eight 8 Gbit x8 chips: 8 GiB, 25.6 GB/s.

    The clock is 1.6 GHz (625 ps); a burst of 8 beats of 64 bits (64 bytes) takes 4.

    tCL, tRCD, tRP 22 (13.75 ns); tCWL 16; tRAS 52 (32.5 ns), tRC 74; tCCD 4 and 8; tRRD 4 and 8;
    tFAW 34 (21 ns); tWR 24 (15 ns), tRTP 12 (7.5 ns); tWTR 4 and 12; tRTW 12; tREFI 12480
    (7.8 µs), tRFC 560 (350 ns).

    Parameters
    ----------
    **changes
        Fields of :class:`Dram` to set otherwise, such as ``channels``.
    """
    timing = DramTiming(
        cl=22,
        cwl=16,
        rcd=22,
        rp=22,
        ras=52,
        bl=4,
        ccd_s=4,
        ccd_l=8,
        rrd_s=4,
        rrd_l=8,
        faw=34,
        wr=24,
        rtp=12,
        wtr_s=4,
        wtr_l=12,
        refi=12480,
        rfc=560,
    )
    preset = Dram(
        name="ddr4-3200",
        channels=1,
        pseudo_channels=1,
        bank_groups=4,
        banks=4,
        rows=1 << 16,
        row_bytes=1 << 13,
        access_bytes=64,
        tck_ps=625,
        timing=timing,
    )
    return replace(preset, **changes)


PRESETS: dict[str, Callable[[], Config]] = {
    "ideal": Ideal,
    "queues": Queues,
    "hbm2": hbm2,
    "ddr4-3200": ddr4_3200,
}


def preset(name: str) -> Config:
    """The memory of that name.

    Raises
    ------
    SimulationError
        If there is none.
    """
    if name not in PRESETS:
        raise SimulationError(f"no memory is called {name!r}", hint=f"known: {', '.join(PRESETS)}")
    return PRESETS[name]()
