"""Random programs with data and one way to run them: fusion, orders, options."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from fuseloom.dataflow.compilation import Compilation, CompiledRegion
from fuseloom.dataflow.compiler import compile_region
from fuseloom.dataflow.fusion.directives import Global
from fuseloom.dataflow.fusion.fuse import fuse
from fuseloom.dataflow.fusion.prepare import prepare
from fuseloom.dataflow.fusion.region import FusedRegion, RegionOptions
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.fusion.views import Leaf
from fuseloom.errors import FuseloomError, LoweringError, OrderError, ProgramError, ScheduleError
from fuseloom.program import LevelFormat, Program, StoredTensor, parse
from fuseloom.program.dense_levels import densest, with_levels
from tests.property.programs.filling import data_of
from tests.property.programs.making import Maker
from tests.property.programs.nonzero import NonzeroMaker, integers_of
from tests.property.programs.wide import WideMaker, scattered


@dataclass
class Case:
    """A random program, data that fit it, and one way to run it."""

    program: Program
    data: dict[str, StoredTensor]
    compilation: Compilation
    refused: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        orders = "; ".join(f"{r.name}: {','.join(r.order)}" for r in self.compilation.regions)
        return f"{self.program}\n# {self.compilation.schedule}\n# orders {orders}"


def random_options(region: FusedRegion, rng: random.Random) -> RegionOptions:
    """Draw options for lowering a region; up to two indices are in one to eight lanes.

    In almost half of the cases levels are looked up or scanned each as drawn.
    """
    chosen = rng.sample(region.indices, min(len(region.indices), rng.choice([0, 0, 1, 1, 2])))
    lanes = tuple((index, rng.randint(1, 8)) for index in chosen)
    options = RegionOptions(rng.random() < 0.7, rng.random() < 0.3, lanes)
    if rng.random() < 0.45:
        leaves = [(name, view) for name, view in region.views.items() if isinstance(view, Leaf)]
        for level in [(name, index) for name, view in leaves for index in view.indices]:
            if rng.random() < 0.5:
                options = options.with_level(*level, rng.random() < 0.8)
    return options


def densely_stored(program: Program, rng: random.Random) -> Program:
    """The program with some of the levels that are complete stored dense, each as drawn."""
    for name, levels in densest(program).items():
        drawn = [level if rng.random() < 0.7 else LevelFormat.COMPRESSED for level in levels]
        program = program.with_tensor(with_levels(program.tensor(name), drawn))
    return program


def _compiled(region: FusedRegion, order: tuple[str, ...]) -> CompiledRegion:
    try:
        return compile_region(region, order)
    except ScheduleError:  # nothing works on single elements of an index: no lanes for it
        return compile_region(replace(region, options=replace(region.options, lanes=())), order)


def _legal(
    compiled_from: Program, schedule: Schedule, rng: random.Random, vary: bool
) -> Iterator[CompiledRegion]:
    for region in fuse(compiled_from, schedule):
        if vary:
            region = replace(region, options=random_options(region, rng))
            orders = [region.pog.sample(rng) for _ in range(60)]
        else:
            orders = list(region.pog.orders(60))
            rng.shuffle(orders)
        reason: FuseloomError | None = None
        for order in orders:
            try:
                yield _compiled(region, order)
                break
            except (OrderError, LoweringError) as problem:
                if "internal error" in problem.message:
                    raise AssertionError(f"{problem}\n{compiled_from}") from problem
                reason = problem
        else:
            assert reason is not None
            raise reason


def make_case(
    rng: random.Random,
    low: int = 2,
    high: int = 5,
    block: int = 1,
    vary: bool = False,
    undefined: bool = False,
    wide: bool = False,
    nonzero: bool = False,
) -> Case | None:
    """One random case, or None where the statements drawn make no legal program.

    Parameters
    ----------
    block : int
        Edge of the blocks that some of its indices are stored in.
    vary : bool
        Draw, too, whether iteration is global, which levels of intermediates are dense, lanes, and
        how regions are lowered; orders are then uniform samples of all legal ones, else they are
        among the first.
    undefined : bool
        With NaN and infinities among the values.
    wide : bool
        With dimensions of which hardly anything is stored.
    nonzero : bool
        With results that leave out their zeros, of integers.
    """
    kind = NonzeroMaker if nonzero else WideMaker if wide else Maker
    maker = kind(rng, block, undefined)
    text = maker.text(rng.randint(low, high))
    try:
        program = parse(text)
    except ProgramError:
        return None
    positive = {t.name for t in maker.tensors if t.positive}
    case = case_of(program, positive, rng, vary, wide)
    return replace(case, data=integers_of(case.data)) if case and nonzero else case


def case_of(
    program: Program,
    positive: set[str],
    rng: random.Random,
    vary: bool = False,
    wide: bool = False,
    cuts: float = 0.35,
) -> Case | None:
    """Draw data for a program and one way to run it, as :func:`make_case` does.

    Parameters
    ----------
    positive : set of str
        Inputs of which all elements are positive.
    cuts : float
        How often there is a cut between two statements, as a share.
    """
    if vary and rng.random() < 0.25:
        program, _ = prepare(program, Schedule((), (), (Global(),)))
    if vary and rng.random() < 0.7:
        program = densely_stored(program, rng)
    data = (scattered if wide else data_of)(program, positive, rng)
    names = [s.out.tensor for s in program.statements]
    barriers = {k for k, s in enumerate(program.statements) if not s.op.fuses}
    forced = barriers | {k + 1 for k in barriers}
    starts = [0, *(k for k in range(1, len(names)) if k in forced or rng.random() < cuts)]
    groups = [names[a:b] for a, b in zip(starts, [*starts[1:], len(names)], strict=True)]
    refused: list[str] = []
    while True:
        schedule = Schedule.parse("; ".join(f"fuse {g[0]}..{g[-1]}" for g in groups if len(g) > 1))
        try:
            regions = tuple(_legal(program, schedule, rng, vary))
        except (OrderError, LoweringError) as problem:
            refused.append(problem.message)
            longest = max(range(len(groups)), key=lambda k: len(groups[k]))
            if len(groups[longest]) == 1:
                return None  # a single statement whose storage orders contradict each other
            g = groups[longest]
            groups[longest : longest + 1] = [g[: len(g) // 2], g[len(g) // 2 :]]
            continue
        return Case(program, data, Compilation(program, schedule, regions), refused)


@st.composite
def cases(draw: st.DrawFn, low: int = 2, high: int = 5) -> Case:
    """Programs of ``low`` to ``high`` statements with random formats, data, fusion and orders."""
    rng = draw(st.randoms(use_true_random=False))
    for _ in range(20):
        case = make_case(rng, low, high)
        if case is not None:
            return case
    return draw(st.nothing())
