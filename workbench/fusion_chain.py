"""The chain of kernels with the boundaries between fused regions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.assets import script, style
from workbench.component import SessionComponent
from workbench.palette import region_fill
from workbench.quantities import count, short


class FusionChain(SessionComponent):
    """Kernels as boxes; drag, add and remove the boundaries between regions.

    Examples
    --------
    >>> chain = FusionChain()
    >>> [region["name"] for region in chain.view["regions"]]
    ['T1..H', 'T5..Y']
    >>> chain.handle({"kind": "move", "gap": 4, "to": 3})
    >>> [region["name"] for region in chain.view["regions"]]
    ['T1..T3', 'H..Y']
    """

    _esm = script("fusion_chain")
    topics = ("fusion",)
    _stylesheets = [style("fusion_chain")]

    def _follow(self) -> None:
        super()._follow()
        self.session.param.watch(lambda *_: self.refresh(), "records")

    def make_view(self) -> dict[str, Any]:
        session = self.session
        record = session.record
        built = session.built
        units = [
            {
                "name": unit.name,
                "texts": list(unit.texts),
                "region": number,
                "memory": unit.memory,
            }
            for unit, number in zip(built.units, built.unit_regions, strict=True)
        ]
        total = sum(r.cycles for r in session.estimate.regions) or 1.0
        regions = []
        for k, (region, estimated) in enumerate(
            zip(session.regions, session.estimate.regions, strict=True)
        ):
            regions.append(
                {
                    "name": region.name,
                    "fill": region_fill(k),
                    "estimate": short(estimated.cycles, "cycles"),
                    "share": estimated.cycles / total,
                    "simulated": short(record.run.regions[k].cycles, "cycles") if record else "",
                    "hint": f"{count(estimated.flops, 'FLOPs')}, "
                    f"{count(estimated.bytes, 'bytes')} of memory traffic, "
                    f"{count(len(region.graph.nodes), 'graph nodes')}",
                }
            )
        return {"units": units, "regions": regions, "shown": session.region}

    def handle(self, request: Mapping[str, Any]) -> None:
        gap, to = request.get("gap"), request.get("to")
        match request["kind"]:
            case "move" if isinstance(gap, int) and isinstance(to, int):
                self.session.move_boundary(gap, to)
            case "add" if isinstance(gap, int):
                self.session.add_boundary(gap)
            case "remove" if isinstance(gap, int):
                self.session.remove_boundary(gap)
            case "show" if isinstance(request.get("region"), int):
                self.session.select_region(request["region"])
