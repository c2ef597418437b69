"""Recording what a module does with its example inputs, where ``torch.export`` cannot trace it.

Graph layers ask how many edges there are, whether they are sorted, and which of them are loops, and
so make tensors whose sizes depend on the values of an index.  Those are known when a module is
imported, so the operations that it carries out are recorded one by one with what they are given.
A recording holds for inputs by which the module would do the same; :func:`differences` tells
whether others are such.
"""

from __future__ import annotations

import inspect
import operator
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fuseloom.errors import DataError, FuseloomError, ProgramError
from fuseloom.frontends.torch.adapting import adapted
from fuseloom.frontends.torch.capture import (
    Capture,
    edge_data,
    evaluating,
    first_line,
    flattened,
    load_torch,
    tensors,
    without_fast_paths,
)

READING = frozenset({"item", "_local_scalar_dense", "is_nonzero", "equal", "allclose"})
"""Operations that give Python a value to branch on."""

_SHAPES = frozenset(
    {
        *("zeros_like", "ones_like", "full_like", "empty_like"),
        *("new_zeros", "new_ones", "new_full", "new_empty"),
    }
)
"""Operations whose results follow from the shapes of their operands."""

_COMPONENTS = frozenset(
    {
        *("crow_indices", "col_indices", "ccol_indices", "row_indices"),
        *("indices", "_indices", "values", "_values"),
    }
)
_MARKING = frozenset({"_coalesced_", "detach_", "requires_grad_"})
"""Operations that change what is known of a tensor, not its elements."""

_OWN = Path(__file__).parent


def export_suffices(exported: Any) -> bool:
    """Return whether a graph of ``torch.export`` has sizes that are all known, and right.

    Sizes that depend on the values of an index are symbols in it, and of a sparse tensor's
    components it does not know how many there are.  What runs under ``torch.autocast``,
    ``checkpoint`` or ``vmap`` stands in graphs of its own, or in calls of Python.
    """
    torch = load_torch()
    for node in exported.graph.nodes:
        if node.op != "call_function":
            continue
        schema = getattr(node.target, "_schema", None)
        if schema is None and node.target is not operator.getitem:
            return False
        if schema is not None and schema.name.split("::")[-1] in _COMPONENTS:
            return False
        for val in flattened(node.meta.get("val")):
            if isinstance(val, torch.SymInt | torch.SymFloat | torch.SymBool):
                return False
            if isinstance(val, torch.Tensor) and not all(isinstance(n, int) for n in val.shape):
                return False
    return True


def record(module: Any, inputs: tuple[Any, ...], loose: frozenset[int]) -> Capture:
    """Carry out a module that is in eval mode, and write down its operations.

    Parameters
    ----------
    loose : frozenset of int
        Positions of flattened inputs whose values the module may branch on.

    Raises
    ------
    ProgramError
        It branches on values that the program computes, or changes an input.
    DataError
        It cannot be carried out.
    """
    torch = load_torch()
    from torch._dispatch.python import enable_python_dispatcher
    from torch.fx.experimental.proxy_tensor import ProxyTorchDispatchMode, PythonKeyTracer

    recorder = _Recorder(torch, module, inputs, loose)

    class RecordingMode(ProxyTorchDispatchMode):  # type: ignore[misc]
        """The dispatcher takes modes of this class before it splits operations up."""

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return recorder.carry_out(func, args, kwargs or {})

    with torch.no_grad(), without_fast_paths(), adapted(module), enable_python_dispatcher():
        try:
            with RecordingMode(PythonKeyTracer(), "real", pre_dispatch=True):
                results = module(*inputs)
        except FuseloomError:
            raise
        except Exception as problem:  # the module's own, of any kind
            raise DataError(
                f"PyTorch itself cannot compute {type(module).__name__} with these inputs: "
                f"{first_line(problem)}",
                hint="module(*inputs) shows the whole error",
            ) from problem
    return recorder.capture(tensors(results))


class _Recorder:
    """Writes a graph while a module runs."""

    def __init__(
        self, torch: Any, module: Any, inputs: tuple[Any, ...], loose: frozenset[int]
    ) -> None:
        self.torch = torch
        self.graph = torch.fx.Graph()
        self.constants: dict[str, Any] = {}
        self.arguments: list[str] = []
        self.labels: dict[str, str] = {}
        self.known: dict[int, tuple[Any, Any]] = {}  # the tensor's address; it lives, and its node
        self.stale: dict[int, Any] = {}  # what changed it by an alias
        self.branching: set[str] = set()  # nodes that must not be branched on
        self.storages: dict[int, list[int]] = {}
        self.parts: dict[int, tuple[Any, Any, tuple[Any, ...]]] = {}  # of what, and how it is set
        self.apart: set[int] = set()  # storages whose tensors no longer share it in the graph
        aten = torch.ops.aten
        self.scatters = {
            aten.slice.Tensor: aten.slice_scatter.default,
            aten.select.int: aten.select_scatter.default,
        }
        self.given: set[int] = set()  # storages that are the caller's
        self.depth = len(traceback.extract_stack())
        self.names = [*_argument_names(torch, module, inputs)]
        for place, (label, leaf) in enumerate(self.names):
            node = self._placeholder(label, label)
            self.arguments.append(node.name)
            if isinstance(leaf, torch.Tensor):
                self._track(leaf, node)
                self.given.add(_storage(leaf))
                node.meta["val"] = _shaped(torch, leaf)
                if place not in loose and leaf.is_floating_point():
                    self.branching.add(node.name)
        self.stored: dict[int, tuple[str, Any]] = {}
        for own in (module.named_parameters(), module.named_buffers()):
            self.stored.update({t._cdata: (name, t) for name, t in own})

    def _placeholder(self, wanted: str, label: str) -> Any:
        node = self.graph.placeholder("".join(c if c.isalnum() else "_" for c in wanted))
        self.labels[node.name] = label
        return node

    def _track(self, tensor: Any, node: Any) -> None:
        self.known[tensor._cdata] = (tensor, node)
        self.stale.pop(tensor._cdata, None)
        self.storages.setdefault(_storage(tensor), []).append(tensor._cdata)

    def _recognise(self, tensor: Any) -> None:
        """Track what a factory function gave away as another object on the same memory."""
        for address in self.storages.get(_storage(tensor), ()):
            known, node = self.known[address]
            if _geometry(known) == _geometry(tensor):
                self.known[tensor._cdata] = (tensor, node)
                self.storages[_storage(tensor)].append(tensor._cdata)
                if address in self.stale:
                    self.stale[tensor._cdata] = self.stale[address]
                return

    def node_of(self, tensor: Any) -> Any:
        """The node that gave a tensor; parameters and constants get one when they are used."""
        if tensor._cdata not in self.known:
            self._recognise(tensor)
        if tensor._cdata in self.known:
            return self.known[tensor._cdata][1]
        label, _ = self.stored.get(tensor._cdata, (f"constant {len(self.constants)}", None))
        node = self._placeholder(f"p_{label}" if tensor._cdata in self.stored else label, label)
        node.meta["val"] = _shaped(self.torch, tensor)
        self.constants[node.name] = tensor.detach()
        self._track(tensor, node)
        self.given.add(_storage(tensor))
        if tensor._cdata in self.stored and tensor.is_floating_point():
            self.branching.add(node.name)
        return node

    def carry_out(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Carry an operation out, and write it down."""
        torch, pytree, carried = self.torch, self.torch.utils._pytree, func
        operands = [t for t in pytree.tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
        nodes = [self.node_of(t) for t in operands]
        stale = [t for t in operands if t._cdata in self.stale]
        changed = [self.stale[t._cdata] for t in stale]
        name = func._schema.name.split("::")[-1]
        unsure = any(n.name in self.branching for n in nodes)
        written = pytree.tree_map_only(torch.Tensor, self.node_of, (tuple(args), dict(kwargs)))
        func, written = _sized(torch, func, *written)
        node = self.graph.create_node("call_function", func, *written, name=name.strip("_"))
        node.meta["stack_trace"] = self._place()
        if any(_storage(t) in self.apart for t in stale):
            raise _refused(node, "a view of a tensor of which a part was assigned")
        if name in READING and unsure:
            raise _refused(node, "the module branches on values that it computes")
        mutated = _mutated(func, args)
        if any(_storage(t) in self.given for t in mutated):
            raise _refused(node, "the module changes a tensor that it is given")
        result = carried(*args, **kwargs)
        node.meta["val"] = pytree.tree_map_only(torch.Tensor, lambda t: _shaped(torch, t), result)
        if isinstance(result, torch.Tensor):
            node.meta["layout"] = result.layout
        if changed:
            node.meta["changed_by"] = tuple(changed)
        if unsure and name not in _SHAPES:
            self.branching.add(node.name)
        for t in mutated:
            self._changed(t, node)
        if isinstance(result, torch.Tensor):
            if carried in self.scatters:
                self.parts[result._cdata] = (args[0], self.scatters[carried], tuple(args[1:]))
            self._track(result, node)
        elif isinstance(result, (tuple, list)):
            for place, part in enumerate(result):
                if isinstance(part, torch.Tensor):
                    piece = self.graph.call_function(operator.getitem, (node, place))
                    piece.meta.update(val=_shaped(torch, part), stack_trace=self._place())
                    if node.name in self.branching:
                        self.branching.add(piece.name)
                    self._track(part, piece)
        return result

    def _changed(self, tensor: Any, node: Any) -> None:
        """Note what a tensor, and the tensors that it is a part of, hold from now on.

        Others on the same memory are stale.
        """
        storage, now = _storage(tensor), {_geometry(tensor): node}
        while tensor._cdata in self.parts:
            whole, scatter, rest = self.parts[tensor._cdata]
            given = (self.known[whole._cdata][1], node, *rest)
            computed = any(n.name in self.branching for n in given[:2])
            if whole._cdata in self.stale or not (computed or storage in self.apart):
                break
            node = self.graph.call_function(scatter, given)
            node.meta.update(val=_shaped(self.torch, whole), stack_trace=self._place())
            if computed:
                self.branching.add(node.name)
            self.apart.add(storage)
            tensor, now[_geometry(whole)] = whole, node
        for other in self.storages.get(storage, ()):
            held, _ = self.known[other]
            if _geometry(held) in now:
                self.known[other] = (held, now[_geometry(held)])
                self.stale.pop(other, None)
            else:
                self.stale[other] = node

    def _place(self) -> str:
        """The frames of the module, as ``torch.export`` writes them."""
        frames = traceback.extract_stack()[self.depth :]
        kept = [f for f in frames if not Path(f.filename).is_relative_to(_OWN)]
        return "".join(traceback.StackSummary.from_list(kept).format())

    def _again(self, tensor: Any) -> Any:
        """Another tensor that holds the same, written down as such."""
        return self.carry_out(self.torch.ops.aten.alias.default, (tensor,), {})

    def capture(self, results: Sequence[Any]) -> Capture:
        results = [self._again(t) if t._cdata in self.stale else t for t in results]
        returned = tuple(self.node_of(t) for t in results)
        self.graph.output(returned)
        placeholders = [n for n in self.graph.nodes if n.op == "placeholder"]
        rest = [n for n in self.graph.nodes if n.op != "placeholder"]
        return Capture(
            (*placeholders, *rest),
            self.constants,
            tuple(self.arguments),
            self.labels,
            returned,
            True,
            frozenset(n for n in self.constants if self.labels[n].startswith("constant ")),
        )


def _argument_names(torch: Any, module: Any, inputs: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
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
        leaves = torch.utils._pytree.tree_leaves(given)
        nested = len(leaves) != 1 or leaves[0] is not given
        for part, leaf in enumerate(leaves):
            yield (f"{label}_{part}" if nested else label), leaf


def _storage(tensor: Any) -> int:
    """Return the identity of a storage; of a sparse tensor, never a view here, the tensor's."""
    import torch

    if tensor.layout != torch.strided:
        return int(tensor._cdata)
    found = tensor.untyped_storage()
    return int(found._cdata)


def _geometry(tensor: Any) -> tuple[Any, ...]:
    return (
        tuple(tensor.shape),
        tensor.dtype,
        tensor.layout,
        (tensor.data_ptr(), tensor.stride()) if str(tensor.layout) == "torch.strided" else None,
    )


def _sized(torch: Any, func: Any, args: Any, kwargs: Any) -> tuple[Any, tuple[Any, Any]]:
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


def _shaped(torch: Any, tensor: Any) -> Any:
    return torch.empty(tuple(tensor.shape), dtype=tensor.dtype, device="meta")


def _mutated(func: Any, args: Sequence[Any]) -> list[Any]:
    """The operands that an operation writes to."""
    if not func._schema.is_mutable or func._schema.name.split("::")[-1] in _MARKING:
        return []
    return [
        given
        for given, declared in zip(args, func._schema.arguments, strict=False)
        if declared.alias_info is not None and declared.alias_info.is_write
    ]


def _refused(node: Any, what: str) -> ProgramError:
    from fuseloom.frontends.torch.messages import refusal

    return refusal(
        node, what, "the program is the same for all inputs: compute with masks instead, or copy"
    )


def differences(old: Capture, new: Capture) -> bool:
    """Return whether two recordings of a module have different operations."""
    torch = load_torch()

    def text(node: Any) -> tuple[str, ...]:
        made = [t for t in flattened(node.meta.get("val")) if isinstance(t, torch.Tensor)]
        shapes = [(tuple(t.shape), t.dtype) for t in made]
        return str(node.target), repr(node.args), repr(node.kwargs), repr(shapes)

    if len(old.nodes) != len(new.nodes) or any(
        text(a) != text(b) for a, b in zip(old.nodes, new.nodes, strict=True)
    ):
        return True
    return not all(
        name in new.constants and _equal(torch, held, new.constants[name])
        for name, held in old.constants.items()
    )


def _equal(torch: Any, a: Any, b: Any) -> bool:
    return a is b or a.data_ptr() == b.data_ptr() or bool(torch.equal(a, b))


def check_same(capture: Capture, module: Any, inputs: tuple[Any, ...]) -> None:
    """Refuse inputs by which a module does something else than what was recorded of it.

    Raises
    ------
    DataError
        They lead to other operations or sizes.
    """
    given = flattened(inputs)
    if not capture.recorded or len(given) != len(capture.arguments):
        return
    with evaluating(module):
        new = record(module, inputs, edge_data(inputs))
    if differences(capture, new):
        raise DataError(
            "with these inputs the module does other operations, or on other sizes, than with "
            "those that the program was made for",
            hint="import the module again with these inputs",
        )
