"""Results whose zeros are worth leaving out: those of a relu, a mask or a choice, by the estimate.

What reads such a result then takes its other elements only, but has to wait for coordinates behind
the values.  A schedule says it with ``nonzero T``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuseloom.arguments import check_arguments
from fuseloom.dataflow.compiled_before import CompiledBefore
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost.estimate import estimate
from fuseloom.dataflow.fusion.directives import Nonzero
from fuseloom.dataflow.fusion.prepare import without_zeros
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.orders import best_orders
from fuseloom.errors import DataError, FuseloomError, ScheduleError
from fuseloom.program.inputs import check_data
from fuseloom.program.reference import evaluate
from fuseloom.program.types import Program
from fuseloom.wording import counted

LEAST_ZEROS = 0.05
"""Share of the elements of a result that must be zero."""
MOST = 16
"""Results that are tried, those with the most zeros."""
GAIN = 0.005
"""Share of all cycles that leaving the zeros of one out must save."""
EFFORT = 1e6
"""Elements that ranking the orders of a region may execute: about a tenth of a second."""


@dataclass(frozen=True)
class NonzeroChoice:
    """A result whose zeros are worth leaving out.

    Attributes
    ----------
    tensor : str
    density : float
        Share of its elements that are not zero.
    cycles_before, cycles : float
        Estimated clock cycles of the whole program, with its zeros and without.
    """

    tensor: str
    density: float
    cycles_before: float
    cycles: float

    @property
    def directive(self) -> str:
        """The directive of a schedule that leaves its zeros out."""
        return str(Nonzero(self.tensor))

    def __str__(self) -> str:
        return (
            f"{self.tensor} leaves out its zeros: {self.density:.1%} of its elements are not 0; by "
            f"the estimate the program takes {counted(self.cycles, 'cycle')} so, "
            f"{self.cycles_before:,.0f} with them"
        )


@check_arguments
def choose_nonzero(
    program: Program,
    data: Mapping[str, Any],
    *,
    base: str = "",
    schedules: Sequence[str] = (),
    machine: Machine | None = None,
) -> tuple[NonzeroChoice, ...]:
    """Find results whose zeros are worth leaving out, one after another.

    Those with the most zeros on the data are tried first, each beside what was chosen before it.

    Parameters
    ----------
    data : mapping
        Every input by name; what results hold follows from their values.
    base : str
        Directives that hold for every schedule.
    schedules : sequence of str
        The program is estimated under that one of these, or unfused, which takes the fewest cycles
        with its best orders.

    Returns
    -------
    tuple of NonzeroChoice
        Empty if the program is too large to be evaluated.

    Raises
    ------
    FuseloomError
        If the data do not fit the program, or it cannot be compiled without fusion.

    Examples
    --------
    >>> import numpy as np
    >>> import fuseloom as fl
    >>> program = fl.parse("X: 30x20 dense\\nW: 20x30 dense\\nH[i,k] = relu(X[i,k])\\n"
    ...                    "Y[i,j] = H[i,k] * W[k,j]")
    >>> x = np.where(np.arange(600).reshape(30, 20) % 7, -1.0, 1.0)
    >>> (found,) = choose_nonzero(program, {"X": x, "W": np.ones((20, 30))})
    >>> found.directive, found.cycles < found.cycles_before / 3
    ('nonzero H', True)
    """
    stored = check_data(program, data)
    already = {setting.tensor for setting in Schedule.parse(base).of(Nonzero)}
    densities = {n: x for n, x in _densities(program, stored).items() if n not in already}
    before = CompiledBefore()

    def cycles(schedule: str, chosen: tuple[str, ...] = ()) -> float:
        parts = (base, schedule, *(str(Nonzero(name)) for name in chosen))
        text = "; ".join(part for part in parts if part)
        compiled = compile_program(program, text, before=before)
        best = best_orders(compiled, stored, effort=EFFORT, machine=machine, before=before)
        return estimate(best.compilation, stored, machine=machine).cycles

    if not densities:
        return ()
    found: list[NonzeroChoice] = []
    least, schedule = cycles(""), ""
    for text in schedules:
        with suppress(FuseloomError):  # a preset that cannot be built
            least, schedule = min((least, schedule), (cycles(text), text))
    for name in list(densities)[:MOST]:
        try:
            now = cycles(schedule, (*(choice.tensor for choice in found), name))
        except FuseloomError:  # no order can be built so
            continue
        if now < least * (1 - GAIN):
            found.append(NonzeroChoice(name, densities[name], least, now))
            least = now
    return tuple(found)


def _densities(program: Program, data: Mapping[str, Any]) -> dict[str, float]:
    """The share of nonzeros of each result that may be without zeros and has some, most first."""
    try:
        computed = evaluate(program, data)
    except DataError:
        return {}
    zeros: dict[str, tuple[int, float]] = {}
    for statement in program.live:
        name = statement.out.tensor
        if statement.nonzero or not _may_be(program, name):
            continue
        held = computed[name]
        every = int(np.count_nonzero(held.present))
        left = int(np.count_nonzero(held.dense()))
        if every and every - left >= LEAST_ZEROS * every:
            zeros[name] = every - left, left / every
    ordered = sorted(zeros, key=lambda name: -zeros[name][0])
    return {name: zeros[name][1] for name in ordered}


def _may_be(program: Program, name: str) -> bool:
    try:
        without_zeros(program, Nonzero(name))
    except ScheduleError:
        return False
    return True
