"""Statements of a program on elements of access patterns, which are read where they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from math import prod
from typing import TypeAlias

from fuseloom.access.program_lines import Assignment, IndexNames, access, program_text
from fuseloom.access.readings import Reading, constant, index, number, whole_tensor
from fuseloom.access.shapes import Dims
from fuseloom.access.views import ElementView, aligned, regrouped
from fuseloom.errors import ProgramError
from fuseloom.program.limits import MAX_RANK
from fuseloom.program.relations import affine_text
from fuseloom.program.windows import IndexSum, are_filled

Form: TypeAlias = Callable[[Sequence[str], Sequence[str]], str]
"""The accesses of a statement, and the indices that it reduces, to its right side."""


@dataclass
class PatternStatements:
    """The statements on patterns that were written so far, each of which assigns a new tensor.

    Attributes
    ----------
    given : mapping
        Names and extents of the tensors that the program is given.
    """

    given: Mapping[str, Dims]
    _lines: dict[str, Assignment] = field(default_factory=dict)
    _made: dict[Dims, str] = field(default_factory=dict)
    _uses: Counter[str] = field(default_factory=Counter)
    _adds_rows: bool = False

    def __post_init__(self) -> None:
        self._names = IndexNames(self.given)

    # Operations -------------------------------------------------------------------------------

    def product(self, readings: Sequence[Reading], kept: int) -> Reading:
        """The product of patterns, summed over all dimensions but the first.

        Parameters
        ----------
        readings : sequence of Reading
            Of the same extents.
        kept : int
            The number of dimensions that stay.

        Examples
        --------
        >>> writer = PatternStatements({"x": (3,), "y": (3,)})
        >>> made = writer.product([whole_tensor("x", (3,)), whole_tensor("y", (3,))], 0)
        >>> print(writer.program("dot", "R", made))
        program dot
        x: 3 dense
        y: 3 dense
        R: scalar
        R = x[i] * y[i]
        output R
        """
        readings = [self._settled(x) for x in self.aligned(readings)]
        value = prod(x.value for x in readings if x.value is not None)
        factors = [x for x in readings if x.value is None]
        left, extents = _kept(readings[0], kept), readings[0].view.extents
        read = {n for x in factors for n in x.read}
        value *= prod(extents[n] for n in range(left, len(extents)) if n not in read)
        if not factors:
            return number(value, _shortened(readings[0].view, kept))

        def form(texts: Sequence[str], _: Sequence[str]) -> str:
            text = " * ".join(texts)
            if value == 1:
                return text
            return f"{value!r} * ({text})" if len(texts) > 1 else f"{value!r} * {text}"

        return self._write(factors, kept, form, whole=all(x.is_complete for x in factors))

    def sum(self, readings: Sequence[Reading], kept: int) -> Reading:
        """The sum of patterns, and over all dimensions but the first."""
        if len(readings) == 1:
            return self.product(readings, kept)
        readings = [self._settled(x) for x in self.aligned(readings)]
        view = readings[0].view
        if all(x.value is not None for x in readings):
            total = sum(x.value or 0.0 for x in readings)
            return self.product([number(total, view)], kept)
        readings = [x if x.value is None else self._stored_number(x) for x in readings]
        left = _kept(readings[0], kept)
        unread = {*range(left, len(view.extents))}.difference(*(x.read for x in readings))
        times = float(prod(view.extents[n] for n in unread))

        def form(texts: Sequence[str], _: Sequence[str]) -> str:
            text = " + ".join(texts)
            return text if times == 1 else f"{times!r} * ({text})"

        whole = all(x.is_complete for x in readings)
        return self._write(readings, kept, form, whole=whole, adds=True)

    def largest(self, reading: Reading, kept: int) -> Reading:
        """The largest of the elements along all dimensions but the first.

        Raises
        ------
        ProgramError
            If a window holds nothing but minus infinity.
        """
        reading = self._settled(reading, infinite=True)
        if reading.value is not None:
            return number(reading.value, _shortened(reading.view, kept))
        if reading.filling == "minimum" and not reading.is_inside:
            if not reading.whole:
                base = self.complete(whole_tensor(reading.tensor, reading.shape))
                reading = replace(reading, tensor=base.tensor, whole=True)
            left = _kept(reading, kept)
            inside = [name for name in reading.extents if int(name) >= left]
            if not are_filled([reading.window()], reading.extents, inside):
                raise ProgramError(
                    "the largest of nothing is minus infinity, which no element of a program is",
                    hint="use less padding, or larger windows",
                )
        else:
            reading = self.complete(reading)

        def form(texts: Sequence[str], reduced: Sequence[str]) -> str:
            return f"max[{','.join(reduced)}] {texts[0]}" if reduced else texts[0]

        return self._write([reading], kept, form, whole=True)

    def larger(self, readings: Sequence[Reading]) -> Reading:
        """The larger of two patterns, element by element."""
        several = [self.complete(self.tensor_of(self._settled(x))) for x in readings]
        return self._write(several, len(several[0].dims), lambda x, _: f"max({x[0]}, {x[1]})",
                           whole=True)  # fmt: skip

    def function(self, name: str, reading: Reading) -> Reading:
        """A function of every element; of one that is not 0 at 0, :meth:`complete` comes first."""
        reading = self._settled(reading)
        if reading.value is not None:
            reading = self._stored_number(reading)

        def form(texts: Sequence[str], reduced: Sequence[str]) -> str:
            return (
                f"{name}(sum[{','.join(reduced)}] {texts[0]})" if reduced else f"{name}({texts[0]})"
            )

        return self._write([reading], len(reading.dims), form, whole=reading.is_complete)

    def softmax(self, reading: Reading, kept: int) -> Reading:
        """Powers of e, divided by their sum over all dimensions but the first."""
        reading = self.complete(self._settled(reading))
        if reading.value is not None:
            extents = reading.view.extents[_kept(reading, kept) :]
            return number(1.0 / prod(extents), reading.view)
        count = len(reading.dims)

        def within(small: Reading) -> Reading:
            """A result of the first dimensions, by the indices of all."""
            return small.moved(
                lambda view: ElementView(reading.dims, lambda x: view.read(
                    x[: len(view.extents)]), groups=reading.view.groups))  # fmt: skip

        less = self._write([reading, within(self.largest(reading, kept))], count,
                           lambda x, _: f"{x[0]} - {x[1]}", whole=True)  # fmt: skip
        power = self.function("exp", less)
        total = within(self.product([power], kept))
        return self._write([power, total], count, lambda x, _: f"{x[0]} / {x[1]}", whole=True)

    def joined(self, readings: Sequence[Reading], axis: int) -> Reading:
        """Patterns one after the other along a dimension."""
        several = [self.tensor_of(x) for x in readings]
        dims = list(several[0].dims)
        dims[axis] = sum(x.dims[axis] for x in several)
        names = self._names.all_of(tuple(dims))
        texts = []
        for x in several:
            self._uses[x.tensor] += 1
            texts.append(f"{x.tensor}[{','.join(names)}]")
        right = f"concat[{names[axis]}]({', '.join(texts)})"
        line = self._line(tuple(dims), tuple(names), right)
        return replace(
            whole_tensor(line.name, line.dims), whole=all(x.is_complete for x in several)
        )

    # Other forms of a pattern -----------------------------------------------------------------

    def aligned(self, readings: Sequence[Reading]) -> list[Reading]:
        """Patterns by the same indices: what was flattened in another way is stored first."""
        if not any(x.view.groups for x in readings):
            return list(readings)
        common = aligned([x.view for x in readings])
        if common is None:
            return [self.plain(x) for x in readings]
        groups = common[0].groups
        return [x.moved(lambda view: regrouped(view, groups)) for x in readings]

    def plain(self, reading: Reading) -> Reading:
        """A pattern with an index per dimension."""
        if not reading.view.groups:
            return reading
        if reading.value is not None:
            return number(reading.value, constant(reading.dims))
        return self.tensor_of(reading)

    def tensor_of(self, reading: Reading) -> Reading:
        """A tensor of the extents of a pattern, which holds its elements in order."""
        itself = whole_tensor(reading.tensor, reading.dims)
        alike = reading.shape == reading.dims and not reading.view.groups
        if alike and reading.value is None and reading.sums() == itself.sums():
            return reading
        return self.reshaped(self.copied(self._settled(reading)), reading.dims)

    def complete(self, reading: Reading) -> Reading:
        """A pattern whose zeros are all there: functions and maxima skip what is absent.

        Raises
        ------
        ProgramError
            If it holds minus infinity.
        """
        if reading.value is not None or reading.is_complete:
            return reading
        copied = self.copied(self._settled(reading))
        line = self._reshape(copied, copied.shape, "dense")
        return replace(copied, tensor=line.name, whole=True)

    def copied(self, reading: Reading) -> Reading:
        """A pattern in a tensor of its own, with all indices that count several elements."""
        extents = reading.view.extents
        read = reading.read
        unread = [n for n, extent in enumerate(extents) if extent > 1 and n not in read]
        factors = [reading]
        if unread or reading.value is not None:
            factors.append(self._ones(reading.view, unread))
        return self.product(factors, len(reading.dims))

    def reshaped(self, reading: Reading, dims: Dims) -> Reading:
        """The elements of a result in order, in other dimensions."""
        if reading.shape == dims:
            return replace(whole_tensor(reading.tensor, dims), whole=reading.whole)
        line = self._reshape(reading, dims, "dense" if reading.whole else "compressed")
        return replace(whole_tensor(line.name, dims), whole=reading.whole)

    def _stored_number(self, reading: Reading) -> Reading:
        """A number as a scalar, which is read by the indices of the pattern."""
        point = constant(())
        made = self.product([replace(reading, places=(point,)), self._ones(point, [])], 0)
        return replace(made, places=(constant(reading.dims, reading.view.groups),))

    def _ones(self, view: ElementView, numbers: Sequence[int]) -> Reading:
        """A tensor of ones along some indices."""
        dims = (*(view.extents[n] for n in numbers), 1)
        name = self._made.setdefault(dims, self._fresh("ones"))
        places = (*(index(view.dims, n, view.groups) for n in numbers),)
        zero = constant(view.dims, view.groups)
        return Reading(name, dims, (*places, zero, zero))

    # Text -------------------------------------------------------------------------------------

    def _settled(self, reading: Reading, *, infinite: bool = False) -> Reading:
        """A pattern of which something is read; zeros outside of a tensor are absent.

        Raises
        ------
        ProgramError
            If it holds minus infinity.
        """
        if reading.value is not None or reading.is_inside:
            return reading
        if reading.filling == "minimum":
            if infinite:
                return reading
            raise ProgramError(
                "minus infinity is no element of a program",
                hint="pad with zeros, or take the largest elements of windows",
            )
        return number(0.0, reading.view) if reading.is_outside else reading

    def _write(
        self, readings: Sequence[Reading], kept: int, form: Form, *, whole: bool, adds: bool = False
    ) -> Reading:
        """A statement on patterns by the same indices; the result is read by the first of them."""
        view = readings[0].view
        left = _kept(readings[0], kept)
        names: dict[int, str] = {}
        used: set[str] = set()
        single: list[str] = []
        alone: set[int] = set()
        places = [_cleaned(x) for x in readings]
        for n in sorted({int(name) for each in places for place in each for name in place.names}):
            names[n] = self._names.one_of(view.extents[n], used)
        sets: set[frozenset[str]] = set()
        texts = []
        for reading, each in zip(readings, places, strict=True):
            shown: list[str] = []
            ones, more = iter(single), list[str]()
            for place, extent in zip(each, reading.shape, strict=True):
                if not place.terms and not place.offset and extent == 1:
                    if (one := next(ones, None)) is None:
                        one = self._names.one_of(1, used)
                        more.append(one)
                    shown.append(one)
                    continue
                named = [(factor, names[int(name)]) for name, factor in place.terms]
                text = affine_text(named, place.offset)
                if not place.offset and [factor for factor, _ in named] == [1]:
                    at = int(place.names[0])
                    if view.extents[at] == extent:
                        alone.add(at)
                    else:
                        text += "+0"  # or the index would count as many elements as the tensor has
                shown.append(text)
            self._uses[reading.tensor] += 1
            texts.append(access(reading.tensor, shown))
            single += more
            named_at = {x for place in each for x in place.names}
            sets.add(frozenset(named_at.union(set(shown).intersection(single))))
        self._adds_rows |= adds and len(sets) > 1
        out = [n for n in sorted(names) if n < left]
        inner = [n for n in sorted(names) if n >= left]
        self._names.declared.update({names[n]: view.extents[n] for n in inner if n not in alone})
        right = form(texts, [*(names[n] for n in inner), *single])
        line = self._line(tuple(view.extents[n] for n in out), tuple(names[n] for n in out), right)
        groups = view.groups[:kept]
        made = (*(index(view.dims[:kept], n, groups) for n in out),
                constant(view.dims[:kept], groups))  # fmt: skip
        return Reading(line.name, line.dims, made, whole)

    def _line(self, dims: Dims, indices: tuple[str, ...], right: str) -> Assignment:
        if len(dims) > MAX_RANK:
            raise ProgramError(
                f"a tensor would have {len(dims)} dimensions, more than {MAX_RANK}",
                hint="use fewer dimensions",
            )
        line = Assignment(self._fresh("t"), dims, indices, right)
        self._lines[line.name] = line
        return line

    def _reshape(self, reading: Reading, dims: Dims, format: str) -> Assignment:
        """A reshape of a whole tensor."""
        self._uses[reading.tensor] += 1
        source = access(reading.tensor, self._names.all_of(reading.shape))
        line = self._line(dims, self._names.all_of(dims), f"reshape({source})")
        line.format, line.fixed = format, True
        return line

    def _fresh(self, base: str) -> str:
        names = (f"{base}{n}" for n in count(len(self._lines) + 1))
        taken = self.given, self._lines, self._made.values()
        return next(name for name in names if not any(name in x for x in taken))

    def program(self, name: str, result: str, reading: Reading) -> str:
        """The text of a program whose result is a pattern.

        Parameters
        ----------
        name : str
            Of the program.
        result : str
            Of its output.
        """
        reading = self._settled(reading)
        line = self._lines.get(reading.tensor)
        order = None if line is None else self._order(reading, line)
        if line is None or order is None:
            line = self._lines[self.copied(reading).tensor]
            order = tuple(range(len(line.dims)))
        if not line.fixed:
            line.indices = tuple(line.indices[k] for k in order)
            line.dims = tuple(line.dims[k] for k in order)
        if line.dims != reading.dims:
            line = self._reshape(whole_tensor(line.name, line.dims), reading.dims, "compressed")
        del self._lines[line.name]
        line.name = result
        self._lines[result] = line
        return program_text(
            name, self.given, {x: dims for dims, x in self._made.items()}, self._names.declared,
            self._lines.values(), result, adds_rows=self._adds_rows,
        )  # fmt: skip

    def _order(self, reading: Reading, line: Assignment) -> tuple[int, ...] | None:
        """The order of the dimensions of a result in which a pattern has all its elements."""
        places = [place.terms for place in reading.sums()]
        if self._uses[line.name] or any(place.offset for place in reading.sums()):
            return None
        at = [int(terms[0][0]) if len(terms) == 1 and terms[0][1] == 1 else -1 for terms in places]
        extents = reading.view.extents
        several = {n for n, extent in enumerate(extents) if extent > 1}
        if -1 in at or len({*at}) < len(at) or not several <= {*at}:
            return None
        if any(extents[n] != extent for n, extent in zip(at, reading.shape, strict=True)):
            return None
        order = tuple(sorted(range(len(at)), key=at.__getitem__))
        return None if line.fixed and order != tuple(range(len(at))) else order


def _kept(reading: Reading, kept: int) -> int:
    """The number of indices of the first dimensions."""
    return sum(len(reading.view.group(k)) for k in range(kept))


def _shortened(view: ElementView, kept: int) -> ElementView:
    return constant(view.dims[:kept], view.groups[:kept])


def _cleaned(reading: Reading) -> list[IndexSum]:
    """Places without indices that count one element only, but for a dimension of one element."""
    extents = reading.extents
    found = []
    for place, extent in zip(reading.sums(), reading.shape, strict=True):
        single = [c for _, c in place.terms] == [1] and extents[place.names[0]] == 1
        if not (extent == 1 and single and not place.offset):
            terms = tuple((name, c) for name, c in place.terms if extents[name] > 1)
            place = IndexSum(terms, place.offset)
        found.append(place)
    return found
