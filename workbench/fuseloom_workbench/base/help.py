"""The help for quantities of the bench: a sentence, the formula, the unit, and the source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from fuseloom_workbench.base import glossary


@dataclass(frozen=True)
class Quantity:
    """One quantity that is shown somewhere.

    Attributes
    ----------
    key : str
        What elements that show it have as ``data-help``.
    name : str
    unit : str
    sentence : str
        What it is.
    formula : str
        How it comes about, in words and signs.
    source : str
        Where more is written: "FuseFlow §8.3", "docs/estimate.md § How good they are", or a module.

    Examples
    --------
    >>> QUANTITIES["speedup.unfused"].formula
    'cycles of the preset unfused / cycles of this run'
    """

    key: str
    name: str
    unit: str
    sentence: str
    formula: str
    source: str

    @property
    def sources(self) -> tuple[str, ...]:
        """The places, one by one."""
        return tuple(self.source.split("; "))


QUANTITIES: Mapping[str, Quantity] = {row[0]: Quantity(*row) for row in glossary.ROWS}
"""Every quantity by its key, in the order in which they are listed."""


def texts() -> list[dict[str, str]]:
    """All of them as plain data; a page asks for it once (``help.js``)."""
    return [asdict(quantity) for quantity in QUANTITIES.values()]


def marked(key: str) -> str:
    """The attribute of an element, in HTML, that shows this quantity.

    Examples
    --------
    >>> marked("flops")
    "data-help='flops'"
    """
    return f"data-help='{QUANTITIES[key].key}'"
