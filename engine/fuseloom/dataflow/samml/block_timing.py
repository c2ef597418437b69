"""The time of work on blocks, as data: formulas of a block's edge, chosen by name.

Rules: ``docs/spec/machine.md`` §5.5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Literal

from fuseloom.errors import GraphError
from fuseloom.results.declarations import Record

Formula = Callable[[int, int, int], int]

FORMULAS: Mapping[str, Formula] = MappingProxyType(
    {
        "1": lambda b, n, s: 1,
        "b": lambda b, n, s: b,
        "2*b": lambda b, n, s: 2 * b,
        "2*b-1": lambda b, n, s: 2 * b - 1,
        "3*b-2": lambda b, n, s: 3 * b - 2,
        "b*b": lambda b, n, s: b * b,
        "n": lambda b, n, s: n,
        "s": lambda b, n, s: s,
        "s/b": lambda b, n, s: max(s // b, 1),
        "s/(b*b)": lambda b, n, s: max(s // (b * b), 1),
    }
)
"""Cycles by name: ``b`` is the edge of a block, ``n`` the numbers in one, ``s`` the products that
a contraction forms (b³ for a product of two b × b blocks)."""
FormulaName = Literal["1", "b", "2*b", "2*b-1", "3*b-2", "b*b", "n", "s", "s/b", "s/(b*b)"]


@dataclass(frozen=True)
class BlockTiming(Record):
    """Formulas (:data:`FORMULAS`) for each kind of work; they multiply a number's latency.

    Attributes
    ----------
    load : str
        Latency of a value load: a block streams in.
    elementwise : str
        Latency of a function of two blocks, element by element.
    product, product_interval : str
        Latency of a contraction (a systolic array), and cycles between two.
    unary : str
        Latency of a function of one block.
    fold : str
        Latency of the total of a reduction, and of folding axes inside a block.
    number_product, number_product_interval, number_division : str
        The same for single numbers timed as if they were blocks (a node with ``block`` alone).

    Raises
    ------
    GraphError
        If a formula has no known name.

    Examples
    --------
    >>> BlockTiming(unary="b*b").cycles("unary", edge=4, numbers=16)
    16
    """

    load: FormulaName = "n"
    elementwise: FormulaName = "n"
    product: FormulaName = "2*b-1"
    product_interval: FormulaName = "s/(b*b)"
    unary: FormulaName = "b"
    fold: FormulaName = "n"
    number_product: FormulaName = "b*b"
    number_product_interval: FormulaName = "b"
    number_division: FormulaName = "1"

    def __post_init__(self) -> None:
        for rule in fields(self):
            formula = getattr(self, rule.name)
            if not isinstance(formula, str) or formula not in FORMULAS:
                raise GraphError(
                    f"block timing: {rule.name} is {formula!r}",
                    hint=f"one of {', '.join(FORMULAS)}",
                )

    def cycles(self, rule: str, edge: int, numbers: int, products: int = 0) -> int:
        """Cycles that a rule gives for blocks of that edge, size and number of products."""
        return FORMULAS[getattr(self, rule)](edge, numbers, products)

    def __str__(self) -> str:
        default = BlockTiming()
        changed = [
            f"{rule.name}: {getattr(self, rule.name)}"
            for rule in fields(self)
            if getattr(self, rule.name) != getattr(default, rule.name)
        ]
        return ", ".join(changed) or "as in the paper's artifact"


DEFAULT = BlockTiming()
