"""The collected parts of a builder: inputs and statements, and their notes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fuseloom.errors import FuseloomError
from fuseloom.frontends.mlir.blocks import StoredBlocks, with_blocks
from fuseloom.frontends.mlir.syntax import refuse_meaning
from fuseloom.frontends.mlir.values import ConstantTensor, DimensionSize
from fuseloom.program.declarations import RESERVED
from fuseloom.program.formats import Format
from fuseloom.program.functions import Op
from fuseloom.program.limits import MAX_NAME_CHARS
from fuseloom.program.parser import parse_relation
from fuseloom.program.relations import Relation
from fuseloom.program.storage import StoredTensor
from fuseloom.program.syntax import SourcePlace
from fuseloom.program.types import Program, Statement, Tensor


@dataclass(frozen=True)
class Input:
    """An input: an argument, a constant, what a relation makes, or what an index selects.

    Attributes
    ----------
    whole : bool
        Elements are integers, so that they may be places.
    source : str, optional
        The tensor whose elements are the places that a selection selects.
    blocks : StoredBlocks, optional
        Which elements its encoding stores together.
    """

    sizes: tuple[DimensionSize, ...]
    format: Format
    place: SourcePlace
    argument: tuple[str, int] | None = None
    data: ConstantTensor | None = None
    where: str | None = None
    made: Relation | None = None
    notes: tuple[str, ...] = ()
    whole: bool = False
    source: str | None = None
    blocks: StoredBlocks | None = None

    def relation(self) -> Relation | None:
        """Return the relation of a made tensor.

        Raises
        ------
        ProgramError
            If the text does not say it.
        """
        if self.where is None:
            return self.made
        try:
            return parse_relation(self.where, len(self.sizes))
        except FuseloomError as problem:
            raise refuse_meaning(problem.message, problem.hint or "", self.place) from None


@dataclass(frozen=True)
class Made:
    """A statement, the region it belongs to, its dataflow order, and what it assigns."""

    statement: Statement
    region: int
    order: tuple[str, ...]
    sizes: tuple[DimensionSize, ...]
    format: Format | None
    place: SourcePlace

    @property
    def wish(self) -> tuple[str, ...]:
        """The dataflow order, where it is not the one in which the statement reads anyway."""
        return () if self.order == self.statement.indices else self.order


def plain(wanted: str) -> str:
    """The name of a value as the text language may have it."""
    base = re.sub(r"[^A-Za-z0-9_]", "_", wanted)[: MAX_NAME_CHARS - 10] or "t"
    if base[0].isdigit():
        base = f"t{base}"
    return f"{base}_" if base in RESERVED else base


def tensor_places(n: int, place: SourcePlace) -> dict[tuple[str | int, ...], SourcePlace]:
    return {("tensor", n, part): place for part in ("name", "shape", "format", "order")}


def resources_of(names: Sequence[str], inputs: Mapping[str, Input]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in names:
        data = inputs[name].data
        if data is not None and data.resource is not None:
            found[name] = data.resource
    return found


def notes_of(names: Sequence[str], inputs: Mapping[str, Input]) -> list[str]:
    return [f"{name}: {note}" for name in names for note in inputs[name].notes]


def left_out(problems: Sequence[FuseloomError]) -> list[str]:
    """One note on all that is left out."""
    if not problems:
        return []
    shown = [f"{problem.message} (line {problem.line})" for problem in problems[:3]]
    more = f", and {len(problems) - 3} more" if len(problems) > 3 else ""
    return [f"left out, as no result needs it: {'; '.join(shown)}{more}"]


def schedule_of(live: Sequence[Made], program: Program) -> str:
    """Directives: a region per run of statements of one function, and every statement's order."""
    lines: list[str] = []
    first = 0
    for k, m in enumerate(live):
        last = k + 1 == len(live)
        if m.statement.op is Op.RESHAPE:
            first = k + 1
        elif last or live[k + 1].region != m.region or live[k + 1].statement.op is Op.RESHAPE:
            if first < k:
                span = f"{live[first].statement.out.tensor}..{m.statement.out.tensor}"
                lines.append(f"fuse {span} where possible")
            first = k + 1
    regions = {m.statement.out.tensor: m.region for m in live}
    for m in live:
        name, indices = m.statement.out.tensor, m.statement.out.indices
        readers = {regions[reader] for reader in program.readers.get(name, ())}
        tensor = program.tensor(name)
        stored = [indices[mode] for mode in tensor.format.mode_order]
        written = name in program.outputs or readers - {m.region}
        spread = m.statement.op.unites and any(
            set(a.indices) != set(m.statement.indices) for a in m.statement.operands
        )
        # A wish cannot change the order in which memory holds a result, nor that of a sum that
        # repeats an operand row by row.
        if m.wish and not spread and (not written or [x for x in m.wish if x in indices] == stored):
            lines.append(f"order {name}: {','.join(m.wish)}")
    return "\n".join(lines)


def declaration(
    m: Made,
    read: bool,
    shape: Callable[[str, tuple[DimensionSize, ...], SourcePlace], tuple[int, ...]],
) -> Tensor | None:
    """Return the declaration of an assigned tensor; None if its statement suffices.

    What a later statement reads is compressed, whatever the file says: the statement decides
    which elements it has (``docs/language.md``).  Its mode order is kept; a dense tensor has
    none, so it is stored as the statement wishes to run.
    """
    name, rank = m.statement.out.tensor, len(m.statement.out.indices)
    barrier = m.statement.op is Op.RESHAPE
    fmt = m.format or Format.dense(rank)
    if read and not barrier:
        order: tuple[int, ...] | None = fmt.mode_order
        if fmt.all_dense:
            indices = m.statement.out.indices
            order = tuple(indices.index(x) for x in m.wish if x in indices) or None
        fmt = Format.compressed(rank, order)
        if fmt == Format.compressed(rank):
            return None
    return Tensor(name, shape(name, m.sizes, m.place), fmt)


def data_of(program: Program, inputs: Mapping[str, Input]) -> dict[str, StoredTensor]:
    """Inputs that the file holds."""
    found: dict[str, StoredTensor] = {}
    for name in program.inputs:
        data = inputs[name].data
        values = None if data is None else data.array()
        blocks = inputs[name].blocks
        if values is not None:
            tensor = program.tensor(name)
            stored = StoredTensor.from_dense(tensor, values)
            found[name] = stored if blocks is None else with_blocks(tensor, stored, blocks)
    return found
