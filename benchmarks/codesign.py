"""The best machine and schedule under an area, and the loss of choosing the machine first.

    python -m benchmarks.codesign [--areas N] [--seconds S] [--only NAME] [--objective NAME]

For each model, areas lie evenly, by their ratio, between that of the smallest design and that of
the fastest one of all.  Under each, machine and schedule are chosen together; beside that stands
what remains when the machine is chosen first, as the best for the program without fusion under the
same area, with the orders that are best, and then the best schedule on it.  The loss is the
share by which the objective is above that of both together.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import fuseloom as fl
from fuseloom.dataflow.machine.space import MachineSpace, parse_machine_space
from fuseloom.errors import FuseloomError
from fuseloom.exploration.codesign import codesign
from fuseloom.exploration.designs import Codesign, MachineDesign
from fuseloom.exploration.objective import objective_of
from fuseloom.program import Program

SPACE = """
base = "rtl"

[parameters]
channel_capacity = [16, 64, 256]
"""
"""Machines of which none contains another: one with more lanes could use fewer."""
PAIRS = (("attention", "random"), ("gcn", "karate"))


def alone(space: MachineSpace, design: MachineDesign) -> MachineSpace:
    """The space of the machine of a design."""
    return replace(space, parameters={key: (value,) for key, value in design.settings.items()})


def settings_text(found: Codesign) -> str:
    """The parameters of the best machine."""
    return ", ".join(f"{key} {value}" for key, value in found.design.settings.items())


def compare(
    program: Program,
    data: Mapping[str, Any],
    presets: Mapping[str, str],
    objective: str,
    areas: int,
    seconds: float,
) -> None:
    """Print a row per area."""
    space = parse_machine_space(SPACE)
    apart = "split " + " ".join(s.out.tensor for s in program.statements)

    def best(
        given: MachineSpace, area: float, name: str = objective, rules: Sequence[str] = ()
    ) -> Codesign | None:
        try:
            return codesign(
                program, data, given, objective=name, area=area, presets=presets,
                requirements=rules, time_limit=seconds,
            )  # fmt: skip
        except FuseloomError:
            return None

    free, small = best(space, 1e12), best(space, 1e12, "area")
    assert free is not None
    assert small is not None
    low, high = small.design.area, free.design.area
    for number in range(areas):
        area = 1.0001 * low * (high / low) ** (number / max(areas - 1, 1))
        began = time.perf_counter()
        both = best(space, area)
        took = time.perf_counter() - began
        assert both is not None
        unfused = best(space, area, rules=[apart])
        first = unfused and best(alone(space, unfused.design), area)
        loss = "–" if first is None else f"{first.value / both.value - 1:.1%}"
        print(
            f"{area:10,.0f} {both.value:12.5g} {both.gap:7.1%} {both.design.area:10,.0f} "
            f"{loss:>8} {took:7.1f}  {settings_text(both)}; {both.design.schedule}"
            f"; first: {unfused and settings_text(unfused)}",
            flush=True,
        )


def main() -> None:
    """Print a table per model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--areas", type=int, default=5, help="areas of a model (default: 5)")
    parser.add_argument("--seconds", type=float, default=120.0, help="of a search (default: 120)")
    parser.add_argument("--only", help="models of that name")
    parser.add_argument("--objective", default="time", help="what is to be small (default: time)")
    options = parser.parse_args()
    unit = objective_of(options.objective).unit
    for name, data in PAIRS:
        if options.only not in (None, name):
            continue
        model, tensors = fl.load(name, data)
        print(f"{name}, {data}: {options.objective} in {unit}")
        print(
            f"{'LUTs':>10} {'found':>12} {'gap':>7} {'its LUTs':>10} {'loss':>8} {'s':>7}  design",
            flush=True,
        )
        compare(
            model.program, tensors, model.presets, options.objective, options.areas,
            options.seconds,
        )  # fmt: skip


if __name__ == "__main__":
    main()
