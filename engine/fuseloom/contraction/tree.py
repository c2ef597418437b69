"""Contraction trees: networks of products, two operands at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from fuseloom.errors import ProgramError
from fuseloom.program import Access, Op, Program, Statement
from fuseloom.program.conversion import Conversion
from fuseloom.wording import counted, described


@dataclass(frozen=True)
class Contraction:
    """One assignment of a tree, ``out = left * right``.

    Attributes
    ----------
    out : Access
    operands : tuple of Access
        Two, or one where a single tensor is summed.
    """

    out: Access
    operands: tuple[Access, ...]

    @property
    def name(self) -> str:
        """That of the tensor it makes."""
        return self.out.tensor

    @cached_property
    def indices(self) -> tuple[str, ...]:
        """Those of its loops, in order of appearance: the result's, then what is summed."""
        found = dict.fromkeys(self.out.indices)
        for operand in self.operands:
            found.update(dict.fromkeys(operand.indices))
        return tuple(found)

    def __str__(self) -> str:
        return f"{self.out} = {' * '.join(map(str, self.operands))}"


@dataclass(frozen=True)
class ContractionTree:
    """Contractions of which each makes what exactly one other reads, but for the last.

    Indices have one meaning throughout: what a producer and its consumer run through together
    has one name in both.

    Attributes
    ----------
    contractions : tuple of Contraction
        Producers before their consumers; the last makes the result.
    extents : mapping
        Index to its size.
    program : Program
        The same as a program, whose dataflow can be compiled too.
    """

    contractions: tuple[Contraction, ...]
    extents: Mapping[str, int]
    program: Program = field(repr=False)

    def __repr__(self) -> str:
        return described(
            self,
            f"of {counted(len(self.contractions), 'contraction')}: "
            f"{', '.join(f'{name} {size:,}' for name, size in self.extents.items())}",
        )

    @classmethod
    def of(cls, program: Program) -> ContractionTree:
        """The tree that a program is.

        Raises
        ------
        ProgramError
            Of a statement that is no product of two tensors, a tensor that several statements
            read, several results, or an index that a reference has twice.

        Examples
        --------
        >>> from fuseloom.program import parse
        >>> text = "A: 4x5 csf\\nB: 5x6 csf\\nC: 6x3 csf\\nX[i,k] = A[i,j] * B[j,k]"
        >>> print(ContractionTree.of(parse(text + "\\nR[i,l] = X[i,m] * C[m,l]")))
        X[i,m] = A[i,j] * B[j,m]
        R[i,l] = X[i,m] * C[m,l]
        """
        live = program.live
        if not live:
            raise ProgramError("a network has no contraction", hint="multiply two tensors")
        if len(program.outputs) != 1:
            raise ProgramError(
                f"a tree of contractions has one result, here are {len(program.outputs)}: "
                f"{', '.join(program.outputs)}",
                hint=f"write 'output {live[-1].out.tensor}', or a program for each",
            )
        read = Counter(a.tensor for s in live for a in s.operands)
        for statement in live:
            _check(program, statement, read)
        return cls(*_named_throughout(program), program)

    def to_program(self) -> Conversion:
        """The statements of its contractions, whose indices have one name throughout.

        Returns
        -------
        Conversion
            Nothing is lost but what no contraction says: zeros that a statement leaves out.

        Examples
        --------
        >>> from fuseloom.program import parse
        >>> text = "A: 4x5 csf\\nB: 5x6 csf\\nC: 6x3 csf\\nX[i,k] = A[i,j] * B[j,k]"
        >>> made = ContractionTree.of(parse(text + "\\nR[i,l] = X[i,m] * C[m,l]")).to_program()
        >>> print(*made.program.statements[0].operands, made.losses)
        A[i,j] B[j,m] ()
        """
        statements = tuple(
            Statement(c.out, Op.MUL if len(c.operands) > 1 else Op.SUM, c.operands)
            for c in self.contractions
        )
        used = {access.tensor for c in self.contractions for access in (c.out, *c.operands)}
        program = replace(
            self.program,
            tensors=tuple(tensor for tensor in self.program.tensors if tensor.name in used),
            statements=statements,
        )
        return Conversion(
            program,
            tuple(
                f"{s.out.tensor} no longer leaves its zeros out."
                for s in self.program.live
                if s.nonzero
            ),
        )

    @cached_property
    def by_name(self) -> dict[str, Contraction]:
        return {c.name: c for c in self.contractions}

    @cached_property
    def result(self) -> Access:
        return self.contractions[-1].out

    @cached_property
    def inputs(self) -> tuple[Access, ...]:
        """References to given tensors, in order of their contractions."""
        return tuple(
            a for c in self.contractions for a in c.operands if a.tensor not in self.by_name
        )

    @cached_property
    def given(self) -> tuple[str, ...]:
        """Names of the tensors whose data a user gives; those of selections follow."""
        names = dict.fromkeys(a.tensor for a in self.inputs)
        return tuple(name for name in names if self.program.tensor(name).made is None)

    @cached_property
    def intermediates(self) -> tuple[Access, ...]:
        """The tensors that one contraction produces and another reads."""
        return tuple(c.out for c in self.contractions[:-1])

    @cached_property
    def consumer(self) -> dict[str, Contraction]:
        """Per intermediate, the contraction that reads it."""
        return {
            a.tensor: c for c in self.contractions for a in c.operands if a.tensor in self.by_name
        }

    @cached_property
    def outer_products(self) -> tuple[Contraction, ...]:
        """Contractions of two tensors that share no index: as large as both multiplied."""
        return tuple(
            c
            for c in self.contractions
            if len(c.operands) > 1
            and all(a.indices for a in c.operands)
            and not set(c.operands[0].indices) & set(c.operands[1].indices)
        )

    @cached_property
    def indices(self) -> tuple[str, ...]:
        """All of them, in order of appearance."""
        return tuple(dict.fromkeys(x for c in self.contractions for x in c.indices))

    def __str__(self) -> str:
        return "\n".join(map(str, self.contractions))


def _check(program: Program, s: Statement, read: Mapping[str, int]) -> None:
    """Refuse what is no contraction of a tree.

    Raises
    ------
    ProgramError
        Naming the statement and a way out.
    """
    if s.op not in (Op.MUL, Op.SUM):
        raise ProgramError(
            f"{s.out} is made by {s.op.value!r}; a network holds products alone",
            hint="contract the products, and leave the rest to the dataflow side (fl.compile)",
            line=s.line,
            column=s.column,
        )
    if len(s.operands) > 2:
        raise ProgramError(
            f"{s.out} is a product of {counted(len(s.operands), 'tensor')} at once",
            hint="name its tree, as binary(program, '((A B) C)') does",
            line=s.line,
            column=s.column,
        )
    for access in (s.out, *s.operands):
        twice = [x for x, n in Counter(access.indices).items() if n > 1]
        if twice:
            raise ProgramError(
                f"{access} has the index {twice[0]} twice",
                hint=f"write {access.tensor}[...] with the diagonal in a statement of its own, as "
                f"D[i,k] = {access.tensor}[i,i,k]",
                line=s.line,
                column=s.column,
            )
    for access in s.operands:
        if access.tensor in program.producers and read[access.tensor] > 1:
            raise ProgramError(
                f"{access.tensor} is read {read[access.tensor]} times; in a tree, what is made is "
                "read once",
                hint=f"make a second tensor as {access.tensor} is made",
                line=s.line,
                column=s.column,
            )


def _named_throughout(program: Program) -> tuple[tuple[Contraction, ...], dict[str, int]]:
    """The contractions with one name per index of the network, and the sizes of these.

    The result's names are kept; a consumer tells its producers how their results are called.
    """
    extents: dict[str, int] = {}
    made: dict[str, Contraction] = {}
    called: dict[str, tuple[str, ...]] = {}
    for s in reversed(program.live):
        sizes = program.sizes[s.out.tensor]
        out = called.get(s.out.tensor, s.out.indices)
        names = dict(zip(s.out.indices, out, strict=True))
        for index in s.indices:
            if index not in names:
                names[index] = next(
                    n for n in _versions(index) if n not in extents and n not in names.values()
                )
        extents.update({names[x]: size for x, size in sizes.items()})
        operands = tuple(Access(a.tensor, tuple(names[x] for x in a.indices)) for a in s.operands)
        called.update({a.tensor: a.indices for a in operands if a.tensor in program.producers})
        made[s.out.tensor] = Contraction(Access(s.out.tensor, out), operands)
    order = tuple(reversed(made.values()))
    known = dict.fromkeys(x for c in order for x in c.indices)
    return order, {x: extents[x] for x in known}


def _versions(index: str) -> Iterator[str]:
    """A name, and others like it."""
    yield index
    number = 1
    while True:
        yield f"{index}{number}"
        number += 1
