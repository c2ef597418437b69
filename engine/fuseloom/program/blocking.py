"""Which dimensions of a program's tensors are counted in blocks.

Dimensions that an index variable links in some statement belong to one *index class*; a class
is blocked or not, and all blocks of a program have one edge (``docs/spec/program.md`` §7).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from fuseloom.errors import ProgramError
from fuseloom.program.formats import Format
from fuseloom.program.tile_arrays import block_problem
from fuseloom.program.types import Program, Statement, Tensor

Dimension = tuple[str, int]
"""A tensor's name and one of its logical dimensions."""


@dataclass(frozen=True)
class Blocking:
    """The blocks of a program.

    Attributes
    ----------
    edge : int
        Edge of every block; 1 where nothing is blocked.
    dims : mapping
        Per tensor, the blocked logical dimensions, ascending.
    """

    edge: int
    dims: Mapping[str, tuple[int, ...]]


class BlockConflictError(Exception):
    """Declarations that contradict each other, and where the contradiction shows.

    Attributes
    ----------
    place : tuple
        A key of ``fuseloom.program.verify.Places``: the index or declaration at fault.
    """

    def __init__(self, message: str, hint: str, *place: str | int) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.place = place


@dataclass(frozen=True)
class _Said:
    """The declared blocking of a class: whether it is blocked, and which dimension declares it."""

    blocked: bool
    dimension: Dimension


class _Classes:
    """Index classes, by repeated union."""

    def __init__(self) -> None:
        self.parent: dict[Dimension, Dimension] = {}
        self.said: dict[Dimension, _Said] = {}

    def find(self, dimension: Dimension) -> Dimension:
        root = dimension
        while (above := self.parent.setdefault(root, root)) != root:
            root = above
        self.parent[dimension] = root
        return root

    def link(self, a: Dimension, b: Dimension) -> tuple[_Said, _Said] | None:
        """Unite two classes; what was said of each, if that contradicts."""
        first, second = self.find(a), self.find(b)
        if first == second:
            return None
        mine, theirs = self.said.get(first), self.said.get(second)
        if mine and theirs and mine.blocked != theirs.blocked:
            return mine, theirs
        self.parent[second] = first
        if theirs and not mine:
            self.said[first] = theirs
        return None

    def read(self, statements: Iterable[Statement]) -> None:
        """Link the dimensions of every statement but reshapes, whose indices mean nothing.

        Raises
        ------
        BlockConflictError
            If one index runs over a blocked and an unblocked dimension.
        """
        for n, s in enumerate(statements):
            if not s.op.fuses:
                continue
            first: dict[str, Dimension] = {}
            for k, access in (*enumerate(s.operands, 1), (0, s.out)):
                for axis, x in enumerate(access.indices):
                    here = (access.tensor, axis)
                    clash = self.link(first.setdefault(x, here), here)
                    if clash is None:
                        continue
                    yes, no = clash if clash[0].blocked else clash[::-1]
                    raise BlockConflictError(
                        f"index {x} of {s.out} is blocked, as {_text(yes.dimension)} is, and not "
                        f"blocked, as {_text(no.dimension)} is not",
                        f"block both, or neither ('block b over ...' names the blocked "
                        f"dimensions of {yes.dimension[0]} or {no.dimension[0]})",
                        "index",
                        n,
                        k,
                        axis,
                    )


def _text(dimension: Dimension) -> str:
    return f"dimension {dimension[1]} of {dimension[0]}"


def settle(
    tensors: Sequence[Tensor], statements: Sequence[Statement]
) -> tuple[Blocking, tuple[Tensor, ...]]:
    """Work out what is blocked, and give assigned tensors the blocks of their indices.

    Parameters
    ----------
    tensors : sequence of Tensor
        All of the program's.  Inputs, and what memory reshapes, say which of their dimensions
        are blocked; what is computed, or made, says so only if it is declared with a block.

    Raises
    ------
    BlockConflictError
        Two block edges, an index both blocked and not, or more than two blocked dimensions.
    """
    computed = {s.out.tensor for s in statements if s.op.fuses}
    edge, witness = 1, ""
    classes = _Classes()
    for n, tensor in enumerate(tensors):
        fmt = tensor.format
        if fmt.block > 1:
            if edge not in (1, fmt.block):
                raise BlockConflictError(
                    f"{witness} has blocks of edge {edge}, {tensor.name} of {fmt.block}",
                    "a program has one block edge: declare both with the same",
                    "tensor",
                    n,
                    "block",
                )
            edge, witness = fmt.block, tensor.name
        if fmt.block > 1 or (tensor.name not in computed and tensor.made is None):
            for axis in range(tensor.rank):
                here = (tensor.name, axis)
                classes.said[classes.find(here)] = _Said(axis in fmt.blocked, here)
    classes.read(statements)
    dims = {t.name: _blocked(classes, t) for t in tensors}
    for n, s in enumerate(statements):
        if len(dims[s.out.tensor]) > 2:
            names = ", ".join(s.out.indices[axis] for axis in dims[s.out.tensor])
            raise BlockConflictError(
                f"{s.out} has {len(dims[s.out.tensor])} blocked indices ({names})",
                "a block has at most two: leave one of them unblocked ('block b over ...' names "
                "the blocked dimensions), or reduce one before",
                "index",
                n,
                0,
                0,
            )
    for n, tensor in enumerate(tensors):
        if tensor.made is not None and len(dims[tensor.name]) > 2:
            raise BlockConflictError(
                f"{tensor.name} says where an index lies by others, and "
                f"{len(dims[tensor.name])} of them are blocked",
                "a block has at most two dimensions: leave one unblocked ('block b over ...')",
                "tensor",
                n,
                "name",
            )
    settled = tuple(replace(t, format=t.format.in_blocks(edge, dims[t.name])) for t in tensors)
    return Blocking(edge, MappingProxyType(dims)), settled


def _blocked(classes: _Classes, tensor: Tensor) -> tuple[int, ...]:
    result = []
    for axis in range(tensor.rank):
        said = classes.said.get(classes.find((tensor.name, axis)))
        if said is not None and said.blocked:
            result.append(axis)
    return tuple(result)


def blocking(program: Program) -> Blocking:
    """Which dimensions of each of a verified program's tensors are blocked."""
    return Blocking(program.block, program.blocked)


def block_program(program: Program, edge: int) -> Program:
    """The same program with its tensors stored in blocks of ``edge`` x ``edge``.

    A class of dimensions that some tensor of rank 3 or more stores outside its two innermost
    levels (a batch, the heads of attention) stays as it is; every other class is blocked.  Edge
    1 takes blocks away.

    Raises
    ------
    ProgramError
        If the edge does not divide a dimension, naming tensor, dimension and size.

    Examples
    --------
    >>> from fuseloom.program.parser import parse
    >>> print(block_program(parse("A: 8x8 csr\\nx: 8 dense\\ny[i] = A[i,j] * x[j]"), 4), end="")
    program unnamed
    A: 8x8 csr block 4
    x: 8 dense block 4
    y[i] = A[i,j] * x[j]
    output y
    """
    classes = _Classes()
    classes.read(program.statements)
    leading = {
        classes.find((t.name, axis))
        for t in program.tensors
        for axis in t.format.mode_order[: max(t.rank - 2, 0)]
    }
    tensors = []
    for t in program.tensors:
        dims = tuple(a for a in range(t.rank) if classes.find((t.name, a)) not in leading)
        plain = replace(t, format=Format(t.format.levels, t.format.mode_order))
        blocked = replace(plain, format=plain.format.in_blocks(edge, dims))
        problem = block_problem(blocked)
        if problem:
            raise ProgramError(problem[0], hint=problem[1])
        tensors.append(blocked)
    return replace(program, tensors=tuple(tensors))
