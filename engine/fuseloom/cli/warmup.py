"""``fuseloom warmup``: the simulator's kernels, compiled beforehand."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuseloom.cli.command import Command, json_option, print_json
from fuseloom.errors import UsageError
from fuseloom.results.document import DocumentKind
from fuseloom.wording import counted

if TYPE_CHECKING:
    from fuseloom.cli.documents import KernelArchive, WarmupDocument


def _run(options: Any) -> int:
    from fuseloom.dataflow.sim.compiled import cache
    from fuseloom.dataflow.sim.compiled.warmup import warmup

    if options.sha256 and not options.import_file:
        raise UsageError("--sha256 goes with --import")
    if options.import_file:
        return _import(options)

    def report(name: str, done: int, total: int, seconds: float) -> None:
        if not options.json:
            print(f"[{done}/{total}] {name} ({seconds:.1f} s)", flush=True)

    started = time.perf_counter()
    warmup(report)
    seconds = time.perf_counter() - started
    archive = _exported(options.export) if options.export else None
    if options.json:
        content: WarmupDocument = {
            "directory": str(cache.directory()),
            "seconds": seconds,
            "archive": archive,
        }
        print_json(DocumentKind.WARMUP, content)
    else:
        print(f"kernels are in {cache.directory()}")
        if archive:
            print(f"and in {archive['file']}, SHA-256 {archive['sha256']}")
    return 0


def _exported(path: Path) -> KernelArchive:
    from fuseloom.dataflow.sim.compiled.kernel_archive import export_kernels

    return {"file": str(path), "sha256": export_kernels(path), "installed": [], "outdated": []}


def _import(options: Any) -> int:
    from fuseloom.dataflow.sim.compiled import cache
    from fuseloom.dataflow.sim.compiled.kernel_archive import import_kernels

    if options.export:
        raise UsageError("--export and --import exclude each other")
    if not options.sha256:
        raise UsageError(
            "--import needs --sha256",
            hint="machine code can do anything: give the digest that --export printed",
        )
    started = time.perf_counter()
    made = import_kernels(options.import_file, options.sha256)
    if options.json:
        content: WarmupDocument = {
            "directory": str(cache.directory()),
            "seconds": time.perf_counter() - started,
            "archive": {
                "file": str(options.import_file),
                "sha256": options.sha256.lower(),
                "installed": list(made.installed),
                "outdated": list(made.outdated),
            },
        }
        print_json(DocumentKind.WARMUP, content)
    else:
        print(f"{counted(len(made.installed), 'kernel')} in {cache.directory()}")
        if made.outdated:
            print(f"left out, of other sources: {', '.join(made.outdated)}")
    return 0


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--export",
        type=Path,
        metavar="FILE",
        help="also write the kernels to one file, for machines like this one",
    )
    parser.add_argument(
        "--import",
        type=Path,
        metavar="FILE",
        dest="import_file",
        help="instead of compiling, take the kernels of such a file (with --sha256)",
    )
    parser.add_argument(
        "--sha256",
        metavar="DIGEST",
        help="the digest that --export printed: kernels are machine code, which can do anything",
    )
    json_option(parser)


WARMUP = Command(_declare, _run)
