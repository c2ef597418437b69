"""No public call raises anything but the project's own errors, whatever it is given.

Each public function is called with arguments of which some are what it takes, some of the right
kind but wild, and some of another kind.
"""

from __future__ import annotations

import random
import string
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

import fuseloom as fl
from fuseloom.program import LevelFormat
from tests.tiers import counts

SEED = 20_280_000
Maker = Callable[[random.Random], Any]

PROGRAMS = (
    "A: 4x5 csr\nB: 5x3 dense\nT[i,k] = A[i,j] * B[j,k]\nY[i,k] = relu(T[i,k])\noutput Y",
    "A: 3x4 dcsr\nb: 4 dense\nT[i,j] = max(A[i,j] + b[j], 0.5)\ns = sum[i,j] T[i,j]",
    "x: 6 compressed\ny: 6 dense\nm = min[i](x[i] - y[i])\nn[i] = exp(m + x[i])",
    "A: 4x4 csr block 2\nB: 4x4 dense block 2\nC[i,j] = A[i,k] * B[k,j]",
    "A: 3x4 csr\nB: 3x2 csr\nC[i,c] = concat[c](A[i,c], B[i,c])\nD[i,j] = A[i,j] / 2",
)
SCHEDULES = (
    "", "fuse T..Y", "fuse T..s where possible", "order T: i,k,j", "parallel i by 2",
    "fuse T..Y; order T..Y: i,j,k; parallel i by 4", "locate T.j off", "global i",
    "capacity 4", "fuse m..n; permute T to j,i",
)  # fmt: skip
MLIR = """
func.func @f(%a: tensor<3x4xf32>, %b: tensor<4x2xf32>) -> tensor<3x2xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x2xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
  %r = linalg.matmul ins(%a, %b : tensor<3x4xf32>, tensor<4x2xf32>)
       outs(%i : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %r : tensor<3x2xf32>
}
"""
NUMBERS = (
    0, 1, 2, 3, 7, -1, 64, 2**31, 2**63, 10**30, 0.5, 1.5, -0.0, 1e-300, 1e300,
    float("nan"), float("inf"), -float("inf"), True, False, np.int64(3), np.float32(2.5),
)  # fmt: skip
OTHERS = (
    None, "", "4", "none", "\0", "é" * 300, b"bytes", (), [], {}, {"a": 1}, [1, [2]], {1, 2},
    object(), int, 1j, range(3), np.zeros((2, 0)), slice(1), Ellipsis,
)  # fmt: skip


def number(rng: random.Random) -> Any:
    return rng.choice(NUMBERS if rng.random() < 0.9 else OTHERS)


def mutated(text: str, rng: random.Random) -> str:
    """A text with some places changed, or left as it is."""
    if rng.random() < 0.6:
        return text
    parts = list(text)
    for _ in range(rng.randint(1, 5)):
        at = rng.randrange(len(parts) + 1)
        match rng.randrange(5):
            case 0:
                parts[at : at + rng.randint(1, 4)] = []
            case 1:
                parts[at:at] = rng.choice(string.printable)
            case 2:
                parts[at:at] = parts[at - 6 : at]
            case 3:
                parts[at:at] = rng.choice(("99999999999", "\0", "\n", "é", "-", "[", "..", "'"))
            case 4:
                parts[at : at + 1] = rng.choice("ijkABT0123 [],:=*+()")
    return "".join(parts)


def other(maker: Maker, chance: float = 0.04) -> Maker:
    """Now and then something of quite another kind."""
    return lambda rng: rng.choice(OTHERS) if rng.random() < chance else maker(rng)


def program(rng: random.Random) -> fl.Program:
    return _parsed(rng.choice(PROGRAMS))


@cache
def _parsed(text: str) -> fl.Program:
    return fl.parse(text)


@cache
def _compiled(text: str, schedule: str) -> fl.Compilation | None:
    try:
        return fl.compile(_parsed(text), schedule)
    except fl.FuseloomError:
        return None


def compilation(rng: random.Random) -> fl.Compilation:
    text = rng.choice(PROGRAMS)
    made = _compiled(text, rng.choice(SCHEDULES)) or _compiled(text, "")
    assert made is not None
    return made


def array(shape: tuple[int, ...], rng: random.Random) -> Any:
    """An array of a shape, or something in its place."""
    numbers = np.random.default_rng(rng.randrange(2**32))
    plain = numbers.normal(size=shape) * (numbers.random(shape) < rng.random())
    kind = rng.random()
    if kind < 0.8:
        return plain
    wild = [
        lambda: plain * rng.choice((1e38, 1e300, np.nan, np.inf)),
        lambda: plain.tolist(),
        lambda: plain.astype(rng.choice((np.int8, np.uint64, np.float16, complex, bool, object))),
        lambda: plain.astype(str),
        lambda: plain[..., None],
        lambda: plain.ravel(),
        lambda: np.zeros(tuple(n + 1 for n in shape)),
        lambda: np.full(shape, None),
        lambda: [[1.0], [1.0, 2.0]],
        lambda: sp.csr_array(plain) if plain.ndim == 2 else plain,
        lambda: sp.coo_array(plain.T) if plain.ndim == 2 else sp.coo_array(plain[None]),
        lambda: np.ma.masked_array(plain, plain > 0),
        lambda: np.zeros(shape, dtype=[("a", "f4")]),
        lambda: np.zeros(shape, dtype="datetime64[s]"),
        lambda: 10**400,
        lambda: iter(plain.ravel()),
        lambda: rng.choice(OTHERS),
        lambda: rng.choice(NUMBERS),
    ]
    return rng.choice(wild)()


def data_for(given: Any, rng: random.Random) -> Any:
    """Data for a program, of which some may be wild, missing, or too many."""
    found = given if isinstance(given, fl.Program) else getattr(given, "program", None)
    if not isinstance(found, fl.Program) or rng.random() < 0.03:
        return rng.choice(OTHERS)
    data: dict[Any, Any] = {name: array(found.tensor(name).shape, rng) for name in found.inputs}
    if rng.random() < 0.05 and data:
        data.pop(rng.choice([*data]))
    if rng.random() < 0.05:
        data[rng.choice(("Z", "", 3, None))] = 1.0
    if rng.random() < 0.03:
        return [*data.items()]
    return data


FIELDS = (
    "channel_capacity", "alu_latency", "alu_interval", "load_latency", "search_latency",
    "search_interval", "clock_hz", "outstanding", "port_slots", "name", "memory", "quirks",
)  # fmt: skip


def machine(rng: random.Random) -> Any:
    chosen = rng.sample(FIELDS, rng.choice((0, 1, 1, 2)))
    return fl.Machine(**{name: number(rng) for name in chosen})


def limits(rng: random.Random) -> Any:
    names = ("tokens", "memory", "cycles")
    return fl.Limits(**{name: number(rng) for name in rng.sample(names, rng.randint(0, 2))})


def choice(*options: Any) -> Maker:
    return lambda rng: rng.choice(options) if rng.random() < 0.85 else rng.choice(OTHERS)


def schedule(rng: random.Random) -> Any:
    if rng.random() < 0.15:
        return rng.choice((None, fl.Schedule(), fl.Schedule.parse("fuse T..Y")))
    return mutated(rng.choice(SCHEDULES), rng)


def pairs(rng: random.Random) -> Any:
    return [
        (rng.choice(("i", "j", "T", "", "q", 3)), number(rng)) for _ in range(rng.randint(0, 2))
    ]


def numbers(rng: random.Random) -> Any:
    return [number(rng) for _ in range(rng.randint(0, 3))] if rng.random() < 0.8 else number(rng)


def shapes(rng: random.Random) -> Any:
    return {name: (3, 4) if rng.random() < 0.5 else numbers(rng) for name in ("A", "b")}


def sam(rng: random.Random) -> str:
    return mutated(_sam(), rng)


@cache
def _sam() -> str:
    made = _compiled(PROGRAMS[0], "")
    assert made is not None
    (graph, *_) = made.regions
    tensors = {t.name: t for t in made.program.tensors}
    return str(fl.export_sam(graph.graph, tensors).text)


def graph(rng: random.Random) -> Any:
    return rng.choice(compilation(rng).regions).graph


def tensors(rng: random.Random) -> Any:
    found = {t.name: t for t in program(rng).tensors}
    return found if rng.random() < 0.8 else {**found, "A": number(rng)}


Arguments = tuple[tuple[Any, ...], dict[str, Any]]
Call = Callable[[random.Random], Arguments]


def given(*makers: Maker, **options: Maker) -> Call:
    """Arguments made one by one; each option is given half of the time."""

    def make(rng: random.Random) -> Arguments:
        return tuple(other(maker)(rng) for maker in makers), optional(options, rng)

    return make


def optional(options: Mapping[str, Maker], rng: random.Random) -> dict[str, Any]:
    return {name: other(maker)(rng) for name, maker in options.items() if rng.random() < 0.25}


def with_data(maker: Maker, **options: Maker) -> Call:
    """A program or what was compiled of it, and data."""

    def make(rng: random.Random) -> Arguments:
        first = other(maker)(rng)
        return (first, data_for(first, rng)), optional(options, rng)

    return make


def compiled(rng: random.Random) -> Arguments:
    first = other(program)(rng)
    data = data_for(first, rng) if rng.random() < 0.5 else None
    options = {"passes": choice(None, (), ("buffers",), ["tidy", "x"]), "machine": machine}
    return (first, other(schedule)(rng), data), optional(options, rng)


AXES = ("capacity", "lanes", "seed", "preset", "order", "nodes", "schedule", "", "x", 3)


def imported(rng: random.Random) -> Arguments:
    graph = fl.import_sam(_sam(), {"A": (4, 5), "B": (5, 3), "T": (4, 3)})
    data = {"A": array((4, 5), rng), "B": array((5, 3), rng)}
    options = {"machine": machine, "engine": ENGINE, "limits": limits, "lenient": choice(True)}
    return (graph, data if rng.random() < 0.9 else number(rng)), optional(options, rng)


def loaded(rng: random.Random) -> Arguments:
    names = ("gcn", "graphsage", "spmv", "spmm", "attention", "autoencoder", "", "gcnn", 3)
    data = (None, "karate", "random", "uniform", "nothing", 4)
    options = ("nodes", "density", "features", "hidden", "sparsity", "rows", "block", "seed", "é")
    chosen = {name: number(rng) for name in rng.sample(options, rng.randint(0, 2))}
    return (rng.choice(names), rng.choice(data)), {k: _small(v) for k, v in chosen.items()}


def _small(value: Any) -> Any:
    """Sizes that are allowed are small, or a call takes minutes."""
    usual = isinstance(value, int | float) and 64 < value < 10**29
    return 8 if usual else value


MODE = choice("auto", "exact", "sampled", "bounds", "Auto")
ENGINE = choice("auto", "interpreter", "compiled", "verilator")
MACHINES = 'base = "hbm2"\n[parameters]\nlanes = [1, 2]\nload_latency = [1, 3]'
DESIGNED = with_data(
    program, objective=choice("cycles", "edp", "energy", "speed"), energy=number, bandwidth=number,
    base=schedule, requirements=choice([], ["order i"], ["fuse T Y"], ["melt"]),
    copies=choice(0, 1, -1), pareto=choice(True, False), every=choice(True, False),
    gap=number, time_limit=choice(0.01, 0, -1, float("nan")), limits=limits,
)  # fmt: skip


def designed(rng: random.Random) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A search over machines, most of which there are."""
    args, options = DESIGNED(rng)
    spaces = (MACHINES, MACHINES, "[parameters]\nlanes = [0]", "base = 3", "")
    return (*args, rng.choice(spaces)), {"time_limit": 0.01, **options}


CALLS: Mapping[str, Call] = {
    "parse": given(lambda rng: mutated(rng.choice(PROGRAMS), rng), source=choice("a.loom", "")),
    "evaluate": with_data(program),
    "fuse": given(program, choice(None, fl.Schedule(), fl.Schedule.parse("fuse T..Y"))),
    "compile": lambda rng: compiled(rng),
    "to_dot": given(graph, rankdir=choice("LR", "TB", "up"), labels=choice(True, False)),
    "simulate": with_data(
        compilation, machine=machine, engine=ENGINE, limits=limits, observe=lambda rng: observe(rng)
    ),
    "estimate": with_data(compilation, mode=MODE, machine=machine),
    "best_orders": with_data(compilation, effort=number, mode=MODE, machine=machine),
    "what_if": with_data(
        compilation, machine=machine, mode=MODE, capacities=numbers, lanes=pairs, settings=pairs
    ),
    "capacity_pareto": with_data(compilation, machine=machine, mode=MODE, capacities=numbers),
    "autoschedule": with_data(
        program, machine=machine, base=schedule, lanes=choice(1, 2, 3, 0, -1), on_chip=number,
        also=lambda rng: [schedule(rng)], copies=choice(0, 1, -1), stores=choice(0, 1, -2),
        gap=number, time_limit=choice(0.01, 0, -1, float("nan")), limits=limits,
    ),
    "codesign": lambda rng: designed(rng),
    "compare": with_data(
        program, presets=choice(None, {}, {"all": "fuse T..Y"}, {"odd": "melt"}, {3: 4}),
        systems=choice(None, ("stitch",), ("calls", "access"), ("dataflow",), ("magic",), ()),
        machine=machine, array=choice((8, 8), (0, 1), (2,), ("a", 2)), limits=limits,
        seconds=choice(0.01, 0, -1, float("nan"), "1"), rounds=choice(1, 2, 0, -1, 10**9, True),
        label=choice("", "data", 3), again=choice(True, False),
    ),
    "load": loaded,
    "from_mlir": given(lambda rng: mutated(MLIR, rng), shapes=shapes, function=choice("f", "g")),
    "to_mlir": given(program, choice(None, fl.Schedule(), fl.Schedule.parse("fuse T..Y"))),
    "import_sam": given(sam, shapes),
    "run_imported": lambda rng: imported(rng),
    "explore": given(
        lambda rng: {rng.choice(AXES): numbers(rng)}, simulate=choice(False, True, 1),
        limit=number, time_limit=choice(None, 5.0, 0, -1.0), again=choice((), ("failed",)),
    ),
    "Space": lambda rng: ((fl.Base(),), {"axes": {rng.choice(AXES): numbers(rng)}}),
    "Base": lambda rng: ((), {rng.choice(("of", "data", "sizes", "seed", "order")): number(rng)}),
    "export_sam": given(graph, tensors, strict=choice(True, False)),
    "export_tortilla": given(graph, tensors),
    "Machine": lambda rng: ((), {name: number(rng) for name in rng.sample(FIELDS, 2)}),
    "Limits": lambda rng: ((), {"tokens": number(rng), "memory": number(rng)}),
    "Observe": lambda rng: ((), {"bins": number(rng), "log_limit": number(rng)}),
}  # fmt: skip
ELSEWHERE: Mapping[str, str] = {
    "from_torch": "tests/frontends/torch/test_wild_calls.py",
    "best": "tests/exploration/test_best.py",
    "read_model": "tests/results/test_archive.py",
    "import_tortilla": "tests/dataflow/samml/exchange/test_tortilla_import.py",
    "Program": "a record",
    "StoredTensor": "a record",
    "Schedule": "a record",
    "Compilation": "a record",
    "FuseloomError": "an error",
    "__version__": "a text",
}


def observe(rng: random.Random) -> Any:
    given = {"bins": number, "log_limit": number, "log": choice(True), "peaks": choice(True)}
    return fl.Observe(**optional(given, rng))


def test_every_public_call_is_walked() -> None:
    assert CALLS.keys() | ELSEWHERE.keys() == set(fl.__all__)
    assert LevelFormat  # the formats that programs above declare


def problem(seed: int, seen: Counter[str]) -> str | None:
    """Make a random call; describe the exception if it is not one of the project's own."""
    rng = random.Random(seed)
    name = rng.choice([*CALLS])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            args, options = CALLS[name](rng)
            getattr(fl, name)(*args, **options)
    except fl.FuseloomError as refused:
        seen[f"{name} refused"] += 1
        return None if str(refused) else f"seed {seed}: {name} refuses without a word"
    except Exception as raised:
        shown = f"{args!r}, {options!r}" if "args" in locals() else "its arguments"
        return f"seed {seed}: {name} raises {type(raised).__name__}: {raised} for {shown[:600]}"
    seen[f"{name} done"] += 1
    return None


@counts(small=120, deep=600, fuzz=1_500)
def test_random_calls(count: int) -> None:
    seen: Counter[str] = Counter()
    found = [p for seed in range(SEED, SEED + count) if (p := problem(seed, seen)) is not None]
    assert not found, "\n".join(found[:20])
    assert sum(seen.values()) == count
