"""Tracing a module with ``torch.export``, and what of it is known before the program runs.

Inputs, parameters, buffers, and whatever follows from their shapes, masks and indices alone is
*host* knowledge: it is computed with PyTorch and becomes data of the program.
"""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

from engine.errors import DataError, ProgramError

Env: TypeAlias = Mapping[str, Any]
"""Node name to what it holds, of the nodes known before the program runs."""


def load_torch() -> Any:
    """The torch module.

    Raises
    ------
    ProgramError
        It is not installed.
    """
    try:
        import torch
    except ImportError:
        raise ProgramError(
            "from_torch needs PyTorch, which is not installed",
            hint="pip install 'fuseloom[torch]' (the CPU build suffices)",
        ) from None
    return torch


@dataclass(frozen=True)
class Capture:
    """A traced module.

    Attributes
    ----------
    nodes : tuple
        Nodes of the graph, in order.
    constants : mapping
        Placeholder name to parameter, buffer or lifted constant.
    arguments : tuple of str
        Placeholder names of the inputs of ``forward``, flattened.
    labels : mapping
        Placeholder name to the name a user knows: an argument's or a dotted parameter.
    returned : tuple
        Nodes, or constants, that ``forward`` returns, flattened.
    recorded : bool
        The operations are those of one call, and hold for inputs that lead to the same.
    written : frozenset of str
        Constants that the module's code has, not a parameter or a buffer.
    """

    nodes: tuple[Any, ...]
    constants: Mapping[str, Any]
    arguments: tuple[str, ...]
    labels: Mapping[str, str]
    returned: tuple[Any, ...]
    recorded: bool = False
    written: frozenset[str] = frozenset()

    def placeholders(self, inputs: Sequence[Any]) -> dict[str, Any]:
        """What each placeholder holds for a call of ``forward``."""
        flat = flattened(inputs)
        return {**self.constants, **dict(zip(self.arguments, flat, strict=True))}


def flattened(inputs: Any) -> list[Any]:
    """Leaves of nested tuples, lists and dictionaries."""
    torch = load_torch()
    return list(torch.utils._pytree.tree_leaves(inputs))


def tensors(results: Any) -> list[Any]:
    """The tensors among the leaves."""
    torch = load_torch()
    return [leaf for leaf in flattened(results) if isinstance(leaf, torch.Tensor)]


def trace(module: Any, inputs: tuple[Any, ...]) -> Capture:
    """Trace a module that is in eval mode.

    Where ``torch.export`` has no graph of known sizes, the operations of one call are recorded.

    Raises
    ------
    ProgramError
        ``torch.export`` cannot trace it, and it branches on values that the program computes.
    """
    from engine.frontends.torch.recording import export_suffices, record

    torch = load_torch()
    try:
        with torch.no_grad(), warnings.catch_warnings(), _quiet():
            warnings.simplefilter("ignore")
            with _returning_tensors(module):
                exported = torch.export.export(module, inputs)
            if any(_mutates(node) for node in exported.graph.nodes):
                exported = exported.run_decompositions({})
    except Exception as problem:  # export raises errors of many kinds
        with suppress(Exception):  # what the module cannot do at all, export has said
            return record(module, inputs, edge_data(inputs))
        raise ProgramError(
            f"torch.export cannot trace {type(module).__name__}: {first_line(problem)}",
            hint="forward must take tensors and not branch on their values; "
            "torch.export.export(module, inputs) shows the whole error",
        ) from problem
    if export_suffices(exported):
        return _capture(exported)
    return record(module, inputs, edge_data(inputs))


def edge_data(inputs: Sequence[Any]) -> frozenset[int]:
    """Positions of the flattened inputs that say what a graph is.

    These are sparse tensors, and numbers per edge: tensors that follow a list of edges, a tensor of
    2 x E whole numbers, and have E rows.
    """
    torch = load_torch()
    found: set[int] = set()
    counts: set[int] = set()
    for place, given in enumerate(flattened(inputs)):
        if not isinstance(given, torch.Tensor):
            continue
        if given.layout != torch.strided or (given.dim() and given.shape[0] in counts):
            found.add(place)
        if given.dim() == 2 and given.shape[0] == 2 and not given.is_floating_point():
            counts.add(given.shape[1])
    return frozenset(found)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep PyTorch from printing what it could not trace: it is recorded then, or refused."""
    loggers = [
        logger for name, logger in logging.Logger.manager.loggerDict.items()
        if name.startswith("torch") and isinstance(logger, logging.Logger) and not logger.disabled
    ]  # fmt: skip
    for logger in loggers:
        logger.disabled = True
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            yield
    finally:
        for logger in loggers:
            logger.disabled = False


@contextmanager
def _returning_tensors(module: Any) -> Iterator[None]:
    """Leave out for a while what a module returns besides tensors.

    ``torch.export`` refuses objects that it does not know, as the caches of language models are.
    """
    hook = module.register_forward_hook(lambda _, __, results: tensors(results))
    try:
        yield
    finally:
        hook.remove()


def _mutates(node: Any) -> bool:
    schema = getattr(node.target, "_schema", None)
    return schema is not None and schema.is_mutable


def _capture(exported: Any) -> Capture:
    signature = exported.graph_signature
    stored = {**exported.state_dict, **exported.constants}
    labels, constants, arguments = {}, {}, []
    for spec in signature.input_specs:
        name = getattr(spec.arg, "name", None)
        if name is None:
            continue
        if spec.kind.name == "USER_INPUT":
            arguments.append(name)
            labels[name] = name
        elif spec.target is not None:
            constants[name] = stored[spec.target]
            labels[name] = spec.target
    nodes = tuple(exported.graph.nodes)
    returned = [
        given
        for given, spec in zip(nodes[-1].args[0], signature.output_specs, strict=True)
        if spec.kind.name == "USER_OUTPUT"
    ]
    return Capture(nodes, constants, tuple(arguments), labels, tuple(returned))


@contextmanager
def evaluating(module: Any) -> Iterator[None]:
    """Put a module and its parts in eval mode for a while."""
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, mode in modes:
            part.training = mode


def own_outputs(module: Any, inputs: tuple[Any, ...]) -> list[Any]:
    """What the module itself returns, flattened and dense.

    Raises
    ------
    DataError
        PyTorch cannot compute it.
    """
    torch = load_torch()
    try:
        with torch.no_grad(), evaluating(module):
            results = tensors(module(*inputs))
    except Exception as problem:  # PyTorch's, of any kind
        raise DataError(
            f"PyTorch itself cannot compute {type(module).__name__} with these inputs: "
            f"{first_line(problem)}",
            hint="module(*inputs) shows the whole error; of layouts with blocks it multiplies BSR "
            "with square blocks only",
        ) from problem
    return [dense(torch, r) for r in results]


def exact_outputs(module: Any, inputs: tuple[Any, ...]) -> list[Any] | None:
    """What the module would return in float32; None if it computes in no fewer bits."""
    torch = load_torch()
    few = (torch.bfloat16, torch.float16)
    held = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    given = torch.utils._pytree.tree_map(
        lambda t: t.float() if isinstance(t, torch.Tensor) and t.dtype in few else t, inputs
    )
    wider = {name: t.detach().float() for name, t in held.items() if t.dtype in few}
    if not wider and all(a is b for a, b in zip(flattened(inputs), flattened(given), strict=True)):
        return None
    with torch.no_grad(), evaluating(module):
        results = tensors(torch.func.functional_call(module, wider, given))
    return [dense(torch, r) for r in results]


def first_line(problem: Exception) -> str:
    """What an error says first."""
    return (str(problem).strip().splitlines() or [type(problem).__name__])[0][:300]


def dense(torch: Any, tensor: Any) -> Any:
    """A strided, detached tensor of the same elements."""
    detached = tensor.detach()
    return detached if detached.layout == torch.strided else detached.to_dense()


def run_node(node: Any, env: Env) -> Any:
    """Compute a node whose operands are all known, or count by their shapes alone."""
    torch = load_torch()
    if (filled := node.meta.get("filled")) is not None:
        shape, value, dtype = filled
        return torch.full(shape, value, dtype=dtype)
    args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: env[n.name])
    with torch.no_grad():
        return node.target(*args, **kwargs)
