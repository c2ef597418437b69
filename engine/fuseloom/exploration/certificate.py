"""The proof of a schedule's quality, and the fates of all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, TypedDict

from fuseloom.display.shows import Shows
from fuseloom.results.declarations import Amount, Count, Share
from fuseloom.wording import counted


class CertificateData(TypedDict):
    """A :class:`Certificate` as plain data."""

    gap: Share
    bound: Amount
    complete: bool
    simulated: Annotated[bool, "Whether the cycles are those of a run."]
    counts: Mapping[str, Count]
    unsearched: Sequence[str]


@dataclass(frozen=True)
class Certificate(Shows, html="fuseloom.exploration.display:certificate_html"):
    """The certificate of the best schedule.

    Attributes
    ----------
    cycles : float
        Of the schedule found: simulated, unless ``simulated`` is False.
    bound : float
        Cycles that no schedule of the space is below.
    complete : bool
        Whether every part of the space that could matter was looked at.
    counts : mapping of str to int
        Ways of executing parts of the program, by what became of them.
    unsearched : tuple of str
        What the space does not have, of which the bound says nothing.
    """

    cycles: float
    bound: float
    simulated: bool
    complete: bool
    counts: Mapping[str, int] = field(default_factory=dict)
    unsearched: tuple[str, ...] = ()

    @property
    def gap(self) -> float:
        """By how much, at most, the best is below what was found: a share of the latter."""
        return max(0.0, 1.0 - self.bound / self.cycles) if self.cycles > 0 else 0.0

    @property
    def verdict(self) -> str:
        """The lower bound on the cycles of every schedule of the space, in a sentence."""
        if self.gap == 0:
            return "no schedule of this space takes fewer"
        return (
            f"no schedule of this space takes fewer than {counted(self.bound, 'cycle')}: at most "
            f"{self.gap:.1%} fewer"
        )

    def to_dict(self) -> CertificateData:
        """Plain data."""
        return {
            "gap": self.gap,
            "bound": self.bound,
            "complete": self.complete,
            "simulated": self.simulated,
            "counts": dict(self.counts),
            "unsearched": list(self.unsearched),
        }


def together(found: Sequence[Certificate]) -> Certificate:
    """Return the certificate of the best schedule of several spaces.

    The best is the best of any; none is below the lowest bound.
    """
    counts: Counter[str] = Counter()
    for one in found:
        counts.update(one.counts)
    return Certificate(
        min(one.cycles for one in found),
        min(one.bound for one in found),
        all(one.simulated for one in found),
        all(one.complete for one in found),
        dict(counts),
        tuple(dict.fromkeys(text for one in found for text in one.unsearched)),
    )


@dataclass
class Tally:
    """Counts what becomes of the candidates that a search meets."""

    met: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, str] = field(default_factory=dict)

    def refuse(self, rule: str, reason: str) -> None:
        """Count a refusal; the first reason of each rule is kept."""
        self.refused[rule] += 1
        self.reasons.setdefault(rule, reason)
