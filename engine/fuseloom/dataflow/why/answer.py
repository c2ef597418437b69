"""Why a schedule takes its cycles, in one or two sentences: cause, number, comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from fuseloom.dataflow.cost.why import title
from fuseloom.dataflow.sim.explain.critical import PathCause
from fuseloom.dataflow.why.attribution import (
    AttributedCycles,
    AttributionLevel,
    CauseCycles,
    attribution,
)
from fuseloom.dataflow.why.recomputation import Recomputation
from fuseloom.dataflow.why.suggestions import SuggestionRequest
from fuseloom.results.declarations import Record
from fuseloom.wording import counted

MUCH = 1.1
"""Times over that something is computed before it is spoken of."""
LARGE = 0.3
"""Share of the cycles that makes a wait, or a node, the answer."""
_WORK = (PathCause.WORK.value, PathCause.LATENCY.value)


class Cause(Enum):
    """The subject of an answer."""

    WRONG = "wrong"
    RECOMPUTED = "recomputed"
    MEMORY = "memory"
    ROOM = "room"
    NODE = "node"
    NOTHING = "nothing"


@dataclass(frozen=True)
class Pinned:
    """A run that another one is compared with: what people call it, and what it took."""

    name: str
    cycles: int


@dataclass(frozen=True)
class Answer(Record):
    """Why it takes so long.

    Attributes
    ----------
    head : str
        The cause, as the first clause of a sentence.
    rest : str
        Numbers and the comparison.
    """

    cause: Cause
    head: str
    rest: str

    def __str__(self) -> str:
        return f"{self.head} {self.rest}".strip()


def answer(
    asked: SuggestionRequest,
    repeated: Sequence[Recomputation] = (),
    *,
    pinned: Pinned | None = None,
    unfused_bytes: float | None = None,
) -> Answer:
    """Why a schedule takes its cycles.

    Parameters
    ----------
    asked : SuggestionRequest
        The program with its estimate and, if there is one, its run.
    repeated : sequence of Recomputation
        What :func:`~fuseloom.dataflow.why.recomputation.recomputation` found of it.
    pinned : Pinned, optional
        A run to compare with.
    unfused_bytes : float, optional
        Memory traffic of the program with every statement a region of its own.
    """
    wrong = _wrong(asked)
    if wrong is not None:
        return wrong
    tree = None
    if asked.record is not None and asked.record.explained:
        tree = attribution(asked.record, asked.compilation)
    leaves = [] if tree is None else list(tree.leaves())
    versus = _versus(asked, pinned)
    for found in (
        _recomputed(asked, repeated, leaves, versus),
        _waits(asked, leaves, versus),
        _node(asked, tree, leaves, versus),
    ):
        if found is not None:
            return _with_traffic(found, asked, unfused_bytes)
    nothing = Answer(Cause.NOTHING, "No single cause stands out:", _largest(asked, leaves, versus))
    return _with_traffic(nothing, asked, unfused_bytes)


def _wrong(asked: SuggestionRequest) -> Answer | None:
    """Return the answer for a run with a wrong result, which does not say why it is slow."""
    check = None if asked.record is None else asked.record.check
    if check is None or check.ok:
        return None
    told = check.wrong or f"the result differs from {check.against.value}"
    quirks = asked.machine.quirks.active
    if quirks:
        why = (
            f"Machine {asked.machine.name} copies {counted(len(quirks), 'fault')} of another "
            "simulator, which "
            "change values."
        )
    else:
        why = "This is a fault of the tool: please report it, with the session as a file."
    return Answer(Cause.WRONG, "Do not trust this number:", f"{told}. {why}")


def _versus(asked: SuggestionRequest, pinned: Pinned | None) -> str:
    """The comparison with the pinned run, or nothing."""
    if pinned is None or asked.record is None:
        return ""
    more = asked.record.cycles - pinned.cycles
    if not more:
        return f"as many cycles as {pinned.name} (A)"
    return f"{counted(abs(more), 'cycle')} {'more' if more > 0 else 'fewer'} than {pinned.name} (A)"


def _recomputed(
    asked: SuggestionRequest,
    repeated: Sequence[Recomputation],
    leaves: Sequence[CauseCycles],
    versus: str,
) -> Answer | None:
    groups: dict[tuple[str, str], list[Recomputation]] = {}
    for one in repeated:
        if one.factor >= MUCH:
            groups.setdefault((one.region, one.once_per), []).append(one)
    found = max(groups.values(), key=lambda g: sum(x.made - x.needed for x in g), default=None)
    if found is None or not _matters(asked, found, leaves):
        return None
    names = list(dict.fromkeys(asked.kernels.get(x.tensor, x.tensor) for x in found))
    who = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
    verb = "is" if len(names) == 1 else "are"
    often = f"once per {found[0].once_per}" if found[0].once_per else f"{found[0].instances} times"
    head = f"{who} {verb} computed {often} instead of once:"
    last = next((x for x in reversed(found) if x.rows is not None), found[-1])
    about = "" if last.exact or last.measured else "about "
    if last.rows is not None and last.rows_needed is not None:
        told = (
            f"{about}{counted(last.rows, 'row')} of {last.tensor} instead of "
            f"{last.rows_needed:,.0f}"
        )
    else:
        told = (
            f"{about}{counted(last.made, 'value')} of {last.tensor} instead of {last.needed:,.0f}"
        )
    most = max(found, key=lambda x: x.made)
    rest = f"{told}{f', {versus}' if versus else ''}."
    rest += (
        f" {asked.kernels.get(most.tensor, most.tensor)} computes {counted(most.made, 'value')}, "
        f"not {most.needed:,.0f} ({most.factor:.1f}×)"
    )
    heavy = _heaviest(leaves)
    if heavy is not None and heavy[0].name(AttributionLevel.STATEMENT) in {x.tensor for x in found}:
        rest += f", and {heavy[0].name(AttributionLevel.NODE)} alone works for {heavy[1]:,} of "
        rest += f"the {counted(asked.now, 'cycle')}"
    return Answer(Cause.RECOMPUTED, head, rest + ".")


def _matters(
    asked: SuggestionRequest, found: Sequence[Recomputation], leaves: Sequence[CauseCycles]
) -> bool:
    """Return whether recomputation contributes to the cycles."""
    tensors = {x.tensor for x in found}
    if leaves:
        mine = sum(x.cycles for x in leaves if x.names.get(AttributionLevel.STATEMENT) in tensors)
        return mine >= 0.1 * asked.now
    region = next(e for e in asked.estimate.regions if e.name == found[0].region)
    return sum(x.made - x.needed for x in found) >= 0.1 * region.flops


def _waits(asked: SuggestionRequest, leaves: Sequence[CauseCycles], versus: str) -> Answer | None:
    for why, cause, what in (
        (PathCause.MEMORY, Cause.MEMORY, "the memory"),
        (PathCause.ROOM, Cause.ROOM, "room in full channels"),
    ):
        cycles = sum(x.cycles for x in leaves if x.names.get(AttributionLevel.CAUSE) == why.value)
        heavy = _heaviest(leaves)
        if cycles < LARGE * asked.now or (heavy is not None and heavy[1] > cycles):
            continue
        head = f"The run waits for {what}"
        share = f"for {cycles:,} of its {counted(asked.now, 'cycle')} ({cycles / asked.now:.0%})"
        first = _by_node(x for x in leaves if x.names.get(AttributionLevel.CAUSE) == why.value)[0]
        where = (
            f", most of it at {first[0].name(AttributionLevel.NODE)} ({counted(first[1], 'cycle')})"
        )
        end = f"; {versus}" if versus else ""
        return Answer(cause, head, f"{share}{where}{end}.".replace("%)", " %)"))
    return None


def _node(
    asked: SuggestionRequest,
    tree: AttributedCycles | None,
    leaves: Sequence[CauseCycles],
    versus: str,
) -> Answer | None:
    if tree is None:
        return _expected_node(asked)
    heavy = _heaviest(leaves)
    if heavy is None or heavy[1] < LARGE * asked.now:
        return None
    leaf, cycles = heavy
    statement = leaf.name(AttributionLevel.STATEMENT)
    kernel = asked.kernels.get(statement, statement)
    head = f"{leaf.name(AttributionLevel.NODE)} of {kernel} sets the pace:"
    rest = f"it works for {cycles:,} of the {counted(asked.now, 'cycle')}"
    return Answer(Cause.NODE, head, f"{rest}{f', {versus}' if versus else ''}.")


def _expected_node(asked: SuggestionRequest) -> Answer | None:
    """Without an explained run, by the estimate."""
    if not asked.estimate.regions:
        return None
    region = max(asked.estimate.regions, key=lambda r: r.cycles)
    node = region.bottleneck
    if node.cycles < LARGE * asked.estimate.cycles:
        return None
    paces = region.graph.nodes[node.node]
    head = f"{paces.label or title(paces)} of region {region.name} is expected to set the pace:"
    told = f"est. {node.cycles:,.0f} of {counted(asked.estimate.cycles, 'cycle')}."
    return Answer(Cause.NODE, head, told)


def _largest(asked: SuggestionRequest, leaves: Sequence[CauseCycles], versus: str) -> str:
    """Describe the largest cause although it is not large."""
    heavy = _heaviest(leaves)
    if heavy is None:
        return "no node is expected to do much more than the others."
    share = f"{heavy[1] / asked.now:.0%}".replace("%", " %") if asked.now else "0 %"
    node = heavy[0].name(AttributionLevel.NODE)
    told = f"the busiest node of the path, {node}, works for {share} of it"
    return f"{told}{f'; {versus}' if versus else ''}."


def _with_traffic(found: Answer, asked: SuggestionRequest, unfused: float | None) -> Answer:
    """With what fusion saves of memory traffic, where something is fused."""
    moved = asked.estimate.bytes if asked.record is None else asked.record.bytes
    if unfused is None or found.cause is Cause.RECOMPUTED or moved >= unfused * 0.95:
        return found
    kind = "est. " if asked.record is None else ""
    saved = (
        f"Fusion saves {kind}{unfused - moved:,.0f} of {counted(unfused, 'byte')} of memory "
        "traffic."
    )
    return Answer(found.cause, found.head, f"{found.rest} {saved}")


def _heaviest(leaves: Sequence[CauseCycles]) -> tuple[CauseCycles, int] | None:
    """The node that works most on the path, and for how many cycles."""
    return next(
        iter(_by_node(x for x in leaves if x.names.get(AttributionLevel.CAUSE) in _WORK)), None
    )


def _by_node(leaves: Iterator[CauseCycles]) -> list[tuple[CauseCycles, int]]:
    cycles: dict[tuple[str, int | None], int] = {}
    first: dict[tuple[str, int | None], CauseCycles] = {}
    for leaf in leaves:
        if AttributionLevel.NODE not in leaf.names:
            continue
        key = (leaf.name(AttributionLevel.REGION), leaf.node)
        cycles[key] = cycles.get(key, 0) + leaf.cycles
        first.setdefault(key, leaf)
    return sorted(((first[k], n) for k, n in cycles.items()), key=lambda x: -x[1])
