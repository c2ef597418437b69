"""The document of ``fuseloom rtl --json``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypedDict

from fuseloom.results.declarations import Amount, Count, Positive


class ClockData(TypedDict):
    """A node that ends in another cycle than in the simulator."""

    node: Annotated[Count, "Its number in the region's graph."]
    label: Annotated[str, "Its name."]
    simulated: Annotated[Count, "Its final clock in the simulator."]
    hardware: Annotated[Count, "Its final clock in hardware."]


class RegionRunData(TypedDict):
    """A run of a region's hardware beside its simulation."""

    cycles: Annotated[Count, "Clock cycles until every node has ended, or nothing moves."]
    simulated: Annotated[Count, "Clock cycles in the simulator, on the same machine."]
    passed: Annotated[bool, "True if all was written that the simulator wrote."]
    max_rel_error: Annotated[Amount | None, "The largest difference of a value from the "
                             "simulator's, by the largest of its array; null where coordinates "
                             "differ."]  # fmt: skip
    differences: Annotated[Sequence[ClockData], "Nodes that end in another cycle."]


class AreaData(TypedDict):
    """The parts of an FPGA that hardware takes, the sum of those of its modules in synthesis."""

    luts: Annotated[Amount, "Look-up tables of six inputs, those included that are memories."]
    flip_flops: Annotated[Amount, "Flip-flops."]
    block_rams: Annotated[Count, "Block memories of 36 kilobits (two of 18 are one), for the "
                          "arrays that primitives read or write."]  # fmt: skip
    dsps: Annotated[Amount, "Multipliers (DSP48E1)."]


class RegionAreaData(AreaData):
    """The area of a region, and what of it its channels are."""

    channel_luts: Annotated[Amount, "Look-up tables of the channels, which are counted in luts."]


class RegionHardwareData(TypedDict):
    """A region as hardware."""

    name: Annotated[str, "Name of the region."]
    nodes: Annotated[Positive, "Primitives."]
    modules: Annotated[Positive, "Different modules that they and their channels are made of."]
    memory_bits: Annotated[Count, "Bits of the memories that its primitives read."]
    channel_tokens: Annotated[Count, "Tokens that its channels hold."]
    area: Annotated[RegionAreaData | None, "Its area; null where one of its modules was not "
                    "measured."]  # fmt: skip
    folder: Annotated[str | None, "The folder with its files; null if they were not asked for."]
    run: Annotated[RegionRunData | None, "Its run; null if it was not asked for."]


class RtlDocument(TypedDict):
    """A program as hardware, region by region."""

    program: Annotated[str, "Name of the program."]
    machine: Annotated[str, "Name of the machine."]
    simulator: Annotated[str | None, "The simulator of Verilog that ran; null if none did."]
    cycles: Annotated[Count | None, "Cycles of all regions; null if they were not run."]
    simulated: Annotated[Count, "Cycles of all regions in this project's simulator."]
    max_rel_error: Annotated[Amount | None, "The largest error of a region; null if there is none."]
    area: Annotated[AreaData | None, "The area of all regions side by side; null where that of one "
                    "is not known."]  # fmt: skip
    regions: Annotated[Sequence[RegionHardwareData], "The regions, in the order in which they run."]
