"""The alternatives outside the searched space that may be better than the best schedule in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.cost.estimate import Estimate, estimate
from fuseloom.dataflow.fusion.directives import Global, Nonzero, Store
from fuseloom.dataflow.method import Dataflow
from fuseloom.dataflow.orders import compile
from fuseloom.dataflow.stores import with_dense_levels
from fuseloom.errors import FuseloomError
from fuseloom.results.declarations import Amount, Positive, Record
from fuseloom.results.method import Budget


@dataclass(frozen=True)
class PresetCost(Record):
    """Estimated cost of a preset under its best orders and look-ups.

    Attributes
    ----------
    name : str
    regions : int or None
        Null, as the costs are, where it cannot be built.
    cycles : float or None
        Estimated clock cycles.
    bytes : float or None
        Estimated bytes moved to and from memory.
    flops : float or None
        Estimated operations.
    reason : str
        Why it cannot be built; else empty.
    """

    name: str
    regions: Positive | None
    cycles: Amount | None
    bytes: Amount | None
    flops: Amount | None
    reason: str = ""


@dataclass(frozen=True)
class Rival:
    """An alternative outside the space that may be better.

    Attributes
    ----------
    made, built : Compilation
        As its schedule says it, and with the channels that all have.
    """

    name: str
    made: Compilation
    built: Compilation
    expected: Estimate

    @classmethod
    def of(cls, method: Dataflow, name: str, made: Compilation) -> Rival:
        built = made.sized() if method.sized else made
        return cls(name, made, built, estimate(built, method.given, machine=method.machine))


def stored_dense(method: Dataflow, compiled: Compilation) -> Iterator[Rival]:
    """The same schedule, with complete levels between regions stored dense where that helps.

    Not where statements are iterated globally: a schedule has nothing else to say of their regions.
    """
    if method.base.of(Global):
        return
    made = with_dense_levels(compiled, method.context, [r.name for r in compiled.regions])
    if made is not compiled:
        yield Rival.of(method, f"{', '.join(made.dense_levels)} stored dense", made)


def presets_of(
    method: Dataflow, presets: Mapping[str, str], budget: Budget
) -> Iterator[tuple[PresetCost, Rival | None]]:
    """The presets, as every other command takes them: what each takes, and those that may be best.

    These fit the budget and keep the requirements.  There are none where settings hold for every
    schedule, which presets do not have.
    """
    settings = [
        s
        for s in method.base.settings
        if not isinstance(s, Nonzero) and (not isinstance(s, Store) or s.tensor is None)
    ]
    for name, text in presets.items() if not settings else ():
        try:
            made = compile(method.source, text, method.given, machine=method.machine)
            rival = Rival.of(method, f"the preset {name}", made)
        except FuseloomError as reason:
            yield PresetCost(name, None, None, None, None, str(reason)), None
            continue
        cost = rival.expected
        known = PresetCost(name, len(made.regions), cost.cycles, cost.bytes, cost.flops)
        yield known, rival if _fits(rival, budget) and method.requirements.keeps(made) else None


def _fits(rival: Rival, budget: Budget) -> bool:
    options = [region.region.options for region in rival.made.regions]
    lanes = max((n for o in options for _, n in o.lanes), default=1)
    held = [region.on_chip.held for region in rival.expected.regions]
    rooms = [region.on_chip.channels or 0.0 for region in rival.expected.regions]
    on_chip = max((inf if h is None else h + r for h, r in zip(held, rooms, strict=True)),
                  default=0.0)  # fmt: skip
    return lanes <= budget.lanes and (budget.on_chip is None or on_chip <= budget.on_chip)
