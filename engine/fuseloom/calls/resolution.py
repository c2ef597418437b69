"""Parts that calls compute and need, resolved from a part of the result backwards.

The last call's loops cut the result into tiles.  Each call before it computes the part of its
output that later calls need for a tile; where several need different parts, the smallest part that
holds all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from fuseloom.calls.annotated import DataHandle, FunctionCall, IntegerArgument
from fuseloom.calls.composition import Composition
from fuseloom.calls.data_kinds import FieldPair
from fuseloom.calls.language.annotation import Annotation, Interval, Subset
from fuseloom.calls.parts import (
    CallPart,
    KeptParts,
    PartFields,
    Resolution,
    SlidingWindow,
    TileLoop,
    required_bounds,
    superset,
)
from fuseloom.calls.polynomials import DataField, Polynomial, Symbol, largest
from fuseloom.errors import ProgramError, ScheduleError


def resolve(
    composition: Composition,
    kept: KeptParts | None = None,
    prefix: str = "",
    reused: Mapping[str, int] | None = None,
    order: Sequence[int] = (),
    taken: Iterable[str] = (),
) -> Resolution:
    """Resolve the parts that calls need of each other.

    Parameters
    ----------
    kept : mapping, optional
        Intermediates of a larger composition that are computed before, and, where the result is
        one, the part of it that is computed.
    prefix : str
        In front of the names of sizes of tiles.
    reused : mapping, optional
        Names of intermediates of which a tile keeps what it shares with the one before, and the
        level of the loop.
    order : sequence of int
        The loops of the last call's annotation from the outermost in; by default as they are.
    taken : iterable of str
        Names that loops do not get, such as those of loops around.

    Raises
    ------
    ProgramError
        If the loops of the last call do not make tiles, or a call cannot compute the part that is
        needed of it.

    Examples
    --------
    >>> import numpy as np
    >>> from fuseloom.calls.annotated import annotate
    >>> from fuseloom.calls.composition import compose
    >>> from fuseloom.calls.data_kinds import Vector
    >>> sums = annotate(lambda a, out: np.add(a[:-1], a[1:], out=out), '''t: Symbolic
    ...     for x in [0, out.len, t] {
    ...     produces { out {start: x, len: t} } when consumes { a {start: x, len: t + 1} } }''',
    ...     name="sums")
    >>> a, b, c = (DataHandle(name, Vector()) for name in "abc")
    >>> first, last = resolve(compose([sums(a, b), sums(b, c)])).parts
    >>> {name: str(value) for name, value in first.produced.items()}
    {'start': 'x', 'len': 't_len + 1'}
    """
    resolver = _Resolver(composition, kept or {}, taken)
    loops, bound = resolver.tiles(prefix)
    if order:
        loops = tuple(loops[number] for number in order)
    resolver.reused = dict(reused or {})
    resolver.loops = loops
    parts = resolver.parts(bound, tuple(fact for loop in loops for fact in loop.facts))
    for part in parts:
        part.require_possible()
    steps = [str(loop.step.symbol) for loop in loops if loop.length]
    parameters = (*steps, *composition.integers)
    return Resolution(composition, loops, parts, parameters, resolver.windows, resolver.taken)


def whole_parts(composition: Composition) -> KeptParts:
    """The part of each intermediate that is needed for the whole result.

    Raises
    ------
    ProgramError
        If a loop of the last call has no size of tiles that could be the whole extent, or calls
        cannot be resolved.

    Examples
    --------
    >>> import numpy as np
    >>> from fuseloom.calls.annotated import annotate
    >>> from fuseloom.calls.composition import compose
    >>> from fuseloom.calls.data_kinds import Vector
    >>> exp = annotate(np.exp, '''t: Symbolic for x in [0, out.len, t] {
    ...     produces { out {start: x, len: t} } when consumes { a {start: x, len: t} } }''',
    ...     ["a", "out"])
    >>> a, b, c = (DataHandle(name, Vector()) for name in "abc")
    >>> whole = whole_parts(compose([exp(a, b), exp(b, c)]))
    >>> {handle.name: str(part["len"]) for handle, part in whole.items()}
    {'b': 'c.len', 'c': 'c.len'}
    """
    return {part.call.output: part.extended for part in _whole_tile(composition)}


def whole_reads(composition: Composition) -> KeptParts:
    """The part of each data structure that is given and needed for the whole result.

    Raises
    ------
    ProgramError
        As :func:`whole_parts`.

    Examples
    --------
    >>> from fuseloom.calls.annotated import annotate
    >>> from fuseloom.calls.composition import compose
    >>> from fuseloom.calls.data_kinds import Vector
    >>> sums = annotate(lambda a, out: None, '''t: Symbolic for x in [0, out.len, t] {
    ...     produces { out {start: x, len: t} } when consumes { a {start: x, len: t + 1} } }''')
    >>> a, b = (DataHandle(name, Vector()) for name in "ab")
    >>> ((handle, part),) = whole_reads(compose([sums(a, b)])).items()
    >>> handle.name, str(part["len"])
    ('a', 'b.len + 1')
    """
    reads: dict[DataHandle, list[PartFields]] = {}
    for part in _whole_tile(composition):
        for parameter, fields in part.consumed:
            handle = part.call.arguments[parameter]
            if handle not in composition.producers:
                reads.setdefault(handle, []).append(fields)
    return {handle: superset(handle, parts) for handle, parts in reads.items()}


def _whole_tile(composition: Composition) -> tuple[CallPart, ...]:
    """The parts of all calls where one tile is the whole result."""
    resolver = _Resolver(composition, {})
    loops, bound = resolver.tiles("")
    for loop, interval in zip(
        loops, composition.calls[-1].function.annotation.intervals, strict=True
    ):
        if not loop.length:
            raise ProgramError(
                f"the loop over {loop.variable} of {composition.calls[-1].function.name} has no "
                "size of tiles, so that the whole is no tile",
                hint="make its step symbolic",
            )
        bound[interval.variable] = loop.start
        bound[str(interval.step.symbol)] = loop.end - loop.start
    return resolver.parts(bound, ())


class _Resolver:
    """The parts of all calls of a composition, the last first."""

    def __init__(
        self, composition: Composition, kept: KeptParts, taken: Iterable[str] = ()
    ) -> None:
        self.taken = frozenset(taken) | composition.names
        self.composition = composition
        self.kept = kept
        self.reused: dict[str, int] = {}
        self.loops: tuple[TileLoop, ...] = ()
        self.windows: dict[DataHandle, SlidingWindow] = {}

    def parts(
        self, bound: Mapping[str, Polynomial], facts: tuple[Polynomial, ...]
    ) -> tuple[CallPart, ...]:
        """The part of each call, where the last computes a tile."""
        calls = self.composition.calls
        wanted: dict[DataHandle, list[PartFields]] = {}
        found: list[CallPart] = []
        for call in reversed(calls):
            if call is calls[-1]:
                values = {**_arguments(call), **bound}
            else:
                needed = superset(call.output, wanted[call.output], facts)
                if call.output.name in self.reused:
                    needed = self._beyond(call.output, needed)
                values = {**_arguments(call), **self._solved(call, needed, facts)}
            part = self._part(call, values, facts)
            if call is not calls[-1]:
                part = replace(part, required=required_bounds(part, needed, facts))
            if call.output in self.windows and dict(part.produced) != dict(needed):
                raise ScheduleError(
                    f"{call.function.name} does not compute exactly the part of "
                    f"{call.output.name} that is new in a tile"
                )
            found.append(part)
            for parameter, fields in part.consumed:
                handle = call.arguments[parameter]
                if handle in self.composition.producers:
                    wanted.setdefault(handle, []).append(fields)
        return tuple(reversed(found))

    def _beyond(self, handle: DataHandle, fields: PartFields) -> PartFields:
        """The part of an intermediate that a tile needs and the tile before did not compute."""
        level = self.reused[handle.name]
        loop = self.loops[level]
        moving = [
            pair for pair in handle.kind.dimensions if _reads(fields[pair.start], loop.variable)
        ]
        if len(moving) != 1:
            raise ScheduleError(
                f"the parts of {handle.name} do not move along one dimension from tile to tile of "
                f"the loop over {loop.variable}"
            )
        (pair,) = moving
        for inner in self.loops[level + 1 :]:
            if any(_reads(x, inner.variable) for x in fields.values()):
                raise ScheduleError(
                    f"the part of {handle.name} depends on {inner.variable}, whose loop lies "
                    f"within that over {loop.variable}",
                    hint="reuse it in the innermost loop, or exchange the loops",
                )
        others = [x for name, x in fields.items() if name not in (pair.start, pair.length)]
        if any(_reads(x, loop.variable) for x in (*others, fields[pair.length])):
            raise ScheduleError(
                f"the room of {handle.name} depends on {loop.variable}, the variable of the loop"
            )
        ready = f"{handle.name}_ready"
        while {ready, f"{ready}_from"} & self.taken:
            ready += "_"
        self.windows[handle] = SlidingWindow(level, pair, fields, ready)
        start = Polynomial.of(ready)
        end = fields[pair.start] + fields[pair.length]
        return {**fields, pair.start: start, pair.length: end - start}

    def tiles(self, prefix: str) -> tuple[tuple[TileLoop, ...], dict[str, Polynomial]]:
        """The loops over the result, and what the annotation's variables are within them."""
        call = self.composition.calls[-1]
        annotation = call.function.annotation
        _require_tiles(call, annotation)
        loops: list[TileLoop] = []
        bound: dict[str, Polynomial] = {}
        variables = _arguments(call)
        names = self._fresh_names(annotation, prefix)
        variables |= {name: Polynomial.of(names[name]) for name in annotation.symbolic}
        for interval in annotation.intervals:
            start, end = self._bounds(call, interval, variables)
            step = self._named(interval.step, call, variables)
            size = interval.step.symbol
            length = f"{names[str(size)]}_len" if size in annotation.symbolic else ""
            variable = names[interval.variable]
            loops.append(TileLoop(variable, start, end, step, length))
            bound[interval.variable] = Polynomial.of(variable)
            if length:
                bound[str(size)] = Polynomial.of(length)
        return tuple(loops), bound

    def _fresh_names(self, annotation: Annotation, prefix: str) -> dict[str, str]:
        """Names of loops and sizes that no data structure and no integer argument has."""
        taken = {*self.taken}
        names: dict[str, str] = {}
        for name in (*annotation.symbolic, *(loop.variable for loop in annotation.intervals)):
            fresh = f"{prefix}{name}" if name in annotation.symbolic else name
            while fresh in taken or f"{fresh}_len" in taken:
                fresh += "_"
            names[name] = fresh
            taken |= {fresh, f"{fresh}_len"}
        return names

    def _bounds(
        self, call: FunctionCall, interval: Interval, variables: Mapping[str, Polynomial]
    ) -> tuple[Polynomial, Polynomial]:
        """The bounds of a loop; those of the part that is kept where only that is computed."""
        region = self.kept.get(call.output)
        if region is not None:
            produced = dict(call.function.annotation.produces.fields)
            for pair in call.output.kind.dimensions:
                if produced[pair.start].symbol == interval.variable:
                    return region[pair.start], region[pair.start] + region[pair.length]
        start, end = (self._named(x, call, variables) for x in (interval.start, interval.end))
        return start, end

    def _named(
        self, value: Polynomial, call: FunctionCall, variables: Mapping[str, Polynomial]
    ) -> Polynomial:
        """An expression of an annotation, with variables and fields as the caller names them."""

        def named(atom: Symbol | DataField) -> Polynomial | None:
            if isinstance(atom, Symbol):
                return variables.get(atom.name)
            handle: DataHandle = call.arguments[atom.data]
            if handle in self.kept:
                return self.kept[handle][atom.name]
            if handle in self.composition.producers and handle != self.composition.result:
                raise ProgramError(
                    f"{call.function.name} reads {atom.name} of {handle.name}, an intermediate of "
                    "which only parts are computed",
                    hint="make the extent an integer argument of the function",
                )
            return Polynomial.of(DataField(handle.name, atom.name))

        return value.substituted(named)

    def _part(
        self,
        call: FunctionCall,
        values: Mapping[str, Polynomial],
        facts: tuple[Polynomial, ...],
    ) -> CallPart:
        """The part that a call computes, and those that it reads."""
        annotation = call.function.annotation

        def fields(subset: Subset) -> PartFields:
            return {field: self._named(value, call, values) for field, value in subset.fields}

        consumed: dict[str, list[PartFields]] = {}
        for subset in annotation.consumes:
            consumed.setdefault(subset.data, []).append(fields(subset))
        read = tuple(
            (name, superset(call.arguments[name], parts, facts)) for name, parts in consumed.items()
        )
        return CallPart(call, fields(annotation.produces), read)

    def _solved(
        self, call: FunctionCall, needed: PartFields, facts: tuple[Polynomial, ...]
    ) -> dict[str, Polynomial]:
        """The annotation's variables such that the call computes at least what is needed."""
        annotation = call.function.annotation
        produced = dict(annotation.produces.fields)
        unknown = {*annotation.symbolic, *(loop.variable for loop in annotation.intervals)}
        arguments = _arguments(call)
        values: dict[str, Polynomial] = {}

        def known(value: Polynomial) -> Polynomial:
            return self._named(value, call, {**arguments, **values})

        for pair in call.output.kind.dimensions:
            _solve_start(call, pair, produced, needed, unknown, values)
        lengths: dict[str, list[Polynomial]] = {}
        for pair in call.output.kind.dimensions:
            length = _linear(produced[pair.length], unknown)
            if length is None:
                continue
            name, factor, rest = length
            end = needed[pair.start] + needed[pair.length]
            room = end - known(produced[pair.start]) - known(rest)
            lengths.setdefault(name, []).append((room + (factor - 1)) // factor)
        for name, wanted in lengths.items():
            values[name] = largest(wanted, facts)
        for field in call.output.kind.exact:
            symbol = produced[field].symbol
            if symbol in unknown:
                values[str(symbol)] = needed[field]
        left = sorted(unknown - set(values))
        if left:
            raise ProgramError(
                f"{call.function.name} computes {call.output.name}, and which part of it "
                f"{left[0]} stands for is not said",
                hint=f"use {left[0]} in a field of what it produces",
            )
        return values


def _require_tiles(call: FunctionCall, annotation: Annotation) -> None:
    """Refuse loops that leave a part of the result out."""
    name = call.function.name
    used = {x.name for _, value in annotation.produces.fields for x in value.atoms()}
    for interval in annotation.intervals:
        if interval.variable not in used:
            raise ProgramError(
                f"the loop over {interval.variable} of {name} does not say which part it computes",
                hint=f"use {interval.variable} in what it produces",
            )
    steps = [interval.step.symbol for interval in annotation.intervals]
    for symbol in annotation.symbolic:
        if symbol not in steps:
            raise ProgramError(
                f"{symbol} of {name} is the step of no loop, so that its tiles do not cover "
                f"{call.output.name}",
                hint=f"make {symbol} the step of a loop",
            )
        if steps.count(symbol) > 1:
            raise ProgramError(f"{symbol} of {name} is the step of two loops")


def _arguments(call: FunctionCall) -> dict[str, Polynomial]:
    """Integer arguments of a call by parameter."""
    found: dict[str, Polynomial] = {}
    for parameter, value in call.arguments.items():
        if isinstance(value, IntegerArgument):
            found[parameter] = Polynomial.of(value.name)
        elif isinstance(value, int):
            found[parameter] = Polynomial.of(value)
    return found


def _solve_start(
    call: FunctionCall,
    pair: FieldPair,
    produced: Mapping[str, Polynomial],
    needed: PartFields,
    unknown: set[str],
    values: dict[str, Polynomial],
) -> None:
    """Have the variable of a start be such that the part begins where it is needed, or before."""
    linear = _linear(produced[pair.start], unknown)
    if linear is None:
        return
    name, factor, rest = linear
    if rest.number is None:
        raise ProgramError(
            f"{call.function.name} produces {pair.start}: {produced[pair.start]}, which is not "
            f"solved for {name}",
            hint="write a variable, times and plus numbers",
        )
    value = (needed[pair.start] - rest) // factor
    if values.setdefault(name, value) != value:
        raise ProgramError(
            f"{call.function.name} computes parts on a diagonal, and other ones are needed of "
            f"{call.output.name}"
        )


def _reads(value: Polynomial, name: str) -> bool:
    return Symbol(name) in set(value.atoms())


def _linear(value: Polynomial, unknown: set[str]) -> tuple[str, int, Polynomial] | None:
    """A variable that is not known, its factor, and the rest; None if there is no such variable."""
    found = [
        (monomial[0].name, factor)
        for monomial, factor in value.terms.items()
        if len(monomial) == 1 and isinstance(monomial[0], Symbol) and monomial[0].name in unknown
    ]
    names = {x.name for x in value.atoms() if isinstance(x, Symbol)} & unknown
    if not names:
        return None
    if len(names) > 1 or len(found) != 1 or found[0][1] < 1:
        raise ProgramError(
            f"what is produced, {value}, is no variable times and plus numbers",
            hint="write fields such as x, 2*x or x + 1",
        )
    name, factor = found[0]
    return name, factor, value - factor * Polynomial.of(name)
