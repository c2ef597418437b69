"""The steps of a session: designs, what each is called, and what it was expected to take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fuseloom_workbench.state.design import BuiltDesign, Design

LIMIT = 200
"""Steps back that are kept."""


@dataclass(frozen=True)
class DesignStep:
    """One design on the way.

    Attributes
    ----------
    name : str
        The preset's, or what was changed.
    problem : str
        Program, data and machine: only steps with the same one can be compared.
    cycles : float or None
        Estimated cycles; None if the step was restored and not built since.
    """

    design: Design = field(repr=False)
    name: str = ""
    problem: str = ""
    cycles: float | None = None

    @classmethod
    def of(cls, built: BuiltDesign, before: BuiltDesign | None) -> DesignStep:
        """The step to a design from the one before."""
        return cls(
            built.design, name_of(built, before), built.problem, float(built.estimate.cycles)
        )


def name_of(built: BuiltDesign, before: BuiltDesign | None) -> str:
    """Return the name of a design: its data, its preset, or its changes."""
    design = built.design
    if before is not None:
        old = before.design
        if (design.model, design.data, design.seed) != (old.model, old.data, old.seed):
            return f"{design.model}, {design.data}"
        if design.text != old.text:
            return "program"
        if design.uploads != old.uploads:
            return _of_files(design, old)
        if design.options != old.options:
            return "sizes"
        if design.machine != old.machine:
            return f"on {design.machine.name}"
    if built.known_name:
        return built.known_name
    if before is not None and design.cuts != before.design.cuts:
        return _of_cuts(built, before)
    if before is not None and design.orders != before.design.orders:
        return "order"
    if before is not None and design.settings != before.design.settings:
        return _of_settings(built, before)
    return "yours"


def _of_files(design: Design, old: Design) -> str:
    """The tensor whose values come from a file now, or from none any more."""
    now, then = {u.tensor: u.key for u in design.uploads}, {u.tensor: u.key for u in old.uploads}
    new = [name for name, key in now.items() if then.get(name) != key]
    gone = [name for name in then if name not in now]
    return f"{', '.join(new)} from file" if new else f"{', '.join(gone)} not from file"


def _of_settings(built: BuiltDesign, before: BuiltDesign) -> str:
    """The directive that is new, or gone."""
    now, then = built.design.settings, before.design.settings
    new, gone = [s for s in now if s not in then], [s for s in then if s not in now]
    if len(new) == 1:
        return str(new[0])
    return f"no {gone[0]}" if len(gone) == 1 and not new else "settings"


def _of_cuts(built: BuiltDesign, before: BuiltDesign) -> str:
    """The kernel that a cut is new or gone before."""
    names = {unit.start: unit.name for unit in (*before.units, *built.units)}
    new, gone = built.design.cuts - before.design.cuts, before.design.cuts - built.design.cuts
    if len(new) == 1 and not gone:
        return f"cut before {names.get(min(new), '?')}"
    if len(gone) == 1 and not new:
        return f"fuse {names.get(min(gone), '?')}"
    if len(new) == len(gone) == 1:
        return f"cut moved to {names.get(min(new), '?')}"
    return "cuts"


class Steps:
    """The earlier states of a session, and those that it undid.

    Examples
    --------
    >>> from fuseloom_workbench.state.session import Session
    >>> session = Session("gcn", "karate")
    >>> session.preset("full"), session.undo()
    (True, True)
    >>> [step.name for step in session.trail[0]], session.trail[1]
    (['partial', 'full'], 0)
    """

    def __init__(self) -> None:
        self.past: list[DesignStep] = []
        self.future: list[DesignStep] = []  # the last is the next

    def went(self, here: DesignStep) -> None:
        """Another design is shown now; what was undone is forgotten."""
        self.past = [*self.past, here][-LIMIT:]
        self.future = []

    def reached(self, by: int) -> DesignStep | None:
        """The step so many ahead, or behind if negative; None if there is none."""
        among = self.future if by > 0 else self.past
        return among[-abs(by)] if 0 < abs(by) <= len(among) else None

    def travel(self, here: DesignStep, by: int) -> None:
        """Go so many steps ahead, or back; there must be so many."""
        source, target = (self.future, self.past) if by > 0 else (self.past, self.future)
        for _ in range(abs(by)):
            target.append(here)
            here = source.pop()

    def restore(self, past: Sequence[Design], future: Sequence[Design]) -> None:
        """Steps that were saved."""
        self.past = [DesignStep(design) for design in past]
        self.future = [DesignStep(design) for design in future]
