"""The work of the page's process: the solver, nests, times, code, the other machine.

It keeps what it found of the last network, so that a nest can be looked at without solving again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

from fuseloom.contraction.kernels.data import Data
from fuseloom.contraction.kernels.record import stored
from fuseloom.contraction.kernels.run import KernelMeasurement, NestKernel, kernels, measure
from fuseloom.contraction.loopnest.ir import indented
from fuseloom.contraction.loopnest.iteration import factored
from fuseloom.contraction.networks import from_einsum, read_extents
from fuseloom.contraction.paths import binary, optimised
from fuseloom.contraction.random_data import scattered
from fuseloom.contraction.ranking import Candidate, RankedCandidates, ranked
from fuseloom.contraction.solving.encoding import Encoding
from fuseloom.contraction.solving.pins import Pin
from fuseloom.contraction.solving.solve import Question
from fuseloom.contraction.tree import ContractionTree
from fuseloom.errors import FuseloomError, LimitError, ProgramError
from fuseloom.exploration.limiting import limit_memory
from fuseloom.results.record import RegionRecord
from fuseloom.wording import counted
from fuseloom_workbench.base.child import Send
from fuseloom_workbench.networks import view
from fuseloom_workbench.networks.asked import OPTIMISERS, NetworkQuestion
from fuseloom_workbench.service.budgets import KEEP_RUNS

MEASURED = 8
"""Nests that are compiled and run at once."""
SECONDS = 20.0
"""After so long no further round of runs begins."""
MOST_MEMORY = 3 * 2**30
"""Bytes that the process may take besides what it has loaded."""
MOST_BYTES = 2**28
"""Of the workspaces and the result of one nest."""


@dataclass
class _Known:
    """The results for the network that is shown."""

    asked: NetworkQuestion
    tree: ContractionTree
    data: Data
    question: Question
    verdicts: list[dict[str, Any]]
    found: RankedCandidates | None = None
    measured: dict[int, KernelMeasurement] = field(default_factory=dict)
    code: dict[int, str] = field(default_factory=dict)


_known: list[_Known] = []


def prepare() -> None:
    """Load the solver before the first question comes; limit what answers may take."""
    import z3  # noqa: F401

    limit_memory(MOST_MEMORY)


def answer(request: tuple[Any, ...], send: Send) -> None:
    """Carry out a request; runs inside the process.

    Sends ``("part", name, data)`` as something is found, ``("progress", share, text)``, and at the
    end ``("done", text)`` or ``("refused", text, hint)``.
    """
    try:
        match request:
            case ("solve", NetworkQuestion() as asked):
                told = _solve(asked, send)
            case ("look", int(number)):
                told = _look(number, send)
            case ("measure", int(number)):
                told = _measure(number, send)
            case ("code", int(number)):
                told = _code(number, send)
            case ("pareto",):
                told = _pareto(send)
            case ("dataflow",):
                told = _dataflow(send)
            case _:
                told = ""
    except FuseloomError as reason:
        send(("refused", reason.message, reason.hint or ""))
    except MemoryError:
        send(("refused", "this takes more memory than a page may", "take smaller extents"))
    else:
        send(("done", told))


def tree_of(asked: NetworkQuestion) -> ContractionTree:
    """The network as it is to be contracted.

    Raises
    ------
    ProgramError
        Of a text that is no network, or no tree of it.
    """
    program = from_einsum(asked.einsum, read_extents(asked.extents))
    if asked.tree in OPTIMISERS:
        return optimised(program, asked.tree)
    return binary(program, asked.tree or None)


def _solve(asked: NetworkQuestion, send: Send) -> str:
    tree = tree_of(asked)
    pins = tuple(map(Pin.parse, asked.pins))
    question = Question(tree, Encoding(asked.encoding), asked.most_bytes, pins=pins)
    if _known and _known[0].tree == tree and _same_data(_known[0].asked, asked):
        data = _known[0].data
    else:
        data = Data(tree, scattered(tree, asked.density, asked.seed))
    counts = {name: len(one.values) for name, one in data.elements.items()}
    send(("part", "network", view.network(tree, counts)))
    known = _Known(asked, tree, data, question, view.verdicts(question))
    _known[:] = [known]
    send(("part", "verdicts", {"verdicts": known.verdicts, "bound": view.least(known.verdicts)}))
    bound: Any = dict(asked.bounds) or asked.bound
    if bound is None:
        bound = view.least(known.verdicts)
    if bound is None:
        send(("part", "solutions", _none(known)))
        return "no nest has what is asked; beside each bound stands what forbids it"
    try:
        known.found = ranked(question, known.data.held, bound=bound)
    except FuseloomError as reason:
        send(("part", "solutions", _none(known, reason.message)))
        return "no nest has what is asked"
    _tell(known, send)
    best = 0
    _look(best, send)
    return f"{counted(len(known.found.candidates), 'nest')}"


def _same_data(before: NetworkQuestion, now: NetworkQuestion) -> bool:
    return (before.density, before.seed) == (now.density, now.seed)


def _none(known: _Known, reason: str = "") -> dict[str, Any]:
    known.found = None
    return {"rows": [], "total": 0, "complete": True, "reason": reason, "measured": 0}


def _tell(known: _Known, send: Send) -> None:
    assert known.found is not None
    candidates = known.found.candidates
    times = [m.seconds for m in known.measured.values() if m.seconds is not None]
    first = next((n for n, c in enumerate(candidates) if c.first), None)
    send((
        "part",
        "solutions",
        {
            "rows": view.rows(known.found, known.measured),
            "total": len(candidates),
            "complete": known.found.complete,
            "reason": "",
            "measured": len(known.measured),
            "best": min(times, default=None),
            "first": first,
            "ways": {w: sum(c.scheme.value == w for c in candidates) for w in _SCHEMES},
        },
    ))  # fmt: skip


_SCHEMES = ("fused", "unfused", "n-ary")


def _looked_at() -> _Known:
    if not _known:
        raise ProgramError("no network has been understood yet", hint="mend what is refused")
    return _known[0]


def _candidate(number: int) -> tuple[_Known, Candidate]:
    known = _looked_at()
    if known.found is None or not 0 <= number < len(known.found.candidates):
        raise ProgramError("there is no such nest", hint="choose one of the table")
    return known, known.found.candidates[number]


def _look(number: int, send: Send) -> str:
    known, candidate = _candidate(number)
    shown = {**view.nest_view(candidate), "number": number, "way": candidate.scheme.value}
    send(("part", "nest", {**shown, "code": known.code.get(number, "")}))
    return ""


def _compiled(known: _Known, numbers: list[int]) -> tuple[NestKernel, ...]:
    assert known.found is not None
    nests = [known.found.candidates[n].nest for n in numbers]
    return kernels(nests, known.tree, levels=known.data.levels, most_bytes=MOST_BYTES)


def _measure(number: int, send: Send) -> str:
    """Compile, check and run the nests expected to be fastest, the solver's first, and one more."""
    known, _ = _candidate(max(number, 0))
    assert known.found is not None
    candidates = known.found.candidates
    wanted = [*range(min(MEASURED, len(candidates)))]
    for scheme in _SCHEMES:  # the best of each scheme is a point of the same space
        wanted += [n for n, c in enumerate(candidates) if c.scheme.value == scheme][:1]
    wanted += [n for n, c in enumerate(candidates) if c.first]
    wanted += [number] if number >= 0 else []
    numbers = list(dict.fromkeys(wanted))
    send(("progress", 0.1, f"compiling {counted(len(numbers), 'nest')}"))
    fitting = [n for n in numbers if _bytes(candidates[n]) <= MOST_BYTES]
    refused = len(numbers) - len(fitting)
    if not fitting:
        raise LimitError(
            f"each of these nests holds more than {MOST_BYTES >> 20:,} MiB of dense workspaces "
            "and result",
            hint="take smaller extents, or a smaller bound",
        )
    made = _compiled(known, fitting)
    send(("progress", 0.5, f"running {counted(len(fitting), 'nest')} in turns"))
    runs = measure({str(n): k for n, k in zip(fitting, made, strict=True)}, known.data,
                   seconds=SECONDS)  # fmt: skip
    known.measured.update({int(name): one for name, one in runs.items()})
    _tell(known, send)
    trouble = _keep(known, dict(zip(fitting, made, strict=True)), runs)
    wrong = [name for name, one in runs.items() if not one.right]
    told = f"{counted(len(fitting) - len(wrong), 'nest')} ran, each compared with the reference"
    if wrong:
        told += f"; {len(wrong)} gave WRONG results, which have no time"
    if refused:
        told += f"; {refused} hold more than {MOST_BYTES >> 20:,} MiB and were left out"
    return "; ".join(filter(None, (told, made[0].built.said, trouble)))


def _bytes(candidate: Candidate) -> int:
    """Return the bytes of a nest's workspaces and its result as dense arrays."""
    tree = candidate.solution.tree
    result = prod(tree.extents[x] for x in tree.result.indices)
    return view.WORD * (candidate.predicted.workspace + result)


def _keep(
    known: _Known, made: Mapping[int, NestKernel], runs: Mapping[str, KernelMeasurement]
) -> str:
    """Keep runs where the server was told to; what is wrong with that, else nothing."""
    path = os.environ.get(KEEP_RUNS)
    if not path:
        return ""
    from fuseloom.exploration.network_runs import keep
    from fuseloom.exploration.store import RunStore

    assert known.found is not None
    label = f"random, density {known.asked.density:g}, seed {known.asked.seed}"
    try:
        with RunStore(Path(path)) as store:
            for number, kernel in made.items():
                one = runs[str(number)]
                if one.right:
                    candidate = known.found.candidates[number]
                    keep(store, candidate, kernel, one, known.data, label, known.asked.name)
    except FuseloomError as problem:
        return str(problem)
    return ""


def _code(number: int, send: Send) -> str:
    known, _ = _candidate(number)
    (kernel,) = _compiled(known, [number])
    known.code[number] = kernel.source
    _look(number, send)
    reused = ", compiled before" if kernel.built.reused else f" in {kernel.built.seconds:.2f} s"
    return f"compiled by {kernel.built.by}{reused}"


def _pareto(send: Send) -> str:
    found = _looked_at().question.pareto(
        lambda share: send(("progress", share, "trying bounds per intermediate"))
    )
    send(("part", "pareto", {"vectors": [[[n, b] for n, b in v.items()] for v in found]}))
    if len(found) == 1:
        return "one vector of bounds, which cannot be lowered"
    return f"{counted(len(found), 'vector')} of bounds of which none can be lowered"


def _dataflow(send: Send) -> str:
    """The same contractions on the streaming machine: one by one, and all fused."""
    from fuseloom.dataflow.compiler import compile_program
    from fuseloom.dataflow.sim.explain.data import PAGE
    from fuseloom.dataflow.sim.program_runs import simulate
    from fuseloom.dataflow.sim.records import program_record

    known = _looked_at()
    inputs = stored(known.data)
    first, last = known.tree.contractions[0].name, known.tree.result.tensor
    ways = {"unfused": "", "fused": f"fuse {first}..{last}"}
    shown: list[dict[str, Any]] = []
    for number, (name, schedule) in enumerate(ways.items()):
        if name == "fused" and len(known.tree.contractions) < 2:
            continue
        send(("progress", number / len(ways), f"simulating, {name}"))
        row: dict[str, Any] = {"name": name, "reason": ""}
        try:
            compiled = compile_program(known.tree.program, schedule)
            run = simulate(compiled, inputs)
            made = program_record(run, run.check(), PAGE)
        except FuseloomError as reason:
            shown.append({**row, "reason": str(reason)})
            continue
        row |= {"cycles": made.cycles, "flops": made.flops, "bytes": made.bytes,
                "check": str(made.check), "ok": made.ok,
                "loops": _iterated(known.tree, made.regions)}  # fmt: skip
        shown.append(row)
    send(("part", "dataflow", {"rows": shown}))
    return ""


def _iterated(tree: ContractionTree, regions: Sequence[RegionRecord]) -> str:
    """Return the loops of one region for all; empty if there are several regions."""
    if len(regions) != 1 or sorted(regions[0].order) != sorted(tree.extents):
        return ""
    return indented(factored(tree, regions[0].order))
