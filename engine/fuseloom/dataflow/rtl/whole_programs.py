"""The regions of a simulated program as hardware, run and compared with the simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fuseloom.dataflow.rtl.design import HardwareGraph, WrittenArray
from fuseloom.dataflow.rtl.running import HardwareRun, read_run
from fuseloom.dataflow.rtl.verilog import VerilogProject, emit
from fuseloom.dataflow.sim.binding import bind
from fuseloom.dataflow.sim.program_runs import RegionRun, Run
from fuseloom.dataflow.sim.result import EngineResult

Runner = Callable[[VerilogProject, Path], str]
"""Runs a project in a folder and returns what the test bench printed."""


@dataclass(frozen=True)
class ClockDifference:
    """A node whose final clock in hardware is not that of the simulation."""

    node: int
    label: str
    simulated: int
    hardware: int


@dataclass(frozen=True)
class RegionHardware:
    """A region as hardware.

    Attributes
    ----------
    run : RegionRun
        Its simulation.
    graph : HardwareGraph
        Its modules.
    project : VerilogProject
        Its files.
    written : mapping of WrittenArray to int
        Words of the arrays that the simulation wrote.
    """

    run: RegionRun
    graph: HardwareGraph
    project: VerilogProject
    written: Mapping[WrittenArray, int]

    @property
    def name(self) -> str:
        return self.run.name

    def compared(self, done: HardwareRun) -> RegionComparison:
        """What a run of the hardware has to do with the simulation."""
        nodes = self.graph.bound.graph.nodes
        differences = tuple(
            ClockDifference(node.id, node.label or node.op, int(clock), done.clocks[node.id])
            for node, clock in zip(nodes, self.run.result.clocks, strict=True)
            if node.id in done.clocks and done.clocks[node.id] != int(clock)
        )
        return RegionComparison(
            self.name,
            self.run.cycles,
            done,
            _largest_error(self.graph, self.run, done),
            differences,
        )


@dataclass(frozen=True)
class RegionComparison:
    """A run of a region's hardware beside its simulation.

    Attributes
    ----------
    name : str
        Of the region.
    simulated : int
        Cycles in the simulator.
    done : HardwareRun
        The run of the hardware.
    error : float or None
        The largest difference of a value, by the largest value of its array; None where
        coordinates or numbers of values differ.
    differences : tuple of ClockDifference
        Nodes that end in another cycle.
    """

    name: str
    simulated: int
    done: HardwareRun
    error: float | None
    differences: tuple[ClockDifference, ...]

    @property
    def cycles(self) -> int:
        """Cycles in hardware."""
        return self.done.cycles


def written_words(result: EngineResult, array: WrittenArray) -> list[int]:
    """The words that a node wrote in the simulation, as its hardware writes them."""
    written = result.outputs[array.node][array.name]
    if array.name == "vals":
        return [int(word) for word in written.astype(np.float32).view(np.uint32)]
    return [int(word) for word in (written[1:] if array.name == "seg" else written)]


def hardware_of(run: Run) -> Iterator[RegionHardware]:
    """The regions of a program that was simulated, one after another, as hardware.

    Raises
    ------
    GraphError
        If one cannot be hardware, naming the node and a way out.
    """
    return (region_hardware(run, number) for number in range(len(run.regions)))


def region_hardware(run: Run, number: int) -> RegionHardware:
    """The region of that number of a program that was simulated, as hardware.

    Raises
    ------
    GraphError
        If it cannot be hardware, naming the node and a way out.
    """
    region = run.regions[number]
    graph = HardwareGraph(bind(region.region.graph, {**run.data, **run.outputs}), run.machine)
    expected = {array: written_words(region.result, array) for array in graph.written}
    project = emit(graph, expected, patience=100 + graph.slowest)
    written = {array: len(words) for array, words in expected.items()}
    return RegionHardware(region, graph, project, written)


def run_hardware(region: RegionHardware, folder: Path, runner: Runner) -> RegionComparison:
    """Run a region's hardware and compare it with the simulation.

    Raises
    ------
    SimulationError
        If a tool is missing or fails.
    """
    return region.compared(read_run(runner(region.project, folder)))


def _largest_error(graph: HardwareGraph, run: RegionRun, done: HardwareRun) -> float | None:
    errors = [0.0]
    for array in graph.written:
        expected = written_words(run.result, array)
        got = done.words.get(array.port, ())
        if array.name != "vals":
            if list(got) != expected:
                return None
            continue
        if len(got) != len(expected):
            return None
        errors.append(_distance(got, expected))
    return max(errors)


def _distance(got: Sequence[int], expected: Sequence[int]) -> float:
    """The largest difference of two arrays of values, by the largest of the expected ones."""
    a, b = (np.array(words, np.uint32).view(np.float32).astype(float) for words in (got, expected))
    apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, np.abs(a - b))
    finite = np.abs(b[np.isfinite(b)])
    largest = float(finite.max()) if finite.size else 0.0
    return float(apart.max(initial=0.0)) / (largest or 1.0)
