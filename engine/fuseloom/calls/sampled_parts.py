"""Parts of a call's output, all of them or drawn at random, and the parts that each consumes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from fuseloom.calls.annotated import AnnotatedFunction
from fuseloom.calls.data_kinds import DataKind, Fields
from fuseloom.calls.language.annotation import Annotation, Subset
from fuseloom.calls.polynomials import DataField, Symbol

Environment: TypeAlias = Mapping[Symbol | DataField, int]
"""Values of integer arguments and of fields of whole data structures."""
FEW_PARTS = 150
"""Parts that small sizes give at most, where sizes can be chosen."""


@dataclass(frozen=True)
class SampledPart:
    """A part of the output with the parts of the inputs that it is computed of.

    Attributes
    ----------
    values : mapping
        Of the loops' variables and of the sizes, clipped.
    produced : mapping
        Fields of the part of the output.
    consumed : mapping
        Per parameter the fields of the part of the input.
    """

    values: Mapping[str, int]
    produced: Fields
    consumed: Mapping[str, Fields]

    def __str__(self) -> str:
        chosen = ", ".join(f"{name} = {value}" for name, value in self.values.items())
        return f"{fields_in_words(self.produced)}{f' ({chosen})' if chosen else ''}"


@dataclass(frozen=True)
class LoopRange:
    """The values of a loop's variable.

    Attributes
    ----------
    variable : str
    start, end, step : int
    size : str or None
        The symbolic variable that is the step; the last part has a smaller one.
    """

    variable: str
    start: int
    end: int
    step: int
    size: str | None


def fields_in_words(fields: Fields) -> str:
    """Fields with their values.

    Examples
    --------
    >>> fields_in_words({"start": 2, "len": 3})
    '{start: 2, len: 3}'
    """
    return f"{{{', '.join(f'{name}: {value}' for name, value in fields.items())}}}"


def environment(
    function: AnnotatedFunction, kinds: Mapping[str, DataKind], arguments: Mapping[str, Any]
) -> Environment:
    """Values of what an annotation reads: integer arguments, fields of whole data structures.

    Examples
    --------
    >>> import numpy as np
    >>> from fuseloom.calls.annotated import annotate
    >>> from fuseloom.calls.data_kinds import Vector
    >>> one = annotate(np.copyto, "produces { out { start: 0, len: 1 } } when consumes { "
    ...                "a { start: 0, len: 1 } }", ["out", "a"])
    >>> found = environment(one, {"out": Vector(), "a": Vector()},
    ...                     {"out": np.zeros(1), "a": np.zeros(4)})
    >>> {str(name): value for name, value in found.items()}
    {'a.start': 0, 'a.len': 4, 'out.start': 0, 'out.len': 1}
    """
    found: dict[Symbol | DataField, int] = {}
    for name in function.data:
        for field, value in kinds[name].whole(arguments[name]).items():
            found[DataField(name, field)] = value
    for name, value in arguments.items():
        if name not in function.data and isinstance(value, int):
            found[Symbol(name)] = value
    return found


def extents(annotation: Annotation, known: Environment) -> dict[str, int]:
    """The largest useful value of each symbolic variable: the extent of the loop of its steps.

    Examples
    --------
    >>> from fuseloom.calls.language.reader import read_annotation
    >>> extents(read_annotation("t: Symbolic for x in [2, 9, t] { produces "
    ...     "{ out { start: x, len: t } } when consumes { } }"), {})
    {'t': 7}
    """
    found = dict.fromkeys(annotation.symbolic, 1)
    for loop in annotation.intervals:
        size = loop.step.symbol
        if size in found:
            extent = loop.end.evaluate(known) - loop.start.evaluate(known)
            found[size] = max(found[size], extent)
    return found


def loop_ranges(
    annotation: Annotation, known: Environment, sizes: Mapping[str, int]
) -> tuple[LoopRange, ...]:
    """The loops of an annotation with values for its symbolic variables.

    Examples
    --------
    >>> from fuseloom.calls.language.reader import read_annotation
    >>> loop_ranges(read_annotation("t: Symbolic for x in [2, 9, t] { produces "
    ...     "{ out { start: x, len: t } } when consumes { } }"), {}, {"t": 4})
    (LoopRange(variable='x', start=2, end=9, step=4, size='t'),)
    """
    values = _with(known, sizes)
    return tuple(
        LoopRange(
            loop.variable,
            loop.start.evaluate(values), loop.end.evaluate(values), loop.step.evaluate(values),
            loop.step.symbol if loop.step.symbol in annotation.symbolic else None,
        )
        for loop in annotation.intervals
    )  # fmt: skip


def part_at(
    annotation: Annotation,
    kinds: Mapping[str, DataKind],
    known: Environment,
    sizes: Mapping[str, int],
    places: Sequence[tuple[LoopRange, int]],
) -> SampledPart:
    """The part at a value of each loop's variable, clipped where it would pass the loop's end.

    Examples
    --------
    >>> from fuseloom.calls.data_kinds import Vector
    >>> from fuseloom.calls.language.reader import read_annotation
    >>> read = read_annotation("t: Symbolic for x in [0, 9, t] { produces { out { start: x, "
    ...     "len: t } } when consumes { a { start: x, len: t + 2 } } }")
    >>> (loop,) = loop_ranges(read, {}, {"t": 4})
    >>> part = part_at(read, {"a": Vector()}, {}, {"t": 4}, [(loop, 8)])
    >>> part.produced, part.consumed
    ({'start': 8, 'len': 1}, {'a': {'start': 8, 'len': 3}})
    """
    chosen = dict(sizes)
    for loop, place in places:
        chosen[loop.variable] = place
        if loop.size is not None:
            chosen[loop.size] = min(chosen[loop.size], loop.end - place)
    values = _with(known, chosen)

    def fields(subset: Subset) -> dict[str, int]:
        return {name: value.evaluate(values) for name, value in subset.fields}

    consumed: dict[str, Fields] = {}
    for subset in annotation.consumes:
        found = fields(subset)
        before = consumed.get(subset.data, found)
        consumed[subset.data] = _superset(kinds[subset.data], before, found)
    return SampledPart(chosen, fields(annotation.produces), consumed)


def _with(known: Environment, chosen: Mapping[str, int]) -> Environment:
    values = dict(known)
    values.update((Symbol(name), value) for name, value in chosen.items())
    return values


def _superset(kind: DataKind, left: Fields, right: Fields) -> Fields:
    """The smallest part that holds two of one data structure."""
    if left == right:
        return left
    made = dict(left)
    for pair in kind.dimensions:
        start = min(left[pair.start], right[pair.start])
        ends = (part[pair.start] + part[pair.length] for part in (left, right))
        made[pair.start], made[pair.length] = start, max(ends) - start
    return made


def every_part(
    annotation: Annotation,
    kinds: Mapping[str, DataKind],
    known: Environment,
    sizes: Mapping[str, int],
) -> Iterator[SampledPart]:
    """All parts of the output, in order of the loops.

    Examples
    --------
    >>> from fuseloom.calls.language.reader import read_annotation
    >>> read = read_annotation("t: Symbolic for x in [0, 9, t] { produces { out { start: x, "
    ...     "len: t } } when consumes { } }")
    >>> [part.produced["len"] for part in every_part(read, {}, {}, {"t": 4})]
    [4, 4, 1]
    """
    loops = loop_ranges(annotation, known, sizes)
    ranges = [range(loop.start, loop.end, loop.step) for loop in loops]
    for place in product(*ranges):
        yield part_at(annotation, kinds, known, sizes, list(zip(loops, place, strict=True)))


def drawn_parts(
    annotation: Annotation,
    kinds: Mapping[str, DataKind],
    known: Environment,
    count: int,
    rng: np.random.Generator,
) -> Iterator[SampledPart]:
    """Parts of the output: the whole, the first and the last of size 1, clipped ones, random ones.

    A loop whose step is a symbolic variable begins a part anywhere, as it does when other calls
    need a part of the output.

    Examples
    --------
    >>> from fuseloom.calls.language.reader import read_annotation
    >>> read = read_annotation("t: Symbolic for x in [0, 9, t] { produces { out { start: x, "
    ...     "len: t } } when consumes { } }")
    >>> drawn = drawn_parts(read, {}, {}, 4, np.random.default_rng(0))
    >>> [tuple(part.produced.values()) for part in drawn][:3]
    [(0, 9), (0, 1), (8, 1)]
    """
    most = extents(annotation, known)
    for number in range(count):
        sizes = {name: _size(number, extent, rng) for name, extent in most.items()}
        loops = loop_ranges(annotation, known, sizes)
        places = [(loop, _place(number, loop, rng)) for loop in loops]
        yield part_at(annotation, kinds, known, sizes, places)


def _size(number: int, extent: int, rng: np.random.Generator) -> int:
    if number == 0:
        return extent
    if number in (1, 2):
        return 1
    return int(rng.choice([1, extent, *rng.integers(1, extent + 1, 4)]))


def _place(number: int, loop: LoopRange, rng: np.random.Generator) -> int:
    if loop.size is None:
        places = range(loop.start, loop.end, loop.step)
        return places[{0: 0, 1: 0, 2: -1}.get(number, int(rng.integers(len(places))))]
    if number in (0, 1):
        return loop.start
    last = loop.end - 1
    if number == 2:
        return last
    first = max(loop.start, loop.end - loop.step) if number % 4 == 3 else loop.start
    return int(rng.integers(first, last + 1))


def size_choices(
    annotation: Annotation, known: Environment, rng: np.random.Generator
) -> list[dict[str, int]]:
    """Sizes under which all parts are looked at: the whole, some that do not divide, small ones.

    Examples
    --------
    >>> from fuseloom.calls.language.reader import read_annotation
    >>> size_choices(read_annotation("t: Symbolic for x in [0, 9, t] { produces { out { start: x, "
    ...     "len: t } } when consumes { } }"), {}, np.random.default_rng(0))
    [{'t': 9}, {'t': 5}, {'t': 1}, {'t': 8}]
    """
    most = extents(annotation, known)
    share = FEW_PARTS ** (1 / max(len(most), 1))
    return [
        dict(most),
        {name: extent // 2 + 1 for name, extent in most.items()},
        {name: int(np.ceil(extent / share)) for name, extent in most.items()},
        {name: int(rng.integers(1, extent + 1)) for name, extent in most.items()},
    ]
