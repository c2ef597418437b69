"""Fig. 13: the simulator's cycles beside those of hardware, kernel by kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fuseloom.experiments.claims import Got
from fuseloom.experiments.hardware_kernels import GROUPS, SMALLEST, KernelGroup
from fuseloom.experiments.hardware_runs import (
    MEASURED,
    SIMULATED,
    HardwareCycles,
    kept,
    read_measured,
)
from fuseloom.experiments.recipe import (
    AccountingMode,
    ExperimentSize,
    Measure,
    MissingError,
    Panel,
    Recipe,
    RecipeResults,
    Series,
    Value,
    nothing,
)
from fuseloom.wording import counted


def groups(size: ExperimentSize) -> tuple[KernelGroup, ...]:
    """The kernels of a size."""
    return SMALLEST if size is ExperimentSize.SMOKE else GROUPS


def _measures(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Measure]:
    return {one.name: Measure(SIMULATED, {"group": one.name}) for one in groups(size)}


def _on_request(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Measure]:
    return {_again(one): Measure(MEASURED, {"group": one.name}) for one in groups(size)}


def _again(one: KernelGroup) -> str:
    """The label of a group's hardware, measured again."""
    return f"hardware of {one.name}"


@dataclass(frozen=True)
class ComparedKernels:
    """The kernels of a size: those that were compared, and those that have changed since.

    Attributes
    ----------
    kernels : tuple of (str, HardwareCycles)
        The model of each, and its cycles.
    changed : tuple of str
        Kernels whose simulation takes other cycles than when the hardware was measured.
    """

    kernels: tuple[tuple[str, HardwareCycles], ...]
    changed: tuple[str, ...]

    @property
    def determination(self) -> float:
        """The share of the variance of hardware's cycles that the simulator's leave nothing of."""
        cycles = [one.cycles for _, one in self.kernels]
        mean = sum(cycles) / len(cycles)
        apart = sum((one.cycles - one.simulated) ** 2 for _, one in self.kernels)
        return 1.0 - apart / sum((x - mean) ** 2 for x in cycles)

    @property
    def most_apart(self) -> float:
        """The largest difference of a kernel's cycles, as a share of them."""
        return max(abs(one.cycles - one.simulated) / one.cycles for _, one in self.kernels)


def compared(results: RecipeResults, size: ExperimentSize) -> ComparedKernels:
    """Put the hardware's cycles beside those of the present simulator.

    Raises
    ------
    MissingError
        If nothing was simulated.
    """
    found, changed = [], []
    for one, simulated, hardware in _groups(results, size):
        for name, cycles in simulated.items():
            measured = hardware.get(name)
            if measured is None or measured.simulated != cycles:
                changed.append(name)
            else:
                found.append((one.model, measured))
    if not found:
        raise MissingError("no kernel of the present compiler was measured as hardware")
    return ComparedKernels(tuple(found), tuple(changed))


def _groups(
    results: RecipeResults, size: ExperimentSize
) -> Iterator[tuple[KernelGroup, Mapping[str, int], Mapping[str, HardwareCycles]]]:
    for one in groups(size):
        simulated = results.measured(one.name)
        try:
            yield one, simulated, read_measured(results.measured(_again(one)))
        except MissingError:
            yield one, simulated, kept()


def _values(size: ExperimentSize, mode: AccountingMode) -> Mapping[str, Value]:
    def largest_error(results: RecipeResults) -> Got:
        return Got(max(one.error for _, one in compared(results, size).kernels))

    return {
        "13.r2": lambda results: Got(compared(results, size).determination),
        "13.kernels": lambda results: Got(float(len(compared(results, size).kernels))),
        "13.apart": lambda results: Got(100.0 * compared(results, size).most_apart),
        "13.values": largest_error,
    }


def _panels(
    results: RecipeResults, size: ExperimentSize, mode: AccountingMode
) -> tuple[Panel, ...]:
    found = compared(results, size)
    models = dict.fromkeys(model for model, _ in found.kernels)
    series = []
    for model in models:
        own = [one for name, one in found.kernels if name == model]
        x, y = tuple(one.simulated for one in own), tuple(float(one.cycles) for one in own)
        series.append(Series(model, x, y))
    lines = [f"{'kernel':32}{'nodes':>8}{'simulated':>12}{'hardware':>12}{'later':>8}  why"]
    for _, one in found.kernels:
        later = one.cycles - one.simulated
        lines.append(
            f"{one.kernel:32}{one.nodes:>8}{one.simulated:>12,}{one.cycles:>12,}{later:>8}"
            f"  {reason(one)}".rstrip()
        )
    equal = sum(one.cycles == one.simulated for _, one in found.kernels)
    lines.append(f"{counted(len(found.kernels), 'kernel')}, {equal} with equal cycles")
    if found.changed:
        names = ", ".join(found.changed)
        lines.append(f"not compared, as they have changed since hardware was measured: {names}")
    title = f"Cycles of kernels, 1 − R² = {1 - found.determination:.1g} (paper: 0.009)"
    return (
        Panel(title, "points", tuple(series), "simulated cycles", "cycles in hardware", "xy"),
        Panel("Kernel by kernel", "text", text="\n".join(lines)),
    )


REASONS = {
    "Acc": "a row leaves a coordinate a cycle, and the end follows it",
    "Drop": "what waits inside a fiber passes a token a cycle",
}
"""Reasons why nodes take more cycles in hardware than in the simulator (``docs/rtl.md``), by the
beginning of their labels."""

FEW = 2
"""Cycles by which the end of the last row may be later; more come from several rows."""


def reason(one: HardwareCycles) -> str:
    """Why a kernel takes other cycles in hardware, and the first nodes of that kind."""
    if one.cycles == one.simulated:
        return ""
    for kind, why in REASONS.items():
        nodes = [label for label, _ in one.apart if label.startswith(kind)]
        if nodes:
            often = ", row after row" if one.cycles > one.simulated + FEW else ""
            return f"{', '.join(nodes)}: {why}{often}"
    return "unexplained"


HARDWARE = Recipe(
    "13",
    "The simulator against hardware",
    "The paper correlates 41 kernels with a post-synthesis simulation of an FPGA design, R² = "
    "0.991, by proprietary tools that its artefact leaves out. Here every kernel is emitted as "
    "Verilog, run cycle by cycle with Verilator or Icarus, and compared with the simulator on the "
    "machine whose latencies are those of the modules; the cycles of hardware are stored with the "
    "engine, and --heavy measures them again. R² is that of the simulator's cycles as they are, "
    "with nothing fitted, and where a kernel's cycles differ it is said why.",
    nothing,
    _values,
    _panels,
    measures=_measures,
    measures_on_request=_on_request,
)
