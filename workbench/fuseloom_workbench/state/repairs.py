"""Ways out of a refusal, each a design that builds, with its price (``docs/spec/fusion.md`` §2.3).

An order is refused where a tensor is stored in another one: then the tensor can be stored a second
time, or an intermediate produced in that order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fuseloom.dataflow.fusion.directives import Permute, Span
from fuseloom.dataflow.fusion.pog import EdgeOrigin
from fuseloom.dataflow.fusion.repair import traffic
from fuseloom.errors import FuseloomError
from fuseloom.program.primes import bare
from fuseloom_workbench.base.quantities import change, count, short
from fuseloom_workbench.state.design import BuiltDesign, Design, build
from fuseloom_workbench.state.edits import with_order


@dataclass(frozen=True)
class WayOut:
    """A change that grants what was refused.

    Attributes
    ----------
    text : str
        What it does, with its price; it is asked for by this text.
    """

    text: str
    design: Design


def of_order(built: BuiltDesign, region: int, wanted: Sequence[str]) -> tuple[WayOut, ...]:
    """Ways to have a region in an order that it does not allow."""
    compiled = built.regions[region]
    place = {index: k for k, index in enumerate(wanted)}
    if set(place) != set(compiled.region.indices):
        return ()
    edges = [e for e in compiled.pog.edges if place[e.outer] > place[e.inner]]
    owners = dict.fromkeys(e.owner for e in edges if e.origin is EdgeOrigin.MODE)
    if not owners or any(e.origin is not EdgeOrigin.MODE for e in edges):
        return ()
    names = [s.out.tensor for s in compiled.region.statements]
    span = Span(names[0], names[-1])
    stored: dict[str, list[str]] = {name: [] for name in owners}
    for edge in compiled.pog.edges:
        if edge.owner in stored:
            stored[edge.owner] += [edge.outer, edge.inner]
    again = {
        name: sorted(dict.fromkeys(told), key=place.__getitem__) for name, told in stored.items()
    }
    settings = tuple(Permute(name, tuple(order), span) for name, order in again.items())
    kept = tuple(s for s in built.design.settings if not _same(s, settings))
    design = replace(built.design, settings=(*kept, *settings))
    design = with_order(design, compiled.name, tuple(wanted))
    made = _built(design, built)
    if made is None:
        return ()
    program = built.program
    told = []
    for name, order in again.items():
        tensor = program.tensor(bare(name))
        often = "once" if tensor.name in program.inputs else "each run"
        price = short(traffic(tensor, _elements(built, tensor.name)), "B")
        told.append(f"store {name} also as ({', '.join(order)}): {price} {often}")
    more = made.estimate.cycles - built.estimate.cycles
    effect = f", est. {change(more, 'cycles', count)}"
    text = f"{'; '.join(told)}{effect}"
    return (WayOut(text[0].upper() + text[1:], design),)


def _same(setting: object, others: Sequence[Permute]) -> bool:
    return isinstance(setting, Permute) and any(
        (setting.view, setting.region) == (other.view, other.region) for other in others
    )


def _elements(built: BuiltDesign, tensor: str) -> float | None:
    """Elements of an input; None for what is computed, of which at most all are written."""
    stored = built.data.get(tensor)
    return None if stored is None else float(stored.nnz)


def _built(design: Design, before: BuiltDesign) -> BuiltDesign | None:
    try:
        return build(design, before)
    except FuseloomError:
        return None
