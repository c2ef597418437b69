"""Claims: what was published, how far ours may be from it, and what ours is.

Every published number stands once, with its source, in ``published.toml``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib.resources import files
from math import isfinite
from typing import Annotated, Any, TypedDict

from fuseloom.errors import DataError
from fuseloom.results.declarations import Amount
from fuseloom.results.document import plain

FULL = "full"


class ClaimVerdict(Enum):
    """The verdict of a measured number on a claim."""

    HOLDS = "holds"
    EXPLAINED = "differs, explained"
    DIFFERS = "differs"
    MISSING = "missing"


@dataclass(frozen=True)
class Published:
    """A published claim about one number.

    Attributes
    ----------
    id : str
        The figure's, and a name within it: ``12.gcn.cora.unfused``.
    text : str
        What it is, with its unit.
    expected : float or None
        The published number; None where a recipe computes what is to be expected, or where there
        are bounds instead.
    within : float or None
        How far ours may be from it, as a share of it.
    least, most : float or None
        Bounds on ours, in place of a tolerance.
    source : str
        Where the number is from: a table, a figure or the text of the paper, or a constant in a
        script of its artefact.
    sizes : tuple of str
        Sizes at which it can be expected.
    modes : tuple of str
    why : str
        Where the published number cannot be right, or ours cannot be compared: the arithmetic.
    """

    id: str
    text: str
    source: str
    expected: float | None = None
    within: float | None = None
    least: float | None = None
    most: float | None = None
    sizes: tuple[str, ...] = (FULL,)
    modes: tuple[str, ...] = ("paper",)
    why: str = ""

    @property
    def figure(self) -> str:
        """The recipe it belongs to."""
        return self.id.partition(".")[0]

    @property
    def tolerance(self) -> str:
        """The permitted distance of a measured number from the claim, in words."""
        match self:
            case Published(within=float() as share):
                return "exactly" if share == 0 else f"±{100 * share:g} %"
            case Published(least=float() as least, most=float() as most):
                return f"{number(least)} to {number(most)}"
            case Published(least=float() as least):
                return f"≥ {number(least)}"
            case Published(most=float() as most):
                return f"≤ {number(most)}"
        return "none"

    def holds(self, got: float, expected: float | None) -> bool:
        """Return whether a measured number is near enough."""
        if not isfinite(got):
            return False
        if self.within is not None:
            return expected is not None and abs(got - expected) <= self.within * abs(expected)
        return (self.least is None or got >= self.least) and (self.most is None or got <= self.most)


@dataclass(frozen=True)
class Got:
    """A number of ours.

    Attributes
    ----------
    expected : float, optional
        What follows for it from other things that were computed, where nothing is published.
    """

    value: float
    expected: float | None = None


class ClaimData(TypedDict):
    """A :class:`Claim` as plain data."""

    figure: Annotated[str, "Id of the table or figure."]
    id: Annotated[str, "Id of the claim; it begins with that of its figure."]
    text: Annotated[str, "What the number is, with its unit."]
    source: Annotated[str, "Where the published number stands."]
    expected: Annotated[
        float | None,
        "The published number, or what follows for ours from others; null where there are bounds.",
    ]
    tolerance: Annotated[str, "How far ours may be from it: a share, or bounds."]
    got: Annotated[float | None, "Our number; null where what it needs did not come out."]
    ratio: Annotated[float | None, "Ours by the published one; null where there is no such number."]
    ok: Annotated[bool, "Whether ours is within the tolerance."]
    verdict: Annotated[ClaimVerdict, "The same, and whether a difference is explained."]
    seconds: Annotated[
        Amount, "Wall time of the runs and estimates that it needs, when they were done, s."
    ]
    bytes: Annotated[Amount, "Most memory that one of them took, bytes."]
    command: Annotated[str, "What computes it."]
    notes: Annotated[str, "Whether numbers are estimated or data are stand-ins; empty otherwise."]
    why: Annotated[
        str,
        "Why the published number cannot be right, or cannot be compared: the arithmetic; may "
        "be empty.",
    ]
    reason: Annotated[str, "Why there is no number; empty where there is one."]


@dataclass(frozen=True)
class Claim:
    """A claim with our number.

    Attributes
    ----------
    got : float or None
        None where what it needs did not come out; ``reason`` says why.
    seconds : float
        Wall time of the runs that it needs; what claims share counts for each.
    bytes : float
        Most memory that one of them took.
    command : str
        What computes it.
    notes : str
        Such as that data are stand-ins, or numbers estimated.
    """

    published: Published
    got: float | None
    expected: float | None
    verdict: ClaimVerdict
    seconds: float = 0.0
    bytes: float = 0.0
    command: str = ""
    notes: str = ""
    reason: str = ""

    @property
    def ok(self) -> bool:
        """True if the number is within its tolerance."""
        return self.verdict is ClaimVerdict.HOLDS

    @property
    def ratio(self) -> float | None:
        """Ours by the published one."""
        if self.got is None or not self.expected:
            return None
        return self.got / self.expected

    def to_dict(self) -> ClaimData:
        """Plain data: an entry of ``claims``."""
        published = self.published
        made: ClaimData = plain(
            {
                "figure": published.figure,
                "id": published.id,
                "text": published.text,
                "source": published.source,
                "expected": self.expected,
                "tolerance": published.tolerance,
                "got": self.got,
                "ratio": self.ratio,
                "ok": self.ok,
                "verdict": self.verdict,
                "seconds": self.seconds,
                "bytes": self.bytes,
                "command": self.command,
                "notes": self.notes,
                "why": published.why,
                "reason": self.reason,
            }
        )
        return made


def judged(published: Published, got: Got | None, **more: Any) -> Claim:
    """The claim with a number of ours; None where there is none."""
    if got is None:
        return Claim(published, None, published.expected, ClaimVerdict.MISSING, **more)
    expected = got.expected if published.expected is None else published.expected
    if published.holds(got.value, expected):
        verdict = ClaimVerdict.HOLDS
    else:
        verdict = ClaimVerdict.EXPLAINED if published.why else ClaimVerdict.DIFFERS
    return Claim(published, got.value, expected, verdict, **more)


_KEYS = {"text", "source", "expected", "within", "least", "most", "sizes", "modes", "why"}


@cache
def published() -> Mapping[str, Published]:
    """All claims by id, in the order of the file.

    Raises
    ------
    DataError
        If the file says something else than claims.
    """
    text = files("fuseloom.experiments").joinpath("published.toml").read_text(encoding="utf-8")
    return read_published(text)


def read_published(text: str) -> dict[str, Published]:
    """Claims from TOML: a table of tables by figure, each by its name within it.

    Raises
    ------
    DataError
        Unknown keys, or a claim without source or tolerance.
    """
    found: dict[str, Published] = {}
    for id_, made in _leaves(tomllib.loads(text), "", {}):
        wrong = sorted(set(made) - _KEYS)
        if wrong:
            raise DataError(f"claim {id_} has an unknown key {wrong[0]!r}")
        one = Published(id_, **{"text": "", "source": "", **_typed(made)})
        if not one.text or not one.source:
            raise DataError(f"claim {id_} has no text, or no source")
        if one.within is None and one.least is None and one.most is None:
            raise DataError(f"claim {id_} has no tolerance")
        found[id_] = one
    return found


def _typed(made: Mapping[str, Any]) -> dict[str, Any]:
    """Convert values from TOML to those of a claim: any number to a float, lists to tuples."""
    lists, texts = ("sizes", "modes"), ("text", "source", "why")
    return {
        key: tuple(value) if key in lists else value if key in texts else float(value)
        for key, value in made.items()
    }


def _leaves(
    table: Mapping[str, Any], prefix: str, shared: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Claims by id, each with what stands in the tables around it."""
    own = {**shared, **{k: v for k, v in table.items() if not isinstance(v, dict)}}
    inner = {k: v for k, v in table.items() if isinstance(v, dict)}
    if prefix and not inner:
        yield prefix, own
    for name, claims in inner.items():
        yield from _leaves(claims, f"{prefix}.{name}" if prefix else name, own)


def number(value: float | None) -> str:
    """A number for people: whole ones with separators, others with four digits."""
    if value is None:
        return "–"
    if not isfinite(value):
        return str(value)
    if abs(value) >= 1000 or value == round(value):
        return f"{value:,.0f}"
    return f"{value:.4g}"
