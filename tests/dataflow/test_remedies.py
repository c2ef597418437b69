"""Every remedy that a refusal names works when it is carried out on the text."""

from __future__ import annotations

import pickle
import random
import re
from collections import Counter
from collections.abc import Sequence

import pytest

from fuseloom.dataflow import compiler
from fuseloom.dataflow.compilation import CompiledRegion
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.remedies import RefusedRegion, remedies
from fuseloom.errors import FuseloomError, LoweringError, OrderError, ProgramError
from fuseloom.program import Program, Statement, parse, print_program
from tests.property.programs import Maker
from tests.property.programs.nesting import NestedMaker
from tests.tiers import counts

SEED = 20_273_000
PRODUCT = "A: 4x5 csr\nB: 5x3 csr\nT[i,j] = A[i,k] * B[k,j]"


def drawn(seed: int) -> tuple[str, str] | None:
    """A program of a statement a line, and a schedule of one region and one or two orders."""
    rng = random.Random(seed)
    maker = NestedMaker(rng) if seed % 2 else Maker(rng)
    try:
        program = parse(maker.text(rng.randint(1, 5)))
    except ProgramError:
        return None
    live = program.live
    lines = []
    if len(live) > 1:
        lines.append(f"fuse {live[0].out.tensor}..{live[-1].out.tensor}")
    for _ in range(rng.randint(0 if lines else 1, 2)):
        statement = rng.choice(live)
        indices = ",".join(rng.sample(statement.indices, len(statement.indices)))
        if indices and not any(f"order {statement.out.tensor}:" in line for line in lines):
            lines.append(f"order {statement.out.tensor}: {indices}")
    return print_program(program).removeprefix("program unnamed\n"), "; ".join(lines)


def carried_out(text: str, schedule: str, remedy: str) -> tuple[str, str]:
    """The program and the schedule, changed as a remedy says."""
    lines = schedule.split("; ")
    if remedy.startswith("take "):
        (order,) = re.findall(r"^take '(.*)'$", remedy)
        return text, "; ".join([*(x for x in lines if not x.startswith("order")), order])
    if remedy.startswith("cut "):
        cuts = remedy.partition(": ")[2].removesuffix("; without the order of the whole")
        kept = [x for x in lines if not x.startswith("fuse")]
        return text, "; ".join(filter(None, [cuts, *kept]))
    if remedy.startswith("leave out "):
        (gone,) = re.findall(r"^leave out '(.*)'$", remedy)
        return text, "; ".join(x for x in lines if x != gone)
    if remedy.startswith("use "):
        return f"option broadcast_add dense\n{text}", schedule
    for part in remedy.split(" and "):
        (said,) = re.findall(r"'(.*)'(?: \(with.*)?$", part)
        if part.startswith("declare"):
            name = said.partition(":")[0]
            rest = [x for x in text.splitlines() if not x.startswith(f"{name}:")]
            text = "\n".join([said, *rest])
        else:
            lines.append(said)
    return text, "; ".join(lines)


@counts(small=10, deep=12, fuzz=40)
def test_every_remedy_works(count: int) -> None:
    search(count)


@pytest.mark.fuzz
def test_remedies_of_three_hundred_refusals_work() -> None:
    search(300)


def search(count: int) -> None:
    """Carry out every remedy of so many refusals."""
    seen: Counter[str] = Counter()
    seed = SEED
    while seen["refused"] < count:
        seed += 1
        case = drawn(seed)
        if case is None:
            continue
        text, schedule = case
        try:
            compile_program(parse(text), schedule)
        except (OrderError, LoweringError) as refusal:
            seen["refused"] += 1
            for remedy in filter(None, (refusal.hint or "").split("; or ")):
                seen[remedy.split()[0].strip("'")] += 1
                other, changed = carried_out(text, schedule, remedy)
                where = f"seed {seed}: {text}\n# {schedule}\n{refusal.message}\n{remedy}"
                try:
                    compile_program(parse(other), changed)
                except FuseloomError as again:
                    pytest.fail(f"{where}\n{other}\n# {changed}\n{again}")
        except FuseloomError:
            continue
    print(dict(seen))
    assert seen["take"] + seen["cut"] + seen["leave"] + seen["permute"] > count // 3


def test_nothing_is_told_that_takes_too_long() -> None:
    program = parse(PRODUCT)
    schedule = Schedule.parse("order T: j,i,k")
    refused = RefusedRegion(program, schedule, program.live, None)

    tried: list[str] = []

    def never(
        program: Program,
        schedule: Schedule,
        statements: Sequence[Statement],
        order: tuple[str, ...] | None,
    ) -> list[CompiledRegion]:
        tried.append(str(schedule))
        raise LoweringError("no")

    assert remedies(refused, never) is None
    assert tried
    tried.clear()
    assert remedies(refused, never, seconds=-1) is None
    assert not tried


def test_remedies_are_looked_for_when_somebody_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[RefusedRegion] = []

    def noted(refused: RefusedRegion, *_: object) -> str:
        asked.append(refused)
        return "try this"

    monkeypatch.setattr(compiler, "remedies", noted)
    with pytest.raises(OrderError) as caught:
        compile_program(parse(PRODUCT), "order T..T: j,i,k")
    assert not asked
    assert str(caught.value).endswith("(hint: try this)")
    assert caught.value.hint == "try this"
    assert len(asked) == 1
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
