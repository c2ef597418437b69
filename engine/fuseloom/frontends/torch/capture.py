"""A traced module, and what of it is known before the program runs.

Inputs, parameters, buffers, and whatever follows from their shapes, masks and indices alone is
*host* knowledge: it is computed with PyTorch and becomes data of the program.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from fuseloom.errors import DataError, ProgramError

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
    decisions : tuple of str
        What is held as the given inputs, or the seed, lead to it; a sentence's subject each.
    frozen : bool
        Whether the module's choices by computed values are among them.
    seed : int or None
        Of the random numbers among them.
    """

    nodes: tuple[Any, ...]
    constants: Mapping[str, Any]
    arguments: tuple[str, ...]
    labels: Mapping[str, str]
    returned: tuple[Any, ...]
    recorded: bool = False
    written: frozenset[str] = frozenset()
    decisions: tuple[str, ...] = ()
    frozen: bool = False
    seed: int | None = None

    @property
    def narrow(self) -> bool:
        """True if something is computed in fewer bits than float32 has."""
        held = (val for node in self.nodes for val in flattened(node.meta.get("val")))
        return any(getattr(val, "dtype", None) in narrow_types() for val in held)

    @property
    def unused(self) -> tuple[str, ...]:
        """The arguments from which no result follows."""
        reached = {n.name: n for n in self.returned if hasattr(n, "meta")}
        todo = list(reached.values())
        while todo:
            for node in todo.pop().all_input_nodes:
                if node.name not in reached:
                    reached[node.name] = node
                    todo.append(node)
        return tuple(name for name in self.arguments if name not in reached)

    def placeholders(self, inputs: Sequence[Any]) -> dict[str, Any]:
        """Return the value of each placeholder for a call of ``forward``."""
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


def edge_data(inputs: Sequence[Any]) -> frozenset[int]:
    """Positions of the flattened inputs that say what a graph is.

    These are sparse tensors, and numbers per edge: tensors that follow a list of edges, a tensor of
    2 x E integers, and have E rows.
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
def evaluating(module: Any) -> Iterator[None]:
    """Put a module and its parts in eval mode for a while."""
    modes = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, mode in modes:
            part.training = mode


@contextmanager
def without_fast_paths() -> Iterator[None]:
    """Have attention computed by its formula alone, with and without gradients the same.

    In eval mode PyTorch's own layers leave out what a mask of padding removes, and give zeros there
    that later layers read.
    """
    mha = load_torch().backends.mha
    before = mha.get_fastpath_enabled()
    mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        mha.set_fastpath_enabled(before)


@contextmanager
def drawing(seed: int | None) -> Iterator[None]:
    """Have PyTorch draw the numbers of a seed for a while; without one it goes on as it is."""
    if seed is None:
        yield
        return
    torch = load_torch()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def own_outputs(module: Any, inputs: tuple[Any, ...], seed: int | None = None) -> list[Any]:
    """Return the module's own results, flattened and dense.

    Parameters
    ----------
    seed : int, optional
        Of the random numbers that it draws.

    Raises
    ------
    DataError
        PyTorch cannot compute it.
    """
    torch = load_torch()
    try:
        with torch.no_grad(), evaluating(module), without_fast_paths(), drawing(seed):
            results = tensors(module(*inputs))
    except Exception as problem:  # PyTorch's, of any kind
        raise DataError(
            f"PyTorch itself cannot compute {type(module).__name__} with these inputs: "
            f"{first_line(problem)}",
            hint="module(*inputs) shows the whole error; of layouts with blocks it multiplies BSR "
            "with square blocks only",
        ) from problem
    return [dense(torch, r) for r in results]


def narrow_types() -> tuple[Any, ...]:
    """Types of numbers that have fewer bits than the machine's."""
    torch = load_torch()
    return torch.bfloat16, torch.float16


def exact_outputs(module: Any, inputs: tuple[Any, ...], capture: Capture) -> list[Any] | None:
    """Return the module's results in float32; None if it computes in no fewer bits."""
    torch, narrow = load_torch(), narrow_types()
    if not capture.narrow:
        return None
    from torch.utils._python_dispatch import TorchDispatchMode

    class InFloat32(TorchDispatchMode):  # type: ignore[misc]
        """Conversions to fewer bits, those of autocast among them, are to float32."""

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            given = torch.utils._pytree.tree_map(
                lambda v: torch.float32 if isinstance(v, torch.dtype) and v in narrow else v,
                (args, kwargs or {}),
            )
            return func(*given[0], **given[1])

    def wide(held: Any) -> Any:
        few = isinstance(held, torch.Tensor) and held.dtype in narrow
        return held.detach().float() if few else held

    own = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    wider = {name: wide(t) for name, t in own.items() if t.dtype in narrow}
    given = torch.utils._pytree.tree_map(wide, inputs)
    with (
        torch.no_grad(),
        evaluating(module),
        without_fast_paths(),
        drawing(capture.seed),
        InFloat32(),
    ):
        results = tensors(torch.func.functional_call(module, wider, given))
    return [dense(torch, r) for r in results]


def first_line(problem: Exception) -> str:
    """Return the first line of an error."""
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
    target = node.target
    if target is torch.ops.aten.view.default:  # strides may be others than in the trace
        target = torch.ops.aten.reshape.default
    with torch.no_grad():
        return target(*args, **kwargs)


def draws(node: Any) -> bool:
    """Return whether a node's operation may draw random numbers, so that each call differs."""
    drawn = load_torch().Tag.nondeterministic_seeded
    return drawn in getattr(node.target, "tags", ())


def argument_names(torch: Any, module: Any, inputs: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """A name for each leaf of the inputs: the argument's, with what leads to it."""
    try:
        names = list(inspect.signature(module.forward).parameters.values())
    except (TypeError, ValueError):
        names = []
    for place, given in enumerate(inputs):
        own = names[min(place, len(names) - 1)] if names else None
        label = own.name if own is not None else f"input_{place}"
        if own is not None and own.kind is inspect.Parameter.VAR_POSITIONAL:
            label = f"{label}_{place - len(names) + 1}"
        leaves = torch.utils._pytree.tree_flatten_with_path(given)[0]
        for part, (path, leaf) in enumerate(leaves):
            yield (f"{label}_{_attribute(torch, path) or part}" if path else label), leaf


def _attribute(torch: Any, path: Sequence[Any]) -> str:
    """The name of a leaf in an object, ``paper_x`` of ``data["paper"].x``; empty if in none."""
    if not any(isinstance(step, torch.utils._pytree.GetAttrKey) for step in path):
        return ""
    steps = [getattr(step, "name", getattr(step, "key", "")) for step in path]
    words = [w for step in steps for w in (step if isinstance(step, tuple) else (step,))]
    return "_".join(str(word) for word in words if word != "" and not str(word).startswith("_"))


def sized_call(torch: Any, func: Any, args: Any, kwargs: Any) -> tuple[Any, tuple[Any, Any]]:
    """With a shape in place of a tensor of which only the shape counts."""
    aten = torch.ops.aten
    like = {
        aten.expand_as.default: aten.expand.default,
        aten.view_as.default: aten.view.default,
        aten.reshape_as.default: aten.reshape.default,
    }
    if func not in like:
        return func, (args, kwargs)
    given, other = args
    return like[func], ((given, list(other.meta["val"].shape)), {})
