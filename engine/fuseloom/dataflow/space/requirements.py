"""Requirements on schedules: what a region must have, must not have, or begins with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.space.candidates import RegionCandidate
from fuseloom.errors import ScheduleError
from fuseloom.program.formats import suggestion
from fuseloom.program.primes import bare
from fuseloom.program.types import Program
from fuseloom.results.method import Deferred, Part, Refusal

RULE = "requirement"


@dataclass(frozen=True)
class Requirement:
    """A rule that every region of a schedule has to keep.

    Attributes
    ----------
    kind : str
        One of :data:`KINDS`.
    names : tuple of str
        The tensors, or for ``order`` the indices, that it is about.
    """

    kind: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kind} {' '.join(self.names)}"

    def breach(self, assigned: frozenset[str], program: Program) -> str:
        """The reason why a region that assigns these tensors breaks the rule; or nothing."""
        return _BREACHES[self.kind](self.names, assigned, program)

    def order_breach(self, order: Sequence[str]) -> str:
        """The reason why an order breaks the rule, others coming first; or nothing."""
        if self.kind != "order":
            return ""
        plain = [bare(index) for index in order]
        first = [index for index in self.names if index in plain]
        if plain[: len(first)] == first:
            return ""
        return f"order {','.join(order)} does not begin with {','.join(first)}"


def _together(names: Sequence[str], assigned: frozenset[str], program: Program) -> str:
    inside = [name for name in names if name in assigned]
    outside = [name for name in names if name not in assigned]
    return f"it has {inside[0]} but not {outside[0]}" if inside and outside else ""


def _apart(names: Sequence[str], assigned: frozenset[str], program: Program) -> str:
    inside = [name for name in names if name in assigned]
    return f"it has both {inside[0]} and {inside[1]}" if len(inside) > 1 else ""


def _kept(names: Sequence[str], assigned: frozenset[str], program: Program) -> str:
    for name in names:
        outside = sorted(program.readers.get(name, frozenset()) - assigned)
        if name in assigned and outside:
            return f"{name} would be written to memory, for {outside[0]}"
    return ""


_BREACHES: Mapping[str, Callable[[Sequence[str], frozenset[str], Program], str]] = MappingProxyType(
    {
        "fuse": _together,
        "split": _apart,
        "keep": _kept,
        "order": lambda names, assigned, program: "",
    }
)
KINDS: Mapping[str, str] = MappingProxyType(
    {
        "fuse": "tensors that one region assigns: fuse H Y",
        "split": "tensors no two of which one region assigns: split H Y",
        "keep": "tensors that stay on the chip, read only where they are assigned: keep H",
        "order": "indices with which the order of each region begins, of those that it has: "
        "order i k",
    }
)
"""The kinds of requirements, with an example each."""


def parse_requirement(text: str, program: Program) -> Requirement:
    """Read a requirement.

    Raises
    ------
    ScheduleError
        If it is of no known kind, or names what the program does not have.

    Examples
    --------
    >>> from fuseloom.models import load
    >>> program = load("gcn", "karate")[0].program
    >>> print(parse_requirement("fuse T1, H", program))
    fuse T1 H
    """
    kind, *names = text.replace(",", " ").split() or [""]
    owner = f"requirement {text!r}"
    if kind not in KINDS:
        known = "; ".join(KINDS.values())
        raise ScheduleError(f"{owner}: {kind!r} is no kind of requirement", hint=known)
    if len(names) < (2 if kind in ("fuse", "split") else 1) or len(set(names)) < len(names):
        raise ScheduleError(f"{owner}: too few names, or one twice", hint=KINDS[kind])
    if kind == "order":
        known_names = sorted({bare(x) for s in program.live for x in s.indices})
        missing = "no statement has the index {}"
    else:
        known_names = [s.out.tensor for s in program.live]
        missing = "nothing assigns {}"
    for name in names:
        if name not in known_names:
            raise ScheduleError(
                f"{owner}: {missing.format(name)}", hint=suggestion(name, known_names)
            )
    if kind == "keep" and (outputs := [name for name in names if name in program.outputs]):
        raise ScheduleError(
            f"{owner}: {outputs[0]} is a result of the program", hint="results leave the chip"
        )
    return Requirement(kind, tuple(names))


class Requirements:
    """All rules that the regions of a program's schedules have to keep.

    Parameters
    ----------
    texts : sequence of str
        As :func:`parse_requirement` reads them.
    """

    def __init__(self, texts: Sequence[str], program: Program) -> None:
        self.program = program
        self.each = tuple(parse_requirement(text, program) for text in texts)

    def __bool__(self) -> bool:
        return bool(self.each)

    def refusal(self, assigned: frozenset[str], region: str) -> Refusal | None:
        """The refusal of a region that assigns some tensors; None if it keeps all rules."""
        for one in self.each:
            if reason := one.breach(assigned, self.program):
                return Refusal(RULE, f"{region}: '{one}': {reason}")
        return None

    def ordered(self, found: Part | Refusal | Deferred) -> Part | Refusal | Deferred:
        """The same candidate, or its refusal if its order is not as required."""
        match found:
            case Deferred(least=least, open=candidates):

                def ordered() -> Iterator[Part | Refusal]:
                    for candidate in candidates():
                        part = self.ordered(candidate)
                        assert not isinstance(part, Deferred)
                        yield part

                return Deferred(least, ordered) if self else found
            case Part(choice=RegionCandidate(order=order)):
                for one in self.each:
                    if reason := one.order_breach(order):
                        return Refusal(RULE, f"'{one}': {reason}")
        return found

    def keeps(self, compiled: Compilation) -> bool:
        """Return whether a compiled schedule keeps all rules."""
        return not any(
            one.order_breach(region.own_order)
            or one.breach(frozenset(s.out.tensor for s in region.region.statements), self.program)
            for one in self.each
            for region in compiled.regions
        )
