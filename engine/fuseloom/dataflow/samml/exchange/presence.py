"""When the values of a graph may be absent: on which operands of unions it depends.

A union gives the empty token for an operand that lacks a coordinate, but never for all of them at
once.  A value is present if every one of its clauses is: a clause, a set of operands, is if any
of them is.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from fuseloom.dataflow.samml.exchange.levels import accumulator_order
from fuseloom.dataflow.samml.exchange.wiring import DraftNode, DraftOutput
from fuseloom.dataflow.samml.presence import NEUTRAL

Operand: TypeAlias = tuple[int, int]
Clauses: TypeAlias = frozenset[frozenset[Operand]]
ALWAYS: Clauses = frozenset()
MAX_CLAUSES = 64
_SPARED = ("scan", "dense_scan", "reduce", "zerodrop", "valdrop", "crddrop", "crdhold")
"""Their outputs are never empty: a scanner makes an empty fiber of an absent reference."""


class PresenceClauses:
    """The clauses of every output of a graph's parts.

    Parameters
    ----------
    parts : iterable of DraftNode
        Producers first.
    """

    def __init__(self, parts: Iterable[DraftNode]) -> None:
        self._found: dict[tuple[int, int], Clauses] = {}
        self._widths: dict[int, int] = {}
        for part in parts:
            for port, clauses in self._outputs(part).items():
                if kept := self._shortened(clauses):
                    self._found[id(part), port] = kept

    def of(self, wire: DraftOutput) -> Clauses:
        """The clauses of a wire; none if its tokens are always present."""
        return self._found.get((id(wire.part), wire.port), ALWAYS)

    def _outputs(self, part: DraftNode) -> Mapping[int, Clauses]:
        got = [self.of(wire) for wire in part.inputs]
        ports = range(len(part.kinds))
        match part.op:
            case "union":
                self._widths[id(part)] = len(part.kinds) - 1
                return {
                    port: got[2 * port - 1] | {frozenset({(id(part), port)})} for port in ports[1:]
                }
            case "intersect":
                return {port: got[2 * port - 1] for port in ports[1:]}
            case "binary" if part.params["fn"] in NEUTRAL:
                first, second = got
                return {0: frozenset(a | b for a, b in itertools.product(first, second))}
            case op if op in _SPARED or accumulator_order(op):
                return {}
            case "repeat":
                return {0: got[0]}
            case "fiber_align":
                return {0: got[2]}
            case _:
                return dict.fromkeys(ports, frozenset().union(*got))

    def _shortened(self, clauses: Clauses) -> Clauses:
        """Without what always holds; of very many clauses, one that stands for all."""
        kept = frozenset(clause for clause in clauses if not self._holds(clause))
        return kept if len(kept) <= MAX_CLAUSES else frozenset({frozenset()})

    def _holds(self, clause: frozenset[Operand]) -> bool:
        counts: dict[int, int] = {}
        for union, _ in clause:
            counts[union] = counts.get(union, 0) + 1
        return any(count == self._widths[union] for union, count in counts.items())
