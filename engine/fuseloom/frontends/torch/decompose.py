"""Operations in parts: what PyTorch itself makes them of, where there is no translation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fuseloom.frontends.torch.calls import MODULE, part_name
from fuseloom.frontends.torch.capture import load_torch
from fuseloom.frontends.torch.nodes import mutates


@dataclass(frozen=True)
class Parts:
    """A traced operation.

    Attributes
    ----------
    nodes : sequence
        New nodes of the graph of the operation, in order.
    results : sequence
        Nodes that hold what the operation gives; None where it gives nothing.
    single : bool
        The operation gives one tensor, and no tuple.
    """

    nodes: Sequence[Any]
    results: Sequence[Any]
    single: bool


def decomposed(node: Any) -> Parts | None:
    """The parts of a node's operation, as nodes of the same graph; None if PyTorch knows none.

    The parts stand before the node, which stays as it is, and have its place in the user's module.
    """
    torch = load_torch()
    rule = _rule(torch, node.target)
    if rule is None:
        return None
    inputs = node.all_input_nodes
    fakes = [n.meta.get("val") for n in inputs]
    if not all(isinstance(fake, torch.Tensor) for fake in fakes):
        return None
    examples = [torch.empty(fake.shape, dtype=fake.dtype) for fake in fakes]

    def call(*given: Any) -> Any:
        env = dict(zip(inputs, given, strict=True))
        args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: env[n])
        return rule(*args, **kwargs)

    from torch._subclasses.functional_tensor import dispatch_functionalize

    proxy = torch.fx.experimental.proxy_tensor
    try:
        with torch.no_grad():
            traced = proxy.make_fx(dispatch_functionalize(call), tracing_mode="fake")(*examples)
    except Exception:  # rules that need values, or a device: then there are no parts
        return None
    return _inserted(node, traced.graph, inputs)


def has_parts(node: Any) -> bool:
    """Return whether PyTorch decomposes a node's operation into others."""
    return _rule(load_torch(), node.target) is not None


def _rule(torch: Any, target: Any) -> Any:
    """A function that computes an operation by others."""
    if not isinstance(target, torch._ops.OpOverload):
        return None
    key = torch._C.DispatchKey.CompositeImplicitAutograd
    if target.has_kernel_for_dispatch_key(key):
        return target.decompose
    return torch._decomp.decomposition_table.get(target)


def _inserted(node: Any, graph: Any, inputs: Sequence[Any]) -> Parts | None:
    """Copy the traced graph to before the node."""
    copies: dict[Any, Any] = {}
    placed = iter(inputs)
    nodes = []
    for part in graph.nodes:
        if part.op == "placeholder":
            copies[part] = next(placed)
        elif part.op == "call_function":
            if part.target is node.target or mutates(part):
                return None
            with node.graph.inserting_before(node):
                copy = node.graph.node_copy(part, lambda n: copies[n])
            copy.meta = {**part.meta, "stack_trace": node.meta.get("stack_trace")}
            copy.meta[MODULE] = part_name(node)
            copies[part] = copy
            nodes.append(copy)
        elif part.op == "output":
            given = part.args[0]
            single = not isinstance(given, (list, tuple))
            results = [given] if single else list(given)
            if any(isinstance(n, (list, tuple)) for n in results):
                return None
            return Parts(nodes, [None if n is None else copies[n] for n in results], single)
        else:
            return None
    return None
