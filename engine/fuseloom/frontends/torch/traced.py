"""A traced module, as the handlers of its operations see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from fuseloom.frontends.torch.builder import TorchBuilder
from fuseloom.frontends.torch.formats import Storage
from fuseloom.frontends.torch.values import Value


class Traced(Protocol):
    """A module on its way to a program.

    Attributes
    ----------
    torch : module
        PyTorch, which is optional.
    builder : TorchBuilder
        Where statements go; ``builder.node`` is the operation.
    env : dict
        What the known nodes hold for the example inputs, by name.
    values : dict
        What the computed nodes are in the program; tuples for operations of several results.
    counted : dict
        Nodes that hold small integers that the program computes, and what none of them is above.
    origins : dict
        Labels of the inputs and parameters that a known node follows from.
    storage : Storage
        The formats of inputs.
    handlers : mapping
        All handlers, by the names of operations.
    """

    torch: Any
    builder: TorchBuilder
    env: dict[str, Any]
    values: dict[str, Any]
    counted: dict[str, float]
    origins: dict[str, tuple[str, ...]]
    storage: Storage
    handlers: Mapping[str, Callable[..., Any]]

    def value(self, given: Any) -> Value:
        """An operand as a value of the program; what is known becomes an input of it."""

    def held(self, given: Any) -> Any:
        """Return the value of a known operand for the example inputs; None if it is computed."""

    def number(self, given: Any) -> float | None:
        """The number that a known operand holds in every element, if it is no user's tensor."""

    def derived(
        self, node: Any, label: str, function: Callable[[Any], Any], keep: bool = False
    ) -> Value:
        """An input that holds a function of a known node; dimensions of size 1 are left out."""
