"""A program's dense layers as access patterns, mapped onto a systolic array."""

from __future__ import annotations

from collections.abc import Iterator

from fuseloom.access.mapped_layers import MappedLayers, map_layers
from fuseloom.access.meaning import evaluate
from fuseloom.access.program_layers import layers_of_program
from fuseloom.comparison.problem import ComparedProgram
from fuseloom.comparison.rows import ComparisonRow, FusionSystem, refused_rows
from fuseloom.errors import FuseloomError, ProgramError
from fuseloom.results import relative_error

MAPPED = "mapped"


def access_rows(problem: ComparedProgram) -> Iterator[ComparisonRow]:
    """Return the row of the array: its calls, their predicted cycles, and what is left beside it.

    Each layer is computed from the reference's values of what it reads, as the array would, and
    compared with the reference's value of its result.
    """
    problem.progress("access")
    try:
        program = problem.dense
        layers, others = layers_of_program(program)
        if not layers:
            raise ProgramError("; ".join(f"{x.name}: {x.reason}" for x in others))
        made = map_layers(layers, others, problem.array)
    except FuseloomError as error:
        yield from refused_rows(FusionSystem.ACCESS, [MAPPED], error)
        return
    multiplications = sum(
        call.multiplications for layer in made.layers for call in layer.mapped.calls
    )
    beside = ", ".join(other.name for other in others)
    names = [layer.name for layer in made.layers]
    yield ComparisonRow(
        FusionSystem.ACCESS, MAPPED, applies=True,
        reason=f"{', '.join(names)} on the array" + (f"; {beside} beside it" if beside else ""),
        kernels=sum(len(layer.mapped.calls) for layer in made.layers) + len(others),
        bytes_between=problem.dense_bytes(*names, *(other.name for other in others)),
        flops=2 * multiplications, predicted=made.cycles, predicted_unit="cycles",
        max_rel_error=_error(problem, made),
    )  # fmt: skip


def _error(problem: ComparedProgram, made: MappedLayers) -> float:
    """The largest error of a layer, of the reference's operands."""
    worst = 0.0
    for layer in made.layers:
        given = {name: problem.reference[name].dense() for name in layer.data}
        wanted = problem.reference[layer.name].dense()
        worst = max(worst, relative_error(evaluate(layer.mapped.after, given), wanted))
    return worst
