"""Extraction: the cheapest term of a class, by the cost of each node."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import TypeAlias

from fuseloom.access.saturation.classes import ENode, EquivalenceClasses
from fuseloom.access.terms import Term

ENodeCost: TypeAlias = Callable[[ENode], int]
"""What a node costs by itself, without its operands; 0 or more."""


@dataclass(frozen=True)
class Extraction:
    """A term of the root's class.

    Attributes
    ----------
    term : Term
    choice : mapping
        The node that stands for each class that the term uses.
    cost : int
        Of its distinct nodes, each once.
    bound : int
        No term costs less; 0 if nothing is proved.
    optimal : bool
        Whether the cost is proved to be the least.
    """

    term: Term
    choice: Mapping[int, ENode]
    cost: int
    bound: int = 0
    optimal: bool = False


def extract_greedily(classes: EquivalenceClasses, cost: ENodeCost) -> Extraction:
    """The term whose cost is least if what is shared counts as often as it is used.

    Examples
    --------
    >>> from fuseloom.access.kernels import matmul
    >>> from fuseloom.access.rules.sets import rule_set
    >>> from fuseloom.access.saturation.saturate import saturate
    >>> made = saturate(matmul(8, 8, 8), rule_set("boxes"), {"rows": 8, "columns": 8})
    >>> extract_greedily(made.classes, lambda node: 1 + 99 * (node.construct == "compute")).cost
    8
    """
    return chosen(classes, every_choice(classes, cost), cost)


def every_choice(classes: EquivalenceClasses, cost: ENodeCost) -> Mapping[int, ENode]:
    """The root of the cheapest term of every class, what is shared counted at every use.

    Examples
    --------
    >>> node = ENode("tensor", ("A", (2,)), ())
    >>> every_choice(EquivalenceClasses({0: (node,)}, {}, 0), lambda _: 1)[0].construct
    'tensor'
    """
    best: dict[int, float] = {}
    choice: dict[int, ENode] = {}
    users: dict[int, list[tuple[int, ENode]]] = {}
    queue: list[tuple[float, int, int, ENode]] = []
    missing: dict[tuple[int, ENode], int] = {}
    order = 0
    for number, nodes in classes.nodes.items():
        for node in nodes:
            operands = set(node.operands)
            missing[number, node] = len(operands)
            for operand in operands:
                users.setdefault(operand, []).append((number, node))
            if not operands:
                order += 1
                heapq.heappush(queue, (cost(node), order, number, node))
    while queue:
        total, _, number, node = heapq.heappop(queue)
        if number in best:
            continue
        best[number], choice[number] = total, node
        for user in users.get(number, ()):
            missing[user] -= 1
            if not missing[user] and user[0] not in best:
                order += 1
                above = cost(user[1]) + sum(best[operand] for operand in user[1].operands)
                heapq.heappush(queue, (above, order, *user))
    return choice


def chosen(classes: EquivalenceClasses, choice: Mapping[int, ENode], cost: ENodeCost) -> Extraction:
    """The term that a choice of nodes makes, with equal parts shared.

    Examples
    --------
    >>> node = ENode("tensor", ("A", (2,)), ())
    >>> chosen(EquivalenceClasses({0: (node,)}, {}, 0), {0: node}, lambda _: 3).cost
    3
    """
    terms: dict[int, Term] = {}
    stack = [(classes.root, False)]
    while stack:
        number, entered = stack.pop()
        if number in terms:
            continue
        node = choice[number]
        if entered:
            operands = tuple(terms[operand] for operand in node.operands)
            terms[number] = Term(node.construct, node.attributes, operands)
        else:
            stack.append((number, True))
            stack.extend((operand, False) for operand in node.operands)
    used = {number: choice[number] for number in terms}
    return Extraction(terms[classes.root], used, sum(map(cost, used.values())))


def tree_cost(extraction: Extraction, root: int, cost: ENodeCost) -> float:
    """The cost of a term if what is shared counts as often as it is used.

    Examples
    --------
    >>> node = ENode("tensor", ("A", (2,)), ())
    >>> tree_cost(Extraction(Term("tensor", ("A", (2,))), {0: node}, 3), 0, lambda _: 3)
    3.0
    """
    totals: dict[int, float] = {}
    stack = [(root, False)]
    while stack:
        number, entered = stack.pop()
        node = extraction.choice[number]
        if entered:
            totals[number] = float(cost(node) + sum(totals[x] for x in node.operands))
        elif number not in totals:
            stack.append((number, True))
            stack.extend((operand, False) for operand in node.operands)
    return totals.get(root, inf)
