"""Sums that a sparse operand multiplies: what of them is looked up changes no result.

``A[i,k] * (b[k] + c[k] + ...)``, where some operands are dense, others compressed, broadcast or
made by other statements; fused, under every choice that :mod:`tests.property.programs` draws.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.errors import ProgramError
from fuseloom.program import parse
from tests.dataflow.samml.passes import engines
from tests.property.programs import Case
from tests.property.programs.cases import case_of
from tests.property.test_estimates import counts_agree
from tests.tiers import counts

SEED = 20_261_128
VECTORS = ("dense", "dense", "compressed")
FACTORS = ("csr", "dcsr", "csc")
MATRICES = ("dense", "dense", "csr", "dcsr", "csc", "[compressed, dense]")


class Sums:
    """Makes up the statements of one program."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.sizes = {x: rng.randint(1, 6) for x in "ijkl"}
        self.declarations: list[str] = []
        self.statements: list[str] = []

    def text(self) -> str:
        rng = self.rng
        last = ("k", "j") if rng.random() < 0.6 else ("k",)
        factor = self.input("ik", FACTORS)
        total = self.sum(last)
        if rng.random() < 0.3:
            total = self.step(f"{total} * {self.sum(last)}", last)
        self.step(f"{factor} * {total}", tuple(x for x in ("i", "j") if x in ("i", *last)))
        option = ["option broadcast_add dense"] if rng.random() < 0.3 else []
        return "\n".join([*option, *self.declarations, *self.statements])

    def sum(self, indices: tuple[str, ...]) -> str:
        """Write statements that add operands, one of which has all indices; return the sum."""
        rng = self.rng
        made = self.operand(indices)
        for _ in range(rng.randint(1, 3)):
            fewer = tuple(x for x in indices if rng.random() < 0.7) or indices
            terms = [made, self.operand(fewer)]
            if len(fewer) == len(indices):
                rng.shuffle(terms)
            made = self.step(" + ".join(terms), indices)
            if rng.random() < 0.3:
                made = self.step(
                    rng.choice(["relu({})", "0.5 * {}", "abs({})"]).format(made), indices
                )
        return made

    def operand(self, indices: tuple[str, ...]) -> str:
        if indices[0] == "k" and self.rng.random() < 0.25:
            return self.step(f"{self.input('kl')} * {self.input(('l', *indices[1:]))}", indices)
        return self.input(indices)

    def input(self, indices: tuple[str, ...] | str, kinds: tuple[str, ...] = MATRICES) -> str:
        name = f"A{len(self.declarations)}"
        shape = "x".join(str(self.sizes[x]) for x in indices)
        kind = self.rng.choice(VECTORS if len(indices) == 1 else kinds)
        self.declarations.append(f"{name}: {shape} {kind}")
        return f"{name}[{','.join(indices)}]"

    def step(self, expression: str, indices: tuple[str, ...]) -> str:
        made = f"T{len(self.statements)}[{','.join(indices)}]"
        self.statements.append(f"{made} = {expression}")
        return made


def draw(seed: int) -> Case | None:
    rng = random.Random(seed)
    try:
        program = parse(Sums(rng).text())
    except ProgramError:
        return None
    return case_of(program, set(), rng, vary=True, cuts=0.1)


def search(first: int, wanted: int) -> Counter[str]:
    seen: Counter[str] = Counter()
    seed = first
    while seen["cases"] < wanted:
        case = draw(seed)
        seed += 1
        if case is None:
            continue
        where = f"seed {seed - 1}"
        for engine in engines(case.compilation):
            result = simulate(case.compilation, case.data, engine=engine).check()
            assert result.ok, f"{where}, engine {engine}: {result}\n{case!r}"
        had, _ = counts_agree(case, where)
        seen += had
    print(f"seeds {first} to {seed - 1}: {dict(seen)}")
    return seen


@counts(small=30, deep=45, fuzz=400)
def test_random_sums(count: int) -> None:
    seen = search(SEED, count)
    for what in ("search", "locate", "union", "intersect"):
        assert seen[what] >= count // 6, what


@pytest.mark.fuzz
def test_twenty_thousand_sums() -> None:
    search(SEED + 100_000, 20_000)
