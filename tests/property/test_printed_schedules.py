"""What the compiler prints is taken: resolved schedules of random programs give the same graphs.

Schedules have every directive there is, about whole regions, views and indices, some of which are
of regions that are cut.
"""

from __future__ import annotations

import random
from collections import Counter

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.fusion.fuse import fuse
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.errors import FuseloomError, ProgramError
from fuseloom.program import Program, parse
from tests.property.programs import Maker
from tests.property.programs.nesting import NestedMaker
from tests.tiers import counts

SEED = 20_272_000


def drawn_schedule(program: Program, rng: random.Random) -> str:
    """A schedule of a few fused regions, and of directives about them."""
    names = [s.out.tensor for s in program.live]
    lines, at = [], 0
    while at < len(names) - 1:
        end = min(len(names) - 1, at + rng.randint(1, 4))
        if rng.random() < 0.7:
            soft = rng.choice((" where possible", " where possible", ""))
            lines.append((names[at], names[end], soft))
        at = end + 1
    text = "; ".join(f"fuse {a}..{b}{soft}" for a, b, soft in lines)
    try:
        regions = fuse(program, Schedule.parse(text))
    except FuseloomError:
        regions = ()
    spans = [f"{a}..{b}" for a, b, _ in lines] + [f"{r.name}".split("..")[0] for r in regions]
    more = []
    for _ in range(rng.randint(0, 3)):
        span = rng.choice(["", "", *(f"{s}: " for s in spans if ".." in s)])
        view, shown = None, None
        if regions and (views := rng.choice(regions).views):
            view, shown = rng.choice(list(views.items()))
        indices = list(shown.indices) if shown is not None else ["i"]
        shuffled = rng.sample(indices, len(indices))
        more.append(
            rng.choice(
                (
                    f"parallel {span}{rng.choice(indices or ['i'])} by {rng.randint(2, 4)}",
                    f"permute {span}{view} to {','.join(shuffled)}",
                    f"locate {span}{rng.choice(('on', 'off'))}",
                    f"locate {span}{view}.{rng.choice(indices or ['i'])} off",
                    f"repeat {span}references",
                    f"materialise {rng.choice(names)}",
                    "store dense",
                    "store compressed",
                    "strict on",
                )
            )
        )
    return "; ".join(filter(None, [text, *more]))


def compiled(program: Program, schedule: str | Schedule) -> Compilation | FuseloomError:
    try:
        return compile_program(program, schedule)
    except FuseloomError as refusal:
        return refusal


@counts(small=30, deep=90, fuzz=600)
def test_resolved_schedules_are_taken(count: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(SEED, SEED + count):
        rng = random.Random(seed)
        maker = NestedMaker(rng) if seed % 2 else Maker(rng)
        try:
            program = parse(maker.text(rng.randint(2, 6)))
        except ProgramError:
            continue
        text = drawn_schedule(program, rng)
        first = compiled(program, text)
        if isinstance(first, FuseloomError):
            seen["refused"] += 1
            continue
        resolved = str(first.resolved)
        where = f"seed {seed}: {program}\n# {text}\n# {resolved}"
        again = compiled(first.source or program, resolved)
        assert not isinstance(again, FuseloomError), f"{where}\n{again}"
        assert [r.name for r in again.regions] == [r.name for r in first.regions], where
        assert [r.graph for r in again.regions] == [r.graph for r in first.regions], where
        seen["cut"] += len(first.regions) > len(Schedule.parse(text).fusions) > 0
        seen["scoped"] += ".." in resolved and ": " in resolved
        seen["taken"] += 1
    print(dict(seen))
    assert seen["taken"] > count // 3
    assert seen["cut"]
