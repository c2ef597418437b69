"""Random programs of several outputs, and the same programs under other names."""

from __future__ import annotations

import random
from dataclasses import replace

from fuseloom.errors import ProgramError
from fuseloom.program import Program, StoredTensor, parse
from fuseloom.program.types import Access
from tests.property.programs.filling import data_of
from tests.property.programs.making import INDICES, Maker
from tests.property.programs.wide import WideMaker, scattered


def renamed(program: Program, rng: random.Random) -> Program:
    """The same program, the indices of each statement under other names, which clash."""
    pool = (*INDICES, "a", "k'", "i''", "T0")
    statements = []
    for s in program.statements:
        names = dict(zip(s.indices, rng.sample(pool, len(s.indices)), strict=True))

        def access(a: Access, names: dict[str, str] = names) -> Access:
            return Access(a.tensor, tuple(names[x] for x in a.indices))

        statements.append(
            replace(
                s,
                out=access(s.out),
                operands=tuple(map(access, s.operands)),
                axis=None if s.axis is None else names[s.axis],
            )
        )
    return replace(program, statements=tuple(statements))


def several_outputs(
    rng: random.Random, block: int = 1, undefined: bool = False, wide: bool = False
) -> tuple[Program, dict[str, StoredTensor], str] | None:
    """A random program with results in the middle, names that clash, data, and a schedule.

    Sometimes a chain with many possible cuts goes on from the last result, and ends in two
    outputs that are written in different orders.
    """
    maker = (WideMaker if wide else Maker)(rng, block, undefined)
    text = maker.text(rng.randint(2, 7))
    if rng.random() < 0.3 and len(sizes := maker.tensors[-1].sizes) == 2:
        name, shape = maker.tensors[-1].name, "x".join(map(str, sizes))
        links = rng.randint(1, 8)
        chain = [f"U0[p,q] = relu({name}[p,q])"]
        chain += [f"U{k}[p,q] = relu(U{k - 1}[p,q])" for k in range(1, links)]
        ends = [f"{x}[p,q] = {f}(U{links - 1}[p,q])" for x, f in (("X", "relu"), ("Y", "gelu"))]
        order = rng.choice(("0,1", "1,0"))
        tile = ",".join(str(k) for k, size in enumerate(sizes) if block > 1 and not size % block)
        blocks = f" block {block} over {tile}" if tile else ""
        text = f"Y: {shape} [compressed, compressed] order {order}{blocks}\n{text}\n"
        text += "\n".join(chain + ends)
    try:
        program = parse(text)
    except ProgramError:
        return None
    more = [s.out.tensor for s in program.statements if rng.random() < 0.25]
    program = replace(program, outputs=tuple(dict.fromkeys((*more, *program.outputs))))
    program = renamed(program, rng)
    positive = {t.name for t in maker.tensors if t.positive}
    data = (scattered if wide else data_of)(program, positive, rng)
    statements = program.live
    starts = [0]
    for k in range(1, len(statements)):
        barrier = not (statements[k].op.fuses and statements[k - 1].op.fuses)
        if barrier or rng.random() < 0.15:
            starts.append(k)
    names = [s.out.tensor for s in statements]
    spans = [names[a:b] for a, b in zip(starts, [*starts[1:], len(names)], strict=True)]
    soft = rng.choice(("", " where possible"))
    return program, data, "; ".join(f"fuse {s[0]}..{s[-1]}{soft}" for s in spans if len(s) > 1)
