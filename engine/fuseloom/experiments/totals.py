"""Totals of claims by kind and verdict; a published number behind several claims counts once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, TypedDict

from fuseloom.experiments.claims import Claim, ClaimKind, ClaimVerdict
from fuseloom.results.declarations import Count
from fuseloom.results.document import plain
from fuseloom.wording import agreeing, counted

_WORST = (
    ClaimVerdict.MISSING,
    ClaimVerdict.DIFFERS,
    ClaimVerdict.EXPLAINED,
    ClaimVerdict.HOLDS,
)
"""Verdicts, the worst first: a number has the worst of its claims."""
TITLES = {
    ClaimKind.PREDICTED: "Predicted: a published number, and nothing fitted",
    ClaimKind.CALIBRATED: "Calibrated: a published number, and something fitted to such numbers",
    ClaimKind.PROPERTY: "Bound or property: a statement of the paper",
    ClaimKind.OURS: "Ours: no published number",
}


class KindTotalData(TypedDict):
    """A :class:`KindTotal` as plain data."""

    kind: Annotated[ClaimKind, "The kind of the claims."]
    claims: Annotated[Count, "Claims of this kind."]
    numbers: Annotated[Count, "Numbers behind them: one that several claims share counts once."]
    hold: Annotated[Count, "Numbers all of whose claims hold."]
    explained: Annotated[Count, "Numbers that differ, with the arithmetic that says why."]
    differ: Annotated[Count, "Numbers that differ, and nothing says why."]
    missing: Annotated[Count, "Numbers of which ours did not come out."]


@dataclass(frozen=True)
class KindTotal:
    """The claims of a kind, counted.

    Attributes
    ----------
    claims : int
    verdicts : tuple of ClaimVerdict
        Of each number behind them, the worst verdict of its claims.
    """

    kind: ClaimKind
    claims: int
    verdicts: tuple[ClaimVerdict, ...]

    @property
    def numbers(self) -> int:
        """Numbers behind the claims."""
        return len(self.verdicts)

    def count(self, verdict: ClaimVerdict) -> int:
        """Count the numbers of a verdict."""
        return self.verdicts.count(verdict)

    def to_dict(self) -> KindTotalData:
        """Plain data: an entry of ``totals``."""
        made: KindTotalData = plain(
            {
                "kind": self.kind,
                "claims": self.claims,
                "numbers": self.numbers,
                "hold": self.count(ClaimVerdict.HOLDS),
                "explained": self.count(ClaimVerdict.EXPLAINED),
                "differ": self.count(ClaimVerdict.DIFFERS),
                "missing": self.count(ClaimVerdict.MISSING),
            }
        )
        return made


def by_kind(claims: Iterable[Claim]) -> list[tuple[ClaimKind, list[Claim]]]:
    """Group claims by kind, in the order of the kinds; a kind without claims is left out."""
    every = list(claims)
    found = [(kind, [c for c in every if c.published.kind is kind]) for kind in ClaimKind]
    return [(kind, own) for kind, own in found if own]


def totals(claims: Iterable[Claim]) -> tuple[KindTotal, ...]:
    """Count the claims of each kind that there is, in the order of the kinds."""
    made = []
    for kind, own in by_kind(claims):
        worst: dict[str, ClaimVerdict] = {}
        for claim in own:
            known = worst.get(claim.published.number_id, ClaimVerdict.HOLDS)
            worst[claim.published.number_id] = min(known, claim.verdict, key=_WORST.index)
        made.append(KindTotal(kind, len(own), tuple(worst.values())))
    return tuple(made)


def told(total: KindTotal) -> str:
    """Return the total of a kind in words: numbers, claims and verdicts."""
    texts = {
        ClaimVerdict.HOLDS: ("holds", "hold"),
        ClaimVerdict.EXPLAINED: ("differs, explained", "differ, each explained"),
        ClaimVerdict.DIFFERS: ("differs", "differ"),
        ClaimVerdict.MISSING: ("is missing", "are missing"),
    }
    parts = []
    for verdict, (one, several) in texts.items():
        if count := total.count(verdict):
            parts.append(f"{count:,} {agreeing(count, one, several)}")
    behind = f" behind {total.claims:,} claims" if total.claims != total.numbers else ""
    return f"{counted(total.numbers, 'number')}{behind}: {'; '.join(parts)}"
