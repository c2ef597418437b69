"""How long compiling takes, from program text to dataflow graphs (CPU time, one core).

Every model and preset at the sizes of the FuseFlow paper (``paper-results.md`` §2): index sizes
only, for compiling reads no data.  The published compiler takes up to 750 ms.

python benchmarks/compile.py
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from engine.dataflow.compiler import compile_program
from engine.models import Model, autoencoder, gcn, gpt3, graphsage
from engine.program import parse, print_program

MODELS: dict[str, Callable[[], Model]] = {
    "gcn, Collab": lambda: gcn(235_868, 128, 128, 128),
    "graphsage, Collab": lambda: graphsage(235_868, 128, 128, 128),
    "autoencoder, NIH": lambda: autoencoder(32, 1_048_576, 512),
    "gpt3, 2 decoders": lambda: gpt3(1_024, 768, 12, 3_072, decoders=2),
    "gpt3, 12 decoders": lambda: gpt3(1_024, 768, 12, 3_072, decoders=12),
}


DEEP = Path(__file__).parent / "gated_graph.loom"
"""Messages and a gated recurrent unit, twice, as imported from PyTorch: 489 views in one region."""


def deepest(text: str) -> str:
    """The schedule that fuses every statement."""
    live = parse(text).live
    return f"fuse {live[0].out.tensor}..{live[-1].out.tensor}"


def median_of(times: int, work: Callable[[], object]) -> float:
    """Median CPU seconds of several runs."""
    taken = []
    for _ in range(times):
        started = time.process_time()
        work()
        taken.append(time.process_time() - started)
    return statistics.median(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=7, help="runs of each (default: 7)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    rows = []
    texts = {n: (print_program(m.program), m.presets) for n, b in MODELS.items() for m in (b(),)}
    texts["gated graph layers"] = (DEEP.read_text(), {"full": deepest(DEEP.read_text())})
    for name, (text, presets) in texts.items():
        for preset, schedule in presets.items():
            compiled = compile_program(parse(text), schedule)
            compiling = partial(lambda t, s: compile_program(parse(t), s), text, schedule)
            seconds = median_of(options.times, compiling)
            rows.append(
                {
                    "model": name,
                    "preset": preset,
                    "statements": len(compiled.program.statements),
                    "regions": len(compiled.regions),
                    "nodes": sum(len(r.graph.nodes) for r in compiled.regions),
                    "text_to_graph_ms": 1e3 * seconds,
                }
            )
    if options.json:
        print(json.dumps(rows))
        return
    print(f"text to SAMML graphs, CPU ms, median of {options.times}")
    head = ("model", "preset", "statements", "regions", "nodes", "ms")
    print("{:18} {:9} {:>10} {:>8} {:>6} {:>7}".format(*head))
    for r in rows:
        print(
            f"{r['model']:18} {r['preset']:9} {r['statements']:10} {r['regions']:8} "
            f"{r['nodes']:6} {r['text_to_graph_ms']:7.1f}"
        )


if __name__ == "__main__":
    main()
