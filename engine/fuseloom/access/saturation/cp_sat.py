"""Extraction by CP-SAT: the cheapest term with what is shared counted once, and a proof."""

from __future__ import annotations

from math import ceil
from typing import Any

import networkx as nx

from fuseloom.access.saturation.classes import ENode, EquivalenceClasses
from fuseloom.access.saturation.extract import ENodeCost, Extraction, chosen, extract_greedily
from fuseloom.errors import ProgramError

ROUNDING = 1e-6
"""By how much the solver's bound, a float, may exceed an integer that it means."""


def load_cp_sat() -> Any:
    """The module of CP-SAT.

    Raises
    ------
    ProgramError
        It is not installed.

    Examples
    --------
    >>> load_cp_sat().CpModel().__class__.__name__
    'CpModel'
    """
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        raise ProgramError(
            "terms are extracted by CP-SAT of OR-Tools, which is not installed",
            hint="pip install 'fuseloom[access]', or extract greedily",
        ) from None
    return cp_model


def extract_optimally(
    classes: EquivalenceClasses, cost: ENodeCost, seconds: float = 10.0, workers: int = 1
) -> Extraction:
    """The term whose distinct nodes cost least, each counted once.

    Parameters
    ----------
    seconds : float
        After which the best term so far is taken, with the bound that was proved.
    workers : int
        Threads of the solver; one gives the same term every time.

    Raises
    ------
    ProgramError
        If OR-Tools is not installed.

    Notes
    -----
    A class that is used has one node; what a node needs is used.  Classes of a cycle have a depth,
    and operands are deeper than what is made of them, as a term has no cycle.  The greedy term is
    where the search starts, and what is returned if nothing better is found.

    Examples
    --------
    >>> from fuseloom.access.kernels import matmul
    >>> from fuseloom.access.rules.sets import rule_set
    >>> from fuseloom.access.saturation.saturate import saturate
    >>> made = saturate(matmul(8, 8, 8), rule_set("boxes"), {"rows": 8, "columns": 8})
    >>> best = extract_optimally(made.classes, lambda node: 1 + 99 * (node.construct == "compute"))
    >>> best.cost, best.optimal
    (8, True)
    """
    cp_model = load_cp_sat()
    greedy = extract_greedily(classes, cost)
    model = cp_model.CpModel()
    numbers = list(classes.reachable())
    cycles = _cycles(classes, numbers)
    used = {number: model.new_bool_var("") for number in numbers}
    depth = {
        number: model.new_int_var(0, len(members) - 1, "")
        for members in cycles
        for number in members
    }
    within = {number: place for place, members in enumerate(cycles) for number in members}
    taken: dict[tuple[int, ENode], Any] = {}
    for number in numbers:
        for node in classes.nodes[number]:
            if number in node.operands:
                continue
            variable = taken[number, node] = model.new_bool_var("")
            for operand in set(node.operands):
                model.add_implication(variable, used[operand])
                if number in within and within[number] == within.get(operand):
                    model.add(depth[operand] > depth[number]).only_enforce_if(variable)
        own = [taken[number, x] for x in classes.nodes[number] if (number, x) in taken]
        model.add(sum(own) == used[number])
    model.add(used[classes.root] == 1)
    model.minimize(sum(cost(node) * variable for (_, node), variable in taken.items()))
    for number in numbers:
        model.add_hint(used[number], number in greedy.choice)
    for (number, node), variable in taken.items():
        model.add_hint(variable, greedy.choice.get(number) == node)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    solver.parameters.num_workers = workers
    solver.parameters.random_seed = 0
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return greedy
    choice = {number: node for (number, node), v in taken.items() if solver.boolean_value(v)}
    best = chosen(classes, choice, cost)
    if best.cost > greedy.cost:
        best = greedy
    optimal = status == cp_model.OPTIMAL
    bound = best.cost if optimal else ceil(solver.best_objective_bound - ROUNDING)
    return Extraction(best.term, best.choice, best.cost, bound, optimal)


def _cycles(classes: EquivalenceClasses, numbers: list[int]) -> list[set[int]]:
    """Sets of several classes of which each is below the others."""
    graph: Any = nx.DiGraph()
    graph.add_nodes_from(numbers)
    for number in numbers:
        for node in classes.nodes[number]:
            graph.add_edges_from((number, operand) for operand in node.operands)
    return [part for part in nx.strongly_connected_components(graph) if len(part) > 1]
