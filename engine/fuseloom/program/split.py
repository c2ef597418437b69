"""Splitting a compound expression into statements of one operation each.

An index that the output lacks is reduced by the smallest operation that contains all its uses,
so ``T[i,l] = A[i,j] * B[j,k] * C[k,l]`` becomes ``T_1[i,k] = A[i,j] * B[j,k]`` and
``T[i,l] = T_1[i,k] * C[k,l]``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from fuseloom.errors import ProgramError
from fuseloom.program.functions import Op
from fuseloom.program.syntax import (
    Binary,
    Expression,
    Gather,
    NonzeroExpression,
    Read,
    Reduce,
    SourcePlace,
    StatementSyntax,
    Unary,
    canonical_order,
)
from fuseloom.program.types import Access, Statement


@dataclass(frozen=True)
class PlacedAccess:
    """An access and the places of its name and of each index."""

    access: Access
    place: SourcePlace
    index_places: tuple[SourcePlace, ...]


@dataclass(frozen=True)
class PlacedStatement:
    """A statement and the places of its output, then of its operands.

    ``everywhere`` is the place of a constant that asks for every coordinate of the operand.
    """

    statement: Statement
    places: tuple[PlacedAccess, ...]
    everywhere: SourcePlace | None = None


def split(syntax: StatementSyntax, taken: set[str]) -> list[PlacedStatement]:
    """Statements of one operation each, the last one assigning the target.

    Parameters
    ----------
    syntax : StatementSyntax
        One line of the text.
    taken : set of str
        Names that intermediates must avoid; the new names are added to it.

    Raises
    ------
    ProgramError
        A reduction that is ambiguous, or that binds an index the operand lacks.
    """
    target = _placed(syntax.target)
    splitter = _Splitter(target.access, taken)
    splitter.assign(syntax.expression, target, inside=None)
    return splitter.statements


def _placed(read: Read) -> PlacedAccess:
    indices = tuple(x.text for x in read.indices)
    return PlacedAccess(
        Access(read.name, indices), read.place, tuple(x.place for x in read.indices)
    )


class _Splitter:
    """Collects the statements of one line, producers first.

    ``inside`` names the function around an expression: there an omitted index is ambiguous,
    since ``exp`` of a sum and a sum of ``exp`` differ.

    An intermediate that is a sum has its indices in the order of the result, those that the result
    lacks last: in that order sums that broadcast are formed, whichever operand comes first
    (``docs/spec/program.md`` §4).
    """

    def __init__(self, target: Access, taken: set[str]) -> None:
        self.name = target.tensor
        self.rank = {x: k for k, x in enumerate(target.indices)}
        self.taken = taken
        self.count = 0
        self.statements: list[PlacedStatement] = []

    def assign(
        self,
        node: Expression,
        target: PlacedAccess | None,
        inside: str | None,
        needed: Iterable[str] = (),
        bound: frozenset[str] = frozenset(),
        kept: tuple[str, ...] | None = None,
        order: tuple[str, ...] = (),
    ) -> PlacedAccess:
        """Emit what computes ``node``; without a target into a fresh intermediate.

        ``bound`` holds the indices an explicit ``sum[...]`` around ``node`` reduces, ``kept`` those
        that it leaves.  ``order`` is that of the indices of the sum that reads ``node``, where the
        sum reduces some.
        """
        if target is not None:
            needed = target.access.indices
        if kept is None:
            kept = tuple(x for x in node.free if x in set(needed) and x not in bound)
            if _adds(node):
                kept = self._ranked(kept, node)
            elif order:
                kept = tuple(sorted(kept, key=order.index))
        wanted = frozenset(kept) | bound
        constant: float | None = None
        match node:
            case Read():
                self._refuse_omitted(node, wanted, inside)
                op, operands = Op.SUM, [_placed(node)]
            case NonzeroExpression(operand=inner):
                reshapes = isinstance(inner, Unary) and inner.op is Op.RESHAPE
                made = self.assign(
                    inner, None if reshapes else target, inside, needed, bound, kept, order
                )
                last = self.statements[-1]
                self.statements[-1] = replace(last, statement=replace(last.statement, nonzero=True))
                return made
            case Unary(op=Op.RESHAPE as op, operand=inner):
                if target is None:
                    raise _error(
                        "a reshape inside an expression does not say its shape",
                        "give it a statement of its own, and declare the shape of its result",
                        node.place,
                    )
                operands = [self.operand(inner, inner.free, None)]
            case Gather():
                return self._gather(node, target, inside, kept, wanted)
            case Unary(op=op, operand=inner):
                constant = node.constant
                linear = op is Op.SCALE and inside is None
                around = inside if op is Op.SCALE else _WORDS.get(op, op.value)
                operands = [self.operand(inner, wanted, around, linear)]
                if not linear:
                    self._refuse_omitted(inner, wanted, around)
            case Binary(op=op, left=left, right=right, word=word):
                around = word or inside
                reduces = op.unites and not set(node.free) <= set(kept)
                order = canonical_order(node) if reduces else ()
                operands = [
                    self.operand(left, wanted.union(right.free), around, order=order),
                    self.operand(right, wanted.union(left.free), around, order=order),
                ]
                if around is not None:
                    self._refuse_unshared(node, operands, wanted, around)
            case Reduce(op=Op.SUM, operand=(Binary(word=None) | Gather(axis=None)) as inner):
                self._check_bound(node, target)
                names = frozenset(x.text for x in node.bound)
                return self.assign(inner, target, inside, kept, names, kept)
            case Reduce(op=op, operand=inner):
                self._check_bound(node, target)
                within = wanted.union(x.text for x in node.bound)
                around = inside
                if op is Op.MAX:  # a sum of sums is not ambiguous, a max of sums is
                    around = f"{node.word}[{','.join(x.text for x in node.bound)}]"
                operands = [self.operand(inner, within, around)]
                self._refuse_omitted(inner, within, around)
            case _:
                raise AssertionError(f"{node} is folded when it is read")
        made = self._emit(op, operands, target, kept, node.place, constant)
        if isinstance(node, Unary) and node.everywhere:
            self.statements[-1] = replace(self.statements[-1], everywhere=node.place)
        return made

    def _gather(
        self,
        node: Gather,
        target: PlacedAccess | None,
        inside: str | None,
        kept: tuple[str, ...],
        wanted: frozenset[str],
    ) -> PlacedAccess:
        """A product of many factors at once, or operands put behind one another in pairs."""
        operands = [self.operand(part, part.free, inside) for part in node.operands]
        if node.axis is None:
            if inside is not None:
                self._refuse_alone(operands, wanted, inside)
            return self._emit(node.op, operands, target, kept, node.place)
        axis = node.axis.text
        for part in node.operands:
            if axis not in part.free:
                raise _error(
                    f"an operand of concat[{axis}] lacks the index {axis}",
                    "give every operand the index along which it is put behind the others",
                    node.axis.place,
                )
        joined = operands[0]
        for k, operand in enumerate(operands[1:], 2):
            place = target if k == len(operands) else None
            joined = self._emit(node.op, [joined, operand], place, node.free, node.place, axis=axis)
        return joined

    def _emit(
        self,
        op: Op,
        operands: list[PlacedAccess],
        target: PlacedAccess | None,
        kept: tuple[str, ...],
        place: SourcePlace,
        constant: float | None = None,
        axis: str | None = None,
    ) -> PlacedAccess:
        """Add a statement; without a target it assigns a fresh intermediate over ``kept``."""
        if target is None:
            target = self._fresh(kept, place)
        line, column = target.place
        accesses = tuple(operand.access for operand in operands)
        statement = Statement(target.access, op, accesses, constant, axis, line, column)
        self.statements.append(PlacedStatement(statement, (target, *operands)))
        return target

    def _ranked(self, kept: tuple[str, ...], node: Expression) -> tuple[str, ...]:
        """Indices of a sum in the order of the result, then in one that its operands agree on."""
        lacking = [x for x in kept if x not in self.rank]
        if len(lacking) > 1:
            lacking.sort(key=canonical_order(node).index)
        return (*sorted(self.rank.keys() & set(kept), key=self.rank.__getitem__), *lacking)

    def operand(
        self,
        node: Expression,
        needed: Iterable[str],
        inside: str | None,
        reduce: bool = False,
        order: tuple[str, ...] = (),
    ) -> PlacedAccess:
        """The access that holds ``node``: itself, or an intermediate.

        With ``reduce`` a plain access is summed first if it has an index nobody needs.
        """
        if isinstance(node, Read):
            read = _placed(node)
            if not reduce or set(node.free) <= set(needed):
                return read
        return self.assign(node, None, inside, needed, order=order)

    def _fresh(self, indices: tuple[str, ...], place: SourcePlace) -> PlacedAccess:
        while True:
            self.count += 1
            name = f"{self.name}_{self.count}"
            if name not in self.taken:
                break
        self.taken.add(name)
        return PlacedAccess(Access(name, indices), place, (place,) * len(indices))

    def _refuse_omitted(
        self, operand: Expression, wanted: frozenset[str], inside: str | None
    ) -> None:
        """Refuse an index of a plain operand that only omission would reduce."""
        if inside is None or not isinstance(operand, Read):
            return
        for index in operand.indices:
            if index.text not in wanted:
                raise _ambiguous(index.text, inside, index.place)

    def _refuse_unshared(
        self,
        node: Binary,
        operands: list[PlacedAccess],
        wanted: frozenset[str],
        inside: str,
    ) -> None:
        """Inside a function only a contraction, ``A[i,k] * X[k,j]``, reduces by omission."""
        left, right = operands
        for one, other in ((left, right), (right, left)):
            for index, place in zip(one.access.indices, one.index_places, strict=True):
                shared = node.op is Op.MUL and index in other.access.indices
                if index not in wanted and not shared:
                    raise _ambiguous(index, inside, place)

    def _refuse_alone(
        self, operands: list[PlacedAccess], wanted: frozenset[str], inside: str
    ) -> None:
        """Inside a function a product reduces by omission only what factors share."""
        times = Counter(x for operand in operands for x in operand.access.indices)
        for operand in operands:
            for index, place in zip(operand.access.indices, operand.index_places, strict=True):
                if index not in wanted and times[index] < 2:
                    raise _ambiguous(index, inside, place)

    def _check_bound(self, node: Reduce, target: PlacedAccess | None) -> None:
        word = node.word
        if not node.bound:
            raise _error(
                f"{word}[] names no index to reduce",
                f"name the index, e.g. {word}[m] S[i,m]",
                node.place,
            )
        seen: set[str] = set()
        for index in node.bound:
            if index.text in seen:
                raise _error(
                    f"{word}[...] names index {index.text} twice", "name it once", index.place
                )
            seen.add(index.text)
            if index.text not in node.operand.free:
                has = ", ".join(node.operand.free) or "no index"
                raise _error(
                    f"{word}[...] reduces index {index.text}, which its operand lacks",
                    f"the operand has {has}",
                    index.place,
                )
            if target is not None and index.text in target.access.indices:
                raise _error(
                    f"index {index.text} is reduced by {word}[...] but still in the output "
                    f"{target.access}",
                    f"remove {index.text} from the output or from {word}[...]",
                    index.place,
                )


def _adds(node: Expression) -> bool:
    """Return whether an expression is a sum or pairwise maximum, or a function or fold of one."""
    while isinstance(node, Unary | NonzeroExpression | Reduce):
        node = node.operand
    return isinstance(node, Binary) and node.op.unites


_WORDS = {Op.AT_LEAST: "max"}


def _error(message: str, hint: str, place: SourcePlace) -> ProgramError:
    return ProgramError(message, hint=hint, line=place[0], column=place[1])


def _ambiguous(index: str, inside: str, place: SourcePlace) -> ProgramError:
    return _error(
        f"index {index} is missing from the result of {inside}: "
        f"it is not clear whether to sum before or after {inside}",
        f"write two statements, or say where with sum[{index}](...)",
        place,
    )
