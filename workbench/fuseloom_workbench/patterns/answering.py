"""The work of the page's process: terms, saturation, extraction, explanations, networks.

It keeps what it found of the last question, so that a class, a step or a part can be looked at
without saturating again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter

from fuseloom.access.hardware import SystolicArray
from fuseloom.access.layers import Layer, OtherCall
from fuseloom.access.mapped_layers import map_layers
from fuseloom.access.mapping import Mapped, map_term
from fuseloom.access.meaning import evaluate, random_data
from fuseloom.access.named_kernels import einsum_program, named_kernel
from fuseloom.access.program_layers import layers_of_program
from fuseloom.access.rules.reader import read_rules
from fuseloom.access.rules.rule import Rule
from fuseloom.access.rules.sets import rules_of
from fuseloom.access.rules.soundness import check_rule
from fuseloom.access.saturation.egglog_module import load_egglog
from fuseloom.access.saturation.explain import Step
from fuseloom.access.sweep import best_design, compare_arrays
from fuseloom.access.terms import Path, Term, part_at, subterms
from fuseloom.access.text import read_term, to_text
from fuseloom.access.torch_layers import layers_of
from fuseloom.access.torch_networks import network
from fuseloom.errors import FuseloomError, ProgramError
from fuseloom.exploration.limiting import limit_memory
from fuseloom.results import relative_error
from fuseloom.wording import counted
from fuseloom_workbench.base.child import Send
from fuseloom_workbench.patterns import view
from fuseloom_workbench.patterns.asked import MappingQuestion
from fuseloom_workbench.patterns.positions import positions_of

MOST_MEMORY = 4 * 2**30
"""Bytes that the process may take besides what it has loaded."""
INSTANCES = 300
"""Random instances in which a counterexample of a rule is looked for."""
SIZES = (8, 16, 32, 64, 128, 256)
"""Rows and columns of the arrays that are compared."""
BUFFERS = (2**16, 2**18, 2**20)
"""Bytes of the buffers that are compared."""
BYTE_AREA = 0.05
"""The area of a byte of a buffer, in areas of a multiplier."""


@dataclass
class _MappedQuestion:
    """What is known of the question that is shown."""

    asked: MappingQuestion
    layers: Sequence[Layer]
    others: Sequence[OtherCall]
    layer: Layer
    rules: tuple[Rule, ...] = ()
    mapped: Mapped | None = None
    terms: dict[str, Term] = field(default_factory=dict)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The explanation; empty if none is found."""
        try:
            return () if self.mapped is None else self.mapped.explanation
        except ProgramError:
            return ()


_known: list[_MappedQuestion] = []


def prepare() -> None:
    """Load what saturates before the first question comes; limit what answers may take."""
    with suppress(ProgramError):  # which is told when something is to be mapped
        load_egglog()
    limit_memory(MOST_MEMORY)


def answer(request: tuple[Any, ...], send: Send) -> None:
    """Carry out a request; runs inside the process.

    Sends ``("part", name, data)`` as something is found, ``("progress", share, text)``, and at the
    end ``("done", text)`` or ``("refused", text, hint)``.
    """
    try:
        match request:
            case ("map", MappingQuestion() as asked):
                told = _map(asked, send)
            case ("inspect", str(which), list(path), int(start)):
                told = _inspect(which, tuple(path), start, send)
            case ("class", int(number)):
                told = _class(number, send)
            case ("step", int(number)):
                told = _step(number, send)
            case ("check", str(name)):
                told = _check(name, send)
            case ("layers",):
                told = _layers(send)
            case ("compare", budget, bool(whole)):
                told = _compare(budget, whole, send)
            case _:
                told = ""
    except FuseloomError as reason:
        send(("refused", _placed(reason), reason.hint or ""))
    except MemoryError:
        send(("refused", "this takes more memory than a page may", "take smaller extents"))
    else:
        send(("done", told))


def _placed(reason: FuseloomError) -> str:
    place = f"line {reason.line}, column {reason.column}: " if reason.line else ""
    return f"{place}{reason.message}"


def _layers_of(asked: MappingQuestion) -> tuple[Sequence[Layer], Sequence[OtherCall]]:
    """The layers of the question's computation, with the data that they are checked on."""
    if asked.source == "network":
        module, inputs = network(asked.network).make(asked.seed)
        return layers_of(module, inputs)
    if asked.source == "kernel" and "->" in asked.kernel:
        return layers_of_program(einsum_program(asked.kernel, asked.extents), asked.seed)
    if asked.source == "kernel":
        term, name = named_kernel(asked.kernel, asked.extents), asked.kernel
    else:
        term, name = read_term(asked.term).term, "term"
    data = {name: _smooth(array) for name, array in random_data(term, asked.seed).items()}
    return [Layer(name, term, data, evaluate(term, data))], ()


def _smooth(array: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Random numbers whose neighbours are alike in the last two dimensions, if it has images."""
    if array.ndim < 3 or min(array.shape[-2:]) < 8:
        return array
    return np.asarray(gaussian_filter(array, (*(0,) * (array.ndim - 2), 1.5, 1.5)))


def _map(asked: MappingQuestion, send: Send) -> str:
    before = _known[0] if _known else None
    if before is not None and before.asked.computation == asked.computation:
        layers, others = before.layers, before.others
    else:
        layers, others = _layers_of(asked)
    if not layers:
        reasons = "; ".join(f"{x.name}: {x.reason}" for x in others) or "it computes nothing"
        raise ProgramError(f"nothing of this is mapped: {reasons}")
    if asked.layer >= len(layers):
        raise ProgramError(f"it has {counted(len(layers), 'layer')}", hint="choose one of them")
    known = _MappedQuestion(asked, layers, others, layers[asked.layer])
    known.terms["before"] = known.layer.term
    send(("part", "given", {
        **view.term_view(known.layer.term),
        "text": to_text(known.layer.term),
        "layers": [layer.name for layer in layers],
        "others": [{"name": x.name, "reason": x.reason} for x in others],
    }))  # fmt: skip
    own = read_rules(asked.own, "your rules") if asked.own else ()
    every = rules_of(asked.sets, own=own)
    known.rules = tuple(rule for rule in every if rule.name not in asked.without)
    send(("part", "rules", {"rules": view.rules_view(every, asked.without, None, ())}))
    known.mapped = mapped = map_term(
        known.layer.term, asked.array, known.rules,
        limits=asked.limits, optimal=asked.optimal, progress=_progress(asked, send),
    )  # fmt: skip
    _known[:] = [known]
    known.terms["after"] = mapped.after
    error = relative_error(evaluate(mapped.after, known.layer.data), known.layer.result)
    send(("part", "calls", {**view.calls_view(mapped, asked.memory), "error": error}))
    send(("part", "egraph", view.growth_view(mapped)))
    _tell_terms(known, send)
    send(("part", "rules", {
        "rules": view.rules_view(every, asked.without, mapped, known.steps)
    }))  # fmt: skip
    _class(mapped.saturation.classes.root, send)
    _inspect("before", _first_shown(known.layer.term), 0, send)
    limit = "" if mapped.saturation.stopped.value == "saturated" else (
        f"; the limit of {mapped.saturation.stopped.value} ended it: more may be equal"
    )  # fmt: skip
    return (
        f"{counted(len(mapped.calls), 'call')}, {counted(mapped.cycles, 'cycle')}, "
        f"largest error {error:.1e}{limit}"
    )


def _progress(asked: MappingQuestion, send: Send) -> Callable[[Any], None]:
    done = 0

    def tell(step: Any) -> None:
        nonlocal done
        done += 1
        share = max(done / asked.iterations, min(1.0, step.nodes / asked.nodes))
        send(("progress", share, f"iteration {done}, {counted(step.nodes, 'node')}"))

    return tell


def _tell_terms(known: _MappedQuestion, send: Send) -> None:
    assert known.mapped is not None
    before, after = known.layer.term, known.mapped.after
    send(("part", "terms", {
        "before": view.term_view(before, after),
        "after": view.term_view(after, before),
        "text": to_text(after),
        "steps": view.steps_view(known.steps),
        "steps_total": len(known.steps),
        "explained": bool(known.steps) or before == after,
    }))  # fmt: skip


def _first_shown(term: Term) -> Path:
    """The way to the part that is looked at first: windows, else what is paired, else the root."""
    for wanted in ("windows", "cartProd", "pair"):
        path = _find(term, wanted)
        if path is not None:
            return path
    return ()


def _find(term: Term, construct: str) -> Path | None:
    if not any(part.construct == construct for part in subterms(term)):
        return None
    if term.construct == construct:
        return ()
    for number, operand in enumerate(term.operands):
        path = _find(operand, construct)
        if path is not None:
            return (number, *path)
    return None


def _looked_at() -> _MappedQuestion:
    if not _known or _known[0].mapped is None:
        raise ProgramError("nothing has been mapped yet", hint="mend what is refused")
    return _known[0]


def _inspect(which: str, path: Path, start: int, send: Send) -> str:
    known = _looked_at()
    term = known.terms.get(which)
    if term is None:
        raise ProgramError("there is no such term", hint="choose a line of a term")
    try:
        part = part_at(term, path)
    except (IndexError, TypeError):
        raise ProgramError("there is no such part", hint="choose a line of a term") from None
    positions = positions_of(part)
    start = min(max(start, 0), max(positions.count - 1, 0))
    send(("part", "pattern", {
        **view.positions_view(positions, start, known.layer.data),
        "which": which,
        "path": list(path),
        "construct": part.construct,
    }))  # fmt: skip
    return ""


def _class(number: int, send: Send) -> str:
    mapped = _looked_at().mapped
    assert mapped is not None
    classes = mapped.saturation.classes
    if number not in classes.nodes:
        raise ProgramError("there is no such class", hint="choose one that is shown")
    send(("part", "class", view.class_view(classes, number, mapped.extraction.choice)))
    return ""


def _step(number: int, send: Send) -> str:
    known = _looked_at()
    if not 0 <= number < len(known.steps):
        raise ProgramError("there is no such step", hint="choose one of the list")
    send(("part", "step", view.step_view(known.layer.term, known.steps, number)))
    return ""


def _check(name: str, send: Send) -> str:
    """Look for a counterexample of a rule."""
    asked = _looked_at().asked
    own = read_rules(asked.own, "your rules") if asked.own else ()
    for rule in rules_of(asked.sets, own=own):
        if rule.name == name:
            found = check_rule(rule, INSTANCES, asked.seed)
            example = found.counterexample
            send(("part", "checked", {
                "name": name,
                "ok": example is None and found.instances > 0,
                "text": str(found),
                "left": "" if example is None else to_text(example.left, shapes=True),
                "right": "" if example is None else to_text(example.right, declared=False,
                                                            shapes=True),
                "data": {} if example is None else {
                    key: np.asarray(array).tolist() for key, array in example.data.items()
                },
            }))  # fmt: skip
            return ""
    raise ProgramError(f"there is no rule {name[:40]}", hint="choose one of the table")


def _layers(send: Send) -> str:
    known = _looked_at()
    done = 0

    def tell(layer: Layer) -> None:
        nonlocal done
        send(("progress", done / len(known.layers), f"mapping {layer.name}"))
        done += 1

    made = map_layers(
        known.layers, known.others, known.asked.array, known.rules,
        limits=known.asked.limits, optimal=known.asked.optimal, progress=tell,
    )  # fmt: skip
    send(("part", "layers", view.layers_view(made, known.asked.memory)))
    return f"{counted(len(made.layers), 'layer')} mapped, {counted(made.cycles, 'cycle')} of calls"


def _compare(budget: Any, whole: bool, send: Send) -> str:
    """Map the layer, or the whole network, onto arrays of several sizes, with several buffers."""
    known = _looked_at()
    asked = known.asked
    layers = known.layers if whole else [known.layer]
    done = 0

    def tell(array: SystolicArray) -> None:
        nonlocal done
        send(("progress", done / len(SIZES), f"mapping onto {array.rows} × {array.columns}"))
        done += 1

    memory = asked.memory
    memories = [
        type(memory)(memory.bandwidth, size, memory.word_bytes, memory.double_buffered)
        for size in BUFFERS
    ]
    designs = compare_arrays(
        layers, (), [SystolicArray(n, n) for n in SIZES], memories, known.rules,
        byte_area=BYTE_AREA, limits=asked.limits, progress=tell,
    )  # fmt: skip
    if not any(design.made.cycles for design in designs):
        raise ProgramError("nothing of this is computed by an array: there is nothing to compare")
    limit = float(budget) if isinstance(budget, (int, float)) and budget > 0 else None
    best = best_design(designs, limit)
    shown: Mapping[str, Any] = {
        "rows": view.designs_view(designs, best),
        "budget": limit,
        "byte_area": BYTE_AREA,
        "bandwidth": memory.bandwidth,
    }
    send(("part", "designs", shown))
    if best is None:
        return "no design is within the budget"
    return (
        f"the fewest cycles within the budget: {best.array.rows} × {best.array.columns} with "
        f"{best.memory.buffer >> 10:,} KiB"
    )
