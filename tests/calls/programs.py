"""Small functions with annotations, and random compositions of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.calls.annotated import AnnotatedFunction, DataHandle, FunctionCall, annotate
from fuseloom.calls.commands import (
    BreakBefore,
    Parallelize,
    Reorder,
    ScheduleCommand,
    SplitLoop,
    Subpipeline,
    SubstituteValue,
)
from fuseloom.calls.composition import Composition
from fuseloom.calls.data_kinds import Matrix, Vector

Floats = npt.NDArray[np.float64]

_TILES = """
tr: Symbolic
tc: Symbolic
for r in [0, out.rows, tr] {
  for c in [0, out.cols, tc] {
    produces { out { row: r, col: c, rows: tr, cols: tc } }
    when consumes { %s } } }
"""
_SAME = "a { row: r, col: c, rows: tr, cols: tc }"
_ROWS = """
t: Symbolic
for x in [0, out.len, t] {
  produces { out { start: x, len: t } }
  when consumes { a { row: x, col: 0, rows: t, cols: width } } }
"""


def _function(
    name: str, needs: str, parameters: str, function: Callable[..., Any]
) -> AnnotatedFunction:
    return annotate(function, _TILES % needs, parameters.split(), name)


def _down(a: Floats, out: Floats) -> None:
    np.maximum(a[0::2], a[1::2], out=out)


EXP = _function("exp", _SAME, "a out", lambda a, out: np.exp(-a, out=out))
ADD = _function(
    "add", f"{_SAME}, b {_SAME[2:]}", "a b out", lambda a, b, out: np.add(a, b, out=out)
)
ROW_SUMS = _function(
    "row_pairs", "a { row: r, col: c, rows: tr + 1, cols: tc }", "a out",
    lambda a, out: np.add(a[:-1], a[1:], out=out),
)  # fmt: skip
COLUMN_SUMS = _function(
    "column_triples", "a { row: r, col: c, rows: tr, cols: tc + 2 }", "a out",
    lambda a, out: np.add(a[:, :-2], a[:, 2:], out=out),
)  # fmt: skip
DOWN = _function("halve", "a { row: 2*r, col: c, rows: 2*tr, cols: tc }", "a out", _down)
SUBTRACT = _function(
    "subtract_rows", f"{_SAME}, v {{ start: r, len: tr }}", "a v out",
    lambda a, v, out: np.subtract(a, v[:, None], out=out),
)  # fmt: skip
ROW_MAX = annotate(
    lambda a, width, out: np.max(a, axis=1, out=out), _ROWS, ["a", "width", "out"], "row_max"
)


@dataclass
class RandomProgram:
    """A composition, and what its whole intermediates and its result are.

    Attributes
    ----------
    calls : list of FunctionCall
    given : dict
        Arrays by name.
    value : array
        Of the result.
    """

    calls: list[FunctionCall]
    given: dict[str, Floats]
    value: Floats


def random_program(random_: random.Random, length: int) -> RandomProgram:
    """Calls on matrices of about 14 × 12 elements, whose last needs most of those before it."""
    arrays = np.random.default_rng(random_.randrange(2**31))
    known: dict[DataHandle, Floats] = {
        DataHandle("A", Matrix()): arrays.standard_normal((14, 12)),
        DataHandle("B", Matrix()): arrays.standard_normal((14, 12)),
    }
    given = {handle.name: value for handle, value in known.items()}
    calls: list[FunctionCall] = []
    latest = next(iter(known))
    while len(calls) < length:
        a = latest if random_.random() < 0.75 else random_.choice(list(known))
        value = known[a]
        out = DataHandle(f"m{len(calls)}", Matrix())
        match random_.choice(["exp", "add", "rows", "columns", "down", "subtract"]):
            case "exp":
                call, known[out] = EXP(a, out), np.exp(-value)
            case "add":
                alike = [x for x, v in known.items() if v.shape == value.shape]
                b = random_.choice(alike)
                call, known[out] = ADD(a, b, out), value + known[b]
            case "rows" if value.shape[0] > 3:
                call, known[out] = ROW_SUMS(a, out), value[:-1] + value[1:]
            case "columns" if value.shape[1] > 4:
                call, known[out] = COLUMN_SUMS(a, out), value[:, :-2] + value[:, 2:]
            case "down" if value.shape[0] > 5 and value.shape[0] % 2 == 0:
                call, known[out] = DOWN(a, out), np.maximum(value[0::2], value[1::2])
            case "subtract":
                v = DataHandle(f"v{len(calls)}", Vector())
                calls.append(ROW_MAX(a, value.shape[1], v))
                largest = value.max(axis=1)
                call = SUBTRACT(a, v, out)
                known[out] = value - largest[:, None]
            case _:
                continue
        calls.append(call)
        latest = out
    return RandomProgram(calls, given, known[latest])


def groups_of(composition: Composition) -> list[Subpipeline]:
    """Calls whose intermediates no other call reads."""
    calls = composition.calls
    found = []
    for begin in range(len(calls)):
        for end in range(begin + 1, len(calls) + 1):
            inner = {call.output for call in calls[begin : end - 1]}
            others = (*calls[:begin], *calls[end:])
            if not any(inner & {*call.inputs} for call in others):
                found.append(Subpipeline(begin, end))
    return found


def random_commands(random_: random.Random, composition: Composition) -> list[ScheduleCommand]:
    """Commands that are possible for two loops ``tr`` and ``tc`` over rows and columns."""
    calls = len(composition.calls)
    commands: list[ScheduleCommand] = []
    if random_.random() < 0.4 and calls > 1:
        places = random_.sample(range(1, calls), random_.randint(1, min(2, calls - 1)))
        commands += [BreakBefore(place) for place in places]
    elif random_.random() < 0.5:
        commands.append(random_.choice(groups_of(composition)))
    if random_.random() < 0.4:
        commands.append(SplitLoop(random_.randint(0, 1), "o", "i", "so", "si"))
        if random_.random() < 0.5:
            commands.append(SubstituteValue("si", random_.randint(1, 5)))
    if random_.random() < 0.4:
        split = any(isinstance(x, SplitLoop) for x in commands)
        commands.append(Parallelize(0) if split else Reorder(0, 1))
    if random_.random() < 0.4:
        commands.append(Parallelize(random_.randint(0, 1)))
    return commands
