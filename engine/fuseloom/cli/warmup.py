"""``fuseloom warmup``: the simulator's kernels, compiled beforehand."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from fuseloom.cli.command import Command, json_option, print_json
from fuseloom.results.document import DocumentKind

if TYPE_CHECKING:
    from fuseloom.cli.documents import WarmupDocument


def _run(options: Any) -> int:
    from fuseloom.dataflow.sim.compiled import cache
    from fuseloom.dataflow.sim.compiled.warmup import warmup

    def report(name: str, done: int, total: int, seconds: float) -> None:
        if not options.json:
            print(f"[{done}/{total}] {name} ({seconds:.1f} s)", flush=True)

    started = time.perf_counter()
    warmup(report)
    seconds = time.perf_counter() - started
    if options.json:
        content: WarmupDocument = {"directory": str(cache.directory()), "seconds": seconds}
        print_json(DocumentKind.WARMUP, content)
    else:
        print(f"kernels are in {cache.directory()}")
    return 0


def _declare(parser: argparse.ArgumentParser) -> None:
    json_option(parser)


WARMUP = Command(_declare, _run)
