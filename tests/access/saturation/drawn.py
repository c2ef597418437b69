"""Random e-graphs, and all terms of small ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product

import numpy as np

from fuseloom.access.saturation.classes import ENode, EquivalenceClasses


def drawn(seed: int, size: int = 7) -> tuple[EquivalenceClasses, Callable[[ENode], int]]:
    """A random e-graph, cycles among its classes, and a cost of each node."""
    random = np.random.default_rng(seed)
    nodes: dict[int, tuple[ENode, ...]] = {}
    for number in range(size):
        made = [ENode(f"leaf{number}", (), ())] if number >= size - 2 else []
        for place in range(int(random.integers(1, 4))):
            count = int(random.integers(1, 3))
            low = number + 1 if place == 0 else 0  # one node without cycles
            operands = tuple(int(x) for x in random.integers(min(low, size - 1), size, size=count))
            if number < size - 2:
                made.append(ENode(f"n{number}.{place}", (), operands))
        nodes[number] = tuple(made)
    costs = {node: int(random.integers(1, 20)) for row in nodes.values() for node in row}
    return EquivalenceClasses(nodes, {}, 0), lambda node: costs[node]


def every_term(classes: EquivalenceClasses) -> Iterator[Mapping[int, ENode]]:
    """Every choice of a node per class under which the root has a term."""
    numbers = list(classes.nodes)
    for choice in product(*(classes.nodes[number] for number in numbers)):
        chosen = dict(zip(numbers, choice, strict=True))
        if _ends(classes.root, chosen, frozenset()):
            yield chosen


def _ends(number: int, chosen: Mapping[int, ENode], above: frozenset[int]) -> bool:
    if number in above:
        return False
    return all(_ends(x, chosen, above | {number}) for x in chosen[number].operands)
