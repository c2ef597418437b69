"""``fuseloom access``: dense kernels and networks, mapped onto a systolic array."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fuseloom.cli.command import (
    Command,
    array_size,
    complete_with,
    natural,
    positive,
    print_json,
    seconds,
)
from fuseloom.cli.kernels import KERNELS, layers_given
from fuseloom.cli.limits import size
from fuseloom.errors import ProgramError, UsageError
from fuseloom.results.document import DocumentKind
from fuseloom.results.text_table import Align, TextColumn, text_table
from fuseloom.wording import counted, grouped

if TYPE_CHECKING:
    from fuseloom.access.hardware import SystolicArray
    from fuseloom.access.mapped_layers import MappedLayer
    from fuseloom.access.mapping import Mapped
    from fuseloom.access.memory import Traffic
    from fuseloom.access.rules.rule import Rule
    from fuseloom.access.sweep import ArrayDesign
    from fuseloom.access.terms import Term
    from fuseloom.cli.access_documents import (
        AccessDocument,
        ArraySize,
        MappedLayerData,
        TrafficData,
    )

Given = TypeVar("Given")

SHOWN = 12
"""The most calls, and the most steps, that are printed."""
LEAST_BANDWIDTH = 1e-6
"""Bytes per cycle."""


def _declare(parser: argparse.ArgumentParser) -> None:
    given = parser.add_argument
    kernel = given(
        "kernel", nargs="?",
        help=f"a kernel, {', '.join(KERNELS)}, or an einsum string of two operands, e.g. ij,jk->ik",
    )  # fmt: skip
    complete_with(kernel, KERNELS)
    given(
        "--extents", default="", metavar="X=N,...",
        help="its extents, e.g. m=32,k=32,n=32 of matmul, n=1,c=3,h=32,w=32,o=8,r=3,s=3 of conv2d "
        "(r × s filters; also stride, padding, dilation and groups)",
    )  # fmt: skip
    given("--term", metavar="FILE", help="a term in a file, in place of a kernel")
    given(
        "--torch", metavar="NAME",
        help="a network, in place of a kernel: lenet, resnet18, mobilenet-v2, vit or bert",
    )  # fmt: skip
    given(
        "--program", metavar="FILE",
        help="the dense products of a program, in a file of the language or of MLIR, in place of a "
        "kernel",
    )  # fmt: skip
    given(
        "--array", default="64x64", metavar="RxC,...",
        help="rows and columns of the systolic array; of several, with every buffer and bandwidth, "
        "the best is taken (default: %(default)s)",
    )  # fmt: skip
    given(
        "--area", type=_number, metavar="A",
        help="the largest area of array and buffer, in multipliers, that the best may have",
    )  # fmt: skip
    given(
        "--byte-area", type=_number, default=0.0, metavar="A",
        help="area of a byte of the buffer, in multipliers (default: 0)",
    )  # fmt: skip
    given(
        "--bandwidth", type=_bandwidths, default="64", metavar="B,...",
        help="bytes per cycle between memory and buffer, or several to be compared (default: "
        "%(default)s)",
    )  # fmt: skip
    given(
        "--buffer", type=_buffers, default="1MiB", metavar="SIZE,...",
        help="size of the buffer on chip, such as 65536 or 64KiB, or several to be compared "
        "(default: %(default)s)",
    )  # fmt: skip
    given(
        "--word", type=positive, default=2, metavar="BYTES",
        help="bytes of an element (default: %(default)s)",
    )  # fmt: skip
    given(
        "--single-buffered", action="store_true",
        help="do not read the next call's operands while a call runs",
    )  # fmt: skip
    given(
        "--rules", action="append", metavar="SET|FILE",
        help="a set of rules, boxes, paper or laws, or a file with rules; may be repeated "
        "(default: boxes)",
    )  # fmt: skip
    given("--without", action="append", default=[], metavar="RULE", help="leave a rule out")
    given(
        "--check-rules", type=natural, nargs="?", const=300, default=0, metavar="N",
        help="first search for a counterexample of each rule in N random instances (300)",
    )  # fmt: skip
    given(
        "--iterations", type=positive, default=60, metavar="N",
        help="most iterations (default: %(default)s)",
    )  # fmt: skip
    given(
        "--nodes", type=positive, default=200_000, metavar="N",
        help="most nodes of the e-graph (default: %(default)s)",
    )  # fmt: skip
    given(
        "--seconds", type=seconds, default=60.0, metavar="TIME",
        help="most time of a saturation (default: 60s)",
    )  # fmt: skip
    given(
        "--optimal", action="store_true",
        help="extract by CP-SAT, which counts what is shared once, and prove that nothing is "
        "better",
    )  # fmt: skip
    given("--explain", action="store_true", help="print the rules that lead to the result")
    given(
        "--as-program", choices=("given", "mapped"), metavar="given|mapped",
        help="print only programs of the terms as they are given, or as the best array computes "
        "them, and in comments what a program does not say",
    )  # fmt: skip
    given("--keep", action="store_true", help="keep every design as a run (see the command 'runs')")
    given("--seed", type=natural, default=0, help="of random data (default: 0)")
    given("--json", action="store_true", help="one JSON document")


def _run(options: Any) -> int:
    from fuseloom.access.hardware import SystolicArray
    from fuseloom.access.memory import BufferedMemory
    from fuseloom.access.record import TOLERANCE
    from fuseloom.access.rules.sets import rules_of
    from fuseloom.access.saturation.saturate import SaturationLimits
    from fuseloom.access.sweep import best_design, compare_arrays

    arrays = [SystolicArray(*extents) for extents in _several(options.array, array_size)]
    memories = [
        BufferedMemory(bandwidth, buffer, options.word, not options.single_buffered)
        for buffer, bandwidth in product(options.buffer, options.bandwidth)
    ]
    layers, others = layers_given(options)
    rules = rules_of(options.rules or ["boxes"], options.without)
    if options.as_program and options.json:
        raise UsageError("--as-program prints text", hint="leave --json out")
    if options.as_program == "given":
        _print_programs({layer.name: layer.term for layer in layers})
        return 0
    if options.check_rules:
        _check_rules(rules, options)
    designs = compare_arrays(
        layers, others, arrays, memories, rules,
        byte_area=options.byte_area,
        limits=SaturationLimits(options.iterations, options.nodes, options.seconds),
        optimal=options.optimal,
    )  # fmt: skip
    best = best_design(designs, options.area)
    if best is None:
        least = min(design.area for design in designs)
        raise UsageError(
            f"no design is within an area of {options.area:g}",
            hint=f"the smallest design has {least:g}",
        )
    if options.keep:
        _keep(designs, options)
    if options.json:
        print_json(DocumentKind.ACCESS, _content(designs, best))
    elif options.as_program:
        _print_programs({layer.name: layer.mapped.after for layer in best.made.layers})
    else:
        _print(designs, best, options)
    return 0 if best.made.max_rel_error <= TOLERANCE else 1


def _print_programs(terms: Mapping[str, Term]) -> None:
    from fuseloom.access.term_program import program_of_term

    for number, (name, term) in enumerate(terms.items()):
        word = re.sub(r"[^A-Za-z0-9_]", "_", name)
        made = program_of_term(term, word if word[:1].isalpha() else f"layer_{word}")
        print("\n" * bool(number) + str(made.program).rstrip())
        for loss in made.losses:
            print(f"# {loss}")


def _keep(designs: Sequence[ArrayDesign], options: Any) -> None:
    from fuseloom.exploration.array_runs import keep_design
    from fuseloom.exploration.store import RunStore

    name = options.kernel or options.torch or Path(options.term or options.program).name
    schedule = " ".join(
        [f"rules {', '.join(options.rules or ['boxes'])}"]
        + [f"without {x}" for x in options.without]
        + ["optimal"] * options.optimal
    )
    with RunStore() as store:
        for design in designs:
            keep_design(store, design, name, f"random, seed {options.seed}", schedule=schedule)


def _number(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError("must be a number, and not negative")
    return value


def _several(text: str, read: Callable[[str], Given]) -> tuple[Given, ...]:
    """The values between commas, each once."""
    return tuple(dict.fromkeys(map(read, text.split(","))))


def _buffers(text: str) -> tuple[int, ...]:
    return _several(text, size)


def _bandwidths(text: str) -> tuple[float, ...]:
    return _several(text, _bandwidth)


def _bandwidth(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not LEAST_BANDWIDTH <= value < float("inf"):
        raise argparse.ArgumentTypeError(
            f"{text[:30]!r} is no bandwidth; write bytes per cycle, at least {LEAST_BANDWIDTH:f}"
        )
    return value


def _check_rules(rules: Sequence[Rule], options: Any) -> None:
    """Search for counterexamples.

    Raises
    ------
    ProgramError
        If one is found.
    """
    from fuseloom.access.rules.soundness import check_rule
    from fuseloom.access.text import to_text

    for rule in rules:
        found = check_rule(rule, options.check_rules, options.seed)
        if found.counterexample is not None:
            left = " ".join(to_text(found.counterexample.left).split())
            raise ProgramError(str(found), hint=f"its left side was {left}")
        if not options.json:
            print(found)


def _content(designs: Sequence[ArrayDesign], best: ArrayDesign) -> AccessDocument:
    made = best.made
    only = made.layers[0] if len(made.layers) == 1 else None
    return {
        "array": _size(made.array),
        "buffer": best.memory.buffer,
        "bandwidth": best.memory.bandwidth,
        "before": None if only is None else _text(only.mapped.before),
        "after": None if only is None else _text(only.mapped.after),
        "rules": list(dict.fromkeys(r for layer in made.layers for r in layer.mapped.rules)),
        "nodes": sum(mapped.saturation.classes.count for mapped in made.distinct),
        "iterations": max((len(m.saturation.steps) for m in made.distinct), default=0),
        "seconds": sum(mapped.seconds for mapped in made.distinct),
        "calls": [
            {"rows": c.rows, "columns": c.columns, "batch": c.batch, "cycles": c.cycles}
            for layer in made.layers
            for c in layer.mapped.calls
        ],
        "cycles": made.cycles,
        "utilisation": made.utilisation,
        "traffic": _traffic(best.traffic),
        "max_rel_error": made.max_rel_error,
        "designs": [
            {
                "array": _size(design.array),
                "buffer": design.memory.buffer,
                "bandwidth": design.memory.bandwidth,
                "area": design.area,
                "cycles": design.made.cycles,
                "utilisation": design.made.utilisation,
                "traffic": _traffic(design.traffic),
            }
            for design in designs
        ],
        "layers": [_layer(layer) for layer in made.layers],
        "others": [{"name": x.name, "reason": x.reason} for x in made.others],
    }


def _size(array: SystolicArray) -> ArraySize:
    return {"rows": array.rows, "columns": array.columns}


def _traffic(traffic: Traffic) -> TrafficData:
    return {"read": traffic.read, "written": traffic.written, "cycles": traffic.cycles}


def _text(term: Any) -> str:
    from fuseloom.access.text import to_text

    return to_text(term)


def _layer(layer: MappedLayer) -> MappedLayerData:
    mapped = layer.mapped
    return {
        "name": layer.name,
        "stopped": mapped.saturation.stopped.value,
        "nodes": mapped.saturation.classes.count,
        "calls": len(mapped.calls),
        "cycles": mapped.cycles,
        "utilisation": mapped.utilisation,
        "duplication": mapped.duplication,
        "optimal": mapped.extraction.optimal,
        "max_rel_error": layer.max_rel_error,
        "unmapped": [{"shape": str(x.shape), "reasons": list(x.reasons)} for x in mapped.unmapped],
    }


def _print(designs: Sequence[ArrayDesign], best: ArrayDesign, options: Any) -> None:
    made = best.made
    if len(made.layers) == 1:
        _print_one(made.layers[0].mapped, options)
    else:
        columns = [
            TextColumn("layer", align=Align.LEFT),
            *(TextColumn(x) for x in ("calls", "cycles", "utilisation", "nodes", "largest error")),
        ]
        rows = [
            (
                layer.name, grouped(len(layer.mapped.calls)), grouped(layer.mapped.cycles),
                f"{layer.mapped.utilisation:.1%}",
                grouped(layer.mapped.saturation.classes.count), f"{layer.max_rel_error:.1e}",
            )
            for layer in made.layers
        ]  # fmt: skip
        print("\n".join(text_table(columns, rows)))
        for other in made.others:
            print(f"{other.name}: {other.reason}")
    for layer in made.layers:
        for x in layer.mapped.unmapped[:SHOWN]:
            print(f"not mapped: {layer.name}, {x.shape}: {'; '.join(x.reasons)}")
    calls = sum(len(layer.mapped.calls) for layer in made.layers)
    print(
        f"{counted(calls, 'call')}, {counted(made.cycles, 'cycle')} on an array of "
        f"{made.array.rows} × {made.array.columns}, {made.utilisation:.1%} utilised; "
        f"largest error {made.max_rel_error:.1e}"
    )
    memory, traffic = best.memory, best.traffic
    print(
        f"{counted(traffic.read, 'byte')} read, {grouped(traffic.written)} written, through a "
        f"buffer of {counted(memory.buffer, 'byte')} at {memory.bandwidth:g} bytes per cycle: "
        f"{counted(traffic.cycles, 'cycle')} with transfers"
    )
    if len(designs) > 1:
        _print_designs(designs, best)


def _print_designs(designs: Sequence[ArrayDesign], best: ArrayDesign) -> None:
    """A row per design; a column of buffers, or of bandwidths, only if they differ."""
    buffers = len({design.memory.buffer for design in designs}) > 1
    bandwidths = len({design.memory.bandwidth for design in designs}) > 1
    compared = ["buffer"] * buffers + ["bandwidth"] * bandwidths
    titles = (*compared, "area", "cycles", "with transfers", "utilisation", "bytes")
    columns = [TextColumn("array", align=Align.LEFT), *map(TextColumn, titles), TextColumn("")]
    rows = [
        (
            f"{design.array.rows} × {design.array.columns}",
            *[grouped(design.memory.buffer)] * buffers,
            *[f"{design.memory.bandwidth:,g}"] * bandwidths,
            f"{design.area:,g}", grouped(design.made.cycles), grouped(design.traffic.cycles),
            f"{design.made.utilisation:.1%}",
            grouped(design.traffic.read + design.traffic.written),
            "best" if design is best else "",
        )
        for design in designs
    ]  # fmt: skip
    print("\n".join(text_table(columns, rows)))


def _print_one(mapped: Mapped, options: Any) -> None:
    from fuseloom.access.text import to_text

    saturation = mapped.saturation
    print(to_text(mapped.before, shapes=True))
    print()
    print(to_text(mapped.after, declared=False, shapes=True))
    print()
    print(
        f"{saturation.stopped.value} after {counted(len(saturation.steps), 'iteration')}: "
        f"{counted(saturation.classes.count, 'node')} in "
        f"{counted(len(saturation.classes.nodes), 'class', 'classes')}, "
        f"{mapped.seconds:.2f} s" + (", proved to be optimal" * mapped.extraction.optimal)
    )
    columns = [TextColumn("rule", align=Align.LEFT), TextColumn("hits"), TextColumn("used")]
    used = [step.rule for step in mapped.explanation]
    rows = [
        (name, grouped(count), grouped(used.count(name))) for name, count in saturation.hits.items()
    ]
    print("\n".join(text_table(columns, rows)))
    if options.explain:
        for number, step in enumerate(mapped.explanation, start=1):
            back = "" if step.forward else ", backwards"
            print(f"step {number}: {step.rule}{back}, at {_place(step.path)}")
    for call in mapped.calls[:SHOWN]:
        print(
            f"call of {call.rows} × {call.columns}, {counted(call.batch, 'vector')}: "
            f"{call.load} to load + {call.stream} to stream + {call.drain} to drain = "
            f"{counted(call.cycles, 'cycle')}"
        )
    if len(mapped.calls) > SHOWN:
        print(f"and {counted(len(mapped.calls) - SHOWN, 'more call')}")


def _place(path: Sequence[int]) -> str:
    return ".".join(map(str, path)) if path else "the root"


ACCESS = Command(_declare, _run)
