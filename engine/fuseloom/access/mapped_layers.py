"""Several layers mapped onto one array, and their totals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fuseloom.access.constructs.construct import Array
from fuseloom.access.hardware import SystolicArray
from fuseloom.access.layers import Layer, OtherCall
from fuseloom.access.mapping import Mapped, map_term
from fuseloom.access.meaning import evaluate
from fuseloom.access.memory import BufferedMemory, Traffic
from fuseloom.access.rules.rule import Rule
from fuseloom.access.saturation.saturate import SaturationLimits
from fuseloom.access.terms import Term
from fuseloom.results import relative_error


@dataclass(frozen=True)
class MappedLayer:
    """A layer, and its term for the array.

    Attributes
    ----------
    name : str
    mapped : Mapped
    data : mapping
        The arrays of its tensors.
    max_rel_error : float
        Of the extracted term on the layer's data, against its result.
    """

    name: str
    mapped: Mapped
    data: Mapping[str, Array]
    max_rel_error: float


@dataclass(frozen=True)
class MappedLayers:
    """A network for an array.

    Attributes
    ----------
    array : SystolicArray
    layers : tuple of MappedLayer
        In order of execution.
    others : tuple of OtherCall
        What the network computes beside.
    """

    array: SystolicArray
    layers: tuple[MappedLayer, ...]
    others: tuple[OtherCall, ...]

    @property
    def distinct(self) -> tuple[Mapped, ...]:
        """The mappings, each once: layers with equal terms share theirs."""
        return tuple({id(layer.mapped): layer.mapped for layer in self.layers}.values())

    @property
    def cycles(self) -> int:
        """Of all calls, one after another."""
        return sum(layer.mapped.cycles for layer in self.layers)

    def traffic(self, memory: BufferedMemory) -> Traffic:
        """The sum of the layers' traffic: each begins with an empty buffer."""
        each = [layer.mapped.traffic(memory) for layer in self.layers]
        return Traffic(
            sum(t.read for t in each), sum(t.written for t in each),
            sum(t.compute for t in each), sum(t.cycles for t in each),
        )  # fmt: skip

    @property
    def utilisation(self) -> float:
        """The share of the array's multipliers that multiply, over all cycles; 0 without calls."""
        possible = self.cycles * self.array.rows * self.array.columns
        done = sum(call.multiplications for layer in self.layers for call in layer.mapped.calls)
        return done / possible if possible else 0.0

    @property
    def max_rel_error(self) -> float:
        """The largest of the layers' errors."""
        return max((layer.max_rel_error for layer in self.layers), default=0.0)


def map_layers(
    layers: Sequence[Layer],
    others: Sequence[OtherCall],
    array: SystolicArray,
    rules: Sequence[Rule] | None = None,
    *,
    limits: SaturationLimits | None = None,
    optimal: bool = False,
    progress: Callable[[Layer], None] = lambda _: None,
) -> MappedLayers:
    """Map every layer, and check it on its own data.

    Parameters
    ----------
    others : sequence of OtherCall
        Calls that are no layers, to be listed.
    rules, limits, optimal
        As :func:`fuseloom.access.mapping.map_term` takes them.
    progress : callable
        Given each layer before it is mapped; what it raises ends the work.

    Raises
    ------
    ProgramError
        If egglog, or OR-Tools for ``optimal``, is not installed.

    Examples
    --------
    >>> import torch
    >>> from fuseloom.access.torch_layers import layers_of
    >>> layers, others = layers_of(torch.nn.Linear(4, 3), [torch.ones(2, 4)])
    >>> made = map_layers(layers, others, SystolicArray(8, 8))
    >>> made.cycles, made.max_rel_error < 1e-6
    (11, True)
    """
    known: dict[Term, Mapped] = {}
    made: list[MappedLayer] = []
    for layer in layers:
        progress(layer)
        if layer.term not in known:
            known[layer.term] = map_term(layer.term, array, rules, limits=limits, optimal=optimal)
        mapped = known[layer.term]
        error = relative_error(evaluate(mapped.after, layer.data), layer.result)
        made.append(MappedLayer(layer.name, mapped, layer.data, error))
    return MappedLayers(array, tuple(made), tuple(others))
