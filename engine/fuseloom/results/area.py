"""Area of hardware: what the logic of a region, or of a program, takes of an FPGA."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fuseloom.results.declarations import Amount, Record


@dataclass(frozen=True)
class AreaUse(Record):
    """The area of a region's nodes and channels, or of the largest region of a program.

    Regions run one after another, and the hardware is configured for each.

    Attributes
    ----------
    luts : float or None
        Look-up tables of six inputs; null where the area is not known.
    flip_flops, dsps : float or None
        Flip-flops, and multipliers (DSP48E1); null where the area is not known.
    reason : str
        Why the area is not known; empty where it is.

    Examples
    --------
    >>> AreaUse(8_765.0, 1_234.0, 2.0).known, AreaUse(reason="exp has no hardware").known
    (True, False)
    """

    luts: Amount | None = None
    flip_flops: Amount | None = None
    dsps: Amount | None = None
    reason: str = ""

    @property
    def known(self) -> bool:
        """True if there is an area."""
        return self.luts is not None


def largest_area(areas: Iterable[AreaUse | None]) -> AreaUse | None:
    """The area of the region with the most look-up tables.

    It is None where nobody has looked at one of them, and not known where one is not.

    Examples
    --------
    >>> largest_area([AreaUse(10.0, 4.0, 0.0), AreaUse(20.0, 3.0, 1.0)]).luts
    20.0
    >>> largest_area([AreaUse(10.0, 4.0, 0.0), AreaUse(reason="no hardware")]).reason
    'no hardware'
    """
    found: list[AreaUse] = []
    for area in areas:
        if area is None:
            return None
        found.append(area)
    unknown = next((area for area in found if not area.known), None)
    return unknown or max(found, key=lambda area: area.luts or 0.0, default=None)
