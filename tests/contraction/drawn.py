"""Random contraction trees, their data, and what they compute by NumPy."""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt

from fuseloom.contraction.networks import from_einsum
from fuseloom.contraction.paths import binary
from fuseloom.contraction.tree import ContractionTree
from fuseloom.program import parse
from fuseloom.program.inputs import made_tensor

Array = npt.NDArray[np.float64]
INDICES = "ijklm"


def drawn(
    rng: random.Random, operands: tuple[int, int] = (2, 4), tied: bool = False, least: int = 1
) -> ContractionTree:
    """A tree of two to four operands over at most five indices, with at least so many in each."""
    count = rng.randint(*operands)
    sizes = {x: rng.randint(2, 4) for x in INDICES}
    given = [rng.sample(INDICES, rng.randint(least, 3)) for _ in range(count)]
    every = sorted({x for indices in given for x in indices})
    result = rng.sample(every, rng.randint(least - 1, min(3, len(every))))
    left = [(name, tuple(x)) for name, x in zip("ABCD", given, strict=False)]
    lines = [f"{n}: {'x'.join(str(sizes[x]) for x in at)} csf" for n, at in left]
    if tied:  # the last operand is the first tensor once more
        same = tuple(rng.sample(every, min(len(every), len(given[0]))))
        if [sizes[x] for x in same] == [sizes[x] for x in given[0]]:
            left[-1], lines = ("A", same), lines[:-1]
    number = 0
    while len(left) > 1:
        first, second = (left.pop(rng.randrange(len(left))) for _ in range(2))
        kept = {x for _, at in left for x in at} | set(result)
        number += 1
        at = tuple(x for x in dict.fromkeys((*first[1], *second[1])) if x in kept)
        made = (f"X{number}", at) if left else ("R", tuple(x for x in result if x in at))
        factors = " * ".join(f"{n}[{','.join(x)}]" for n, x in (first, second))
        lines.append(f"{made[0]}[{','.join(made[1])}] = {factors}")
        left.append(made)
    return ContractionTree.of(parse("\n".join([*lines, "output R"])))


def data_of(tree: ContractionTree, seed: int = 0, density: float = 0.5) -> dict[str, Array]:
    """Sparse values for every given tensor, as dense arrays."""
    rng = np.random.default_rng(seed)
    found = {}
    for name in tree.given:
        shape = tree.program.tensor(name).shape
        found[name] = np.asarray(rng.normal(size=shape) * (rng.random(shape) < density))
    return found


def wanted(tree: ContractionTree, data: dict[str, Array]) -> Array:
    """The result by NumPy, contraction by contraction."""
    made = [t for t in tree.program.tensors if t.made is not None]
    held = {**data, **{t.name: made_tensor(t).to_dense() for t in made}}
    letters = {x: chr(ord("a") + n) for n, x in enumerate(tree.indices)}
    for c in tree.contractions:
        parts = ["".join(letters[x] for x in a.indices) for a in c.operands]
        out = "".join(letters[x] for x in c.out.indices)
        held[c.name] = np.einsum(f"{','.join(parts)}->{out}", *(held[a.tensor] for a in c.operands))
    return held[tree.result.tensor]


def small(einsum: str, tree: str) -> ContractionTree:
    """A network with sizes of two to four."""
    every = sorted(set(einsum) - set(",->"))
    return binary(from_einsum(einsum, {x: 2 + n % 3 for n, x in enumerate(every)}), tree)
