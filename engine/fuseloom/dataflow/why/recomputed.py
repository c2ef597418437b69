"""The recomputed results of a compiled program on its data, as an object that shows itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.cost.estimate import EstimateContext
from fuseloom.dataflow.sim.program_runs import Run
from fuseloom.dataflow.why.recomputation import Recomputation, recomputation
from fuseloom.display import shown, table, tag
from fuseloom.wording import counted


@dataclass(frozen=True)
class RecomputedIntermediates:
    """Intermediates that may be computed more than once, in the order of the program.

    Attributes
    ----------
    found : tuple of Recomputation
    """

    found: tuple[Recomputation, ...]

    def __getitem__(self, tensor: str) -> Recomputation:
        return next(one for one in self.found if one.tensor == tensor)

    def __str__(self) -> str:
        if not self.found:
            return "nothing is computed more than once"
        return "\n".join(f"{x.tensor}: {_amount(x)}, {x.factor:.1f} times over" for x in self.found)

    def _repr_html_(self) -> str:
        if not self.found:
            return shown(tag("p", str(self)))
        heads = ["intermediate", "computed", "needed", "times over", "because it is computed"]
        rows = [
            (x.tensor, _made(x), _needed(x), f"{x.factor:.1f}", x.reason or "as often as needed")
            for x in self.found
        ]
        return shown(table(heads, rows, figures=(1, 2, 3)))


def _made(one: Recomputation) -> str:
    return f"{counted(one.made, 'value')}" if one.rows is None else f"{counted(one.rows, 'row')}"


def _needed(one: Recomputation) -> str:
    rows = one.rows_needed
    return f"{counted(one.needed, 'value')}" if rows is None else f"{counted(rows, 'row')}"


def _amount(one: Recomputation) -> str:
    return f"{_made(one)} where {_needed(one)} are needed"


def recomputed(
    compilation: Compilation, data: Mapping[str, Any], run: Run | None = None
) -> RecomputedIntermediates:
    """Return the intermediates that are computed more than once, and the causes.

    Parameters
    ----------
    data : mapping
        Every input by name; only its coordinates matter.
    run : Run, optional
        One of this very compilation: what it has counted is taken in place of what is expected.

    Raises
    ------
    DataError
        If the data do not fit the program.

    Examples
    --------
    >>> import fuseloom as fl
    >>> model, data = fl.load("gcn", "karate")
    >>> print(recomputed(fl.compile(model.program, "fuse T1..Y"), data))
    T1: 41,208 values where 5,304 values are needed, 7.8 times over
    T2: 156 rows where 34 rows are needed, 4.6 times over
    T3: 156 rows where 34 rows are needed, 4.6 times over
    H: 156 rows where 34 rows are needed, 4.6 times over
    """
    context = EstimateContext.of(compilation.program, data)
    results = None if run is None else {r.name: r.result for r in run.regions}
    return RecomputedIntermediates(recomputation(compilation, context, results=results))
