"""Arrays and memories for a network, compared: every combination, and the best of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fuseloom.access.hardware import SystolicArray
from fuseloom.access.layers import Layer, OtherCall
from fuseloom.access.mapped_layers import MappedLayers, map_layers
from fuseloom.access.memory import BufferedMemory, Traffic
from fuseloom.access.rules.rule import Rule
from fuseloom.access.saturation.saturate import SaturationLimits


@dataclass(frozen=True)
class ArrayDesign:
    """Layers on one array with its memory.

    Attributes
    ----------
    made : MappedLayers
    memory : BufferedMemory
    traffic : Traffic
    area : float
        Of array and buffer, in areas of a multiplier.
    """

    made: MappedLayers
    memory: BufferedMemory
    traffic: Traffic
    area: float

    @property
    def array(self) -> SystolicArray:
        """The array."""
        return self.made.array


def compare_arrays(
    layers: Sequence[Layer],
    others: Sequence[OtherCall],
    arrays: Sequence[SystolicArray],
    memories: Sequence[BufferedMemory],
    rules: Sequence[Rule] | None = None,
    *,
    byte_area: float = 0.0,
    limits: SaturationLimits | None = None,
    optimal: bool = False,
    progress: Callable[[SystolicArray], None] = lambda _: None,
) -> tuple[ArrayDesign, ...]:
    """Map layers onto several arrays, each with every memory.

    Layers are mapped once per array, since a mapping does not depend on the memory.

    Parameters
    ----------
    memories : sequence of BufferedMemory
        Of these every array has one in each design.
    byte_area : float
        The area of a byte of the buffer, in areas of a multiplier.
    rules, limits, optimal
        As :func:`fuseloom.access.mapping.map_term` takes them.
    progress : callable
        Given each array before layers are mapped onto it; what it raises ends the work.

    Returns
    -------
    tuple of ArrayDesign
        Array by array, in the order of the memories.

    Examples
    --------
    >>> import torch
    >>> from fuseloom.access.torch_layers import layers_of
    >>> layers, others = layers_of(torch.nn.Linear(64, 64), [torch.ones(2, 64)])
    >>> arrays = [SystolicArray(n, n) for n in (8, 64)]
    >>> memories = [BufferedMemory(buffer=size) for size in (4096, 65536)]
    >>> designs = compare_arrays(layers, others, arrays, memories, byte_area=0.125)
    >>> [(x.array.rows, x.memory.buffer, x.area) for x in designs]
    [(8, 4096, 576.0), (8, 65536, 8256.0), (64, 4096, 4608.0), (64, 65536, 12288.0)]
    """
    designs = []
    for array in arrays:
        progress(array)
        made = map_layers(layers, others, array, rules, limits=limits, optimal=optimal)
        for memory in memories:
            area = array.rows * array.columns + byte_area * memory.buffer
            designs.append(ArrayDesign(made, memory, made.traffic(memory), area))
    return tuple(designs)


def best_design(designs: Sequence[ArrayDesign], budget: float | None = None) -> ArrayDesign | None:
    """The design with the fewest cycles, transfers included, whose area is within a budget.

    Of equally fast ones the smallest; None if no design is within the budget.

    Examples
    --------
    >>> print(best_design([]))
    None
    """
    within = [x for x in designs if budget is None or x.area <= budget]
    return min(within, key=lambda x: (x.traffic.cycles, x.area), default=None)
