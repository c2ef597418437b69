"""The analysis of a design that takes a moment: recomputation, and helpful changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fuseloom.dataflow.cost import EstimateContext
from fuseloom.dataflow.why.attribution import AttributedCycles, attribution
from fuseloom.dataflow.why.recomputation import Recomputation, recomputation
from fuseloom.dataflow.why.suggestions import Suggestion, SuggestionRequest, suggestions
from fuseloom.errors import FuseloomError
from fuseloom_workbench.state.design import BuiltDesign, build
from fuseloom_workbench.state.records import KeptRun
from fuseloom_workbench.state.session import Session

SECONDS = 1.5
"""The limit on the search for changes; answers do not wait for it."""
MUCH = 1.1
"""Times over that something is computed before it is told, and a cut behind it tried first."""


@dataclass(frozen=True)
class Findings:
    """The findings about a design.

    Attributes
    ----------
    pinned : AttributedCycles or None
        Where the cycles of run A went, if one is pinned that can be compared.
    whole : bool
        Whether changes were looked for; what is computed again is known before.
    """

    repeated: tuple[Recomputation, ...]
    suggestions: tuple[Suggestion, ...]
    pinned: AttributedCycles | None = None
    whole: bool = True

    @property
    def again(self) -> list[Recomputation]:
        """Of what may be computed more than once, what is."""
        return [one for one in self.repeated if one.factor >= MUCH]


def key(session: Session) -> str:
    """All that it depends on."""
    record, pinned = session.record, pinned_of(session)
    mine = None if record is None else (record.run.cycles, record.run.explained)
    theirs = None if pinned is None else (pinned.configuration, pinned.run.explained)
    return repr((session.configuration, mine, theirs))


def find(session: Session) -> Iterator[Findings]:
    """Look for it, of what a session shows now: what is computed again first, then all."""
    return _found(session.built, session.record, pinned_of(session))


def _found(
    built: BuiltDesign, record: KeptRun | None, pinned: KeptRun | None
) -> Iterator[Findings]:
    context = EstimateContext.of(
        built.compilation.program, built.data, machine=built.design.machine
    )
    repeated = recomputation(built.compilation, context, built.estimate)
    tree = None if pinned is None else _attributed(pinned, built)
    first = Findings(repeated, (), tree, whole=False)
    yield first
    asked = asked_of(built, record, tuple(one.tensor for one in first.again))
    yield replace(first, suggestions=suggestions(asked, seconds=SECONDS), whole=True)


def _attributed(pinned: KeptRun, built: BuiltDesign) -> AttributedCycles | None:
    """Attribute the cycles of run A; None if this engine makes other regions of its design."""
    try:
        return attribution(pinned.run, build(pinned.design, built).compilation)
    except (FuseloomError, ValueError):
        return None


def asked_of(
    built: BuiltDesign, record: KeptRun | None, heavy: tuple[str, ...] = ()
) -> SuggestionRequest:
    """A design and its run, with the kernels as they are drawn."""
    kernels = {tensor: unit.name for unit in built.units for tensor in unit.statements}
    run = None if record is None else record.run
    return SuggestionRequest(
        built.compilation, built.data, built.design.machine, built.estimate, run, kernels, heavy
    )


def pinned_of(session: Session) -> KeptRun | None:
    """Run A, if it is another one, of the same program and data, and not known to be wrong."""
    pinned, record = session.reference, session.record
    if (
        pinned is None
        or not pinned.run.ok
        or (record is not None and pinned.configuration == record.configuration)
    ):
        return None
    return pinned if pinned.design.subject == session.design.subject else None
