"""Dense levels of tensors that are computed: which there can be, and programs that have them.

A level of a computed tensor may be dense where it is complete whatever the data
(:func:`~fuseloom.program.completeness.complete_levels`).  So a format never says which elements a
result has: nothing has to be filled in, and a dense level is one whose coordinates need not be
written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fuseloom.program.completeness import (
    ElementPresence,
    complete_levels,
    complete_tensors,
    presences,
    why_incomplete,
)
from fuseloom.program.formats import Format, LevelFormat
from fuseloom.program.types import Program, Tensor


def written_levels(program: Program, name: str) -> tuple[LevelFormat, ...]:
    """The formats in which a region writes the levels of a tensor.

    Those of its format where another statement reads it; what nothing reads is written compressed.
    """
    tensor = program.tensor(name)
    if name in program.readers:
        return tensor.format.levels
    return Format.compressed(tensor.rank).levels


def dense_problem(
    program: Program, tensor: Tensor, found: Mapping[str, ElementPresence]
) -> tuple[str, str] | None:
    """Why a computed tensor cannot be stored in its format, and the way out; None if it can.

    Parameters
    ----------
    tensor : Tensor
        In that format, which the program may have otherwise.
    found : mapping
        The program's :func:`~fuseloom.program.completeness.presences`.
    """
    name = tensor.name
    complete = complete_levels(tensor, found[name])
    levels, order = tensor.format.levels, tensor.format.mode_order
    if LevelFormat.SINGLETON in levels:
        return (
            f"intermediate {name} has a singleton level; the levels that a region writes are "
            "dense or compressed",
            "leave the declaration out, or declare it csf",
        )
    at = next((k for k, x in enumerate(levels) if x is LevelFormat.DENSE and not complete[k]), None)
    if at is None:
        return None
    index = program.producers[name].out.indices[order[at]]
    possible = ", ".join("dense" if whole else "compressed" for whole in complete)
    turned = f" order {','.join(map(str, order))}" if list(order) != sorted(order) else ""
    write = f"write [{possible}]{turned}"
    if any(complete):
        write += ": only these levels are complete whatever the data"
    return (
        f"intermediate {name} has a dense level {at} ({index}), but may lack coordinates there: "
        f"{why_incomplete(program, name, complete_tensors(program))}",
        f"{write}; or fill it with zeros by a reshape into a dense tensor",
    )


def with_levels(tensor: Tensor, levels: Sequence[LevelFormat]) -> Tensor:
    """A tensor whose levels are stored in these formats, outermost first."""
    return replace(tensor, format=replace(tensor.format, levels=tuple(levels)))


def densest(program: Program) -> dict[str, tuple[LevelFormat, ...]]:
    """Per intermediate its levels, each dense if it can be."""
    found = presences(program)
    return {
        name: tuple(
            LevelFormat.DENSE if whole else LevelFormat.COMPRESSED
            for whole in complete_levels(program.tensor(name), found[name])
        )
        for name in intermediates(program)
    }


def intermediates(program: Program) -> tuple[str, ...]:
    """Tensors that regions may write and others read."""
    return tuple(
        s.out.tensor for s in program.live if s.op.fuses and s.out.tensor in program.readers
    )


def all_compressed(program: Program) -> Program:
    """The program with all levels of its intermediates compressed.

    What a tensor holds does not depend on its levels, so programs that differ in these alone have
    all coordinates in common.
    """
    plain = {
        name
        for name in intermediates(program)
        if any(x is not LevelFormat.COMPRESSED for x in program.tensor(name).format.levels)
    }
    if not plain:
        return program
    tensors = tuple(
        replace(t, format=replace(t.format, levels=Format.compressed(t.rank).levels))
        if t.name in plain
        else t
        for t in program.tensors
    )
    return replace(program, tensors=tensors)
