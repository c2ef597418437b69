"""Expected totals: cycles, FLOPs and bytes of every region and of the program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from fuseloom.results.text_table import totals_table
from fuseloom.wording import counted, described


@dataclass(frozen=True)
class RegionTotals:
    """Expected figures of one region: clock cycles, arithmetic operations, bytes moved."""

    name: str
    cycles: float
    flops: float
    bytes: float

    def totals(self) -> dict[str, Any]:
        """Plain data: the name and the figures."""
        return {
            "name": self.name,
            "cycles": self.cycles,
            "flops": self.flops,
            "bytes": self.bytes,
        }


R_co = TypeVar("R_co", bound=RegionTotals, covariant=True)


@dataclass(frozen=True)
class EstimateTotals(Generic[R_co]):
    """Expected figures of a program: its regions, run one after another."""

    regions: tuple[R_co, ...]

    def __repr__(self) -> str:
        return described(
            self,
            f"of {counted(len(self.regions), 'region')}: "
            f"{counted(self.cycles, 'cycle')}, {counted(self.flops, 'FLOP')}, "
            f"{counted(self.bytes, 'byte')}",
        )

    @property
    def cycles(self) -> float:
        return sum(r.cycles for r in self.regions)

    @property
    def flops(self) -> float:
        return sum(r.flops for r in self.regions)

    @property
    def bytes(self) -> float:
        return sum(r.bytes for r in self.regions)

    def to_dict(self) -> dict[str, Any]:
        """Plain data: the totals, and those of every region."""
        return {
            "cycles": self.cycles,
            "flops": self.flops,
            "bytes": self.bytes,
            "regions": [region.totals() for region in self.regions],
        }

    def __str__(self) -> str:
        regions = [(r.name, r.cycles, r.flops, r.bytes) for r in self.regions]
        return "\n".join(totals_table(regions, (self.cycles, self.flops, self.bytes)))
