"""The conditions of a meaningful program, checked in one place.

The parser and programs built by hand go through the same checks; text only adds places.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from fuseloom.errors import ProgramError
from fuseloom.program.blocking import BlockConflictError, settle
from fuseloom.program.completeness import ElementPresence, presences
from fuseloom.program.declarations import (
    check_format,
    check_made,
    check_name,
    check_shape,
    check_tensor_name,
)
from fuseloom.program.dense_levels import dense_problem
from fuseloom.program.formats import Format, LevelFormat, did_you_mean, suggestion
from fuseloom.program.functions import Op
from fuseloom.program.limits import (
    MAX_STATEMENTS,
)
from fuseloom.program.syntax import SourcePlace
from fuseloom.program.types import Access, BroadcastAdd, Program, Statement, Tensor
from fuseloom.wording import counted

Places = Mapping[tuple[str | int, ...], SourcePlace]
"""The positions of a program's parts in the text.

The keys are ``("tensor", n, part)`` with part name, shape, format, order or block, ``("access",
statement, k)`` and ``("index", statement, k, position)`` where ``k`` is 0 for the output and counts
operands from 1, ``("output", n)`` and ``("program",)``.
"""


def verify(program: Program) -> None:
    """Refuse a program that has no meaning.

    Raises
    ------
    ProgramError
        Names the statement, tensor or index at fault, the rule, and the way out.
    """
    checked = Checker(
        program.name, program.tensors, program.statements, program.broadcast_add, {}
    ).run(program.outputs)
    for tensor, settled in zip(program.tensors, checked, strict=False):
        if tensor.format != settled.format:
            raise ProgramError(
                f"tensor {tensor.name} is {_blocks(tensor)}, but by its indices it is "
                f"{_blocks(settled)}",
                hint="fuseloom.program.block_program gives every tensor the blocks of its indices",
            )
    if len(checked) > len(program.tensors):
        missing = checked[len(program.tensors)]
        raise ProgramError(
            f"tensor {missing.name} is assigned but not among the program's tensors",
            hint="add it to Program.tensors",
        )


def _blocks(tensor: Tensor) -> str:
    fmt = tensor.format
    over = ",".join(map(str, fmt.blocked))
    return f"blocked over {over}" if fmt.blocked else "not blocked"


_OUTER = {Op.MAXIMUM: "maximum"}


def _joined(s: Statement) -> str:
    """Two operands as the text joins them."""
    left, right = s.operands
    return f"max({left}, {right})" if s.op is Op.MAXIMUM else f"{left} {s.op.value} {right}"


class Checker:
    """Checks tensors, statements in order, then outputs.

    Parameters
    ----------
    declared : sequence of Tensor
        Tensors whose shape and format are given; assigned tensors may be left out.
    places : Places
        Where the text has things; empty for a program without text.
    """

    def __init__(
        self,
        name: str,
        declared: Sequence[Tensor],
        statements: Sequence[Statement],
        broadcast_add: BroadcastAdd,
        places: Places,
    ) -> None:
        self.name = name
        self.tensors = {t.name: t for t in declared}
        self.declared = tuple(declared)
        self.statements = tuple(statements)
        self.broadcast_add = broadcast_add
        self.places = places
        self.producers: dict[str, int] = {}
        for n, s in enumerate(self.statements):
            self.producers.setdefault(s.out.tensor, n)

    def run(self, outputs: Sequence[str]) -> tuple[Tensor, ...]:
        """Check everything; all tensors, the undeclared ones last in order of assignment."""
        check_name(self._error, "the program", self.name, ("program",))
        self._check_declarations()
        if not self.statements:
            raise self._error(
                "the program has no statement", "write one, e.g. T[i] = A[i,j] * x[j]", ("program",)
            )
        if len(self.statements) > MAX_STATEMENTS:
            raise self._error(
                f"the program has {counted(len(self.statements), 'statement')} of one operation "
                "each, "
                f"the limit is {MAX_STATEMENTS:,}",
                "split the program",
                ("access", MAX_STATEMENTS, 0),
            )
        for n, statement in enumerate(self.statements):
            self._check_statement(n, statement)
        self._settle_blocks()
        self._check_outputs(outputs)
        return tuple(self.tensors.values())

    # Names and declarations.

    def _check_declarations(self) -> None:
        seen: dict[str, int] = {}
        for n, tensor in enumerate(self.declared):
            at = ("tensor", n, "name")
            check_tensor_name(self._error, tensor.name, at)
            if tensor.name in seen:
                first = self.places.get(("tensor", seen[tensor.name], "name"))
                where = f", first on line {first[0]}" if first else ""
                raise self._error(
                    f"tensor {tensor.name} is declared twice{where}", "remove one of them", at
                )
            seen[tensor.name] = n
            check_shape(self._error, tensor, ("tensor", n, "shape"), at)
            check_format(self._error, tensor, n)
            check_made(self._error, tensor, n, self.producers.get(tensor.name))

    def _settle_blocks(self) -> None:
        """Blocks of assigned tensors follow from those of the inputs."""
        try:
            _, settled = settle(tuple(self.tensors.values()), self.statements)
        except BlockConflictError as conflict:
            raise self._error(conflict.message, conflict.hint, conflict.place) from None
        self.tensors = {t.name: t for t in settled}

    # Statements.

    def _check_statement(self, n: int, s: Statement) -> None:
        at = ("access", n, 0)
        if not s.op.takes(len(s.operands)):
            raise self._error(
                f"{s.op.value} takes {counted(s.op.arity, 'operand')}, statement {s.out} gives it "
                f"{len(s.operands)}",
                "give as many operands as the operation takes",
                at,
            )
        if (s.constant is not None) != s.op.takes_constant:
            raise self._error(
                f"{s.op.value} {'needs a' if s.op.takes_constant else 'takes no'} constant",
                "only scale, shift and at least carry one",
                at,
            )
        if s.constant is not None and not math.isfinite(s.constant):
            raise self._error(f"the constant of {s.out} is not finite", "use a finite number", at)
        if s.op is Op.AT_LEAST and s.constant == 0:
            raise self._error(f"{s.out} is at least 0, which is relu", "write relu", at)
        if s.nonzero and (not s.out.indices or not s.op.fuses):
            raise self._error(
                f"{s.out} is a {'reshape' if s.out.indices else 'scalar'}, which keeps its zeros",
                "write it without nonzero, and take what is not zero of it in another statement"
                if s.out.indices
                else "write it without nonzero",
                at,
            )
        check_tensor_name(self._error, s.out.tensor, at)
        if self.producers[s.out.tensor] != n:
            first = self.places.get(("access", self.producers[s.out.tensor], 0))
            where = f", first on line {first[0]}" if first else ""
            raise self._error(
                f"tensor {s.out.tensor} is assigned twice{where}",
                "give each statement its own output",
                at,
            )
        for k, operand in enumerate(s.operands, 1):
            self._check_known(n, k, operand)
        sizes = self._check_indices(n, s)
        self._check_concat(n, s, sizes)
        self._check_reshape(n, s)
        self._check_reduction(n, s)
        self._check_broadcast(n, s)
        declared = self.tensors.get(s.out.tensor)
        if declared is None:
            shape = tuple(sizes[x] for x in s.out.indices)
            tensor = Tensor(s.out.tensor, shape, Format.compressed(len(shape)))
            check_shape(self._error, tensor, at)
            self.tensors[tensor.name] = tensor

    def _check_known(self, n: int, k: int, access: Access) -> None:
        name, at = access.tensor, ("access", n, k)
        producer = self.producers.get(name)
        if producer is None and name not in self.tensors:
            known = [*self.tensors, *self.producers]
            close = did_you_mean(name, known)
            shape = "x".join("8" * len(access.indices)) + " csf" if access.indices else "scalar"
            declare = f"declare it, e.g. {name[:20]}: {shape}"
            raise self._error(
                f"tensor {name[:40]} is neither declared nor assigned",
                f"did you mean {close!r}?" if close else declare,
                at,
            )
        if producer == n:
            raise self._error(
                f"the statement that assigns {name} also reads it",
                "give the result another name",
                at,
            )
        if producer is not None and producer > n:
            place = self.places.get(("access", producer, 0))
            where = f" on line {place[0]}" if place else " later"
            raise self._error(
                f"tensor {name} is read before it is assigned{where}",
                "put the statement that assigns it first",
                at,
            )

    def _check_indices(self, n: int, s: Statement) -> dict[str, int]:
        """Ranks, repeated indices, sizes; the size of each index."""
        sizes: dict[str, int] = {}
        origin: dict[str, str] = {}
        # The output comes last: it may lack a declaration.
        for k, access in (*enumerate(s.operands, 1), (0, s.out)):
            tensor = self.tensors.get(access.tensor)
            if tensor is not None and tensor.rank != len(access.indices):
                raise self._error(
                    f"{access} has {counted(len(access.indices), 'index', 'indices')}, "
                    f"but {tensor.name} has {counted(tensor.rank, 'dimension')}",
                    "write one index per dimension",
                    ("access", n, k),
                )
            for axis, x in enumerate(access.indices):
                at = ("index", n, k, axis)
                check_name(self._error, "an index", x, at)
                if access.indices.index(x) != axis:
                    raise self._error(
                        f"index {x} occurs twice in {access}",
                        "read the diagonal of a tensor, A[i,i], in a program's text: it becomes a "
                        "product",
                        at,
                    )
                if k == 0 and x not in sizes and s.op.fuses:
                    raise self._error(
                        f"index {x} of the output {s.out} is in no operand",
                        "remove it, or multiply by a tensor of ones that has it",
                        at,
                    )
                if tensor is None:
                    continue
                size = tensor.shape[axis]
                if x == s.axis or not s.op.fuses:
                    sizes.setdefault(x, size)  # not one size: see the checks of these operations
                    continue
                if sizes.setdefault(x, size) != size:
                    raise self._error(
                        f"index {x} has two sizes: {sizes[x]} in {origin[x]} "
                        f"and {size} in dimension {axis} of {access}",
                        "use another index, or make the dimensions agree",
                        at,
                    )
                origin.setdefault(x, f"dimension {axis} of {access}")
        return sizes

    def _check_concat(self, n: int, s: Statement, sizes: dict[str, int]) -> None:
        """All operands have the same indices; the sizes along the axis add up."""
        at = ("access", n, 0)
        if (s.axis is not None) != (s.op is Op.CONCAT):
            raise self._error(
                f"{s.op.value} {'needs an' if s.op is Op.CONCAT else 'takes no'} axis",
                "only concat has one",
                at,
            )
        if s.axis is None:
            return
        for k, operand in enumerate(s.operands, 1):
            missing = [x for x in (*s.out.indices, s.axis) if x not in operand.indices]
            if missing:
                raise self._error(
                    f"concat[{s.axis}] of {s.out}: {operand} lacks the index {missing[0]}",
                    "all operands of a concat have the same indices",
                    ("access", n, k),
                )
        parts = [self.tensors[a.tensor].shape[a.indices.index(s.axis)] for a in s.operands]
        sizes[s.axis] = sum(parts)
        declared = self.tensors.get(s.out.tensor)
        if declared is not None and s.axis in s.out.indices:
            size = declared.shape[s.out.indices.index(s.axis)]
            if size != sum(parts):
                raise self._error(
                    f"index {s.axis} of {s.out} has size {size}, but its operands have "
                    f"{' + '.join(map(str, parts))}",
                    "declare the sum of the sizes, or leave the declaration out",
                    at,
                )

    def _check_reshape(self, n: int, s: Statement) -> None:
        """As many elements as before, in a shape that is declared."""
        if s.op is not Op.RESHAPE:
            return
        at = ("access", n, 0)
        declared = self.tensors.get(s.out.tensor)
        if declared is None:
            shape = "x".join("8" * len(s.out.indices))
            raise self._error(
                f"the shape of {s.out.tensor}, a reshape of {s.operands[0]}, is not declared",
                f"declare it, e.g. {s.out.tensor}: {shape} csf",
                at,
            )
        given = self.tensors[s.operands[0].tensor]
        if math.prod(declared.shape) != math.prod(given.shape):
            raise self._error(
                f"{given.name} has {counted(math.prod(given.shape), 'place')}, {declared.name} has "
                f"{math.prod(declared.shape):,}",
                "a reshape keeps the number of places",
                at,
            )

    def _check_reduction(self, n: int, s: Statement) -> None:
        at = ("access", n, 0)
        if s.op is Op.MAX and not s.reduced:
            raise self._error(
                f"the max of {s.out} reduces no index", "name one that the output lacks", at
            )
        unary = s.op.arity == 1 and s.op not in (Op.SUM, Op.MAX)
        if (unary or s.op in (Op.CONCAT, Op.MAXIMUM)) and s.reduced:
            raise self._error(
                f"{s.op.value} of {s.operands[0]} cannot also reduce {', '.join(s.reduced)}",
                "write two statements",
                at,
            )

    def _check_broadcast(self, n: int, s: Statement) -> None:
        if not s.op.joins_by_union or self.broadcast_add is BroadcastAdd.DENSE:
            return
        left, right = (set(a.indices) for a in s.operands)
        if left - right and right - left:
            raise self._error(
                f"{_joined(s)} is an outer {_OUTER.get(s.op, 'sum')}: each operand "
                "lacks an index of the other, so neither says which elements exist",
                "write 'option broadcast_add dense', or multiply one by a dense tensor of ones",
                ("access", n, 0),
            )

    # Outputs.

    def _check_outputs(self, outputs: Sequence[str]) -> None:
        if not outputs:
            raise self._error("the program has no output", "name one, e.g. output Y", ("program",))
        seen: set[str] = set()
        for n, name in enumerate(outputs):
            at = ("output", n)
            if name not in self.producers:
                if name in self.tensors:
                    message = f"output {name} is an input: no statement assigns it"
                else:
                    message = f"output {name[:40]} is neither declared nor assigned"
                raise self._error(message, suggestion(name, list(self.producers)), at)
            if name in seen:
                raise self._error(f"output {name} is named twice", "name it once", at)
            seen.add(name)
        readers = {a.tensor: s for s in self.statements for a in s.operands}
        program = self._program(outputs)
        found: dict[str, ElementPresence] = {}
        for n, tensor in enumerate(self.declared):
            if tensor.name not in self.producers or tensor.name not in readers:
                continue
            if not self.statements[self.producers[tensor.name]].op.fuses:
                continue  # memory may hold it in any format
            if all(level is LevelFormat.COMPRESSED for level in tensor.format.levels):
                continue
            found = found or presences(program)
            if problem := dense_problem(program, tensor, found):
                raise self._error(*problem, ("tensor", n, "format"), ("tensor", n, "name"))

    def _program(self, outputs: Sequence[str]) -> Program:
        tensors = tuple(self.tensors.values())
        return Program(self.name, tensors, self.statements, tuple(outputs), self.broadcast_add)

    def _error(self, message: str, hint: str, *keys: tuple[str | int, ...]) -> ProgramError:
        """An error at the first of ``keys`` that has a place, else at its statement."""
        place = next((self.places[key] for key in keys if key in self.places), None)
        if place is None and keys and keys[0][0] in ("access", "index"):
            s = self.statements[int(keys[0][1])]
            place = (s.line, s.column or 1) if s.line is not None else None
        line, column = place or (None, None)
        return ProgramError(message, hint=hint, line=line, column=column)
