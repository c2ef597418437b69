"""A nest executed step by step on dense arrays: slow, and right."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from fuseloom.contraction.loopnest.ir import Assign, Forall, Nest, Where, verify, walk, workspaces
from fuseloom.errors import DataError
from fuseloom.wording import counted

Array = npt.NDArray[np.float64]
MOST_STEPS = 50_000_000


def interpret(
    nest: Nest, extents: Mapping[str, int], operands: Mapping[str, Array], most: int = MOST_STEPS
) -> Array:
    """Compute the result of a nest.

    Parameters
    ----------
    extents : mapping
        Index to its size.
    operands : mapping
        Per given tensor a dense array, its dimensions in the order of the nest's references.

    Returns
    -------
    array of float64
        The tensor that is made last, its dimensions as they are referred to.

    Raises
    ------
    DataError
        If an array is missing or of another shape, or the loops have more steps than ``most``.

    Examples
    --------
    >>> from fuseloom.contraction.loopnest.parser import parse_nest
    >>> nest = parse_nest("forall(i, forall(j, y(i) += A(i,j) * x(j)))")
    >>> interpret(nest, {"i": 2, "j": 2}, {"A": np.eye(2), "x": np.array([3.0, 4.0])})
    array([3., 4.])
    """
    verify(nest)
    steps = count_steps(nest, extents)
    if steps > most:
        raise DataError(
            f"the loops have {counted(steps, 'step')}, which is more than the {most:,} that are "
            "interpreted",
            hint="use smaller sizes, or compile the nest",
        )
    made: dict[str, Array] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    last = ""
    for part in walk(nest):
        if isinstance(part, Assign):
            for access in (part.out, *part.operands):
                shapes[access.tensor] = tuple(extents[x] for x in access.indices)
            made[part.out.tensor] = np.zeros(shapes[part.out.tensor])
            last = part.out.tensor
    held: dict[str, Array] = dict(made)
    for name, shape in shapes.items():
        if name in made:
            continue
        if name not in operands or np.shape(operands[name]) != shape:
            raise DataError(f"{name} must be an array of shape {shape}")
        held[name] = np.asarray(operands[name], dtype=np.float64)
    _run(nest, extents, held, {})
    return held[last]


def count_steps(
    nest: Nest, extents: Mapping[str, int], each: Callable[[Assign], int] = lambda _: 1
) -> int:
    """Count the executed assignments if every loop covers the whole extent of its index.

    Parameters
    ----------
    each : callable
        What an assignment counts for; by default one.

    Examples
    --------
    >>> from fuseloom.contraction.loopnest.parser import parse_nest
    >>> nest = parse_nest("forall(i, forall(j, y(i) += A(i,j) * x(j)))")
    >>> count_steps(nest, {"i": 2, "j": 3}), count_steps(nest, {"i": 2, "j": 3}, multiplications)
    (6, 6)
    """
    match nest:
        case Forall(index=index, body=body):
            return extents[index] * count_steps(body, extents, each)
        case Where(consumer=consumer, producer=producer):
            return sum(count_steps(part, extents, each) for part in (producer, consumer))
        case Assign():
            return each(nest)


def multiplications(step: Assign) -> int:
    """Of one execution of an assignment."""
    return len(step.operands) - 1


def _run(
    nest: Nest, extents: Mapping[str, int], held: dict[str, Array], at: dict[str, int]
) -> None:
    match nest:
        case Forall(index=index, body=body):
            for place in range(extents[index]):
                at[index] = place
                _run(body, extents, held, at)
            del at[index]
        case Where(consumer=consumer, producer=producer):
            for name in workspaces(nest):
                held[name].fill(0.0)
            _run(producer, extents, held, at)
            _run(consumer, extents, held, at)
        case Assign(out=out, operands=operands):
            value = 1.0
            for access in operands:
                value *= held[access.tensor][tuple(at[x] for x in access.indices)]
            held[out.tensor][tuple(at[x] for x in out.indices)] += value
