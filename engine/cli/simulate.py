"""``fuseloom simulate`` of a program."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from rich.console import Console
from rich.progress import Progress

from engine.cli.explain import as_json, explanation, observation, write_trace
from engine.cli.inputs import Inputs
from engine.cli.limits import limits_of
from engine.cli.machine import machine_of, memory_lines
from engine.dataflow.sim.explain.perfetto import TracedRegion
from engine.dataflow.sim.program_runs import simulate


def simulate_program(options: Any, given: Inputs) -> int:
    """Run a program, check it and print what came of it; 1 if the check fails."""
    compilation, data = given.compilation, given.data
    machine = machine_of(options.machine)
    if options.capacity == "sized":
        compilation = compilation.sized()
    elif options.capacity is not None:
        machine = replace(machine, channel_capacity=options.capacity)
    observe = observation(options)
    with Progress(console=Console(stderr=True), transient=True, disable=options.json) as bar:
        task = bar.add_task("simulating", total=1.0)

        def report(share: float, text: str) -> None:
            bar.update(task, completed=share, description=text)

        run = simulate(
            compilation,
            data,
            machine,
            engine=options.engine,
            observe=observe,
            progress=report,
            limits=limits_of(options),
        )
    check = run.check()
    traced = [TracedRegion(r.name, r.result, r.path) for r in run.regions]
    write_trace(options, traced)
    if options.json:
        explain = {"explain": as_json(traced, machine)} if options.explain else {}
        print(
            json.dumps(
                {
                    "cycles": run.cycles,
                    "regions": [
                        {
                            "name": r.name,
                            "order": r.region.order,
                            "cycles": r.cycles,
                            "flops": r.work.flops,
                            "bytes": r.work.bytes,
                            "tokens": r.result.total_tokens,
                            "memory": r.result.memory and r.result.memory.to_dict(),
                        }
                        for r in run.regions
                    ],
                    "flops": run.work.flops,
                    "bytes": run.work.bytes,
                    "tokens": run.tokens,
                    "max_rel_error": check.max_rel_error,
                    "ok": check.ok,
                    **given.source,
                    "machine": machine.name,
                    "seconds": run.seconds,
                    **explain,
                }
            )
        )
    else:
        print(given.heading, end="")
        print(f"{'region':24} {'cycles':>14} {'FLOPs':>14} {'bytes':>14}")
        for r in run.regions:
            print(f"{r.name:24} {r.cycles:14,} {r.work.flops:14,} {r.work.bytes:14,}")
        print(f"{'total':24} {run.cycles:14,} {run.work.flops:14,} {run.work.bytes:14,}")
        memories = [(r.name, r.result.memory) for r in run.regions]
        for line in memory_lines(memories, whole=False):
            print(line)
        print(f"{check}; simulated in {run.seconds:.2f} s")
        if options.trace:
            for line in memory_lines(memories, whole=True):
                print(line)
            for trace in run.trace:
                print(f"\n{trace}")
        if options.explain:
            print(f"\n{explanation(traced, machine)}")
    return 0 if check.ok else 1
