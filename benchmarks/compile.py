"""How long compiling takes, from program text to dataflow graphs (CPU time, one core).

python benchmarks/compile.py
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

from engine.cost import estimate
from engine.models import load
from engine.program import parse, print_program
from engine.samml.compiler import compile_program


def best_of(times: int, work: Callable[[], object]) -> float:
    """Least CPU seconds of several runs."""
    best = float("inf")
    for _ in range(times):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=10, help="runs of each (default: 10)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    model, data = load("gcn", "karate")
    text = print_program(model.program)
    rows = []
    for preset, schedule in model.presets.items():
        compiled = compile_program(parse(text), schedule)
        rows.append(
            {
                "preset": preset,
                "regions": len(compiled.regions),
                "nodes": sum(len(r.graph.nodes) for r in compiled.regions),
                "parse_ms": 1e3 * best_of(options.times, lambda: parse(text)),
                "text_to_graph_ms": 1e3
                * best_of(options.times, lambda s=schedule: compile_program(parse(text), s)),
                "estimate_ms": 1e3 * best_of(options.times, lambda c=compiled: estimate(c, data)),
            }
        )
    if options.json:
        print(json.dumps(rows))
        return
    print("GCN, 2 layers, Karate Club sizes; CPU ms, best of", options.times)
    head = ("preset", "regions", "nodes", "parse", "text→graph", "estimate")
    print("{:10} {:>8} {:>6} {:>8} {:>11} {:>9}".format(*head))
    for r in rows:
        print(
            f"{r['preset']:10} {r['regions']:8} {r['nodes']:6} {r['parse_ms']:8.1f} "
            f"{r['text_to_graph_ms']:11.1f} {r['estimate_ms']:9.1f}"
        )


if __name__ == "__main__":
    main()
