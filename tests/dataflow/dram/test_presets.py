"""Memories one can buy: the figures their docstrings promise."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.dram.config import PICOSECONDS, Dram
from fuseloom.dataflow.dram.presets import PRESETS, ddr4_3200, hbm2, preset
from fuseloom.errors import SimulationError


def size(memory: Dram) -> int:
    """Bytes it holds."""
    banks = memory.total_channels * memory.bank_groups * memory.banks
    return banks * memory.rows * memory.row_bytes


def bandwidth(memory: Dram) -> float:
    """Bytes per second that its pins can move."""
    burst = memory.timing.bl * memory.tck_ps / PICOSECONDS
    return memory.total_channels * memory.access_bytes / burst


def test_hbm2_is_a_stack_of_four_gibibytes() -> None:
    assert size(hbm2()) == 4 << 30
    assert bandwidth(hbm2()) == pytest.approx(256e9)
    assert hbm2().total_channels == 16


def test_ddr4_is_a_channel_of_eight() -> None:
    memory = ddr4_3200()
    assert size(memory) == 8 << 30
    assert bandwidth(memory) == pytest.approx(25.6e9)
    nanoseconds = memory.tck_ps / 1000
    assert memory.timing.cl * nanoseconds == pytest.approx(13.75)
    assert memory.timing.refi * nanoseconds == pytest.approx(7800)
    assert memory.timing.rfc * nanoseconds == pytest.approx(350)


@pytest.mark.parametrize("make", [hbm2, ddr4_3200])
def test_rows_close_as_late_as_the_standard_says(make: object) -> None:
    timing = make().timing
    assert timing.row_cycle == timing.ras + timing.rp
    assert timing.ccd_l >= timing.ccd_s
    assert timing.rrd_l >= timing.rrd_s


def test_changes_make_another_memory() -> None:
    assert bandwidth(ddr4_3200(channels=2)) == 2 * bandwidth(ddr4_3200())
    assert ddr4_3200(channels=2).name == "ddr4-3200"


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_found_by_their_own_name(name: str) -> None:
    assert preset(name).name == name


def test_a_name_nobody_has_is_refused() -> None:
    with pytest.raises(SimulationError, match="no memory is called 'hbm9'") as caught:
        preset("hbm9")
    assert "ddr4-3200" in (caught.value.hint or "")
