"""Random programs with data, schedules and orders, for searching for wrong results."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import permutations

import numpy as np
from hypothesis import strategies as st

from engine.dataflow.compiler import Compilation, CompiledRegion, compile_program, compile_region
from engine.dataflow.fusion.directives import Global
from engine.dataflow.fusion.fuse import fuse
from engine.dataflow.fusion.prepare import prepare
from engine.dataflow.fusion.region import FusedRegion, RegionOptions
from engine.dataflow.fusion.schedule import Schedule
from engine.errors import FuseloomError, LoweringError, OrderError, ProgramError, ScheduleError
from engine.program import LevelFormat, Program, StoredTensor, Tensor, parse
from engine.program.levels import run_end, stored_shape
from engine.program.tile_arrays import element_coordinates, from_tiles, grid_shape, to_tiles
from engine.program.types import Access

INDICES = ("i", "j", "k", "l", "m")


@dataclass
class Made:
    """A tensor while a program is being made up: its index sizes and what may be done to it."""

    name: str
    sizes: tuple[int, ...]
    positive: bool
    magnitude: float


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


class _Maker:
    """Makes up statements one after another."""

    def __init__(self, rng: random.Random, block: int = 1) -> None:
        self.rng = rng
        self.block = block
        count = rng.randint(1, 3)
        self.size_of = {x: rng.choice([1, 2, 3, 4, 5][: count + 2]) for x in INDICES}
        if block > 1:  # blocked indices and others never share a size, so none is linked
            others = [size for size in (1, 2, 3, 5) if size % block]
            for x in INDICES:
                blocks = block * rng.randint(1, 3)
                self.size_of[x] = blocks if rng.random() < 0.7 else rng.choice(others)
        self.joinable = rng.random() < 0.3
        if self.joinable:  # m can hold what k and l hold, one after the other
            self.size_of["m"] = self.size_of["k"] + self.size_of["l"]
            blocked = {self.is_blocked(x) for x in "klm"}
            self.joinable = len(blocked) == 1  # else the sum is of another kind than its terms
        self.tensors: list[Made] = []
        self.declarations: list[str] = []
        self.statements: list[str] = []
        self.dense = rng.random() < 0.25

    def text(self, statements: int) -> str:
        while len(self.statements) < statements:
            kind = self.rng.choice(
                [
                    *("mul", "mul", "mul", "add", "broadcast", "unary", "reduce", "div", "softmax"),
                    *("product", "reshape"),
                    *(["concat"] * 3 if self.joinable else []),
                ]
            )
            getattr(self, kind)()
        option = ["option broadcast_add dense"] if self.dense else []
        return "\n".join([*option, *self.declarations, *self.statements])

    # Operands ---------------------------------------------------------------------------------

    def indices(self, low: int, high: int) -> list[str]:
        return self.at_most_two_blocked(self.rng.sample(INDICES, self.rng.randint(low, high)))

    def at_most_two_blocked(self, indices: list[str]) -> list[str]:
        blocked = [x for x in indices if self.is_blocked(x)]
        return [x for x in indices if x not in blocked[2:]]

    def blocks(self, indices: list[str]) -> str:
        """What a declaration over these indices says of blocks."""
        blocked = ",".join(str(k) for k, x in enumerate(indices) if self.is_blocked(x))
        return f" block {self.block} over {blocked}" if blocked else ""

    def is_blocked(self, index: str) -> bool:
        return self.block > 1 and self.size_of[index] % self.block == 0

    def input(self, indices: list[str], positive: bool = False) -> Made:
        rng = self.rng
        name = f"A{len(self.declarations)}"
        sizes = tuple(self.size_of[x] for x in indices)
        levels = [rng.choice(["dense", "compressed"]) for _ in sizes]
        if rng.random() < 0.25:  # COO, or singletons at some of the inner levels
            everywhere = rng.random() < 0.5
            if everywhere and levels:
                levels[0] = "compressed"
            for at in range(1, len(levels)):
                if everywhere or rng.random() < 0.5:
                    levels[at] = "singleton"
        order = list(range(len(sizes)))
        if rng.random() < 0.3:
            rng.shuffle(order)
        shape = "x".join(map(str, sizes)) or "scalar"
        form = f" [{', '.join(levels)}] order {','.join(map(str, order))}" if sizes else ""
        form += self.blocks(indices)
        self.declarations.append(f"{name}: {shape}{form}")
        made = Made(name, sizes, positive or rng.random() < 0.5, 2.0)
        self.tensors.append(made)
        return made

    def operand(self, indices: list[str], positive: bool = False) -> Made:
        """A tensor that can be read at these indices: an earlier result, or a new input."""
        sizes = tuple(self.size_of[x] for x in indices)
        known = [t for t in self.tensors if t.sizes == sizes and (t.positive or not positive)]
        if known and self.rng.random() < 0.75:
            return known[-1] if self.rng.random() < 0.6 else self.rng.choice(known)
        return self.input(indices, positive)

    def recent(self) -> tuple[Made, list[str]]:
        """A recent tensor and indices to read it at."""
        if not self.tensors:
            indices = self.indices(1, 3)
            return self.input(indices), indices
        made = self.tensors[-1]
        for _ in range(8):
            chosen: list[str] = []
            for size in made.sizes:
                fitting = [x for x in INDICES if self.size_of[x] == size and x not in chosen]
                if not fitting:
                    break
                chosen.append(self.rng.choice(fitting))
            else:
                return made, chosen
        indices = self.indices(1, 3)
        return self.input(indices), indices

    def emit(self, out: list[str], right: str, positive: bool, magnitude: float) -> Made:
        name = f"T{len(self.statements)}"
        self.statements.append(f"{name}[{','.join(out)}] = {right}")
        made = Made(name, tuple(self.size_of[x] for x in out), positive, magnitude)
        self.tensors.append(made)
        return made

    @staticmethod
    def at(made: Made, indices: list[str]) -> str:
        return f"{made.name}[{','.join(indices)}]"

    # Statements -------------------------------------------------------------------------------

    def mul(self) -> None:
        a, ai = self.recent()
        bi = self.indices(0, 3)
        if self.rng.random() < 0.7 and not set(ai) & set(bi) and bi:
            bi[0] = self.rng.choice(ai) if ai else bi[0]
            bi = list(dict.fromkeys(bi))
        b = self.operand(bi)
        both = list(dict.fromkeys(ai + bi))
        if a.magnitude * b.magnitude > 1e3:
            return
        out = self.at_most_two_blocked([x for x in both if self.rng.random() < 0.7])[:3]
        if self.rng.random() < 0.3:
            self.rng.shuffle(out)
        summed = float(np.prod([self.size_of[x] for x in both if x not in out] or [1]))
        self.emit(
            out,
            f"{self.at(a, ai)} * {self.at(b, bi)}",
            a.positive and b.positive,
            a.magnitude * b.magnitude * summed,
        )

    def product(self) -> None:
        """Three factors in one iteration space."""
        a, ai = self.recent()
        bi, ci = self.indices(0, 2), self.indices(0, 2)
        if ai and bi:
            bi = list(dict.fromkeys([self.rng.choice(ai), *bi]))
        b, c = self.operand(bi), self.operand(ci)
        every = list(dict.fromkeys(ai + bi + ci))
        magnitude = a.magnitude * b.magnitude * c.magnitude
        if magnitude > 1e3 or len(every) > 4:
            return
        out = self.at_most_two_blocked([x for x in every if self.rng.random() < 0.6])[:3]
        summed = float(np.prod([self.size_of[x] for x in every if x not in out] or [1]))
        self.emit(
            out,
            f"product({self.at(a, ai)}, {self.at(b, bi)}, {self.at(c, ci)})",
            a.positive and b.positive and c.positive,
            magnitude * summed,
        )

    def concat(self) -> None:
        """Something over k and something over l, one behind the other over m."""
        rest = self.rng.sample(("i", "j"), self.rng.randint(0, 2))
        rest = self.at_most_two_blocked(["m", *rest])[1:]
        at = self.rng.randint(0, len(rest))

        def over(axis: str) -> list[str]:
            return [*rest[:at], axis, *rest[at:]]

        a, b = self.operand(over("k")), self.operand(over("l"))
        out = over("m")
        if self.rng.random() < 0.2:
            self.rng.shuffle(out)
        self.emit(
            out,
            f"concat[m]({self.at(a, over('m'))}, {self.at(b, over('m'))})",
            a.positive and b.positive,
            max(a.magnitude, b.magnitude),
        )

    def reshape(self) -> None:
        """Split a dimension, or merge two."""
        a, ai = self.recent()
        if not ai or self.rng.random() < 0.5:
            return
        sizes = [self.size_of[x] for x in ai]
        places = int(np.prod(sizes))
        fitting = [
            list(chosen)
            for rank in (1, 2, 3)
            for chosen in permutations(INDICES, rank)
            if int(np.prod([self.size_of[x] for x in chosen])) == places
            and self.at_most_two_blocked(list(chosen)) == list(chosen)
        ]
        if not fitting:
            return
        out = self.rng.choice(fitting)
        name = f"T{len(self.statements)}"
        shape = "x".join(str(self.size_of[x]) for x in out)
        levels = [self.rng.choice(["dense", "compressed"]) for _ in out]
        if a.positive:  # places that a dense level fills would hold zeros
            levels = ["compressed"] * len(out)
        order = list(range(len(out)))
        self.rng.shuffle(order)
        self.declarations.append(
            f"{name}: {shape} [{', '.join(levels)}] order {','.join(map(str, order))}"
            + self.blocks(out)
        )
        positive = a.positive and not self.blocks(out)  # so would the rest of a block
        self.emit(out, f"reshape({self.at(a, ai)})", positive, a.magnitude)

    def add(self) -> None:
        a, ai = self.recent()
        b = self.operand(ai)
        sign = self.rng.choice("+-")
        out = list(ai)
        if self.rng.random() < 0.2:
            self.rng.shuffle(out)
        positive = a.positive and b.positive and sign == "+"
        self.emit(
            out, f"{self.at(a, ai)} {sign} {self.at(b, ai)}", positive, a.magnitude + b.magnitude
        )

    def broadcast(self) -> None:
        a, ai = self.recent()
        bi = [x for x in ai if self.rng.random() < 0.5]
        b = self.operand(bi)
        left, right = self.at(a, ai), self.at(b, bi)
        if self.rng.random() < 0.3:
            left, right = right, left
        self.emit(
            list(ai), f"{left} + {right}", a.positive and b.positive, a.magnitude + b.magnitude
        )

    def unary(self) -> None:
        a, ai = self.recent()
        at = self.at(a, ai)
        choices = ["relu", "scale", "shift"]
        if a.magnitude <= 2:  # what gelu(x) - x keeps of a larger x is lost in float32
            choices.append("gelu")
        if a.magnitude <= 60:  # float32 knows nothing of e**-100
            choices.append("sigmoid")
        if a.magnitude <= 4:
            choices += ["exp", "exp"]
        if a.positive:
            choices += ["log", "rsqrt"]
        match self.rng.choice(choices):
            case "scale":
                self.emit(ai, f"{at} * 0.5", a.positive, a.magnitude)
            case "shift":
                self.emit(ai, f"{at} + 0.25", a.positive, a.magnitude + 1)
            case "exp":
                self.emit(ai, f"exp({at})", True, float(np.exp(a.magnitude)))
            case "relu":
                self.emit(ai, f"relu({at})", False, a.magnitude)
            case "sigmoid":
                # Not positive: float32 keeps no digit of the logarithm of nearly 1.
                self.emit(ai, f"sigmoid({at})", False, 1)
            case other:
                self.emit(ai, f"{other}({at})", False, a.magnitude + 4)

    def reduce(self) -> None:
        a, ai = self.recent()
        if not ai:
            return
        out = [x for x in ai if self.rng.random() < 0.6]
        gone = [x for x in ai if x not in out]
        if self.rng.random() < 0.5 and gone:
            right = f"max[{','.join(gone)}] {self.at(a, ai)}"
        else:
            right = self.at(a, ai)
        scale = float(np.prod([self.size_of[x] for x in gone] or [1]))
        self.emit(out, right, a.positive, a.magnitude * scale)

    def div(self) -> None:
        a, ai = self.recent()
        bi = [x for x in ai if self.rng.random() < 0.7]
        b = self.operand(bi, positive=True)
        if not b.positive or b.name.startswith("T"):
            b = self.input(bi, positive=True)
        self.emit(list(ai), f"{self.at(a, ai)} / {self.at(b, bi)}", a.positive, a.magnitude * 4)

    def softmax(self) -> None:
        a, ai = self.recent()
        if len(ai) < 2 or a.magnitude > 60:
            return
        at, rest, last = self.at(a, ai), ai[:-1], ai[-1]
        n = len(self.statements)
        self.emit(rest, f"max[{last}] {at}", a.positive, a.magnitude)
        self.emit(ai, f"{at} - T{n}[{','.join(rest)}]", False, 2 * a.magnitude)
        self.emit(ai, f"exp(T{n + 1}[{','.join(ai)}])", False, 1)
        self.emit(rest, f"T{n + 2}[{','.join(ai)}]", False, 9)
        self.emit(ai, f"T{n + 2}[{','.join(ai)}] / T{n + 3}[{','.join(rest)}]", False, 1)


def _elements(
    tensor: Tensor, density: float, numbers: np.random.Generator
) -> list[tuple[int, ...]]:
    """Coordinates (of blocks) a format with singletons can hold: one per dense position."""
    formats, order, shape = tensor.format.levels, tensor.format.mode_order, stored_shape(tensor)
    found: list[tuple[int, ...]] = [()]
    depth = 0
    while depth < len(formats):
        end = run_end(formats, depth)
        sizes = shape[depth : end + 1]
        longer: list[tuple[int, ...]] = []
        for above in found:
            if formats[depth] is LevelFormat.DENSE:
                longer += [
                    (*above, x, *(int(numbers.integers(size)) for size in sizes[1:]))
                    for x in range(sizes[0])
                ]
            else:
                drawn = numbers.random(sizes)
                kept = drawn < density
                if depth and not kept.any():
                    kept = drawn == drawn.min()  # a singleton above needs its one element
                longer += [(*above, *tuples) for tuples in np.argwhere(kept).tolist()]
        found = longer
        depth = end + 1
    return [tuple(point[order.index(axis)] for axis in range(tensor.rank)) for point in found]


def _data(program: Program, positive: set[str], rng: random.Random) -> dict[str, StoredTensor]:
    numbers = np.random.default_rng(rng.randrange(2**32))
    data = {}
    for name in program.inputs:
        tensor = program.tensor(name)
        density = rng.choice([0.0, 0.3, 0.6, 0.9, 1.0])
        values = numbers.integers(1, 12, tensor.shape) / 8.0
        if name not in positive:
            values = values * numbers.choice([-1.0, 1.0], tensor.shape)
        if LevelFormat.SINGLETON in tensor.format.levels:
            points = np.array(_elements(tensor, density, numbers), dtype=np.int64)
            points = element_coordinates(tensor, points.reshape(len(points), tensor.rank))
            data[name] = StoredTensor.from_coo(tensor, points, values[tuple(points.T)])
            continue
        keep = numbers.random(tensor.shape) < density
        if tensor.format.blocked:  # whole blocks too, or hardly any would be empty
            tiles = to_tiles(tensor, keep)
            grid = numbers.random(grid_shape(tensor)) < rng.choice([density, 0.4])
            keep &= from_tiles(
                tensor,
                np.broadcast_to(
                    grid.reshape(grid.shape + (1,) * (tiles.ndim - grid.ndim)), tiles.shape
                ),
            )
        if tensor.rank > 1 and rng.random() < 0.4:
            keep[rng.randrange(tensor.shape[0])] = False
        if name in positive:
            # A positive tensor may be divided by or logged: no explicit zero may be stored.
            pattern = StoredTensor.from_dense(tensor, np.where(keep, values, 0.0)).pattern()
            values = np.where(pattern & ~keep, 1.0, values)
            keep = keep | pattern
        data[name] = StoredTensor.from_dense(tensor, np.where(keep, values, 0.0))
    return data


def random_options(region: FusedRegion, rng: random.Random) -> RegionOptions:
    """How a region is lowered, drawn at random; up to two indices in one to eight lanes."""
    chosen = rng.sample(region.indices, min(len(region.indices), rng.choice([0, 0, 1, 1, 2])))
    lanes = tuple((index, rng.randint(1, 8)) for index in chosen)
    return RegionOptions(rng.random() < 0.7, rng.random() < 0.3, lanes)


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
                reason = problem
        else:
            assert reason is not None
            raise reason


def make_case(
    rng: random.Random, low: int = 2, high: int = 5, block: int = 1, vary: bool = False
) -> Case | None:
    """One random case, or None where the statements drawn make no legal program.

    Parameters
    ----------
    block : int
        Edge of the blocks that some of its indices are stored in.
    vary : bool
        Draw, too, whether iteration is global, lanes, and how regions are lowered; orders are
        then uniform samples of all legal ones, else they are among the first.
    """
    maker = _Maker(rng, block)
    text = maker.text(rng.randint(low, high))
    try:
        program = parse(text)
    except ProgramError:
        return None
    if vary and rng.random() < 0.25:
        program, _ = prepare(program, Schedule((), (), (Global(),)))
    positive = {t.name for t in maker.tensors if t.positive}
    data = _data(program, positive, rng)
    names = [s.out.tensor for s in program.statements]
    barriers = {k for k, s in enumerate(program.statements) if not s.op.fuses}
    forced = barriers | {k + 1 for k in barriers}
    starts = [0, *(k for k in range(1, len(names)) if k in forced or rng.random() < 0.35)]
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
    rng: random.Random, block: int = 1
) -> tuple[Program, dict[str, StoredTensor], str] | None:
    """A random program with results in the middle, names that clash, data, and a schedule.

    Sometimes a chain with many possible cuts goes on from the last result, and ends in two
    outputs that are written in different orders.
    """
    maker = _Maker(rng, block)
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
    data = _data(program, {t.name for t in maker.tensors if t.positive}, rng)
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


@st.composite
def cases(draw: st.DrawFn, low: int = 2, high: int = 5) -> Case:
    """Programs of ``low`` to ``high`` statements with random formats, data, fusion and orders."""
    rng = draw(st.randoms(use_true_random=False))
    for _ in range(20):
        case = make_case(rng, low, high)
        if case is not None:
            return case
    return draw(st.nothing())


__all__ = [
    "Case",
    "cases",
    "compile_program",
    "make_case",
    "random_options",
    "renamed",
    "several_outputs",
]
