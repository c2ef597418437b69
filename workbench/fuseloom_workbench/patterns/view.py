"""The drawings of the page of access patterns, as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.access.constructs import CONSTRUCTS, TermPart
from fuseloom.access.mapped_layers import MappedLayers
from fuseloom.access.mapping import Mapped
from fuseloom.access.meaning import shapes_of
from fuseloom.access.memory import BufferedMemory, placed_calls, schedule_of
from fuseloom.access.rules.rule import Rule
from fuseloom.access.saturation.classes import ENode, EquivalenceClasses
from fuseloom.access.saturation.explain import Step
from fuseloom.access.shapes import AccessShape, Dims
from fuseloom.access.sweep import ArrayDesign
from fuseloom.access.terms import TENSOR, Path, Term, replaced, subterms, tensors
from fuseloom.access.text import attribute_text, lines_of
from fuseloom.errors import shortened
from fuseloom_workbench.patterns.positions import Positions, SourceTensor

MOST_LINES = 600
"""Of a term that is shown."""
MOST_STEPS = 500
MOST_CALLS = 400
MOST_NODES = 40
"""Of a class that is shown, and of the nodes that use it."""
PLANES = 6
SIDE = 64
"""The most rows, and columns, of a plane of a tensor that is drawn."""
SHADES = 255


def shape_view(shape: AccessShape) -> dict[str, Any]:
    """A pair of shapes."""
    return {"access": list(shape.access), "compute": list(shape.compute), "text": str(shape)}


def term_view(term: Term, other: Term | None = None, marked: Path | None = None) -> dict[str, Any]:
    """A term line by line, with the shape of the part that begins on each.

    Parameters
    ----------
    other : Term, optional
        Parts that it does not have are marked as new.
    marked : tuple of int, optional
        The way to a part to mark.

    Examples
    --------
    >>> from fuseloom.access.kernels import matmul
    >>> view = term_view(matmul(4, 3, 2))
    >>> view["lines"][0]["text"], view["lines"][0]["shape"]["access"]
    ('(compute dotProd', [4, 2])
    """
    shapes = shapes_of(term)
    changed = () if other is None else differing(term, other)
    known = set(subterms(term if other is None else other))
    lines = lines_of(term)
    return {
        "tensors": [{"name": name, "dims": list(dims)} for name, dims in tensors(term).items()],
        "total": len(lines),
        "lines": [
            {
                "depth": line.depth,
                "text": line.text,
                "path": list(line.path),
                "shape": shape_view(shapes[line.part]) if line.begins else None,
                "new": line.part not in known and any(_within(line.path, x) for x in changed),
                "marked": marked is not None and _within(line.path, marked),
            }
            for line in lines[:MOST_LINES]
        ],
    }


def _within(path: Path, other: Path) -> bool:
    return path[: len(other)] == other


def differing(term: Term, other: Term) -> tuple[Path, ...]:
    """The ways to the largest parts of a term where another has something else.

    Examples
    --------
    >>> from fuseloom.access.kernels import matmul
    >>> differing(matmul(4, 3, 2), matmul(4, 3, 5))
    ((0, 1, 0, 0),)
    """
    if term == other:
        return ()
    alike = (term.construct, term.attributes) == (other.construct, other.attributes)
    if not alike or len(term.operands) != len(other.operands) or not term.operands:
        return ((),)
    pairs = enumerate(zip(term.operands, other.operands, strict=True))
    return tuple((n, *path) for n, (a, b) in pairs for path in differing(a, b))


def rules_view(
    rules: Sequence[Rule], without: Sequence[str], mapped: Mapped | None, steps: Sequence[Step]
) -> list[dict[str, Any]]:
    """Rules with what they did: how often they applied, and how often the explanation has them.

    Parameters
    ----------
    rules : sequence of Rule
        All, also those that are off.
    """
    hits: Mapping[str, int] = {} if mapped is None else mapped.saturation.hits
    used = Counter(step.rule for step in steps)
    return [
        {
            "name": rule.name,
            "text": rule.text,
            "source": rule.source.strip(),
            "on": rule.name not in without,
            "hits": hits.get(rule.name),
            "used": used.get(rule.name, 0),
        }
        for rule in rules
    ]


def growth_view(mapped: Mapped) -> dict[str, Any]:
    """The e-graph iteration by iteration.

    Examples
    --------
    >>> from fuseloom.access.hardware import SystolicArray
    >>> from fuseloom.access.kernels import matmul
    >>> from fuseloom.access.mapping import map_term
    >>> growth_view(map_term(matmul(8, 8, 8), SystolicArray(8, 8)))["stopped"]
    'saturated'
    """
    made = mapped.saturation
    return {
        "steps": [
            {"nodes": step.nodes, "classes": step.classes, "hits": dict(step.hits.most_common())}
            for step in made.steps
        ],
        "first": sum(1 for _ in subterms(made.term)),
        "stopped": made.stopped.value,
        "nodes": made.classes.count,
        "classes": len(made.classes.nodes),
        "root": made.classes.root,
        "seconds": mapped.seconds,
        "optimal": mapped.extraction.optimal,
        "cost": mapped.extraction.cost,
    }


def node_text(node: ENode) -> str:
    """A node of an e-graph, its operands as numbers of classes.

    Examples
    --------
    >>> node_text(ENode("access", (1,), (7,)))
    'access #7 1'
    """
    if node.construct == TENSOR:
        return f"{node.attributes[0]}"
    attributes, operands = iter(node.attributes), iter(node.operands)
    parts = [
        f"#{next(operands)}" if part is TermPart.TERM else attribute_text(part, next(attributes))
        for part in CONSTRUCTS[node.construct].parts
    ]
    return " ".join([node.construct, *parts])


def class_view(
    classes: EquivalenceClasses, number: int, chosen: Mapping[int, ENode]
) -> dict[str, Any]:
    """A class: its nodes, the classes they are made of, and the nodes that use it.

    Parameters
    ----------
    chosen : mapping
        The node of each class that extraction took.
    """
    nodes = classes.nodes[number]
    users = [
        (node, other)
        for other, members in classes.nodes.items()
        for node in members
        if number in node.operands
    ]
    around = dict.fromkeys([*(x for node in nodes for x in node.operands), *(c for _, c in users)])
    return {
        "number": number,
        "root": classes.root,
        "shape": shape_view(classes.shapes[number]),
        "nodes": [
            {
                "text": node_text(node),
                "construct": node.construct,
                "operands": list(node.operands),
                "chosen": chosen.get(number) == node,
            }
            for node in sorted(nodes, key=lambda x: (chosen.get(number) != x, x.construct))[
                :MOST_NODES
            ]
        ],
        "total": len(nodes),
        "users": [
            {"text": node_text(node), "number": other, "chosen": chosen.get(other) == node}
            for node, other in users[:MOST_NODES]
        ],
        "users_total": len(users),
        "around": {
            str(x): {"shape": shape_view(classes.shapes[x]), "nodes": len(classes.nodes[x])}
            for x in list(around)[: 4 * MOST_NODES]
        },
    }


def calls_view(mapped: Mapped, memory: BufferedMemory) -> dict[str, Any]:
    """The calls of the array in time, and what could not be mapped."""
    made = schedule_of(placed_calls(mapped.after), memory)
    array = mapped.array
    return {
        "array": [array.rows, array.columns],
        "calls": [
            {
                "rows": one.call.rows,
                "columns": one.call.columns,
                "batch": one.call.batch,
                "load": one.call.load,
                "stream": one.call.stream,
                "drain": one.call.drain,
                "cycles": one.call.cycles,
                "begins": one.begins,
                "transfer": [one.transfer_begins, one.transfer_ends],
                "utilisation": one.call.multiplications
                / (one.call.cycles * array.rows * array.columns),
            }
            for one in made.calls[:MOST_CALLS]
        ],
        "total": len(made.calls),
        "compute": made.traffic.compute,
        "cycles": made.traffic.cycles,
        "stalled": made.traffic.stalled,
        "read": made.traffic.read,
        "written": made.traffic.written,
        "utilisation": mapped.utilisation,
        "duplication": mapped.duplication if mapped.calls else None,
        "unmapped": [
            {"shape": str(x.shape), "reasons": list(x.reasons)} for x in mapped.unmapped[:12]
        ],
        "unmapped_total": len(mapped.unmapped),
    }


def steps_view(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """The steps of an explanation, each on a line."""
    return [
        {
            "rule": step.rule,
            "forward": step.forward,
            "path": list(step.path),
            "before": step.before.construct,
            "after": step.after.construct,
        }
        for step in steps[:MOST_STEPS]
    ]


def step_view(term: Term, steps: Sequence[Step], number: int) -> dict[str, Any]:
    """The whole term before and after a step, with the part that it changes marked.

    Parameters
    ----------
    term : Term
        From which the first step begins.
    number : int
        Of the step, from 0 on.
    """
    for step in steps[:number]:
        term = replaced(term, step.path, step.after)
    step = steps[number]
    after = replaced(term, step.path, step.after)
    return {
        "number": number,
        "rule": step.rule,
        "forward": step.forward,
        "before": term_view(term, None, step.path),
        "after": term_view(after, None, step.path),
    }


def positions_view(
    positions: Positions, start: int, values: Mapping[str, npt.NDArray[np.float64]]
) -> dict[str, Any]:
    """A pattern position by position, with the tensors that it sees.

    Parameters
    ----------
    start : int
        The first position that is told.
    values : mapping
        The arrays of tensors that are given, by name.
    """
    shape = positions.shape
    return {
        "shape": shape_view(shape),
        "operator": positions.operator,
        "count": positions.count,
        "start": start,
        "positions": positions.told(start),
        "sides": [
            {
                "shape": shape_view(side.shape),
                "sources": [_source_view(source, values) for source in side.sources],
            }
            for side in positions.sides
        ],
    }


def _source_view(
    source: SourceTensor, values: Mapping[str, npt.NDArray[np.float64]]
) -> dict[str, Any]:
    dims = source.dims
    view: dict[str, Any] = {
        "name": source.name,
        "dims": list(dims),
        "elements": prod(dims),
        "plane": list(_plane(dims)),
        "of": "" if source.part.construct == TENSOR else source.part.construct,
        "shades": None,
    }
    if source.part.construct == TENSOR and source.name in values:
        view["shades"] = _shades(values[source.name], dims)
    return view


def _plane(dims: Dims) -> tuple[int, int]:
    """Rows and columns of the planes in which a tensor is drawn."""
    padded = (1, 1, *dims)
    return padded[-2], padded[-1]


def _shades(array: npt.NDArray[np.float64], dims: Dims) -> list[list[int]]:
    """The first planes of a tensor as shades from 0 to 255, thinned where they are large."""
    rows, columns = _plane(dims)
    planes = array.reshape(-1, rows, columns)[:PLANES]
    thinned = planes[:, :: -(-rows // SIDE), :: -(-columns // SIDE)]
    low, high = float(thinned.min()), float(thinned.max())
    scaled = (thinned - low) / (high - low) if high > low else np.zeros_like(thinned)
    return [[int(x) for x in plane.ravel()] for plane in np.round(scaled * SHADES)]


def layers_view(made: MappedLayers, memory: BufferedMemory) -> dict[str, Any]:
    """The layers of a network on the array, and the totals."""
    traffic = made.traffic(memory)
    return {
        "array": [made.array.rows, made.array.columns],
        "rows": [
            {
                "name": layer.name,
                "calls": len(layer.mapped.calls),
                "cycles": layer.mapped.cycles,
                "utilisation": layer.mapped.utilisation,
                "duplication": layer.mapped.duplication if layer.mapped.calls else None,
                "nodes": layer.mapped.saturation.classes.count,
                "seconds": layer.mapped.seconds,
                "error": layer.max_rel_error,
                "unmapped": _reasons(layer.mapped),
            }
            for layer in made.layers
        ],
        "others": [{"name": x.name, "reason": x.reason} for x in made.others],
        "cycles": made.cycles,
        "with_transfers": traffic.cycles,
        "read": traffic.read,
        "written": traffic.written,
        "utilisation": made.utilisation,
        "error": made.max_rel_error,
    }


def _reasons(mapped: Mapped) -> str:
    reasons: Iterable[str] = (reason for x in mapped.unmapped for reason in x.reasons)
    return shortened("; ".join(dict.fromkeys(reasons)), 300)


def designs_view(designs: Sequence[ArrayDesign], best: ArrayDesign | None) -> list[dict[str, Any]]:
    """Arrays with their memories, each with what it costs."""
    return [
        {
            "rows": design.array.rows,
            "columns": design.array.columns,
            "buffer": design.memory.buffer,
            "area": design.area,
            "compute": design.made.cycles,
            "cycles": design.traffic.cycles,
            "bytes": design.traffic.read + design.traffic.written,
            "utilisation": design.made.utilisation,
            "best": design is best,
        }
        for design in designs
    ]
