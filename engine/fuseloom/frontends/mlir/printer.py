"""From a program to MLIR that reads back to the same program."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from fuseloom.arguments import check_arguments
from fuseloom.errors import ProgramError
from fuseloom.frontends.mlir.print_statements import StatementPrinter, float_text
from fuseloom.frontends.mlir.syntax import WHERE
from fuseloom.frontends.mlir.translate import SETTING
from fuseloom.program.storage import StoredTensor
from fuseloom.program.types import BroadcastAdd, Program, Statement


@runtime_checkable
class ScheduleLike(Protocol):
    """The parts of a schedule that MLIR can express; ``fl.Schedule`` is one."""

    @property
    def fusions(self) -> Sequence[Any]: ...
    @property
    def orders(self) -> Sequence[Any]: ...
    @property
    def settings(self) -> Sequence[Any]: ...


@check_arguments
def to_mlir(
    program: Program,
    schedule: ScheduleLike | None = None,
    data: Mapping[str, StoredTensor] | None = None,
) -> str:
    """MLIR text of a program; ``from_mlir`` reads it back to a program of the same meaning.

    Parameters
    ----------
    schedule : Schedule, optional
        Every region that it fuses, and every statement outside one, becomes a function that
        ``@main`` calls; maps declare their dimensions in the orders it gives to statements.  What
        MLIR cannot say (other directives, orders of regions) is listed in comments.  Without a
        schedule all is one function.
    data : mapping, optional
        Inputs to write out as ``dense<...>``; the others are arguments of ``@main``.

    Raises
    ------
    ProgramError
        Blocks, which the subset does not have, or a schedule that names no statement.

    Examples
    --------
    >>> from fuseloom.program import parse
    >>> program = parse("A: 4x4 csr\\nx: 4 dense\\ny[i] = A[i,j] * x[j]")
    >>> "linalg.generic" in to_mlir(program)
    True
    """
    if program.block > 1:
        raise ProgramError(
            "the MLIR subset has no tensors in blocks",
            hint="declare the tensors without blocks; a schedule's 'block' adds them",
        )
    return _Printer(program, schedule, data or {}).text()


class _Printer:
    def __init__(
        self,
        program: Program,
        schedule: ScheduleLike | None,
        data: Mapping[str, StoredTensor],
    ) -> None:
        self.program = program
        self.schedule = schedule
        self.data = {n: d for n, d in data.items() if n in program.given}
        orders = {o.first: o.indices for o in schedule.orders if o.last is None} if schedule else {}
        self.statements = StatementPrinter(program, orders)
        self.ssa = self.statements.ssa

    def text(self) -> str:
        groups = self._groups()
        read = {a.tensor for s in self.program.live for a in s.operands}
        inputs = [n for n in self.program.inputs if n in read]
        functions: list[str] = []
        constants = [self._constant(n) for n in inputs if n in self.data]
        arguments = [n for n in inputs if n not in self.data]
        if len(groups) == 1:
            body = [line for s in groups[0] for line in self.statements.lines(s)]
            functions.append(
                self._function("main", arguments, [*constants, *body], self.program.outputs)
            )
        else:
            functions = self._regions(groups, arguments, constants)
        head = [*self._comments(), *self.statements.aliases()]
        return "\n".join([*head, self._module(), *functions, "}", ""])

    def _comments(self) -> Iterable[str]:
        """Yield the parts of the schedule that MLIR cannot express."""
        if self.schedule is None:
            return
        for order in self.schedule.orders:
            if order.last is not None:
                yield f"// not said below: {order}"
        for setting in self.schedule.settings:
            yield f"// not said below: {setting}"

    def _module(self) -> str:
        name = _symbol(self.program.name)
        if self.program.broadcast_add is BroadcastAdd.SPARSE and not self._repeats():
            return f"module @{name} {{"
        return f'module @{name} attributes {{{SETTING} = "{self.program.broadcast_add.value}"}} {{'

    def _repeats(self) -> bool:
        """Return whether a sum repeats an operand, so that the text must say what it means."""
        return any(
            set(a.indices) != set(s.out.indices)
            for s in self.program.live
            if s.op.unites
            for a in s.operands
        )

    # Regions.

    def _groups(self) -> list[list[Statement]]:
        """Statements by function; a reshape is never inside one, except where all is one."""
        live = self.program.live
        if self.schedule is None:
            return [list(live)]
        position = {s.out.tensor: k for k, s in enumerate(live)}
        owner: dict[int, int] = {}
        for n, fuse in enumerate(self.schedule.fusions):
            for name in (fuse.first, fuse.last):
                if name not in position:
                    raise ProgramError(
                        f"the schedule names {name!r}, but no statement that an output needs "
                        "assigns it",
                        hint=f"statements assign: {', '.join(position)}",
                    )
            for k in range(position[fuse.first], position[fuse.last] + 1):
                owner[k] = n
        groups: list[list[Statement]] = []
        for k, statement in enumerate(live):
            mine = owner.get(k)
            if mine is None or mine != owner.get(k - 1):
                groups.append([])
            groups[-1].append(statement)
        return groups

    def _regions(
        self, groups: list[list[Statement]], arguments: list[str], constants: list[str]
    ) -> list[str]:
        functions: list[str] = []
        main = list(constants)
        taken = {"main"}
        for group in groups:
            if len(group) == 1 and not group[0].op.fuses:
                main += self.statements.lines(group[0])
                continue
            mine = {s.out.tensor for s in group}
            reads = dict.fromkeys(
                a.tensor for s in group for a in s.operands if a.tensor not in mine
            )
            leaves = [
                s.out.tensor
                for s in group
                if s.out.tensor in self.program.outputs
                or not self.program.readers.get(s.out.tensor, frozenset()) <= mine
            ]
            name = _symbol(group[-1].out.tensor if len(group) == 1
                           else f"{group[0].out.tensor}_to_{group[-1].out.tensor}")  # fmt: skip
            while name in taken:
                name += "_"
            taken.add(name)
            body = [line for s in group for line in self.statements.lines(s)]
            functions.append(self._function(name, list(reads), body, leaves, private=True))
            main += self._call(name, list(reads), leaves)
        return [*functions, self._function("main", arguments, main, self.program.outputs)]

    def _call(self, name: str, reads: Sequence[str], leaves: Sequence[str]) -> list[str]:
        types = ", ".join(self.statements.type(n) for n in reads)
        values = ", ".join(self.ssa[n] for n in reads)
        results = ", ".join(self.ssa[n] for n in leaves)
        return [f"{results} = call @{name}({values}) : ({types}) -> {self._types(leaves)}"]

    def _types(self, names: Sequence[str]) -> str:
        types = ", ".join(self.statements.type(n) for n in names)
        return types if len(names) == 1 else f"({types})"

    def _function(
        self,
        name: str,
        arguments: Sequence[str],
        body: Sequence[str],
        returned: Sequence[str],
        private: bool = False,
    ) -> str:
        typed = ", ".join(
            f"{self.ssa[n]}: {self.statements.type(n)}{self._where(n, private)}" for n in arguments
        )
        word = "func.func private" if private else "func.func"
        lines = [f"  {word} @{name}({typed}) -> {self._types(returned)} {{"]
        lines += [f"    {line}" for line in body]
        values = ", ".join(self.ssa[n] for n in returned)
        types = ", ".join(self.statements.type(n) for n in returned)
        return "\n".join([*lines, f"    return {values} : {types}", "  }"])

    def _where(self, name: str, private: bool) -> str:
        """Return the relation of a made tensor that the program takes from outside."""
        tensor = self.program.tensor(name)
        if tensor.made is None or private:
            return ""
        names = tuple(f"d{k}" for k in range(tensor.rank))
        return f' {{{WHERE} = "{tensor.made.text(names)}"}}'

    def _constant(self, name: str) -> str:
        dense = self.data[name].to_dense()
        text = _nested(dense.tolist())
        return f"{self.ssa[name]} = arith.constant dense<{text}> : {self.statements.type(name)}"


def _symbol(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]", "_", name)


def _nested(values: Any) -> str:
    if isinstance(values, list):
        return f"[{', '.join(map(_nested, values))}]"
    return float_text(values)
