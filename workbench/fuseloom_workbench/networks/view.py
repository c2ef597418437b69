"""The drawings of the page of networks, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from fuseloom.contraction.kernels.run import KernelMeasurement
from fuseloom.contraction.loopnest.ir import Assign, Forall, Nest, lines, walk
from fuseloom.contraction.ranking import Candidate, RankedCandidates, fastest_first
from fuseloom.contraction.solving.solve import Question, Satisfiability, SolverResult
from fuseloom.contraction.tree import ContractionTree
from fuseloom.program import Access
from fuseloom_workbench.networks import trees

WORD = 8
"""Bytes of an element of a workspace."""
MOST_ROWS = 400


def network(tree: ContractionTree, counts: Mapping[str, int]) -> dict[str, Any]:
    """Operands with their indices, and the tree, node by node.

    Parameters
    ----------
    counts : mapping
        Stored elements of each operand.
    """
    made = {c.name: c for c in tree.contractions}

    def node(name: str, place: tuple[int, ...]) -> dict[str, Any]:
        contraction = made.get(name)
        if contraction is None:
            indices = next(a.indices for a in tree.inputs if a.tensor == name)
            return {"name": name, "place": list(place), "indices": list(indices), "parts": []}
        parts = [a.tensor for a in contraction.operands]
        summed = [x for x in contraction.indices if x not in contraction.out.indices]
        shown = [node(part, (*place, n)) for n, part in enumerate(parts)] if len(parts) == 2 else [
            *node(parts[0], place)["parts"]
        ]  # fmt: skip
        return {
            "name": name,
            "place": list(place),
            "indices": list(contraction.out.indices),
            "summed": summed,
            "text": str(contraction),
            "parts": shown,
        }

    return {
        "operands": [
            {
                "name": a.tensor,
                "indices": list(a.indices),
                "shape": [tree.extents[x] for x in a.indices],
                "elements": counts.get(a.tensor, 0),
            }
            for a in tree.inputs
        ],
        "result": {"name": tree.result.tensor, "indices": list(tree.result.indices)},
        "extents": dict(tree.extents),
        "tree": node(tree.result.tensor, ()),
        "text": trees.text(trees.nested(tree)),
        "contractions": [str(c) for c in tree.contractions],
        "program": str(tree.program),
    }


def verdicts(question: Question) -> list[dict[str, Any]]:
    """Of each bound that makes a difference whether there is a solution, and what forbids it."""
    most = max((len(a.indices) for a in question.tree.intermediates), default=0)
    return [_verdict(bound, question.solve(bound)) for bound in range(most + 1)]


def _verdict(bound: int, answer: SolverResult) -> dict[str, Any]:
    return {
        "bound": bound,
        "verdict": answer.verdict.value,
        "variables": answer.variables,
        "constraints": answer.constraints,
        "seconds": answer.seconds,
        "why": [str(b) for b in answer.blockers],
    }


def least(found: Sequence[Mapping[str, Any]]) -> int | None:
    """The least bound with a solution."""
    sat = Satisfiability.SAT.value
    return next((one["bound"] for one in found if one["verdict"] == sat), None)


def rows(
    found: RankedCandidates, measured: Mapping[int, KernelMeasurement], most: int = MOST_ROWS
) -> list[dict[str, Any]]:
    """The nests, the best first: those that were run by their time, the others as expected."""
    order = fastest_first(found.candidates, {n: m.seconds for n, m in measured.items()})
    shown = order[:most]
    shown += [n for n in order[most:] if found.candidates[n].first or n in measured]
    return [_row(n, found.candidates[n], measured.get(n)) for n in shown]


def _row(number: int, candidate: Candidate, measured: KernelMeasurement | None) -> dict[str, Any]:
    solution = candidate.solution
    tree = solution.tree
    nary = candidate.scheme.value == "n-ary"
    return {
        "number": number,
        "way": candidate.scheme.value,
        "first": candidate.first,
        "loops": [",".join(loops_of(candidate.nest))]
        if nary
        else [f"{name}: {','.join(solution.loops[name])}" for name in solution.sequence],
        "layouts": [
            f"{a.tensor}: {','.join(a.indices[m] for m in solution.modes[a.tensor])}"
            for a in tree.inputs
        ],
        "predicted": candidate.predicted.nanoseconds * 1e-9,
        "products": candidate.predicted.products,
        "workspace": candidate.predicted.workspace * WORD,
        "measured": None if measured is None else measured.seconds,
        "error": None if measured is None else measured.max_rel_error,
        "wrong": measured is not None and not measured.right,
    }


def loops_of(nest: Nest) -> list[str]:
    """Indices of a nest's loops, as they are met."""
    return [part.index for part in walk(nest) if isinstance(part, Forall)]


KINDS = {Forall: "for", Access: "clear", Assign: "assign"}


def nest_view(candidate: Candidate) -> dict[str, Any]:
    """A nest line by line; loops that several contractions share have a bracket."""
    tree = candidate.solution.tree
    extents = tree.extents
    written = lines(candidate.nest)
    held = [line.part for line in written if isinstance(line.part, Access)]
    return {
        "lines": [
            {
                "depth": line.depth,
                "kind": KINDS[type(line.part)],
                "text": str(line),
                "note": f"{extents[line.part.index]:,}" if isinstance(line.part, Forall) else "",
            }
            for line in written
        ],
        "loops": [
            {
                "first": number,
                "last": line.last,
                "depth": line.depth,
                "index": line.part.index,
                "inside": [x.out.tensor for x in walk(line.part) if isinstance(x, Assign)],
            }
            for number, line in enumerate(written)
            if isinstance(line.part, Forall)
        ],
        "held": [
            {
                "name": a.tensor,
                "indices": list(a.indices),
                "whole": list(tree.by_name[a.tensor].out.indices),
                "order": len(a.indices),
                "bytes": WORD * prod(extents[x] for x in a.indices),
                "unfused": WORD * prod(extents[x] for x in tree.by_name[a.tensor].out.indices),
            }
            for a in held
        ],
        "text": str(candidate.nest),
    }
