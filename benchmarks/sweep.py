"""The time to plan and estimate a sweep's configurations: ``python -m benchmarks.sweep``.

Of a model the ways to cut it into regions, each region under one order of every distinct graph;
and of two presets, machines that differ in their sizes.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from fuseloom.exploration.sweep import Base, Space, explore

AXES = {
    "cuts and orders": {"cuts": ["all"], "order": ["all"]},
    "machines": {
        "preset": ["partial", "full"],
        "load_latency": range(1, 51),
        "alu_latency": range(1, 11),
        "alu_interval": range(1, 11),
    },
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="gcn")
    parser.add_argument("--data", default="karate")
    parser.add_argument("--number", type=int, default=10_000, help="configurations")
    parser.add_argument("--over", choices=AXES, default="cuts and orders")
    options = parser.parse_args()
    order = "best" if options.over == "cuts and orders" else "first"
    space = Space(Base(options.model, options.data, order=order), AXES[options.over])
    with tempfile.TemporaryDirectory() as folder:
        begun, used = time.perf_counter(), time.process_time()
        found = explore(space, store=Path(folder) / "runs.sqlite", limit=options.number)
        took, used = time.perf_counter() - begun, time.process_time() - used
    print(f"{len(found):,} configurations of {options.model} on {options.data} ({options.over}), "
          f"{dict(found.new)}: {took:.1f} s, {used:.1f} s of CPU")  # fmt: skip


if __name__ == "__main__":
    main()
