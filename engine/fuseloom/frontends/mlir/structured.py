"""Structured operations as statements."""

from __future__ import annotations

from dataclasses import replace

from fuseloom.errors import ProgramError
from fuseloom.frontends.algebra.expressions import (
    CAST,
    Arg,
    Node,
    Num,
    Raw,
    arguments,
    is_known,
)
from fuseloom.frontends.mlir.exactness import absent_is_zero
from fuseloom.frontends.mlir.moves import insert_slice
from fuseloom.frontends.mlir.operands import sizes_of
from fuseloom.frontends.mlir.reductions import Reductions
from fuseloom.frontends.mlir.syntax import Result, Slice, Sum, Type, Typed, Use
from fuseloom.frontends.mlir.values import Blank, ConstantTensor, Ignored, Value, View
from fuseloom.program.relations import affine_text


class Structured(Reductions):
    """Adds the statements of one structured operation."""

    def results(self) -> tuple[Value, ...]:
        trees = zip(self.computation.trees, range(len(self.names)), strict=True)
        self._note_stored()
        return tuple(
            tree if isinstance(tree, Ignored) else self._lazily(tree, n) for tree, n in trees
        )

    def _note_stored(self) -> None:
        """Say where an operation means something else than over dense tensors."""

        def lacks(number: int) -> bool:
            return self.builder.may_lack(self.operands[number])

        for tree in self.computation.trees:
            if not isinstance(tree, Ignored) and not absent_is_zero(tree, lacks):
                self.builder.notes.append(
                    f"line {self.place[0]}: the operation acts on the elements that are stored; "
                    "over dense tensors it would give other elements than 0 elsewhere"
                )

    def _lazily(self, tree: Node, n: int) -> Value:
        """A result; what is wrong with one of integers counts where it is needed."""
        try:
            found = self._result(tree, n)
        except ProgramError as problem:
            if not self.types[n].is_integer:
                raise
            return Ignored(problem.message, problem)
        if isinstance(found, View) and self.types[n].format is None and not self.whole:
            read = [self.operands[k] for k in arguments(tree) if k >= 0]
            return replace(found, holes=any(isinstance(x, View) and x.holes for x in read))
        return found

    # Results.

    def _result(self, tree: Node, n: int) -> Value:
        number = self.inputs + n
        start = self.operands[number]
        sizes = sizes_of(start) or ()
        type_ = self.types[n]
        if any(isinstance(x, Sum) for x in self.results_of(number)):
            return self._placed(tree, n)
        out = self._output(number)
        if isinstance(tree, Num):
            return Blank(sizes, type_.format, tree.value)
        if self._over(out):
            return self._reduced(tree, number, out, sizes, type_)
        cast = isinstance(tree, Raw) and tree.name == CAST
        if isinstance(tree, Raw) and cast:
            tree = tree.operands[0]
        source = self.operands[tree.number] if isinstance(tree, Arg) and tree.number >= 0 else None
        if isinstance(source, Blank):  # a copy has no more elements
            holds_zeros = source.fill is None and source.format is not None
            return Blank(sizes, type_.format, 0.0 if holds_zeros else source.fill)
        if isinstance(tree, Arg) and (moved := self._moved(tree, out, n, cast)) is not None:
            return moved
        free = self.free(tree)
        if is_known(tree):
            read = self._emit(tree, self.names[n]).access
            return self._viewed(read, out, sizes)
        indices = self._kept(out, free)
        left = [x for x in free if x not in indices]
        if left:
            raise self.refuse(
                f"index {left[0]} is parallel, but the output's map lacks it",
                "mark it as reduction and accumulate, or give the output the index",
            )
        made = self._assign(tree, self.names[n], indices, self._typed(type_, out, indices))
        return self._viewed(made, out, sizes)

    def _placed(self, tree: Node, n: int) -> Value:
        """A result that is written at other places than those it is computed for."""
        number = self.inputs + n
        positions = self.results_of(number)
        start, type_ = self.operands[number], self.types[n]
        terms = [_term(x) for x in positions]
        dims = [x for x, _, _ in terms if x is not None]
        into = self.builder.constant(start) if isinstance(start, ConstantTensor) else start
        whole = len(set(dims)) == len(dims) == len(self.computation.dims)
        if not whole or any(step < 1 for _, step, _ in terms) or not isinstance(into, View | Blank):
            shown = next(affine_text([*x.terms], x.offset) for x in positions if isinstance(x, Sum))
            raise self.refuse(
                f"the output is written at {shown}",
                "give its map one dimension per result, and multiply by a tensor that says "
                'where it goes: an argument with {fuseloom.where = "d1 = 2*d0"}',
            )
        counts = [1 if x is None else self.sizes[x].value for x, _, _ in terms]
        if None in counts:
            raise self.refuse("a size is not known here", "write the size, or give shapes")
        known = tuple(c or 0 for c in counts)
        shape = tuple(c for c, (x, _, _) in zip(known, terms, strict=True) if x is not None)
        free = self.free(tree)
        indices = tuple(self.index[x] for x in dims)
        if isinstance(tree, Num) or is_known(tree) or set(free) != set(indices):
            raise self.refuse(
                "what is written at other places lacks an index", "multiply by a tensor of ones"
            )
        part = self._assign(tree, f"{self.names[n]}_part", indices, None)
        used = Use(part.tensor, 0, self.place)
        body = Slice(
            Typed(used, Type(type_.element, shape, place=self.place)),
            Typed(used, type_),
            tuple(offset for _, _, offset in terms),
            known,
            tuple(step for _, step, _ in terms),
            type_,
        )
        sizes = tuple(self.sizes[x] for x in dims)
        view = View(part.tensor, tuple(range(len(dims))), sizes)
        return insert_slice(self.builder, body, view, into, _known, self.names[n], self.place)

    def _output(self, number: int) -> tuple[str | None, ...]:
        """Return the index that writes each output dimension, or None for the constant 0."""
        out: list[str | None] = []
        for x in self.results_of(number):
            assert not isinstance(x, Sum)
            if x is not None and x in out:
                raise self.refuse(
                    f"the output has the index {x} twice",
                    "use two indices, and multiply by an argument "
                    'with {fuseloom.where = "d1 = d0"}',
                )
            out.append(x)
        return tuple(out)

    def _moved(self, tree: Arg, out: tuple[str | None, ...], n: int, cast: bool) -> Value | None:
        """A bare yield that needs no statement: of a constant, a broadcast, a change of type."""
        value = self.operands[tree.number] if tree.number >= 0 else None
        source = self.results_of(tree.number) if tree.number >= 0 else ()
        if any(isinstance(x, Sum) for x in source):
            return None
        if (
            isinstance(value, ConstantTensor)
            and None not in source
            and sorted(map(str, source)) == sorted(map(str, out))
        ):
            permutation = tuple(value.permutation[source.index(x)] for x in out)
            fmt, blocks = self.types[n].format, self.types[n].blocks
            same = permutation == value.permutation and fmt == value.format
            name = value.name if same else self.names[n]
            return replace(value, name=name, permutation=permutation, format=fmt, blocks=blocks)
        sizes = sizes_of(self.operands[self.inputs + n]) or ()
        if isinstance(value, ConstantTensor) and value.rank == 0 and value.splat is not None:
            return Blank(sizes, self.types[n].format, value.splat)
        access = self.read(tree.number).access
        names = tuple(None if x is None else self.index[x] for x in out)
        broadcast = any(x not in access.indices for x in names)
        if not set(access.indices) <= set(names):
            return None
        if not broadcast and not (cast and access.indices == names):
            return None
        return self._viewed(access, out, sizes)


def _term(x: Result) -> tuple[str | None, int, int]:
    """The dimension of a place, its coefficient and what is added; no coefficient of sums."""
    if not isinstance(x, Sum):
        return x, 1, 0
    if not x.terms:
        return None, 1, x.offset
    ((step, name), *more) = x.terms
    return name, 0 if more else step, x.offset


def _known(place: int | Use) -> int:
    assert isinstance(place, int)
    return place
