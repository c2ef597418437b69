"""The checker of annotations: it runs a call on parts of its data and compares with the whole."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from fuseloom.calls.annotated import AnnotatedFunction, DataHandle
from fuseloom.calls.data_kinds import DataKind, Fields
from fuseloom.calls.guard_bands import GuardedPart, poison, same
from fuseloom.calls.sampled_parts import (
    Environment,
    SampledPart,
    drawn_parts,
    environment,
    every_part,
    extents,
    fields_in_words,
    loop_ranges,
    size_choices,
)
from fuseloom.errors import ProgramError
from fuseloom.wording import counted

MOST_PARTS = 50_000
"""Parts that are looked at to see whether they tile the output."""
HALVED = 4
"""Parts on which a smaller input is tried for a hint."""


class CallProblem(Enum):
    """A property that a call with an annotation has to have, and has not."""

    ANNOTATION = "the annotation does not fit the call"
    TILES = "the parts do not tile the output"
    OUTSIDE = "a part lies outside its data"
    RESULT = "the result of a part is not that part of the whole result"
    BANDS = "the call writes outside its part of the output"
    INPUT = "the call writes into an input"
    HELD = "the result depends on what the output held before"
    REPEATED = "two runs on the same data differ"
    RAISED = "the call fails"


@dataclass(frozen=True)
class CallFinding:
    """A fault of a call or of its annotation.

    Attributes
    ----------
    problem : CallProblem
    text : str
        What happened, where it happened first.
    parts : int
        The number of parts in which it was seen.
    """

    problem: CallProblem
    text: str
    parts: int = 1

    def __str__(self) -> str:
        seen = f" (in {self.parts} parts)" if self.parts > 1 else ""
        return f"{self.problem.value}: {self.text}{seen}"


@dataclass(frozen=True)
class CallCheck:
    """The result of a check.

    Attributes
    ----------
    name : str
        Of the function.
    parts : int
        The number of parts that were computed.
    findings : tuple of CallFinding
        One for each problem; empty if none was found.
    hints : tuple of str
        Inputs of which less might be enough.
    """

    name: str
    parts: int
    findings: tuple[CallFinding, ...]
    hints: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """True if no fault was found."""
        return not self.findings

    @property
    def problems(self) -> frozenset[CallProblem]:
        """The kinds of the findings."""
        return frozenset(finding.problem for finding in self.findings)

    def __str__(self) -> str:
        verdict = "no fault found" if self.ok else counted(len(self.findings), "fault")
        lines = [f"{self.name}: {verdict} in {self.parts} parts"]
        lines += [f"  {finding}" for finding in self.findings]
        lines += [f"  hint: {hint}" for hint in self.hints]
        return "\n".join(lines)


def check(
    function: AnnotatedFunction,
    kinds: Mapping[str, DataKind],
    arguments: Mapping[str, Any],
    parts: int = 20,
    seed: int = 0,
    tolerance: float = 0.0,
) -> CallCheck:
    """Run a call on the whole data and on parts of them, and compare the results.

    Each part of the output is computed from copies of the parts that the annotation says are
    consumed, with guard bands around them, twice, into outputs that hold different values before.

    Parameters
    ----------
    function : AnnotatedFunction
    kinds : mapping
        The kind of each data structure, by parameter.
    arguments : mapping
        A value for each parameter, whole data structures among them; they are not changed.
    parts : int
        The number of parts.
    seed : int
        Of the choice of parts.
    tolerance : float
        The largest difference of results, relative to the largest number of the part, for functions
        whose order of operations depends on extents; 0 compares bit by bit.

    Returns
    -------
    CallCheck

    Raises
    ------
    ProgramError
        If a kind or an argument is missing, or the number of parts is not positive.

    Notes
    -----
    The check finds faults; it proves nothing. It cannot find

    * an annotation that asks for more than the call needs, which costs time and is correct; a hint
      says where half of a part gave the same results,
    * needs that depend on values and that these data do not show, such as a maximum that lies in
      the part by chance: check on several random data,
    * reads outside a part that have no effect on the result,
    * writes far outside a part: a guard band has four elements on each side,
    * extents and sizes that were not drawn.

    For kinds with exact fields, such as the ring of a neighbourhood, whether the parts tile the
    output is not checked.

    Examples
    --------
    >>> import numpy as np
    >>> from fuseloom.calls.annotated import annotate
    >>> from fuseloom.calls.data_kinds import Vector
    >>> text = '''t: Symbolic for x in [0, out.len, t] { produces { out {start: x, len: t} }
    ...           when consumes { a {start: x, len: t + HALO} } }'''
    >>> kinds = {"a": Vector(), "out": Vector()}
    >>> data = {"a": np.arange(10.0) ** 2, "out": np.zeros(9)}
    >>> sums = lambda a, out: np.add(a[:-1], a[1:], out=out)
    >>> print(check(annotate(sums, text.replace("HALO", "1"), name="sums"), kinds, data))
    sums: no fault found in 20 parts
    >>> check(annotate(sums, text.replace("HALO", "2"), name="sums"), kinds, data).ok
    False
    """
    _require(function, kinds, arguments, parts)
    run = _CheckRun(function, kinds, arguments, tolerance)
    rng = np.random.default_rng(seed)
    if run.annotation_fits() and run.computes_the_whole():
        run.look_at_tiles(rng)
        drawn = list(drawn_parts(function.annotation, kinds, run.known, parts, rng))
        sound = [part for part in drawn if run.check_part(part)]
        hints = run.hints(sound) if not run.found else ()
        return CallCheck(function.name, len(sound), run.findings(), tuple(hints))
    return CallCheck(function.name, 0, run.findings())


def _require(
    function: AnnotatedFunction,
    kinds: Mapping[str, DataKind],
    arguments: Mapping[str, Any],
    parts: int,
) -> None:
    if parts < 1:
        raise ProgramError(f"{parts} parts are checked; at least one is needed")
    for name in function.parameters:
        if name not in arguments:
            raise ProgramError(f"{function.name} is checked without a value for {name}")
    for name in function.data:
        if name not in kinds:
            raise ProgramError(f"{function.name} is checked without the kind of {name}")


class _CheckRun:
    """One check: what the call computes on the whole, and what was found so far."""

    def __init__(
        self,
        function: AnnotatedFunction,
        kinds: Mapping[str, DataKind],
        arguments: Mapping[str, Any],
        tolerance: float,
    ) -> None:
        self.function, self.annotation = function, function.annotation
        self.kinds, self.arguments, self.tolerance = kinds, arguments, tolerance
        self.wholes = {name: kinds[name].whole(arguments[name]) for name in function.data}
        self.known: Environment = environment(function, kinds, arguments)
        self.found: dict[CallProblem, list[str]] = {}
        self.result: Any = None

    def find(self, problem: CallProblem, text: str) -> None:
        texts = self.found.setdefault(problem, [])
        if text not in texts:  # a part is computed more than once
            texts.append(text)

    def findings(self) -> tuple[CallFinding, ...]:
        return tuple(
            CallFinding(problem, self.found[problem][0], len(self.found[problem]))
            for problem in CallProblem
            if problem in self.found
        )

    def annotation_fits(self) -> bool:
        """Whether fields are those of the kinds, and loops and sizes make parts."""
        handles = {name: DataHandle(name, self.kinds[name]) for name in self.function.data}
        try:
            self.function(*({**self.arguments, **handles}[x] for x in self.function.parameters))
        except ProgramError as error:
            self.find(CallProblem.ANNOTATION, error.message)
            return False
        steps = [loop.step.symbol for loop in self.annotation.intervals]
        for name in self.annotation.symbolic:
            if steps.count(name) != 1:
                loops = f"{steps.count(name)} loops" if name in steps else "no loop"
                self.find(CallProblem.ANNOTATION, f"{name} is the step of {loops}")
        for loop in loop_ranges(self.annotation, self.known, extents(self.annotation, self.known)):
            if loop.step < 1 or loop.start >= loop.end:
                values = f"[{loop.start}, {loop.end}, {loop.step}]"
                self.find(CallProblem.TILES, f"the loop over {loop.variable} is empty: {values}")
        return not self.found

    def computes_the_whole(self) -> bool:
        """Run the call on the whole data; whether it ran."""
        consumed = {name: self.wholes[name] for name in self.function.data[:-1]}
        whole = SampledPart({}, self.wholes[self.function.output], consumed)
        place = f"on the whole, {whole}"
        outcome = self._run(whole, place)
        if outcome is not None:
            self.result = outcome.value
            self._compare_runs(whole, outcome, place)
        return outcome is not None

    def look_at_tiles(self, rng: np.random.Generator) -> None:
        """See whether the parts of several sizes tile the output, and lie in their data."""
        output = self.kinds[self.function.output]
        for sizes in size_choices(self.annotation, self.known, rng):
            loops = loop_ranges(self.annotation, self.known, sizes)
            count = np.prod([float(len(range(x.start, x.end, x.step))) for x in loops])
            if count > MOST_PARTS:
                continue
            made = list(every_part(self.annotation, self.kinds, self.known, sizes))
            inside = [self.lies_inside(part) for part in made]
            if all(inside) and not output.exact:
                self._look_at_coverage([part.produced for part in made], sizes)

    def _look_at_coverage(self, made: list[Fields], sizes: Mapping[str, int]) -> None:
        kind, whole = self.kinds[self.function.output], self.wholes[self.function.output]
        times = np.zeros([whole[pair.length] for pair in kind.dimensions], np.int32)
        for fields in made:
            starts = [fields[pair.start] - whole[pair.start] for pair in kind.dimensions]
            lengths = [fields[pair.length] for pair in kind.dimensions]
            times[tuple(slice(s, s + n) for s, n in zip(starts, lengths, strict=True))] += 1
        for wrong, words in ((times == 0, "in no part"), (times > 1, "in several parts")):
            if wrong.any():
                where = ", ".join(map(str, np.argwhere(wrong)[0]))
                chosen = ", ".join(f"{name} = {value}" for name, value in sizes.items())
                self.find(
                    CallProblem.TILES,
                    f"{wrong.sum()} of {times.size} elements of {self.function.output} are "
                    f"{words}, such as [{where}]{f', with {chosen}' if chosen else ''}",
                )

    def lies_inside(self, part: SampledPart) -> bool:
        """Whether a part of the output and what it consumes lie in the data."""
        inside = True
        for name, fields in ((self.function.output, part.produced), *part.consumed.items()):
            whole = self.wholes[name]
            for pair in self.kinds[name].dimensions:
                start, length = fields[pair.start], fields[pair.length]
                end = whole[pair.start] + whole[pair.length]
                if not whole[pair.start] <= start <= start + length <= end:
                    words = f"{name} {fields_in_words(fields)} of {fields_in_words(whole)}"
                    self.find(CallProblem.OUTSIDE, f"{words}, for {part}")
                    inside = False
                    break
        return inside

    def check_part(self, part: SampledPart) -> bool:
        """Run the call on a part and compare; whether it ran."""
        if not self.lies_inside(part):
            return False
        place = self._in_words(part)
        outcome = self._run(part, place)
        if outcome is None:
            return False
        expected = self.kinds[self.function.output].query(self.result, part.produced)
        if not same(outcome.value, expected, self.tolerance):
            self.find(CallProblem.RESULT, f"{_difference(outcome.value, expected)}, {place}")
        self._compare_runs(part, outcome, place)
        return True

    def _in_words(self, part: SampledPart) -> str:
        needs = ", ".join(f"{name} {fields_in_words(x)}" for name, x in part.consumed.items())
        return f"{self.function.output} {part} of {needs or 'nothing'}"

    def _compare_runs(self, part: SampledPart, first: GuardedPart, place: str) -> None:
        """Run again, with another value in the output, and with the same."""
        second = self._run(part, place, another=True)
        if second is None or same(first.value, second.value, self.tolerance):
            return
        third = self._run(part, place)
        if third is not None and same(first.value, third.value, self.tolerance):
            self.find(
                CallProblem.HELD,
                f"{place}; some elements are not written, or are added to",
            )
        else:
            self.find(CallProblem.REPEATED, place)

    def _run(self, part: SampledPart, place: str, another: bool = False) -> GuardedPart | None:
        """The output of a part; None if the call failed."""
        given: dict[str, Any] = dict(self.arguments)
        inputs: dict[str, GuardedPart] = {}
        try:
            for name, fields in part.consumed.items():
                inputs[name] = GuardedPart(self.kinds[name].query(self.arguments[name], fields))
                given[name] = inputs[name].value
            output = self._output(part.produced, another)
            given[self.function.output] = output.value
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                self.function.function(*(given[name] for name in self.function.parameters))
        except Exception as error:  # of a function that anybody wrote
            self.find(CallProblem.RAISED, f"{type(error).__name__}: {error}; {place}")
            return None
        for name, value in inputs.items():
            if not value.is_unchanged():
                self.find(CallProblem.INPUT, f"{name}, {place}")
        if not output.has_intact_bands():
            self.find(CallProblem.BANDS, place)
        return output

    def _output(self, produced: Fields, another: bool) -> GuardedPart:
        """Room for a part of the output, in which every element holds a wrong value."""
        name = self.function.output
        value = self.arguments[name]
        if isinstance(value, np.ndarray):
            part = self.kinds[name].query(value, produced)
            return GuardedPart(part, poison(part.dtype, another))
        room = self.kinds[name].allocate(produced)
        if isinstance(room, list):
            room = [f"<{'another' if another else 'unwritten'}>"] * len(room)
        return GuardedPart(room)

    def hints(self, parts: list[SampledPart]) -> Iterator[str]:
        """Inputs of which half gave the same results in the largest parts."""
        output = self.kinds[self.function.output]
        largest = sorted(parts, key=lambda part: -output.elements(part.produced))[:HALVED]
        for name in self.function.data[:-1]:
            for pair in self.kinds[name].dimensions:
                for words, later in (("first", False), ("second", True)):
                    halve = _halving(name, pair.start, pair.length, later)
                    tried = [part for part in largest if part.consumed[name][pair.length] > 1]
                    if len(tried) > 1 and all(self._is_enough(halve(part)) for part in tried):
                        yield (
                            f"the {words} half of {pair.length} of {name} gave the same results "
                            f"in {len(tried)} parts"
                        )

    def _is_enough(self, part: SampledPart) -> bool:
        """Whether a part is computed of a smaller one of an input."""
        before = {problem: list(texts) for problem, texts in self.found.items()}
        outcome = self._run(part, "")
        failed, self.found = self.found != before, before
        if outcome is None or failed:
            return False
        expected = self.kinds[self.function.output].query(self.result, part.produced)
        return same(outcome.value, expected, self.tolerance)


def _halving(
    name: str, start: str, length: str, later: bool
) -> Callable[[SampledPart], SampledPart]:
    def halved(part: SampledPart) -> SampledPart:
        fields = dict(part.consumed[name])
        half = fields[length] // 2
        if later:
            fields[start] += half
        fields[length] -= half
        return SampledPart(part.values, part.produced, {**part.consumed, name: fields})

    return halved


def _difference(found: Any, expected: Any) -> str:
    """The first element that differs."""
    if isinstance(found, np.ndarray) and isinstance(expected, np.ndarray):
        differs = ~((found == expected) | ((found != found) & (expected != expected)))
        if differs.any():
            place = tuple(np.argwhere(differs)[0])
            where = ", ".join(map(str, place))
            return f"[{where}] is {found[place]!s} and not {expected[place]!s}"
    return "it differs"
