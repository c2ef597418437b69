"""By how much what is found is better than the best preset, of every model on its small data.

``python -m benchmarks.presets``

Presets are taken as every other command takes them, under their best orders.
"""

from __future__ import annotations

import argparse
import time

import fuseloom as fl
from fuseloom.exploration.autoschedule import autoschedule
from fuseloom.models import load

PAIRS = (
    ("gcn", "karate"), ("gcn", "random"), ("gcn", "uniform"), ("graphsage", "random"),
    ("autoencoder", "random"), ("gpt3", "random"), ("gpt3", "bigbird"), ("attention", "random"),
    ("spmm", "random"), ("spmv", "random"),
)  # fmt: skip


def main() -> None:
    """Print a line per pair; the last column is never below 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=10.0, help="seconds of a search")
    parser.add_argument("--only", help="models of that name")
    options = parser.parse_args()
    print(f"{'model, data':24} {'preset':>12} {'cycles':>12} {'found':>12} {'times':>7} "
          f"{'gap':>6} {'CPU, s':>7}")  # fmt: skip
    for name, data in PAIRS:
        if options.only not in (None, name):
            continue
        model, tensors = load(name, data)
        cycles = {}
        for preset, text in (model.presets or {"unfused": ""}).items():
            made = fl.best_orders(fl.compile(model.program, text), tensors).compilation
            cycles[preset] = fl.simulate(made, tensors).cycles
        best = min(cycles, key=lambda preset: cycles[preset])
        began = time.process_time()
        found = autoschedule(
            model.program, tensors, presets=model.presets, time_limit=options.limit
        )
        took = time.process_time() - began
        print(f"{name + ', ' + data:24} {best:>12} {cycles[best]:12,} {found.cycles:12,} "
              f"{cycles[best] / found.cycles:7.3f} {found.certificate.gap:6.1%} {took:7.1f}",
              flush=True)  # fmt: skip
        assert found.cycles <= cycles[best]


if __name__ == "__main__":
    main()
