"""Which array is best for a network: several arrays and their memory, compared."""

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
    memory: BufferedMemory,
    rules: Sequence[Rule] | None = None,
    *,
    byte_area: float = 0.0,
    limits: SaturationLimits | None = None,
    optimal: bool = False,
    progress: Callable[[SystolicArray], None] = lambda _: None,
) -> tuple[ArrayDesign, ...]:
    """Map layers onto several arrays.

    Parameters
    ----------
    memory : BufferedMemory
        That of each array.
    byte_area : float
        The area of a byte of the buffer, in areas of a multiplier.
    rules, limits, optimal
        As :func:`fuseloom.access.mapping.map_term` takes them.
    progress : callable
        Given each array before layers are mapped onto it; what it raises ends the work.

    Examples
    --------
    >>> import torch
    >>> from fuseloom.access.torch_layers import layers_of
    >>> layers, others = layers_of(torch.nn.Linear(64, 64), [torch.ones(2, 64)])
    >>> arrays = [SystolicArray(n, n) for n in (8, 64)]
    >>> [x.area for x in compare_arrays(layers, others, arrays, BufferedMemory())]
    [64.0, 4096.0]
    """
    designs = []
    for array in arrays:
        progress(array)
        made = map_layers(layers, others, array, rules, limits=limits, optimal=optimal)
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
