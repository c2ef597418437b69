"""The parts of a program: index variables, tensors with formats, and einsum statements.

Everything here is immutable; an edit returns a new object.  Rules: ``docs/spec/program.md`` §1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property

from fuseloom.display.shows import Shows
from fuseloom.errors import ProgramError
from fuseloom.program.formats import Format
from fuseloom.program.functions import Op
from fuseloom.program.relations import Relation
from fuseloom.wording import counted, described


@dataclass(frozen=True)
class Tensor:
    """A named tensor: logical shape and storage format.

    One that is *made* holds ones where its relation holds; its data follow from that.
    """

    name: str
    shape: tuple[int, ...]
    format: Format
    made: Relation | None = None

    @property
    def rank(self) -> int:
        return len(self.shape)


@dataclass(frozen=True)
class Access:
    """``tensor[indices]``: one use of a tensor in a statement."""

    tensor: str
    indices: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.tensor}[{','.join(self.indices)}]"


@dataclass(frozen=True)
class Statement:
    """``out = op(operands)``; indices of the operands that ``out`` lacks are reduced.

    A product of more than two operands iterates all their indices at once.  ``axis`` is the
    index along which CONCAT puts its operands; its sizes add up.  The indices of a RESHAPE only
    name dimensions.  What is ``nonzero`` has only the elements that are not zero.  ``line`` and
    ``column`` say where the text had it and take no part in equality.
    """

    out: Access
    op: Op
    operands: tuple[Access, ...]
    constant: float | None = None
    axis: str | None = None
    line: int | None = field(default=None, compare=False)
    column: int | None = field(default=None, compare=False)
    nonzero: bool = False

    @cached_property
    def indices(self) -> tuple[str, ...]:
        """Index variables in order of first appearance, operands first."""
        seen: dict[str, None] = {}
        for access in self.operands:
            seen.update(dict.fromkeys(access.indices))
        seen.update(dict.fromkeys(self.out.indices))
        return tuple(seen)

    @cached_property
    def reduced(self) -> tuple[str, ...]:
        """Index variables of the operands that the output lacks."""
        if self.op is Op.RESHAPE:
            return ()
        order = self.indices
        if self.op.unites:
            order = summation_order([access.indices for access in self.operands])
        return tuple(x for x in order if x not in self.out.indices)


def summation_order(operands: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the indices of a sum in an order that is the same whichever operand comes first.

    The operand with the most indices gives the order; of operands with as many, the indices that
    they share come first (``docs/spec/program.md`` §4).

    Examples
    --------
    >>> summation_order([("j",), ("i", "j")]), summation_order([("i", "j"), ("j", "k")])
    (('i', 'j'), ('j', 'i', 'k'))
    """
    leading = [o for o in operands if len(o) == max(map(len, operands))]
    shared = [x for x in leading[0] if all(x in o for o in leading)]
    return tuple(dict.fromkeys([*shared, *(x for o in (*leading, *operands) for x in o)]))


class BroadcastAdd(Enum):
    """The pattern of ``T[l,n] = Z[l,n] + b[n]`` (``docs/spec/program.md`` §4)."""

    SPARSE = "sparse"  # only in rows that Z has
    DENSE = "dense"  # in every row


@dataclass(frozen=True)
class Program(Shows, html="fuseloom.program.display:program_html"):
    """A list of statements in single-assignment form over declared tensors.

    Attributes
    ----------
    tensors : tuple of Tensor
        Inputs, intermediates and outputs, in order of declaration or first assignment.
    outputs : tuple of str
        Names of the tensors a user asked for.

    Examples
    --------
    >>> import fuseloom as fl
    >>> program = fl.load("spmv")[0].program
    >>> print(program)
    program spmv
    A: 8x8 csr
    x: 8 dense
    y[i] = A[i,j] * x[j]
    output y
    >>> program.inputs, program.outputs
    (('A', 'x'), ('y',))
    >>> program.extents
    ({'i': 8, 'j': 8},)
    """

    name: str
    tensors: tuple[Tensor, ...]
    statements: tuple[Statement, ...]
    outputs: tuple[str, ...]
    broadcast_add: BroadcastAdd = BroadcastAdd.SPARSE

    def __repr__(self) -> str:
        return described(
            self,
            f"{self.name}: {counted(len(self.tensors), 'tensor')}, "
            f"{counted(len(self.statements), 'statement')}",
        )

    def __str__(self) -> str:
        """The program's text, which :func:`fuseloom.program.parser.parse` reads back."""
        from fuseloom.program.printer import print_program  # the printer imports this module

        return print_program(self)

    @cached_property
    def by_name(self) -> dict[str, Tensor]:
        return {t.name: t for t in self.tensors}

    @cached_property
    def producers(self) -> dict[str, Statement]:
        return {s.out.tensor: s for s in self.statements}

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """Names of tensors no statement assigns."""
        return tuple(t.name for t in self.tensors if t.name not in self.producers)

    @cached_property
    def given(self) -> tuple[str, ...]:
        """Names of the inputs whose data a user gives: all but those that are made."""
        return tuple(name for name in self.inputs if self.by_name[name].made is None)

    @cached_property
    def extents(self) -> tuple[dict[str, int], ...]:
        """Per statement, the size of each index variable."""
        result = []
        for s in self.statements:
            sizes: dict[str, int] = {}
            for access in (*s.operands, s.out):
                sizes.update(zip(access.indices, self.by_name[access.tensor].shape, strict=True))
            result.append(sizes)
        return tuple(result)

    @cached_property
    def sizes(self) -> dict[str, dict[str, int]]:
        """Per tensor that is assigned, the size of each index variable of its statement."""
        names = (s.out.tensor for s in self.statements)
        return dict(zip(names, self.extents, strict=True))

    @cached_property
    def live(self) -> tuple[Statement, ...]:
        """Statements that an output needs, in program order (``docs/spec/program.md`` §1)."""
        needed = set(self.outputs)
        live: list[Statement] = []
        for statement in reversed(self.statements):
            if statement.out.tensor in needed:
                live.append(statement)
                needed.update(access.tensor for access in statement.operands)
        return tuple(reversed(live))

    @cached_property
    def readers(self) -> dict[str, frozenset[str]]:
        """Tensor to what the live statements that read it assign."""
        found: dict[str, set[str]] = {}
        for statement in self.live:
            for access in statement.operands:
                found.setdefault(access.tensor, set()).add(statement.out.tensor)
        return {name: frozenset(readers) for name, readers in found.items()}

    @cached_property
    def blocked(self) -> dict[str, tuple[int, ...]]:
        """Tensor to its blocked dimensions."""
        return {t.name: t.format.blocked for t in self.tensors}

    @cached_property
    def block(self) -> int:
        """Edge of the program's blocks; 1 where nothing is blocked."""
        return max((t.format.block for t in self.tensors), default=1)

    def tensor(self, name: str) -> Tensor:
        try:
            return self.by_name[name]
        except KeyError:
            known = ", ".join(self.by_name)
            raise ProgramError(f"no tensor is called {name!r}", hint=f"known: {known}") from None

    def with_tensor(self, tensor: Tensor) -> Program:
        """The same program with one tensor's declaration replaced."""
        self.tensor(tensor.name)
        return replace(
            self, tensors=tuple(tensor if t.name == tensor.name else t for t in self.tensors)
        )
