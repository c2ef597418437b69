"""The time of compiling, from program text to dataflow graphs (CPU time, one core).

Of regions that are equal but for names only the first is built until somebody looks, so three
times are reported: reading the text; compiling what was read, which finds every error and order;
and the same with all graphs looked at.

Every model and preset at the sizes of the FuseFlow paper (``docs/spec/accounting.md`` §2): index
sizes only, for compiling reads no data.  The published compiler takes up to 750 ms.

python -m benchmarks.compile
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from fuseloom.dataflow.compiler import compile_program
from fuseloom.models import Model, autoencoder, gcn, gpt3, graphsage
from fuseloom.program import parse, print_program

MODELS: dict[str, Callable[[], Model]] = {
    "gcn, Collab": lambda: gcn(235_868, 128, 128, 128),
    "graphsage, Collab": lambda: graphsage(235_868, 128, 128, 128),
    "autoencoder, NIH": lambda: autoencoder(32, 1_048_576, 512),
    "gpt3, 1 decoder": lambda: gpt3(1_024, 768, 12, 3_072, decoders=1),
    "gpt3, 2 decoders": lambda: gpt3(1_024, 768, 12, 3_072, decoders=2),
    "gpt3, 12 decoders": lambda: gpt3(1_024, 768, 12, 3_072, decoders=12),
}


DEEP = Path(__file__).parent / "gated_graph.loom"
"""Messages and a gated recurrent unit, twice, as imported from PyTorch: 489 views in one region."""


def deepest(text: str) -> str:
    """The schedule that fuses every statement."""
    live = parse(text).live
    return f"fuse {live[0].out.tensor}..{live[-1].out.tensor}"


def times_of(times: int, text: str, schedule: str) -> tuple[float, float, float]:
    """Median CPU milliseconds of reading, compiling, and compiling with all graphs."""
    taken = []
    for _ in range(times):
        began = time.process_time()
        program = parse(text)
        read = time.process_time()
        compiled = compile_program(program, schedule)
        done = time.process_time()
        for region in compiled.regions:
            _ = region.graph
        taken.append((read - began, done - read, time.process_time() - read))
    reading, compiling, looking = (1e3 * statistics.median(row) for row in zip(*taken, strict=True))
    return reading, compiling, looking


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
            reading, compiling, looking = times_of(options.times, text, schedule)
            rows.append(
                {
                    "model": name,
                    "preset": preset,
                    "statements": len(compiled.program.statements),
                    "regions": len(compiled.regions),
                    "nodes": sum(len(r.graph.nodes) for r in compiled.regions),
                    "read_ms": reading,
                    "compile_ms": compiling,
                    "all_graphs_ms": looking,
                    "text_to_graph_ms": reading + looking,
                }
            )
    if options.json:
        print(json.dumps(rows))
        return
    print(f"text to SAMML graphs, CPU ms, median of {options.times}")
    head = ("model", "preset", "statements", "regions", "nodes", "read", "compile", "with graphs")
    print("{:18} {:9} {:>10} {:>8} {:>6} {:>7} {:>8} {:>12}".format(*head))
    for r in rows:
        print(
            f"{r['model']:18} {r['preset']:9} {r['statements']:10} {r['regions']:8} "
            f"{r['nodes']:6} {r['read_ms']:7.1f} {r['compile_ms']:8.1f} {r['all_graphs_ms']:12.1f}"
        )


if __name__ == "__main__":
    main()
