"""Integers and bits that a program computes: indices, counts, conditions.

In a program they are numbers of float32 like others, which holds integers exactly up to 2^24.
So they must be few digits long: indices that ranking gives, counts of bits, and what sums, products
and choices make of these and of small known numbers.
"""

from __future__ import annotations

import math
from typing import Any

from fuseloom.frontends.torch import views
from fuseloom.frontends.torch.builder import TorchBuilder
from fuseloom.frontends.torch.messages import refusal
from fuseloom.frontends.torch.nodes import COMPARING, CONDITIONS, RANKING, numbers, op_name
from fuseloom.frontends.torch.values import Value
from fuseloom.program import Op
from fuseloom.program.float32 import EXACT_INTEGERS

CONVERSIONS = frozenset({"to", "_to_copy", "type_as"})
"""Operations that may give a tensor of another type."""

INTEGER_OPERATIONS = frozenset(
    {
        *("one_hot", "add", "sub", "rsub", "mul", "floor_divide", "remainder", "div", "neg", "abs"),
        *("cat", "concat", "stack", "flip", "roll", "repeat", "repeat_interleave"),
        *("where", "masked_fill", "clamp", "maximum", "minimum", "max", "min", "amax", "amin"),
        *("sum", "cumsum", "index", "index_select", "gather", "take_along_dim", "scatter"),
    }
)
"""Operations on small integers that are computed whose results are such numbers."""


class IntegerBounds:
    """The bounds of the integers that are computed, as far as an importer knows them.

    Attributes
    ----------
    counted : dict of str to float
        Nodes that hold small integers that the program computes, indices and what is made of
        them; what none of them is above.
    """

    torch: Any
    env: dict[str, Any]
    builder: TorchBuilder
    counted: dict[str, float]

    def check_whole(self, node: Any, name: str) -> None:
        """Refuse what is made of computed values and holds no numbers that a program has.

        Raises
        ------
        ProgramError
            With the place of the node.
        """
        conditions = name in CONDITIONS and self._of_numbers_or_bits(node, name)
        whole = (name in INTEGER_OPERATIONS or name in views.VIEWS) and self.bound(
            node, name
        ) <= EXACT_INTEGERS
        if not (whole or conditions or name in RANKING or name in COMPARING or name in CONVERSIONS):
            raise refusal(
                node,
                f"{node.target} makes a mask or an index from computed values",
                "masks and indices must follow from inputs and buffers alone; relu, clamp, "
                "maximum and minimum are supported",
            )

    def _of_numbers_or_bits(self, node: Any, name: str) -> bool:
        """Return whether a node's operands are supported: floats, bits, or small integers."""
        held = [n.meta.get("val") for n in node.all_input_nodes]
        if not all(isinstance(x, self.torch.Tensor) for x in held):
            return False
        if name.startswith(("bitwise", "__")):
            return all(x.dtype == self.torch.bool for x in held)
        kinds = all(numbers(x) or x.dtype == self.torch.bool for x in held)
        return kinds or self.bound(node, name) <= EXACT_INTEGERS

    def bound(self, node: Any, name: str) -> float:
        """The largest magnitude that a node's integers may have; infinite if unknown."""

        def largest(operand: Any) -> float:
            if isinstance(operand, bool | int | float):
                return abs(float(operand))
            val = operand.meta.get("val")
            if isinstance(val, self.torch.Tensor) and val.dtype == self.torch.bool:
                return 1.0
            if operand.name not in self.env:
                return self.counted.get(operand.name, math.inf)
            held = self.torch.as_tensor(self.env[operand.name])
            if numbers(held):
                return math.inf
            return float(held.abs().max()) if held.numel() else 0.0

        if name == "getitem":
            return self.bound(node.args[0], op_name(node.args[0]))
        given = [largest(x) for x in (*node.all_input_nodes, *_scalars(node))]
        if name in RANKING or name in ("max", "min"):
            val = node.args[0].meta["val"]
            return max(float(val.numel()), 0.0 if numbers(val) else max(given))
        if name in ("add", "sub", "rsub"):
            return sum(given) * max(1.0, abs(float(node.kwargs.get("alpha", 1))))
        if name == "mul":
            return math.prod(given)
        if name in ("sum", "cumsum"):
            return max(given) * float(node.all_input_nodes[0].meta["val"].numel())
        return max(given, default=0.0)

    def converted(self, value: Value, source: Any, node: Any) -> Value:
        """A computed value as bits, or as integers: what stands before the point."""
        old, new = source.meta["val"].dtype, node.meta["val"].dtype
        if old == new or new.is_floating_point or new.is_complex:
            return value
        if new == self.torch.bool:
            return self.builder.apply(Op.SIGN, self.builder.apply(Op.ABS, value), "holds")
        return self.builder.apply(Op.TRUNC, value) if old.is_floating_point else value


def _scalars(node: Any) -> list[float]:
    """Numbers that an operation is given; dimensions among them are small."""
    return [x for x in node.args if isinstance(x, int | float) and not isinstance(x, bool)]
