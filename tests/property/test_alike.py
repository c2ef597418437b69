"""Regions equal but for names are compiled once: to what each comes alone, name by name."""

from __future__ import annotations

import random
from collections import Counter
from itertools import count

import pytest

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.fusion.alike import Kinds
from fuseloom.errors import FuseloomError
from fuseloom.program import Program, parse
from tests.tiers import counts

SEED = 20_261_123
FORMATS = ("csr", "dcsr", "csc", "dense", "csr block 2")
TAIL = ("relu(T{n}[i,j])", "T{n}[i,j] + b{n}[j]", "exp(T{n}[i,j])", "2 * T{n}[i,j]")


def layers(rng: random.Random) -> tuple[str, str]:
    """A program of layers that are alike or nearly so, and a schedule of a region per layer."""
    number = rng.randint(2, 6)
    fmt, tail, size = rng.choice(FORMATS), rng.choice(TAIL), rng.choice((4, 6))
    odd = rng.randrange(number) if rng.random() < 0.7 else -1
    change = rng.choice(("format", "tail", "index", "order", "option", "user", "store", "permute"))
    square = "2" if "block" in fmt else ""
    first = rng.choice(("dense", "dcsr"))
    declared, lines, schedule = [f"X0: {size}x{size} {first}{' block 2' if square else ''}"], [], []
    outputs = []
    for n in range(number):
        other = n == odd
        used = rng.choice(FORMATS[:4]) if other and change == "format" and not square else fmt
        ending = rng.choice(TAIL) if other and change == "tail" else tail
        k = "q" if other and change == "index" else "k"
        declared.append(f"A{n}: {size}x{size} {used}")
        if "b{n}" in ending:
            declared.append(f"b{n}: {size} dense{' block 2' if square else ''}")
        lines.append(f"T{n}[i,j] = A{n}[i,{k}] * X{n}[{k},j]")
        lines.append(f"X{n + 1}[i,j] = {ending.format(n=n)}")
        name = f"T{n}..X{n + 1}"
        if rng.random() < 0.9:
            schedule.append(f"fuse {name}")
            if other and change == "order":
                schedule.append(f"order T{n}: {rng.choice(('i,k,j', 'k,i,j', 'i,j,k'))}")
            if other and change == "option":
                option = rng.choice(("locate @off", "repeat @references", "parallel @i by 2"))
                schedule.append(option.replace("@", f"{name}: "))
            if other and change == "permute":
                schedule.append(f"permute A{n} to {rng.choice(('k,i', 'i,k'))}")
        if other and change == "user":
            outputs.append(f"T{n}")
        if other and change == "store":
            schedule.append(f"store X{n + 1} compressed,compressed")
    outputs.append(f"X{number}")
    text = "\n".join((*declared, *lines, f"output {', '.join(outputs)}"))
    return text, "; ".join(schedule)


def compiled(program: Program, schedule: str) -> Compilation | str:
    try:
        return compile_program(program, schedule)
    except FuseloomError as problem:
        return f"{type(problem).__name__}: {problem}"


def alone(program: Program, schedule: str) -> Compilation | str:
    """As if no region were like another."""
    numbers = count()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kinds, "key", lambda self, span: next(numbers))
        return compiled(program, schedule)


def same(one: Compilation, other: Compilation, rng: random.Random) -> None:
    assert one.resolved == other.resolved
    for a, b in zip(one.regions, other.regions, strict=True):
        assert a.changes == b.changes
        assert (a.order, a.legal_orders, a.recomputed) == (b.order, b.legal_orders, b.recomputed)
        if rng.random() < 0.5:  # graphs without tables, and after them
            assert a.graph == b.graph
        assert a.region.to_json() == b.region.to_json()
        assert str(a.region) == str(b.region)
        for name in ("extents", "pog", "changes", "repairs", "options", "statements"):
            assert getattr(a.region, name) == getattr(b.region, name), name
        assert a.order == b.order
        assert a.table.to_json() == b.table.to_json()
        assert a.graph == b.graph


def search(first: int, pairs: int) -> Counter[str]:
    seen: Counter[str] = Counter()
    for seed in range(first, first + pairs):
        text, schedule = layers(random.Random(seed))
        what = f"seed {seed}\n{text}\n{schedule}"
        program = parse(text)
        mine, other = compiled(program, schedule), alone(program, schedule)
        if isinstance(mine, str) or isinstance(other, str):
            assert mine == other, what
            seen["refused"] += 1
            continue
        late = sum("_make" in vars(region) for region in mine.regions)
        assert not any("_make" in vars(region) for region in other.regions)
        seen["late"] += late
        seen["all alike"] += late == len(mine.regions) - 1
        seen["some alike"] += 0 < late < len(mine.regions) - 1
        try:
            same(mine, other, random.Random(seed))
        except AssertionError as problem:
            raise AssertionError(what) from problem
    return seen


@counts(small=36, deep=48, fuzz=120)
def test_whatever_is_alike_is_what_it_is_alone(count: int) -> None:
    seen = search(SEED, count)
    assert seen["late"] > 0.8 * count
    assert seen["some alike"] > count // 12
    assert seen["refused"] < count / 3


@pytest.mark.fuzz
def test_many_are() -> None:
    search(SEED + 10_000, 5_000)
