"""Cycles of kernels in the simulator and as hardware: measured, and kept in ``hardware.toml``.

Running all kernels takes up to an hour, so what one measurement gave is kept beside the published
numbers.  ``fuseloom figures 13 --heavy`` measures again, and

    python -m fuseloom.experiments.hardware_runs engine/fuseloom/experiments/hardware.toml

writes the file anew.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from fuseloom.dataflow.rtl import require_amaranth
from fuseloom.errors import DataError, FuseloomError
from fuseloom.experiments.hardware_kernels import GROUPS, KernelGroup, group, kernels

COMMAND = "python -m fuseloom.experiments.hardware_runs"
SIMULATED = "fuseloom.experiments.hardware_runs:simulated"
MEASURED = "fuseloom.experiments.hardware_runs:measured"
Report = Callable[[float, str], bool]
SHORT = 1_000_000
"""Cycles times nodes of a kernel up to which Icarus, which starts at once, has run it before
Verilator has compiled it; the two agree (``tests/dataflow/rtl``)."""
PATIENCE = 3600.0
"""Seconds that Verilator may take: GraphSAGE, fused fully, has 157 nodes."""


@dataclass(frozen=True)
class HardwareCycles:
    """A kernel as hardware beside its simulation.

    Attributes
    ----------
    kernel : str
        Its name.
    simulated, cycles : int
        Cycles in the simulator, and in hardware.
    error : float
        The largest difference of a value from the simulator's, by the largest of its array.
    nodes : int
        Nodes of its graph.
    by : str
        What ran the hardware: ``icarus`` or ``verilator``.
    apart : tuple of (str, int)
        Nodes whose final clock in hardware is another, and how many cycles later it is.
    """

    kernel: str
    simulated: int
    cycles: int
    error: float
    nodes: int
    by: str
    apart: tuple[tuple[str, int], ...] = ()


def simulated(request: Mapping[str, Any], report: Report) -> dict[str, int]:
    """Cycles in the simulator of a group's kernels, by name; their results are right.

    Raises
    ------
    DataError
        If a result is not the reference's.
    """
    one = group(request["group"])
    run = one.run()
    check = run.check()
    if not check.ok:
        raise DataError(f"{one.name}: {check}")
    return {name: int(run.regions[number].cycles) for name, number in kernels(run, one)}


def measured(request: Mapping[str, Any], report: Report) -> list[dict[str, Any]]:
    """Run a group's kernels as hardware: a :class:`HardwareCycles` each, as plain data.

    Raises
    ------
    FuseloomError
        If Amaranth, Icarus, Verilator or a C++ compiler is missing, or values differ from the
        simulator's.
    """
    return [asdict(one) for one in run_group(group(request["group"]), report)]


def require_tools() -> None:
    """See that kernels can be run as hardware, before hours are spent on other runs.

    Raises
    ------
    FuseloomError
        If Amaranth, Icarus or Verilator is missing.
    """
    require_amaranth()
    missing = [name for name in ("iverilog", "verilator") if shutil.which(name) is None]
    if missing:
        raise DataError(
            f"kernels are run as hardware by {missing[0]}, which is not installed",
            hint="install Icarus Verilog and Verilator, or leave --heavy out",
        )


def run_group(
    one: KernelGroup, report: Report = lambda share, what: True
) -> Iterable[HardwareCycles]:
    """Run a group's kernels as hardware, one after another."""
    require_amaranth()
    from fuseloom.dataflow.rtl.running import run_icarus, run_verilator
    from fuseloom.dataflow.rtl.whole_programs import region_hardware, run_hardware

    # compiling takes longer than the run
    quick = partial(run_verilator, seconds=PATIENCE, optimise="-O0")
    run = one.run()
    chosen = list(kernels(run, one))
    for done, (name, number) in enumerate(chosen):
        report(done / len(chosen), name)
        region = region_hardware(run, number)
        size = region.run.cycles * len(region.graph.units)
        by, runner = ("icarus", run_icarus) if size <= SHORT else ("verilator", quick)
        with tempfile.TemporaryDirectory(prefix="fuseloom-rtl-") as folder:
            compared = run_hardware(region, Path(folder), runner)
        if not compared.done.passed or compared.error is None:
            raise DataError(f"{name}: the hardware's values are not the simulator's")
        yield HardwareCycles(
            name,
            int(compared.simulated),
            compared.cycles,
            compared.error,
            len(region.graph.units),
            by,
            tuple((d.label, d.hardware - d.simulated) for d in compared.differences),
        )


@cache
def kept() -> Mapping[str, HardwareCycles]:
    """The stored cycles of hardware, by kernel, in the order of the groups."""
    path = files("fuseloom.experiments").joinpath("hardware.toml")
    return read_kept(path.read_text(encoding="utf-8"))


def read_measured(values: Iterable[Mapping[str, Any]]) -> dict[str, HardwareCycles]:
    """Read what :func:`measured` gave, by kernel."""
    found = {}
    for one in values:
        apart = tuple((str(label), int(more)) for label, more in one["apart"])
        found[one["kernel"]] = HardwareCycles(**{**one, "apart": apart})
    return found


def read_kept(text: str) -> dict[str, HardwareCycles]:
    """Read what :func:`kept_text` wrote, by kernel."""
    tables = tomllib.loads(text)["kernels"]
    return read_measured({"apart": (), **one, "kernel": name} for name, one in tables.items())


def kept_text(measurements: Iterable[HardwareCycles], by: str) -> str:
    """The file of measurements, and by which tools they were made."""
    lines = [
        f"# Kernels as hardware, made by {COMMAND} FILE",
        f"# with {by}.",
        "#",
        "# simulated, cycles: in the simulator and in hardware.  error: the largest difference of",
        "# a value, by the largest of its array.  apart: nodes that end in another cycle, and how",
        "# much later.",
        "",
    ]
    for one in measurements:
        lines += [
            f'[kernels."{one.kernel}"]',
            f"simulated = {one.simulated}",
            f"cycles = {one.cycles}",
            f"error = {one.error!r}",
            f"nodes = {one.nodes}",
            f'by = "{one.by}"',
        ]
        if one.apart:
            pairs = [f'    ["{label}", {more}],' for label, more in one.apart]
            lines += ["apart = [", *pairs, "]"]
        lines.append("")
    return "\n".join(lines)


def _tools() -> str:
    from importlib.metadata import version

    from fuseloom.dataflow.rtl.running import run_tool, tool

    tools = (["verilator", "--version"], ["iverilog", "-V"])
    shown = []
    for name, flag in tools:
        words = run_tool([tool(name), flag], Path(), 60).split()
        shown.append(f"{words[0]} {next(word for word in words if word[0].isdigit())}")
    return f"Amaranth {version('amaranth')}, {' and '.join(shown)}"


def main(arguments: list[str]) -> int:
    """Measure all kernels and write the file that is named."""
    if len(arguments) != 1:
        print(f"usage: {COMMAND} FILE", file=sys.stderr)
        return 2
    found: list[HardwareCycles] = []
    try:
        by = _tools()
        for one in GROUPS:
            started = time.monotonic()
            for kernel in run_group(one):
                took = time.monotonic() - started
                print(
                    f"{kernel.kernel}: {kernel.cycles:,} cycles, {kernel.simulated:,} simulated "
                    f"({took:.0f} s)",
                    file=sys.stderr,
                    flush=True,
                )
                found.append(kernel)
                started = time.monotonic()
    except FuseloomError as problem:
        print(f"{problem}", file=sys.stderr)
        return 1
    Path(arguments[0]).write_text(kept_text(found, by), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
