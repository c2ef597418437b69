"""Statistics of the memory."""

from __future__ import annotations

import pytest

from workbench.memory.memory_panel import MemoryPanel, memory_html


def test_memory_statistics_carry_units(explained):
    memory = explained.record.run.regions[0].memory
    text = memory_html("T1..H", memory)
    assert f"{memory['bandwidth'] / 1e9:,.2f} GB/s" in text
    assert "% of 256.0 GB/s" in text
    assert f"{memory['read_latency']:,.1f} cycles" in text
    panel = MemoryPanel(explained)
    assert panel._plots.visible
    assert len(panel.channels.data["rate"]) == 16
    assert sum(panel.channels.data["rate"]) == pytest.approx(memory["bandwidth"] / 1e9)
    assert sum(panel.latencies.data["reads"]) == memory["reads"]


def test_without_a_memory_there_are_no_statistics(session):
    panel = MemoryPanel(session)
    assert not any(part.visible for part in panel._layout[1:])
    assert "has no memory" in panel._text.object
    session.set_machine("ideal")
    assert "Press Run" in panel._text.object
