"""The limits of an evaluation: memory, and multiplications."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from math import inf

WORD = 8


class TooMuchError(Exception):
    """An evaluation would take more than its budget.

    Attributes
    ----------
    work : bool
        More products; else more memory.
    """

    def __init__(self, work: bool) -> None:
        super().__init__()
        self.work = work


@dataclass
class EvaluationBudget:
    """The budget of an evaluation: the bytes it may hold, and the products it may form.

    Attributes
    ----------
    bytes : float
        Of all arrays together.
    held : float
        Bytes of what is kept from one step to the next.
    products : float
        Of all steps together.
    deadline : float
        When to stop, by ``time.process_time``: other work on the machine does not count.
    """

    bytes: float
    products: float
    deadline: float = inf
    spent: float = field(default=0.0, init=False)
    held: float = field(default=0.0, init=False)

    def take(self, elements: float, arrays: int) -> None:
        """Refuse a step that holds so many arrays of so many elements.

        Raises
        ------
        TooMuchError
            More than the budget, or too late.
        """
        if time.process_time() > self.deadline:
            raise TooMuchError(work=True)
        if self.held + elements * arrays * WORD > self.bytes:
            raise TooMuchError(work=False)

    def work(self, products: float) -> None:
        """Refuse a step that forms so many products more.

        Raises
        ------
        TooMuchError
            More than the budget, together with what was formed before.
        """
        if self.spent + products > self.products or time.process_time() > self.deadline:
            raise TooMuchError(work=True)
        self.spent += products
