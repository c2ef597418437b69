"""``fuseloom conform``: reference vectors replayed token by token."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuseloom.cli.command import Command, engine_option, json_option, print_json
from fuseloom.results.document import DocumentKind
from fuseloom.wording import counted

if TYPE_CHECKING:
    from fuseloom.cli.documents import ConformanceDocument
    from fuseloom.dataflow.sim.conformance.conform import Replayed


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="vector file (JSON)")
    engine_option(parser)
    json_option(parser)


def _run(options: Any) -> int:
    """Replay every vector of the file, print what differs; 1 if anything does."""
    from fuseloom.dataflow.sim.conformance.conform import replay

    passed = 0
    failures: list[Replayed] = []
    lacking: Counter[str] = Counter()
    for vector in replay(options.file, options.engine):
        lacking.update(vector.lacking)
        if vector.ok:
            passed += 1
            continue
        failures.append(vector)
        if not options.json:
            print(f"FAILED {vector}")
    if options.json:
        content: ConformanceDocument = {
            "passed": passed,
            "failed": len(failures),
            "failures": failures,
            "not_implemented": lacking,
        }
        print_json(DocumentKind.CONFORMANCE, content)
    else:
        for name, count in sorted(lacking.items()):
            print(f"not implemented: {name} (in {counted(count, 'vector')})")
        print(f"{passed} passed, {len(failures)} failed")
    return int(bool(failures))


CONFORM = Command(_declare, _run)
