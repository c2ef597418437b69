"""From collected statements to a verified program: what nobody needs goes, barriers line up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from fuseloom.frontends.torch.builder import TorchBuilder
from fuseloom.frontends.torch.formats import Storage, compressed, format_of, spread_blocks
from fuseloom.frontends.torch.values import Support
from fuseloom.program import (
    Access,
    BroadcastAdd,
    Format,
    Op,
    Program,
    Statement,
    Tensor,
    parse,
    print_program,
    verify,
)

MOST_FUSED = 64
"""Statements that a preset fuses at once."""

MOST_SUMS = 100
"""Sums and products that sum in what a preset fuses at once, counted as often as they are done."""


def live(statements: Sequence[Statement], outputs: Iterable[str]) -> list[Statement]:
    """Statements that an output needs."""
    needed, kept = set(outputs), []
    for s in reversed(statements):
        if s.out.tensor in needed:
            kept.append(s)
            needed.update(a.tensor for a in s.operands)
    return kept[::-1]


def without_copies(
    statements: Sequence[Statement], outputs: Iterable[str]
) -> tuple[list[Statement], dict[str, tuple[int, ...]]]:
    """Let a statement assign the transposed copy of its result that a reshape needs.

    Where nothing else reads the result, ``T[i,j] = ...; R[j,i] = T[i,j]`` becomes
    ``R[j,i] = ...``; the elements are still written in the order of ``T``, so ``R`` is stored in
    that mode order.

    Returns
    -------
    statements, and per tensor whose order changed the mode order of its storage
    """
    readers: dict[str, int] = {}
    for s in statements:
        for name in {a.tensor for a in s.operands}:
            readers[name] = readers.get(name, 0) + 1
    producers = {s.out.tensor: n for n, s in enumerate(statements)}
    reshaped = {s.operands[0].tensor for s in statements if s.op is Op.RESHAPE}
    result: list[Statement | None] = list(statements)
    orders: dict[str, tuple[int, ...]] = {}
    for n, s in enumerate(statements):
        source = s.operands[0]
        at = producers.get(source.tensor)
        copied = s.op is Op.SUM and sorted(s.out.indices) == sorted(source.indices)
        if not copied or at is None or s.out.tensor not in reshaped:
            continue
        made = result[at]
        if made is None or not made.op.fuses or made.op is Op.CONCAT:
            continue
        if readers[source.tensor] > 1 or source.tensor in outputs:
            continue
        axes = [source.indices.index(x) for x in s.out.indices]
        out = replace(s.out, indices=tuple(made.out.indices[a] for a in axes))
        result[at], result[n] = replace(made, out=out), None
        orders[s.out.tensor] = tuple(axes.index(a) for a in range(len(axes)))
    return [s for s in result if s is not None], orders


def phases(statements: Sequence[Statement]) -> list[list[Statement]]:
    """Statements between reshapes, as early as they can run; a phase begins with its reshapes."""
    phase: dict[str, int] = {}
    result: dict[int, list[Statement]] = {}
    for s in statements:
        own = max((phase.get(a.tensor, 0) for a in s.operands), default=0)
        own += s.op is Op.RESHAPE
        phase[s.out.tensor] = own
        result.setdefault(own, []).append(s)
    return [sorted(result[n], key=lambda s: s.op is not Op.RESHAPE) for n in sorted(result)]


def finished(
    builder: TorchBuilder,
    storage: Storage,
    name: str,
    outputs: Sequence[str],
    activations: Mapping[str, str],
) -> tuple[Program, dict[str, str]]:
    """The program and its presets.

    Parameters
    ----------
    activations : mapping
        Name of a computed tensor to the label it is annotated by.

    Raises
    ------
    ProgramError
        Annotations that the language does not allow, naming the tensor.
    """
    statements, orders = without_copies(live(builder.statements, outputs), outputs)
    groups = phases(statements)
    statements = [s for group in groups for s in group]
    used = {a.tensor for s in statements for a in s.operands}
    tensors = {
        n: Tensor(n, f.shape, storage.format(f), f.relation)
        for n, f in builder.feeds.items()
        if n in used
    }
    for s in statements:
        made, shape = s.out.tensor, builder.shapes[s.out.tensor]
        label = activations.get(made, made)
        if label in storage.annotations:
            fmt = format_of(storage.annotations[label], shape, label)
        elif s.op is Op.RESHAPE and builder.supports[made] is Support.FULL:
            fmt = Format.dense(len(shape))
        else:
            fmt = compressed(len(shape))
        if made in orders:
            fmt = Format(fmt.levels, orders[made])
        tensors[made] = Tensor(made, shape, fmt)
    tensors = spread_blocks(tensors, statements)
    add = BroadcastAdd.DENSE if builder.dense_broadcast else BroadcastAdd.SPARSE
    program = Program(name, tuple(tensors.values()), tuple(statements), tuple(outputs), add)
    verify(program)
    formats = {name: program.tensor(name).format for name in program.inputs}
    return parse(print_program(program)), _presets(builder, groups, orders, formats)


def runs(builder: TorchBuilder, groups: Sequence[Sequence[Statement]]) -> list[list[Statement]]:
    """Neighbouring statements of one operation of the module."""
    result: list[list[Statement]] = []
    for group in groups:
        owner = None
        for s in group:
            mine = builder.owners.get(s.out.tensor)
            if s.op is Op.RESHAPE or mine is None or mine is not owner:
                result.append([])
            result[-1].append(s)
            owner = None if s.op is Op.RESHAPE else mine
    return result


def layers(
    group: Sequence[Statement],
    orders: Mapping[str, tuple[int, ...]],
    formats: Mapping[str, Format],
) -> list[list[Statement]]:
    """Cut before what would have rows recomputed.

    A statement needs all rows of a computed tensor if it reduces over an outer dimension of it
    (neighbours of a node, keys of attention, a sum over a batch), reads it transposed, or pairs
    its rows with another's.  In one region with what computes the rows, each would be computed
    again for each that needs it.  So would every row, for each index of a compressed operand that
    the tensor lacks and that is stored outside one that it has, as in weights stored by row.  A
    transposed read is a region of its own: what it reads is stored in one order, and what it writes
    in another.

    Parameters
    ----------
    orders : mapping
        Mode orders of tensors that are not stored in the order of their dimensions.
    formats : mapping
        Those of inputs.
    """
    result: list[list[Statement]] = [[]]
    made: set[str] = set()
    assigned: set[str] = set()
    for s in group:
        order = orders.get(s.out.tensor, range(len(s.out.indices)))
        out = [s.out.indices[axis] for axis in order]
        computed = [a for a in s.operands if a.tensor in made and a.indices]
        turned = any(a.tensor in assigned and _turned(a, out) for a in s.operands)
        gathers = any(_gathers(a, out) for a in computed)
        again = any(_walked_again(a, s.operands, formats) for a in computed)
        if turned or gathers or again or len({a.indices[0] for a in computed}) > 1:
            result.append([])
            made = set()
        result[-1].append(s)
        made.add(s.out.tensor)
        assigned.add(s.out.tensor)
        if turned:
            result.append([])
            made = set()
    return result


def pieces(builder: TorchBuilder, part: Sequence[Statement]) -> list[list[Statement]]:
    """Cut what is too much for one region: it would compute the same again and again.

    Steps of a recurrent layer are always apart, as several gates read what the last one made.
    """
    result: list[list[Statement]] = [[]]
    step = None
    for s in part:
        longer = [*result[-1], s]
        now = builder.steps.get(s.out.tensor, 0)
        apart = step is not None and step != now
        if apart or len(longer) > MOST_FUSED or sums(longer) > MOST_SUMS:
            result.append([s])
        else:
            result[-1] = longer
        step = now
    return result


def sums(region: Sequence[Statement]) -> int:
    """Count a region's sums and products over an index that the result lacks.

    What such a statement reads is computed for it alone; others share what they read.
    """
    times: dict[str, int] = {}
    shared: dict[str, int] = {}
    total = 0
    for s in reversed(region):
        name = s.out.tensor
        own = max(1, times.get(name, 0) + shared.get(name, 0))
        for access in s.operands:
            if set(access.indices) - set(s.out.indices):
                times[access.tensor] = times.get(access.tensor, 0) + own
            else:
                shared[access.tensor] = max(own, shared.get(access.tensor, 0))
        total += own if any(set(a.indices) - set(s.out.indices) for a in s.operands) else 0
    return total


def _turned(read: Access, out: Sequence[str]) -> bool:
    """Return whether indices are read in another order than they are written."""
    kept = [x for x in read.indices if x in out]
    return kept != [x for x in out if x in kept]


def _gathers(read: Access, out: Sequence[str]) -> bool:
    """Return whether an index that is reduced comes before one that is kept."""
    kept = [x for x in read.indices if x in out]
    return kept != list(read.indices[: len(kept)])


def _walked_again(read: Access, operands: Sequence[Access], formats: Mapping[str, Format]) -> bool:
    """Return whether a compressed operand has an index outside one that is read, which lacks it."""
    for other in operands:
        fmt = formats.get(other.tensor)
        if fmt is None or fmt.all_dense:
            continue
        stored = [other.indices[axis] for axis in fmt.mode_order]
        outside = [x not in read.indices for x in stored]
        if any(y in read.indices and any(outside[:k]) for k, y in enumerate(stored)):
            return True
    return False


def _presets(
    builder: TorchBuilder,
    groups: Sequence[Sequence[Statement]],
    orders: Mapping[str, tuple[int, ...]],
    formats: Mapping[str, Format],
) -> dict[str, str]:
    def text(parts: Iterable[Sequence[Statement]]) -> str:
        short = (piece for part in parts for piece in pieces(builder, part))
        spans = (f"{p[0].out.tensor}..{p[-1].out.tensor}" for p in short if len(p) > 1)
        return "; ".join(f"fuse {span} where possible" for span in spans)

    barrier_free = [[s for s in g if s.op.fuses] for g in groups]
    return {
        "unfused": "",
        "kernels": text(runs(builder, groups)),
        "layers": text(part for group in barrier_free for part in layers(group, orders, formats)),
        "full": text(barrier_free),
    }
