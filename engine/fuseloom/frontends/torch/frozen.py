"""Data-dependent decisions of a module, held in its program as the given inputs lead to them.

A program is the same for all inputs.  A module that selects elements by scores that it computes, as
pooling and routing do, is none; with the selection that the given inputs lead to, it is.  The same
holds for random draws of a known seed.  Every frozen decision is said, and inputs that lead to
others are refused (:mod:`~fuseloom.frontends.torch.recorded_again`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from fuseloom.frontends.torch.aliases import Tracked
from fuseloom.frontends.torch.capture import load_torch
from fuseloom.frontends.torch.messages import where
from fuseloom.frontends.torch.nodes import arguments, op_name

CHOOSING = frozenset(
    {"argmax", "argmin", "argsort", "argwhere", "nonzero", "nonzero_numpy", "sort", "topk"}
)
"""Operations whose integers say which elements were chosen."""
MASKED = frozenset({"index", "masked_select"})
"""Operations that take what a mask keeps, so that their sizes depend on it."""


def chooses(name: str, operands: int) -> bool:
    """Return whether an operation of that name, with so many tensors, chooses elements.

    ``where`` with a condition alone gives the places where it holds.
    """
    return name in CHOOSING or (name == "where" and operands == 1)


def masked_read(func: Any, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """An operation and its arguments, as a read by an index where it selects by a mask."""
    aten = load_torch().ops.aten
    if func is aten.masked_select.default and args[0].shape == args[1].shape:
        return aten.index.Tensor, (args[0], [args[1]])
    return func, args


def dropped(x: Any, share: float) -> Any:
    """The factors of a dropout that trains, which PyTorch draws so: 0, or 1 / (1 - share)."""
    torch = load_torch()
    if share >= 1.0:
        return torch.zeros_like(x)
    return torch.empty_like(x).bernoulli_(1.0 - share).div_(1.0 - share)


class Freezing(ABC):
    """The part of a recorder that freezes decisions.

    Attributes
    ----------
    decisions : list of str
        What was frozen, a sentence's subject each, with its place.
    """

    torch: Any
    graph: Any
    known: dict[int, Tracked]
    branching: set[str]
    decisions: list[str]

    @abstractmethod
    def node_of(self, tensor: Any) -> Any:
        """The node that gave a tensor."""

    @abstractmethod
    def _constant(self, tensor: Any, name: str | None = None) -> Any: ...

    @abstractmethod
    def _track(self, tensor: Any, node: Any) -> Tracked: ...

    @abstractmethod
    def _call(self, target: Any, args: tuple[Any, ...], val: Any) -> Any: ...

    def _decided(self, what: str, node: Any) -> None:
        self.decisions.append(f"{what} of {op_name(node)}, at {where(node)}")

    def _freeze_masks(self, operands: list[Any]) -> None:
        """Hold the masks among operands as they are."""
        for mask in operands:
            node = self.node_of(mask)
            if mask.dtype == self.torch.bool and node.name in self.branching:
                self._decided("the mask", node)
                tracked = self.known[mask._cdata]
                tracked.node, tracked.again = self._constant(mask.clone()), None

    def _chosen(self, node: Any, result: Any) -> None:
        """Hold which elements were chosen; their values follow from them."""
        self._decided("the choice", node)
        parts = [result] if isinstance(result, self.torch.Tensor) else list(result)
        index = None
        for part in parts:
            if not part.is_floating_point():
                index = self._constant(part.clone())
                self._track(part, index)
        for part in parts:
            if part.is_floating_point():  # of sort and topk
                given = arguments(node)
                read = given["x"], given.get("dim", -1), index
                val = self.torch.empty(tuple(part.shape), dtype=part.dtype, device="meta")
                gather = self.torch.ops.aten.gather.default
                self._track(part, self._call(gather, read, val))
        self.graph.erase_node(node)

    def _held(self, node: Any, drawn: Any) -> Any:
        """The constant of numbers that were drawn, in place of the node that draws them."""
        self._decided("the numbers", node)
        self.graph.erase_node(node)
        return self._constant(drawn.detach().clone())

    def _dropped(self, node: Any, x: Any) -> Any:
        """The result of a dropout that trains, and its node: a product with what it draws."""
        share = float(arguments(node)["p"])
        self._decided("the elements", node)
        kept = dropped(x, share)
        val = self.torch.empty(tuple(x.shape), dtype=x.dtype, device="meta")
        product = self.torch.ops.aten.mul.Tensor
        made = self._call(product, (self.node_of(x), self._constant(kept)), val)
        self.graph.erase_node(node)
        return x * kept, made


def shapes_only(name: str, operands: int, written: bool) -> bool:
    """Return whether random numbers depend on no computed measure, which a constant would lose."""
    return name.strip("_") != "normal" or not operands or written
