"""Memory in which nothing was written yet, and who would read it.

``torch.empty`` gives elements that hold anything.  Which elements of a tensor are such is known for
every input: an operation that moves elements moves these alike, an operation that writes makes them
numbers, and whatever else reads them is refused.
"""

from __future__ import annotations

from typing import Any

from fuseloom.errors import ProgramError
from fuseloom.frontends.torch.capture import draws, load_torch
from fuseloom.frontends.torch.messages import refusal
from fuseloom.frontends.torch.nodes import EMPTY, LIKE, arguments, op_name
from fuseloom.frontends.torch.views import VIEWS

MOVING = VIEWS | {
    *("diagonal", "flip", "roll", "repeat", "repeat_interleave", "tile", "rot90", "fliplr"),
    *("flipud", "cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack"),
    *("column_stack", "index_select", "index", "gather", "take", "take_along_dim", "unfold"),
    *("as_strided", "pad", "constant_pad_nd", "narrow_copy", "swapdims", "moveaxis", "ravel"),
    *("adjoint", "mH", "diag", "diag_embed", "hsplit", "vsplit", "dsplit", "tril", "triu"),
    *("unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes", "atleast_1d", "atleast_2d"),
    *("atleast_3d", "block_diag", "unbind_copy", "select_copy", "slice_copy", "squeeze_copy"),
}
"""Operations that move elements: who reads what they give reads the same."""

WRITING = frozenset(
    {
        *("copy", "fill", "slice_scatter", "select_scatter", "diagonal_scatter"),
        *("as_strided_scatter", "index_put", "_index_put_impl", "index_copy", "index_fill"),
        *("masked_fill", "masked_scatter", "scatter", "where", "scatter_add", "index_add"),
    }
)
"""Operations that put elements beside those that a tensor has."""

_CHOOSING = frozenset({"index", "indices", "mask", "condition", "repeats"})
"""Arguments that say where, and are read themselves."""
_NUMBERS = frozenset({"value", "other", "values"})
_SHAPES = frozenset({"sym_size", "_assert_tensor_metadata", "sym_numel", "size", "numel"})


class Holes:
    """Which elements of the nodes of a graph nobody has written.

    Parameters
    ----------
    env : mapping
        What the known nodes hold.
    """

    def __init__(self, env: dict[str, Any]) -> None:
        self.torch = load_torch()
        self.env = env
        self.of: dict[str, Any] = {}
        self.made_by: dict[str, Any] = {}

    def note(self, node: Any) -> None:
        """Find out which elements of a node nobody has written.

        Raises
        ------
        ProgramError
            The operation reads such an element.
        """
        name = op_name(node)
        if name in EMPTY:
            val = node.meta["val"]
            self._keep(node, self.torch.ones(tuple(val.shape), dtype=self.torch.bool), node)
            return
        read = [n for n in node.all_input_nodes if n.name in self.of]
        if not read or draws(node) or (name in LIKE and name != "fill") or name in _SHAPES:
            return
        source = self.made_by[read[0].name]
        if name not in MOVING | WRITING:
            raise self._refused(node, source)
        self._keep(node, self._moved(node, name, source), source)

    def _keep(self, node: Any, holes: Any, source: Any) -> None:
        parts = holes if isinstance(holes, (list, tuple)) else [holes]
        if any(bool(p.any()) for p in parts if isinstance(p, self.torch.Tensor)):
            self.of[node.name] = holes
            self.made_by[node.name] = source

    def _moved(self, node: Any, name: str, source: Any) -> Any:
        """Carry the operation out on tensors that hold ones in place of what nobody has written."""
        torch = self.torch

        def holes(given: Any) -> Any:
            held = self.of.get(given.name)
            if held is None:
                val = given.meta["val"]
                return torch.zeros(tuple(val.shape)) if isinstance(val, torch.Tensor) else val
            return torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.float(), held)

        def choice(given: Any) -> Any:
            if given.name in self.of or given.name not in self.env:
                raise self._refused(node, source)
            return self.env[given.name]

        def operand(key: str, given: Any) -> Any:
            chosen = key in _NUMBERS or (name == "where" and key == "self")
            if chosen and isinstance(given, bool | int | float):
                return 0.0
            return torch.fx.node.map_arg(given, choice if key in _CHOOSING else holes)

        if name == "getitem":
            made = operand("x", node.args[0])[node.args[1]]
        else:
            if arguments(node).get("reduce") is not None:
                raise self._refused(node, source)
            names = [a.name for a in node.target._schema.arguments]
            given = [operand(k, v) for k, v in zip(names, node.args, strict=False)]
            more = {k: operand(k, v) for k, v in node.kwargs.items()}
            target = node.target
            if target is torch.ops.aten.view.default:
                target = torch.ops.aten.reshape.default
            made = target(*given, **more)
        return torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t != 0, made)

    def check_read(self, node: Any) -> None:
        """Refuse a node of which nobody has written some elements.

        Raises
        ------
        ProgramError
            Names where the memory comes from.
        """
        if node.name in self.of:
            raise self._refused(node, self.made_by[node.name])

    def _refused(self, node: Any, source: Any) -> ProgramError:
        made = f"torch.{op_name(source)}" if op_name(source) == "empty" else op_name(source)
        return refusal(
            node,
            f"elements of {made} are read that nothing was written to",
            "make the tensor with torch.zeros, or write all of it before it is read",
        )
