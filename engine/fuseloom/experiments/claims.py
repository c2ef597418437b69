"""Claims: what was published, how far ours may be from it, and what ours is.

Every claim stands in ``published.toml``, with its kind, its place in the paper and its tolerance.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
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


class ClaimKind(Enum):
    """The weight of a claim, fixed before its number is computed.

    ``PREDICTED``: a published number, and nothing was fitted.  ``CALIBRATED``: a published number,
    and something that ours rests on was chosen by published numbers.  ``PROPERTY``: a bound or a
    direction that the paper states.  ``OURS``: no published number.
    """

    PREDICTED = "predicted"
    CALIBRATED = "calibrated"
    PROPERTY = "bound or property"
    OURS = "ours"


@dataclass(frozen=True)
class Published:
    """A claim about one number.

    Attributes
    ----------
    id : str
        The figure's, and a name within it: ``12.gcn.cora.unfused``.
    text : str
        What it is, with its unit.
    kind : ClaimKind
    expected : float or None
        The published number, or that of our own model; None where there are bounds instead.
    within : float or None
        How far ours may be from it, as a share of it.
    to : float or None
        The same, in the number's own unit: half of the last digit that the paper prints.
    least, most : float or None
        Bounds on ours, in place of a tolerance.
    section, place : str
        Section of the paper, and the table or figure; no place for its text.
    prints : str
        The number or the statement as the paper prints it; empty where it prints none.
    script : str
        The figure in whose script of the artefact the number is a constant; empty for none.
    fitted : str
        Of a calibrated claim: what was chosen by published numbers, and by which.
    basis : str
        Of a claim of our own: what it is compared with.
    constant : str
        Claims with the same name rest on one published number, which counts once.
    family : str
        The kind of quantity, which sets the widest tolerance that needs no reason.
    reason : str
        Why the tolerance is wider than that of its family.
    sizes : tuple of str
        Sizes at which it can be expected.
    modes : tuple of str
    why : str
        Where the published number cannot be right, or ours cannot be compared: the arithmetic.
    """

    id: str
    text: str
    kind: ClaimKind
    expected: float | None = None
    within: float | None = None
    to: float | None = None
    least: float | None = None
    most: float | None = None
    section: str = ""
    place: str = ""
    prints: str = ""
    script: str = ""
    fitted: str = ""
    basis: str = ""
    constant: str = ""
    family: str = ""
    reason: str = ""
    sizes: tuple[str, ...] = (FULL,)
    modes: tuple[str, ...] = ("paper",)
    why: str = ""

    @property
    def figure(self) -> str:
        """The recipe it belongs to."""
        return self.id.partition(".")[0]

    @property
    def number_id(self) -> str:
        """The published number behind it: claims that have the same one count once."""
        return self.constant or self.id

    @property
    def where(self) -> str:
        """The place, such as ``FuseFlow §8.3, Fig. 12``; empty for a claim of our own."""
        kind = ", appendix " if self.section[:1].isalpha() else " \N{SECTION SIGN}"
        section = f"FuseFlow{kind}{self.section}" if self.section else ""
        return ", ".join(filter(None, (section, self.place)))

    @property
    def source(self) -> str:
        """The origin of the number: a place in the paper, a script of its artefact, or us."""
        if self.kind is ClaimKind.OURS:
            return self.basis
        script = f"constant in the artefact's script for {self.script}" if self.script else ""
        return "; ".join(x for x in (self.where, script) if x)

    @property
    def tolerance(self) -> str:
        """The permitted distance of a measured number from the claim, in words."""
        match self:
            case Published(within=float() as share):
                return "exactly" if share == 0 else f"±{100 * share:g} %"
            case Published(to=float() as distance):
                return f"±{number(distance)}"
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
        if self.to is not None:
            return expected is not None and abs(got - expected) <= self.to * (1 + 1e-9)
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
    kind: Annotated[ClaimKind, "Its weight, fixed before the number was computed."]
    source: Annotated[str, "Where the published number stands, or what ours is compared with."]
    prints: Annotated[str, "What the paper prints, as it stands there; empty for nothing."]
    fitted: Annotated[
        str, "What was chosen by published numbers; empty unless the kind is calibrated."
    ]
    constant: Annotated[str, "The published number behind it; claims that share it count once."]
    argued: Annotated[str, "Why the tolerance is wider than that of its family; may be empty."]
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
                "kind": published.kind,
                "source": published.source,
                "prints": published.prints,
                "fitted": published.fitted,
                "constant": published.number_id,
                "argued": published.reason,
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


_LISTS = ("sizes", "modes")
_NUMBERS = ("expected", "within", "to", "least", "most")
_KEYS = {field.name for field in fields(Published)} - {"id"}


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

    The table ``families`` has the widest tolerance of each family that needs no reason.

    Raises
    ------
    DataError
        A claim that leaves out what its kind demands, or that has a wider tolerance than its
        family and no reason for it.
    """
    table = tomllib.loads(text)
    families = {name: float(share) for name, share in table.pop("families", {}).items()}
    found: dict[str, Published] = {}
    for id_, made in _leaves(table, "", {}):
        wrong = sorted(set(made) - _KEYS)
        if wrong:
            raise DataError(f"claim {id_} has an unknown key {wrong[0]!r}")
        found[id_] = _typed(id_, made)
        for fault in _faults(found[id_], families):
            raise DataError(f"claim {id_} {fault}")
    _same_kinds(found.values())
    return found


def _typed(id_: str, made: Mapping[str, Any]) -> Published:
    """A claim of values from TOML: any number becomes a float, lists become tuples."""
    known = {kind.value: kind for kind in ClaimKind}
    if made.get("kind") not in known:
        raise DataError(f"claim {id_} is of no kind: {made.get('kind')!r}")
    values: dict[str, Any] = {"text": "", **made, "kind": known[made["kind"]]}
    values |= {key: float(made[key]) for key in _NUMBERS if key in made}
    values |= {key: tuple(made[key]) for key in _LISTS if key in made}
    return Published(id_, **values)


def _faults(one: Published, families: Mapping[str, float]) -> Iterator[str]:
    """Yield the faults of a claim: fields that its kind demands or forbids, and its tolerance."""
    ours = one.kind is ClaimKind.OURS
    bounds = one.least is not None or one.most is not None
    if not one.text:
        yield "has no text"
    if not (bounds or one.within is not None or one.to is not None):
        yield "has no tolerance"
    if ours and not one.basis:
        yield "does not say what it is compared with"
    if ours and (one.section or one.prints or one.script):
        yield "is ours, and names a place in the paper"
    if not ours and not one.section:
        yield "names no section of the paper"
    if one.kind is ClaimKind.PROPERTY and not (one.prints and bounds):
        yield "is a property without a statement of the paper, or without a bound"
    if one.kind in (ClaimKind.PREDICTED, ClaimKind.CALIBRATED):
        if one.expected is None or not (one.prints or one.script):
            yield "has no published number"
        if bounds:
            yield "has a published number, and bounds"
    if (one.kind is ClaimKind.CALIBRATED) is not bool(one.fitted):
        yield "must say what was fitted if it is calibrated, and only then"
    yield from _too_wide(one, families)


def _too_wide(one: Published, families: Mapping[str, float]) -> Iterator[str]:
    """The fault of a tolerance that is wider than its family's, or than a printed digit."""
    if one.within is not None and one.family not in families:
        yield f"is of no family: {one.family!r}"
    elif one.within is not None and one.within > families[one.family] and not one.reason:
        widest = 100 * families[one.family]
        yield f"has a tolerance beyond the ±{widest:g} % of its family, without a reason"
    if one.to is not None and not one.reason and one.to > last_digit(one.prints) / 2 * (1 + 1e-9):
        yield "has a tolerance beyond half of the last printed digit, without a reason"


_PRINTED = re.compile(r"(\d+)(?:\.(\d+))?(?:·10([⁰¹²³⁴⁵⁶⁷⁸⁹]+))?")


def last_digit(prints: str) -> float:
    """The unit of the last digit of the first number in a text: 0.1 of ``99.7 %``."""
    found = _PRINTED.search(prints)
    if found is None:
        return 0.0
    power = int((found[3] or "⁰").translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")))
    return float(10.0 ** (power - len(found[2] or "")))


def _same_kinds(claims: Iterable[Published]) -> None:
    kinds: dict[str, ClaimKind] = {}
    for one in claims:
        if kinds.setdefault(one.number_id, one.kind) is not one.kind:
            raise DataError(f"claim {one.id} has a published number of another kind")


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
