"""Deliberately wrong annotations: small changes of right ones, and those that mean the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from fuseloom.calls.annotated import AnnotatedFunction
from fuseloom.calls.language.annotation import Annotation, Interval, Subset
from fuseloom.calls.library import LibraryCall
from fuseloom.calls.polynomials import DataField, Polynomial, Symbol
from fuseloom.calls.sampled_parts import (
    SampledPart,
    drawn_parts,
    environment,
    every_part,
    loop_ranges,
    size_choices,
)
from fuseloom.errors import ProgramError

SEEDS = (0, 1, 2)


def mutants(row: LibraryCall) -> Iterator[tuple[str, AnnotatedFunction]]:
    """Functions with changed annotations that are accepted as such, each with the change."""
    for words, changed in changes(row.annotated.annotation):
        if changed == row.annotated.annotation:
            continue
        try:
            made = AnnotatedFunction(row.function, changed, row.parameters, row.name)
        except ProgramError:
            continue  # it speaks of what there is not: no annotation of this function
        yield words, made


def changes(annotation: Annotation) -> Iterator[tuple[str, Annotation]]:
    """One change at a time, everywhere."""
    for number, loop in enumerate(annotation.intervals):
        for words, other in loop_changes(loop):
            loops = list(annotation.intervals)
            loops[number] = other
            yield f"{loop}: {words}", replace(annotation, intervals=tuple(loops))
    for one, two in combinations(range(len(annotation.intervals)), 2):
        loops = list(annotation.intervals)
        loops[one] = replace(loops[one], end=annotation.intervals[two].end)
        yield f"end of {loops[two]} in loop {one}", replace(annotation, intervals=tuple(loops))
    for words, produces in subset_changes(annotation.produces, annotation):
        yield f"produces {words}", replace(annotation, produces=produces)
    for number, subset in enumerate(annotation.consumes):
        for words, other_subset in subset_changes(subset, annotation):
            consumes = list(annotation.consumes)
            consumes[number] = other_subset
            yield f"consumes {words}", replace(annotation, consumes=tuple(consumes))
    for one, two in combinations(range(len(annotation.consumes)), 2):
        consumes = list(annotation.consumes)
        first, second = consumes[one], consumes[two]
        consumes[one] = Subset(first.data, second.fields)
        consumes[two] = Subset(second.data, first.fields)
        yield (
            f"parts of {first.data} and {second.data} swapped",
            replace(annotation, consumes=tuple(consumes)),
        )


def loop_changes(loop: Interval) -> Iterator[tuple[str, Interval]]:
    yield "starts one later", replace(loop, start=loop.start + 1)
    yield "ends one earlier", replace(loop, end=loop.end - 1)
    yield "ends one later", replace(loop, end=loop.end + 1)
    yield "a step of 1", replace(loop, step=Polynomial.of(1))
    yield "a step twice as large", replace(loop, step=loop.step * 2)
    yield "a step one larger", replace(loop, step=loop.step + 1)
    yield "half of the extent", replace(loop, end=loop.end // 2)


def subset_changes(subset: Subset, annotation: Annotation) -> Iterator[tuple[str, Subset]]:
    fields = list(subset.fields)
    for number, (name, value) in enumerate(fields):
        for words, other in value_changes(value, annotation):
            changed = [*fields[:number], (name, other), *fields[number + 1 :]]
            yield f"{subset}: {name} {words}", Subset(subset.data, tuple(changed))
        missing = [*fields[:number], *fields[number + 1 :]]
        yield f"{subset}: without {name}", Subset(subset.data, tuple(missing))
    for one, two in combinations(range(len(fields)), 2):
        swapped = list(fields)
        swapped[one] = (fields[one][0], fields[two][1])
        swapped[two] = (fields[two][0], fields[one][1])
        words = f"{subset}: {fields[one][0]} and {fields[two][0]} swapped"
        yield words, Subset(subset.data, tuple(swapped))


def value_changes(value: Polynomial, annotation: Annotation) -> Iterator[tuple[str, Polynomial]]:
    yield "one larger", value + 1
    yield "one smaller", value - 1
    if value.number is None:
        yield "twice as large", value * 2
        yield "half as large", value // 2
        yield "without its constant", value - value.terms.get((), 0)
    variables = [*annotation.symbolic, *(loop.variable for loop in annotation.intervals)]
    for atom in set(value.atoms()):
        if isinstance(atom, Symbol):
            for other in variables:
                yield f"{other} for {atom}", value.substituted(_instead(atom, Symbol(other)))
        else:
            other_name = {"rows": "cols", "cols": "rows"}.get(atom.name)
            if other_name:
                other_field = DataField(atom.data, other_name)
                yield f"{other_field} for {atom}", value.substituted(_instead(atom, other_field))


def _instead(atom: Symbol | DataField, other: Symbol | DataField) -> Any:
    return lambda found: Polynomial.of(other) if found == atom else None


def means_the_same(row: LibraryCall, mutant: AnnotatedFunction) -> bool:
    """Whether two annotations give the same parts for all examples, wherever parts begin."""
    try:
        return all(
            parts_of(row, row.annotated, seed) == parts_of(row, mutant, seed) for seed in SEEDS
        )
    except (KeyError, ValueError, IndexError):  # a field that is missing, loops that are empty
        return False


def parts_of(row: LibraryCall, function: AnnotatedFunction, seed: int) -> list[Any]:
    """All parts of several sizes, and parts that begin anywhere."""
    annotation, arguments = function.annotation, row.example(seed)
    known = environment(function, row.kinds, arguments)
    found: list[Any] = []
    for sizes in size_choices(annotation, known, np.random.default_rng(seed)):
        if any(loop.step < 1 for loop in loop_ranges(annotation, known, sizes)):
            raise ValueError
        found.append(sorted(map(plain, every_part(annotation, row.kinds, known, sizes))))
    drawn = drawn_parts(annotation, row.kinds, known, 40, np.random.default_rng(seed))
    return [*found, [plain(part) for part in drawn]]


def plain(part: SampledPart) -> Any:
    consumed = [(name, sorted(fields.items())) for name, fields in sorted(part.consumed.items())]
    return sorted(part.produced.items()), consumed
