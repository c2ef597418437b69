"""``fuseloom stitch``: few kernels for the many operations of a dense graph."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuseloom.cli.command import Command, natural, positive, print_json
from fuseloom.cli.stitch_files import (
    check_files,
    declare_files,
    emit_files,
    import_result,
    on_card,
    print_files,
    run_or_pack,
)
from fuseloom.errors import UsageError
from fuseloom.results.document import DocumentKind
from fuseloom.results.text_table import Align, TextColumn, text_table
from fuseloom.wording import counted, grouped

if TYPE_CHECKING:
    from fuseloom.cli.stitch_documents import EndToEndTimes, StitchDocument, StitchedRow
    from fuseloom.stitch.frames import FusedFrame, FusedModule
    from fuseloom.stitch.module_check import ModuleCheck
    from fuseloom.stitch.stitched import StitchedKernel

EXAMPLES = (
    "logistic_regression", "word2vec", "rnn", "birnn", "translation", "speech", "attention",
    "residual_block",
)  # fmt: skip
"""Names of modules that come with the program, known without loading them."""
PRODUCTS = ("never", "batched", "all")
FINALISTS = 4
"""Schedules of a kernel that are timed whole, of those with the best predictions."""
LONGEST = 60
"""Characters of a list of operations that are printed."""
MAX_FILE = 50_000_000
"""Bytes of a file that is read."""


def _declare(parser: argparse.ArgumentParser) -> None:
    given = parser.add_argument
    given(
        "file", metavar="FILE.hlo", nargs="?",
        help="a module as HLO text, such as JAX prints (pip install 'fuseloom[stitch]'), or the "
        "name of an example: "
        f"{', '.join(EXAMPLES)}",
    )  # fmt: skip
    given(
        "--products", choices=PRODUCTS, default="batched",
        help="matrix products that are fused; the others are calls of a library (default: "
        "%(default)s)",
    )  # fmt: skip
    given(
        "--shared-memory", type=positive, default=20_480, metavar="BYTES",
        help="of a block of threads (default: %(default)s)",
    )  # fmt: skip
    given(
        "--sharing", choices=("none", "dominance", "liveness"), default="liveness",
        help="how buffers of a block come to lie where others lay (default: %(default)s)",
    )  # fmt: skip
    given(
        "--call-layers", action="store_true",
        help="take nothing in from layers with calls of libraries, as in the paper",
    )  # fmt: skip
    given(
        "--tune", action="store_true",
        help="choose schedules by times of operations on this machine, which are kept; of the "
        "computation that is run, not of bodies of loops",
    )  # fmt: skip
    given(
        "--end-to-end", action="store_true",
        help="time kernels, those by the rules of XLA, and calls of libraries on this machine, and "
        "predict the speedup of the whole",
    )  # fmt: skip
    given(
        "--keep", action="store_true",
        help="time as --end-to-end does, and keep both as runs (see the command 'runs')",
    )  # fmt: skip
    declare_files(parser)
    given("--seed", type=natural, default=0, help="of random inputs (default: 0)")
    given("--json", action="store_true", help="one JSON document")


def _run(options: Any) -> int:
    from fuseloom.stitch.frames import fuse_module
    from fuseloom.stitch.fusion import FusionSettings
    from fuseloom.stitch.hlo import read_hlo
    from fuseloom.stitch.module_check import check_module
    from fuseloom.stitch.opcodes import ProductFusion
    from fuseloom.stitch.shared_memory import SpaceSharing

    if options.import_times:
        return import_result(options)
    if options.file is None:
        raise UsageError("there is no module", hint=f"name a file, or an example: {EXAMPLES[0]}")
    check_files(options)
    module = read_hlo(_text(options.file), options.file)
    made = fuse_module(
        module, ProductFusion(options.products), shared_memory=options.shared_memory,
        sharing=SpaceSharing(options.sharing),
        settings=FusionSettings(call_layers=options.call_layers),
    )  # fmt: skip
    predicted: dict[str, float | None] = {}
    if options.tune:
        made, predicted = _tuned(made, options)
    elif options.card:
        made, predicted = on_card(made, options)
    checked = check_module(made, options.shared_memory, SpaceSharing(options.sharing), options.seed)
    content = _content(options, made, checked, predicted)
    if options.end_to_end or options.keep:
        content["end_to_end"] = _end_to_end(made, options)
    if options.emit:
        content["emitted"] = emit_files(made, options)
    job = run_or_pack(made, options) if options.gpu else None
    content["gpu"] = job
    if options.json:
        print_json(DocumentKind.STITCH, content)
    else:
        _print(content, checked)
    timed = content["end_to_end"]
    wrong = (job is not None and job["wrong"]) or (timed is not None and not timed["ok"])
    return 0 if checked.ok and not wrong else 1


def _text(name: str) -> str:
    """The text of a file, or of an example."""
    from fuseloom.errors import ProgramError
    from fuseloom.program import regular_files
    from fuseloom.stitch.examples.models import example_text

    if name in EXAMPLES and not Path(name).exists():
        return example_text(name)
    return regular_files.text(Path(name), MAX_FILE, what="module", error=ProgramError)


def _tuned(made: FusedModule, options: Any) -> tuple[FusedModule, dict[str, float | None]]:
    """The module with schedules by times, and the prediction of each kernel by its root."""
    from dataclasses import replace

    from fuseloom.stitch.performance_library import PerformanceLibrary
    from fuseloom.stitch.shared_memory import SpaceSharing
    from fuseloom.stitch.tuning import tuned_fusion

    library = PerformanceLibrary()
    first, *others = made.frames
    fusion, tuned = tuned_fusion(
        made.module, first.fusion, library, limit=options.shared_memory,
        sharing=SpaceSharing(options.sharing), finalists=FINALISTS,
    )  # fmt: skip
    for told in library.said:
        print(told, file=sys.stderr)
    predicted = {one.kernel.name: one.nanoseconds for one in tuned}
    return replace(made, frames=(replace(first, fusion=fusion), *others)), predicted


def _end_to_end(made: FusedModule, options: Any) -> EndToEndTimes:
    from fuseloom.stitch.end_to_end import time_module
    from fuseloom.stitch.graph import random_inputs
    from fuseloom.stitch.shared_memory import SpaceSharing

    found = time_module(
        made, random_inputs(made.frames[0].computation, options.seed),
        shared_memory=options.shared_memory, sharing=SpaceSharing(options.sharing),
        tuned=bool(options.tune or options.card),
    )  # fmt: skip
    if options.keep:
        from fuseloom.exploration.stitch_runs import keep_stitched
        from fuseloom.exploration.store import RunStore

        names = ("products", "shared_memory", "sharing", "call_layers", "tune", "card")
        settings = {name: str(getattr(options, name)) for name in names}
        with RunStore() as store:
            keep_stitched(store, made, found, seed=options.seed, settings=settings)
    return {
        "fused": found.fused,
        "baseline": found.baseline,
        "taken_in": found.taken_in,
        "calls": found.calls,
        "fusable_ratio": found.fusable_ratio,
        "fusion_speedup": found.fusion_speedup,
        "predicted": found.predicted,
        "amdahl": found.amdahl,
        "measured": found.measured,
        "ok": found.ok,
        "error": max(found.fused_error, found.baseline_error),
        "left_out": found.left_out,
        "evaluated": found.evaluated,
    }


def _content(
    options: Any,
    made: FusedModule,
    checked: ModuleCheck,
    predicted: Mapping[str, float | None],
) -> StitchDocument:
    return {
        "name": made.module.name,
        "products": options.products,
        "shared_memory": options.shared_memory,
        "sharing": options.sharing,
        "kernels": [
            _row(frame, kernel, options, predicted if frame is made.frames[0] else {})
            for frame in made.frames
            for kernel in frame.fusion.kernels
        ],
        "count": made.count,
        "xla_rules": made.baseline_count,
        "ratio": made.ratio,
        "refused": [
            {
                "frame": frame.computation.name,
                "operation": one.operation,
                "root": one.root,
                "reader": one.reader,
                "rule": one.rule,
                "dims": one.dims,
            }
            for frame in made.frames
            for one in frame.fusion.refused
        ],
        "max_rel_error": checked.max_rel_error,
        "compiled": checked.compiled,
        "end_to_end": None,
        "emitted": None,
        "gpu": None,
    }


def _row(
    frame: FusedFrame,
    kernel: StitchedKernel,
    options: Any,
    predicted: Mapping[str, float | None],
) -> StitchedRow:
    from fuseloom.stitch.kernel_memory import memory_of
    from fuseloom.stitch.shared_memory import SpaceSharing

    computation, schedule = frame.fusion.computation, kernel.schedule
    memory = None
    if schedule is not None:
        sharing = SpaceSharing(options.sharing)
        memory = memory_of(computation, kernel, options.shared_memory, sharing)
    dims = computation.by_name[kernel.name].array.dims if schedule is not None else ()
    return {
        "frame": frame.computation.name,
        "ops": kernel.operations,
        "roots": kernel.roots,
        "schedule": None if schedule is None else str(schedule),
        "blocks": None if schedule is None else schedule.blocks(dims),
        "shared_bytes": None if memory is None else memory.byte_size,
        "recomputed": () if memory is None else memory.recomputed,
        "call": kernel.is_call,
        "predicted": predicted.get(kernel.name),
        "reason": kernel.reason,
    }


def _print(content: StitchDocument, checked: ModuleCheck) -> None:
    titles = ("operations", "blocks", "shared, bytes", "predicted, µs")
    columns = [TextColumn("kernel", align=Align.LEFT), *map(TextColumn, titles)]
    columns += [TextColumn("schedule", align=Align.LEFT), TextColumn("made of", align=Align.LEFT)]
    print("\n".join(text_table(columns, list(_lines(content)))))
    rules = Counter(one["rule"] for one in content["refused"])
    for rule, number in rules.most_common():
        print(f"not fused, {counted(number, 'time')}: {rule}")
    print(
        f"{counted(content['count'], 'kernel')}, {grouped(content['xla_rules'])} by the rules of "
        f"XLA: {content['ratio']:.2f} ×"
    )
    if checked.max_rel_error is None:
        print(f"not run: {checked.reason}")
    else:
        told = f"{counted(checked.compiled, 'kernel')} compiled and run"
        print(f"{told}; largest relative error {checked.max_rel_error:.1e}")
    _print_end_to_end(content["end_to_end"])
    print_files(content["emitted"], content["gpu"])


def _print_end_to_end(found: EndToEndTimes | None) -> None:
    if found is None:
        return
    print(
        f"kernels {found['fused'] / 1e3:.1f} µs, by the rules of XLA "
        f"{found['baseline'] / 1e3:.1f} µs, calls {found['calls'] / 1e3:.1f} µs"
    )
    print(
        f"speedup of the whole: {found['predicted']:.2f} predicted from "
        f"{found['fusable_ratio']:.0%} that can be fused and {found['fusion_speedup']:.2f} × "
        f"there, {found['measured']:.2f} measured"
    )


def _lines(content: StitchDocument) -> Iterator[tuple[str, ...]]:
    for row in content["kernels"]:
        ops = ", ".join(row["ops"])
        yield (
            ("call " if row["call"] else "") + row["roots"][0], grouped(len(row["ops"])),
            "" if row["blocks"] is None else grouped(row["blocks"]),
            "" if row["shared_bytes"] is None else grouped(row["shared_bytes"]),
            "" if row["predicted"] is None else f"{row['predicted'] / 1e3:.1f}",
            row["schedule"] or "", ops if len(ops) <= LONGEST else f"{ops[: LONGEST - 2]} …",
        )  # fmt: skip


STITCH = Command(_declare, _run)
