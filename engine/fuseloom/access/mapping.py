"""A term mapped onto an array: what is called, what that costs, what could not be mapped."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from fuseloom.access.constructs.construct import Array
from fuseloom.access.constructs.hardware_calls import SYSTOLIC_ARRAY
from fuseloom.access.constructs.operators import DOT_PRODUCT
from fuseloom.access.hardware import Call, SystolicArray
from fuseloom.access.meaning import evaluate, random_data
from fuseloom.access.memory import BufferedMemory, Traffic, placed_calls, traffic_of
from fuseloom.access.rules.rule import Rule
from fuseloom.access.rules.sets import rules_of
from fuseloom.access.saturation.classes import ENode, EquivalenceClasses
from fuseloom.access.saturation.cp_sat import extract_optimally
from fuseloom.access.saturation.egglog_module import load_egglog
from fuseloom.access.saturation.egraph import StepReport
from fuseloom.access.saturation.explain import Step, explain
from fuseloom.access.saturation.extract import ENodeCost, Extraction, extract_greedily
from fuseloom.access.saturation.matching import environment, matches
from fuseloom.access.saturation.saturate import Saturation, SaturationLimits, saturate
from fuseloom.access.shapes import AccessShape
from fuseloom.access.terms import Term, tensors
from fuseloom.results import relative_error

CYCLE = 1_000
"""Cost of a cycle, in nodes of a term: of terms with equal cycles the smallest is taken."""
UNMAPPED = 10
"""Cost, in cycles, of an element of pairs whose dot product no array computes: more than the
calls that would compute it, which take at most 4 cycles per multiplication."""


@dataclass(frozen=True)
class Unmapped:
    """Dot products that no array computes.

    Attributes
    ----------
    shape : AccessShape
        Of their result.
    reasons : tuple of str
        What stands in the way.
    """

    shape: AccessShape
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Mapped:
    """A term for an array.

    Attributes
    ----------
    saturation : Saturation
    extraction : Extraction
    array : SystolicArray
    calls : tuple of Call
        Of the array, each distinct one once.
    unmapped : tuple of Unmapped
        Dot products that are left.
    seconds : float
        That saturation and extraction took.
    """

    saturation: Saturation
    extraction: Extraction
    array: SystolicArray
    calls: tuple[Call, ...]
    unmapped: tuple[Unmapped, ...]
    seconds: float

    @property
    def before(self) -> Term:
        """The term that was given."""
        return self.saturation.term

    @property
    def after(self) -> Term:
        """The term that was extracted."""
        return self.extraction.term

    @property
    def cycles(self) -> int:
        """Of all calls, one after another."""
        return sum(call.cycles for call in self.calls)

    def traffic(self, memory: BufferedMemory) -> Traffic:
        """What the calls move between a memory and the array, and how long they take with that."""
        return traffic_of(placed_calls(self.after), memory)

    @property
    def utilisation(self) -> float:
        """The share of the array's multipliers that multiply, over all cycles; 0 without calls."""
        possible = self.cycles * self.array.rows * self.array.columns
        return sum(call.multiplications for call in self.calls) / possible if possible else 0.0

    @property
    def duplication(self) -> float:
        """Elements of the vectors that calls stream and hold, per element of the given tensors.

        More than 1 where windows overlap (im2col) or vectors are streamed for several blocks of
        columns; 0 without calls.
        """
        moved = sum((c.batch + c.columns) * c.rows for c in self.calls)
        return moved / sum(prod(dims) for dims in tensors(self.before).values())

    @cached_property
    def explanation(self) -> tuple[Step, ...]:
        """The rules that lead from the given term to the extracted one.

        Raises
        ------
        ProgramError
            If no chain of them is found.
        """
        return explain(self.saturation, self.after)

    @property
    def rules(self) -> tuple[str, ...]:
        """Names of the rules of the explanation, in the order of their first application."""
        return tuple(dict.fromkeys(step.rule for step in self.explanation))

    def max_rel_error(self, data: Mapping[str, Array] | None = None, seed: int = 0) -> float:
        """The largest error of the extracted term against the given one, over the largest value.

        Parameters
        ----------
        data : mapping, optional
            Per tensor an array; by default random ones.
        seed : int
            Of the random arrays.
        """
        given = random_data(self.before, seed) if data is None else data
        return relative_error(evaluate(self.after, given), evaluate(self.before, given))


def map_term(
    term: Term,
    array: SystolicArray,
    rules: Sequence[Rule] | None = None,
    *,
    limits: SaturationLimits | None = None,
    optimal: bool = False,
    seconds: float = 10.0,
    progress: Callable[[StepReport], None] = lambda _: None,
) -> Mapped:
    """Map the dot products of a term onto an array.

    Parameters
    ----------
    rules : sequence of Rule, optional
        By default the set ``boxes``.
    limits : SaturationLimits, optional
        Of the saturation.
    optimal : bool
        Extract by CP-SAT, which counts what is shared once, with a proof.
    seconds : float
        That CP-SAT may take.
    progress : callable
        Given the report of each iteration.

    Raises
    ------
    ShapeError
        If the term has no shape.
    ProgramError
        If egglog, or OR-Tools for ``optimal``, is not installed.

    Examples
    --------
    >>> from fuseloom.access.kernels import matmul
    >>> mapped = map_term(matmul(32, 32, 32), SystolicArray(16, 16))
    >>> len(mapped.calls), mapped.cycles, round(mapped.utilisation, 3)
    (4, 312, 0.41)
    >>> mapped.max_rel_error() < 1e-9
    True
    """
    load_egglog()  # which is not part of the time
    began = time.perf_counter()
    chosen_rules = rules_of(["boxes"]) if rules is None else tuple(rules)
    made = saturate(term, chosen_rules, array.parameters, limits, progress)
    cost = hardware_cost(made.classes)
    extraction = (
        extract_optimally(made.classes, cost, seconds)
        if optimal
        else extract_greedily(made.classes, cost)
    )
    seconds_taken = time.perf_counter() - began
    return Mapped(
        made, extraction, array, calls_of(extraction.term), _unmapped(made, extraction),
        seconds_taken,
    )  # fmt: skip


def hardware_cost(classes: EquivalenceClasses) -> ENodeCost:
    """What a node costs: the cycles of a call; much for a dot product; little for the rest.

    Examples
    --------
    >>> cost = hardware_cost(EquivalenceClasses({}, {3: AccessShape((32,), (16,))}, 0))
    >>> cost(ENode("systolicArray", (16, 16), (3, 4))), cost(ENode("flatten", (), (3,)))
    (78001, 1)
    """

    def cost(node: ENode) -> int:
        if node.construct == SYSTOLIC_ARRAY:
            rows, columns = node.attributes
            assert isinstance(rows, int)
            assert isinstance(columns, int)
            batch = classes.shapes[node.operands[0]].access[0]
            return 1 + CYCLE * Call(rows, columns, batch).cycles
        if node.construct == "compute" and node.attributes == (DOT_PRODUCT,):
            return 1 + UNMAPPED * CYCLE * prod(classes.shapes[node.operands[0]].dims)
        return 1

    return cost


def calls_of(term: Term) -> tuple[Call, ...]:
    """The calls of the array in a term, each distinct one once, in order of execution.

    Examples
    --------
    >>> from fuseloom.access.kernels import matmul
    >>> calls_of(matmul(2, 2, 2))
    ()
    """
    return tuple(placed.call for placed in placed_calls(term))


def _unmapped(saturation: Saturation, extraction: Extraction) -> tuple[Unmapped, ...]:
    found = []
    for number, node in extraction.choice.items():
        if node.construct == "compute" and node.attributes == (DOT_PRODUCT,):
            shape = saturation.classes.shapes[number]
            found.append(Unmapped(shape, tuple(_reasons(saturation, number))))
    return tuple(found)


def _reasons(saturation: Saturation, number: int) -> list[str]:
    """Why no rule makes a call of what a class holds: conditions that fail, or no match."""
    classes, reasons = saturation.classes, []
    makers = [rule for rule in saturation.rules if "systolicArray" in rule.source.split("=>")[-1]]
    if not makers:
        return ["no rule makes calls of an array"]
    for rule in makers:
        matched = False
        for bound, _ in matches(classes, rule.left, number, {}, ()):
            matched = True
            reasons += rule.failing({**saturation.parameters, **environment(classes, bound)})
        if not matched:
            pairings = sorted(
                {x.construct for node in classes.nodes[number] for operand in node.operands
                 for x in classes.nodes[operand]}
            )  # fmt: skip
            reasons.append(
                f"{rule.name} matches a Cartesian product, and the dot products are of "
                f"{' or '.join(pairings)}"
            )
    return list(dict.fromkeys(reasons))
