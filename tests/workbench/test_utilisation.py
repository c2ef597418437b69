"""The map of what nodes did over time."""

from __future__ import annotations

from workbench.utilisation import Utilisation


def test_the_heat_map_has_a_rectangle_per_node_and_bin(explained):
    shown = Utilisation(explained)
    region = explained.record.run.regions[0]
    for activity in ("busy", "stall_memory"):
        shown.choice.value = activity
        data = shown.source.data
        bins = -(-region.cycles // region.timeline["width"])
        assert len(data["x"]) == bins * len(region.nodes)
        total = sum(row[activity] for row in region.rows.values())
        assert sum(data["cycles"]) == total
        assert max(data["share"]) <= 1
