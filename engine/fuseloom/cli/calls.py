"""``fuseloom calls``: calls of libraries, fused tile by tile and measured beside whole calls."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fuseloom.cli.command import Command, complete_with, natural, positive, print_json
from fuseloom.errors import UsageError
from fuseloom.results.document import DocumentKind
from fuseloom.results.text_table import Align, TextColumn, text_table
from fuseloom.wording import counted, grouped

if TYPE_CHECKING:
    from fuseloom.calls.measuring import PipelineMeasurement
    from fuseloom.calls.pipelines import PipelineCase
    from fuseloom.cli.calls_documents import CallsDocument

PIPELINES = (
    "softmax", "sgerb", "sgerb-sums", "blur", "unsharp", "haversine", "gemm-bias-relu", "add6",
    "conv-pool",
)  # fmt: skip
"""Names of compositions, known without loading what makes them."""
COMPOSED = ("attention-composed", "graph-layer-composed")
"""Names of those with kernels of other systems."""
LANGUAGES = ("python", "c++")


def _declare(parser: argparse.ArgumentParser) -> None:
    given = parser.add_argument
    names = (*PIPELINES, *COMPOSED)
    name = given("pipeline", help=f"a composition: {', '.join(names)}")
    complete_with(name, names)
    given(
        "--extents", default="", metavar="X=N,...",
        help="its extents, e.g. h=512,w=512 of softmax; those that are left out have defaults",
    )  # fmt: skip
    given(
        "--tile", metavar="N,...",
        help="rows, or elements, of a tile; of several the fastest is taken (default: powers of "
        "two up to the whole, each with several choices of --break)",
    )  # fmt: skip
    given(
        "--break", dest="breaks", metavar="N,...",
        help="numbers of calls, from 1 on, before which is not fused",
    )  # fmt: skip
    given(
        "--threads", type=positive, default=1, metavar="N",
        help="threads among which tiles are dealt (default: %(default)s)",
    )  # fmt: skip
    given(
        "--rounds", type=positive, default=7, metavar="N",
        help="rounds of which the median counts; each runs fused and whole calls (default: "
        "%(default)s)",
    )  # fmt: skip
    given("--seed", type=natural, default=0, help="of random data (default: 0)")
    given(
        "--language", choices=LANGUAGES, default=LANGUAGES[0],
        help="of the generated code that is measured (default: %(default)s); C++ needs a compiler, "
        "and calls what Python does",
    )  # fmt: skip
    given(
        "--keep", action="store_true", help="keep what is measured as runs (see the command 'runs')"
    )
    given("--code", action="store_true", help="print the pipeline and the generated code")
    given("--json", action="store_true", help="one JSON document")


def _run(options: Any) -> int:
    from fuseloom.calls.fused import CodeLanguage
    from fuseloom.calls.measuring import TiledSchedule, measure, tune
    from fuseloom.calls.pipelines import pipeline_named, read_extents
    from fuseloom.calls.record import TOLERANCE

    if options.pipeline in COMPOSED:
        from fuseloom.comparison.composed import COMPOSED as WITH_KERNELS

        pipeline = WITH_KERNELS[options.pipeline]
    else:
        pipeline = pipeline_named(options.pipeline)
    extents = {**pipeline.extents, **read_extents(options.extents)}
    case = pipeline.make(extents, options.seed)
    common: dict[str, Any] = {
        "workers": options.threads, "rounds": options.rounds,
        "language": CodeLanguage(options.language),
    }  # fmt: skip
    if options.tile or options.breaks:
        tiles = _integers(options.tile or "64", "size of tiles", "--tile 16,64")
        breaks = tuple(_integers(options.breaks or "", "call to break before", "--break 1,3"))
        schedules = [TiledSchedule(tile, breaks) for tile in tiles]
        made = measure(case, pipeline.tile, schedules, **common)
    else:
        made = tune(case, pipeline.tile, **common)
    if options.keep:
        _keep(case, made, options)
    if options.json:
        print_json(DocumentKind.CALLS, _content(options, extents, made))
    else:
        _print(options, made)
    return 0 if made[0].max_rel_error <= TOLERANCE else 1


def _keep(case: PipelineCase, made: Sequence[PipelineMeasurement], options: Any) -> None:
    from fuseloom.exploration.call_runs import keep_calls
    from fuseloom.exploration.store import RunStore

    settings = {"threads": str(options.threads), "language": options.language}
    label = ", ".join(filter(None, (options.extents, f"random, seed {options.seed}")))
    with RunStore() as store:
        keep_calls(store, case, made, options.pipeline, label, settings)


def _integers(text: str, what: str, example: str) -> list[int]:
    found = []
    for part in filter(None, text.split(",")):
        if not part.strip().isdecimal() or not 1 <= int(part[:10]) <= 2**31:
            raise UsageError(f"{part[:20]!r} is no {what}", hint=f"write e.g. {example}")
        found.append(int(part))
    return list(dict.fromkeys(found))


def _content(
    options: Any, extents: Mapping[str, int], made: Sequence[PipelineMeasurement]
) -> CallsDocument:
    from fuseloom.calls.caches import level_traffic

    best = made[0]
    return {
        "name": options.pipeline,
        "extents": extents,
        "tile": best.schedule.tile,
        "breaks": best.schedule.breaks,
        "threads": options.threads,
        "language": options.language,
        "pipeline": best.pipeline,
        "source": best.source,
        "recompute": best.counts.recomputation,
        "room": best.counts.room,
        "working_set": best.counts.working_set,
        "traffic": [
            {"level": one.level, "size": one.size, "bytes": one.bytes}
            for one in level_traffic(best.counts)
        ],
        "max_abs_error": best.max_abs_error,
        "measured": {
            "fused": best.timings.fused,
            "unfused_fresh": best.timings.unfused_fresh,
            "unfused_preallocated": best.timings.unfused_preallocated,
        },
        "tried": [
            {
                "tile": one.schedule.tile,
                "breaks": one.schedule.breaks,
                "fused": one.timings.fused,
                "room": one.counts.room,
                "calls": one.counts.calls,
                "overhead": one.overhead,
            }
            for one in made
        ],
        "verdict": "fuse" if best.verdict == "fuse" else "do not fuse",
        "reason": best.reason,
    }


def _print(options: Any, made: Sequence[PipelineMeasurement]) -> None:
    from fuseloom.calls.caches import level_traffic

    best = made[0]
    if options.code:
        print(best.pipeline)
        print()
        print(best.source)
    titles = ("fused, ms", "whole, fresh room", "whole, kept room", "calls", "room, bytes")
    columns = [TextColumn("tile", align=Align.LEFT), TextColumn("breaks", align=Align.LEFT)]
    columns += map(TextColumn, titles)
    columns.append(TextColumn("most recomputed"))
    rows = [
        (
            grouped(one.schedule.tile), ", ".join(map(str, one.schedule.breaks)) or "none",
            f"{one.timings.fused * 1e3:.2f}",
            f"{one.timings.unfused_fresh * 1e3:.2f}",
            f"{one.timings.unfused_preallocated * 1e3:.2f}", grouped(one.counts.calls),
            grouped(one.counts.room), f"{max(one.counts.recomputation.values()):.2f} ×",
        )
        for one in made
    ]  # fmt: skip
    print("\n".join(text_table(columns, rows)))
    moved = [one for one in level_traffic(best.counts) if one.bytes]
    told = ", ".join(f"{one.level} {counted(one.bytes, 'byte')}" for one in moved)
    print(f"tiles work on {counted(best.counts.working_set, 'byte')}; through {told}")
    print(f"largest error {best.max_abs_error:.1e}")
    threads = counted(options.threads, "thread")
    print(f"{best.verdict}, on {threads}: {best.reason}")


CALLS = Command(_declare, _run)
