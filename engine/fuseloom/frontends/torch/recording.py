"""Recording what a module does with its example inputs, where ``torch.export`` cannot trace it.

Graph layers ask how many edges there are, whether they are sorted, and which of them are loops, and
so make tensors whose sizes depend on the values of an index.  Those are known when a module is
imported, so the operations that it carries out are recorded one by one with what they are given.
A recording holds for inputs by which the module would do the same
(:mod:`~fuseloom.frontends.torch.recorded_again`).
"""

from __future__ import annotations

import operator
import traceback
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from fuseloom.errors import FuseloomError, ProgramError
from fuseloom.frontends.torch.adapting import adapted
from fuseloom.frontends.torch.aliases import (
    Tracked,
    components,
    geometry,
    mutated,
    part_of,
    places_in,
    storage_of,
    value_form,
)
from fuseloom.frontends.torch.calls import MODULE, called_parts
from fuseloom.frontends.torch.capture import (
    Capture,
    argument_names,
    drawing,
    draws,
    first_line,
    load_torch,
    own_outputs,
    sized_call,
    tensors,
    without_fast_paths,
)
from fuseloom.frontends.torch.frozen import (
    MASKED,
    Freezing,
    chooses,
    masked_read,
    shapes_only,
)
from fuseloom.frontends.torch.messages import where
from fuseloom.frontends.torch.nodes import EMPTY

READING = frozenset(
    {
        *("item", "_local_scalar_dense", "is_nonzero", "equal", "allclose"),
        *("resolve_conj", "resolve_neg"),  # what tolist() begins with
    }
)
"""Operations that give Python a value to branch on."""

_SHAPES = frozenset(
    {
        *("zeros_like", "ones_like", "full_like", "empty_like"),
        *("new_zeros", "new_ones", "new_full", "new_empty"),
    }
)
"""Operations whose results follow from the shapes of their operands."""

_MARKING = frozenset({"_coalesced_", "detach_", "requires_grad_"})
"""Operations that change what is known of a tensor, not its elements."""

_OWN = Path(__file__).parent


def record(
    module: Any,
    inputs: tuple[Any, ...],
    loose: frozenset[int],
    *,
    frozen: bool = False,
    seed: int | None = None,
) -> Capture:
    """Carry out a module that is in eval mode, and write down its operations.

    Parameters
    ----------
    loose : frozenset of int
        Positions of flattened inputs whose values the module may branch on.
    frozen : bool
        Whether what it chooses by computed values is held as it is with these inputs.
    seed : int, optional
        Of the random numbers that it draws, which are held; without one they are operations.

    Raises
    ------
    BranchingError
        It branches on values that the program computes.
    ProgramError
        It changes an input, or does what cannot be recorded.
    DataError
        It cannot be carried out.
    """
    torch = load_torch()
    from torch._dispatch.python import enable_python_dispatcher
    from torch.fx.experimental.proxy_tensor import ProxyTorchDispatchMode, PythonKeyTracer

    recorder = _Recorder(torch, module, inputs, loose, frozen, seed)

    class RecordingMode(ProxyTorchDispatchMode):  # type: ignore[misc]
        """The dispatcher takes modes of this class before it splits operations up."""

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return recorder.carry_out(func, args, kwargs or {})

    try:
        with (
            torch.no_grad(),
            without_fast_paths(),
            adapted(module),
            enable_python_dispatcher(),
            called_parts(module) as recorder.called,
            drawing(seed),
            RecordingMode(PythonKeyTracer(), "real", pre_dispatch=True),
        ):
            results = module(*inputs)
    except FuseloomError:
        raise
    except Exception as problem:  # the module's own, of any kind
        own_outputs(module, inputs, seed)
        raise RecordingError(
            f"{type(module).__name__} does what cannot be recorded: {first_line(problem)}",
            hint="function transforms and modes of PyTorch's own work outside of what is recorded; "
            "write the operations out",
        ) from problem
    return recorder.capture(tensors(results))


class RecordingError(ProgramError):
    """A module that PyTorch computes, but not while its operations are recorded."""


class BranchingError(ProgramError):
    """A module that branches on values that it computes."""


class _Recorder(Freezing):
    """Writes a graph of values while a module runs.

    A write to a tensor gives a new value of it, and of the tensor that it is a view of.  Other
    views on the same memory are written down again when they are next used.
    """

    def __init__(
        self,
        torch: Any,
        module: Any,
        inputs: tuple[Any, ...],
        loose: frozenset[int],
        frozen: bool,
        seed: int | None,
    ) -> None:
        self.torch = torch
        self.frozen = frozen
        self.seed = seed
        self.decisions: list[str] = []  # that are frozen
        self.graph = torch.fx.Graph()
        self.constants: dict[str, Any] = {}
        self.arguments: list[str] = []
        self.labels: dict[str, str] = {}
        self.known: dict[int, Tracked] = {}  # by the tensor's address
        self.branching: set[str] = set()  # nodes that must not be branched on
        self.storages: dict[int, list[Tracked]] = {}
        self.versions: dict[int, int] = {}  # writes to a storage
        self.given: set[int] = set()  # storages that are the caller's
        self.inside: set[int] = set()  # storages that sparse tensors are made of
        self.called: list[str] = []
        self.depth = len(traceback.extract_stack())
        self.names = [*argument_names(torch, module, inputs)]
        for place, (label, leaf) in enumerate(self.names):
            node = self._placeholder(label, label)
            self.arguments.append(node.name)
            if isinstance(leaf, torch.Tensor):
                self._track(leaf, node)
                self.given |= {storage_of(t) for t in (leaf, *components(leaf))}
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

    def _constant(self, tensor: Any, name: str | None = None) -> Any:
        """A placeholder of a parameter, a buffer, or a tensor that the code has."""
        label = f"constant {len(self.constants)}" if name is None else name
        node = self._placeholder(label if name is None else f"p_{label}", label)
        node.meta["val"] = _shaped(self.torch, tensor)
        self.constants[node.name] = tensor.detach()
        return node

    def _track(self, tensor: Any, node: Any) -> Tracked:
        storage = storage_of(tensor)
        made = Tracked(tensor, node, self.versions.setdefault(storage, 0))
        self.known[tensor._cdata] = made
        self.storages.setdefault(storage, []).append(made)
        self.inside |= {storage_of(t) for t in components(tensor)}
        return made

    def _recognised(self, tensor: Any) -> Tracked | None:
        """Track what a factory function gave away as another object on the same memory."""
        storage, own = storage_of(tensor), geometry(tensor)
        there = self.storages.get(storage, [])
        same = next((t for t in there if geometry(t.tensor) == own), None)
        if same is None:
            if there and storage not in self.given:
                node = self._placeholder("view", "view")
                node.meta["stack_trace"] = self._place()
                raise _refused(node, "a view of a tensor that no operation of PyTorch made")
            return None
        made = self._track(tensor, self._now(same))
        made.parent, made.again = same, partial(self._now, same)
        return made

    def _now(self, tracked: Tracked) -> Any:
        """The node of what a tensor holds after all writes to its memory."""
        version = self.versions[storage_of(tracked.tensor)]
        if tracked.version != version and tracked.again is not None:
            tracked.node = tracked.again()
        tracked.version = version
        return tracked.node

    def node_of(self, tensor: Any) -> Any:
        """The node that gave a tensor; parameters and constants get one when they are used."""
        tracked = self.known.get(tensor._cdata) or self._recognised(tensor)
        if tracked is not None:
            return self._now(tracked)
        name, _ = self.stored.get(tensor._cdata, (None, None))
        node = self._constant(tensor, name)
        self._track(tensor, node)
        self.given |= {storage_of(t) for t in (tensor, *components(tensor))}
        if name is not None and tensor.is_floating_point():
            self.branching.add(node.name)
        return node

    def carry_out(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Carry an operation out, and write it down."""
        torch, pytree = self.torch, self.torch.utils._pytree
        name = func._schema.name.split("::")[-1]
        marking = name in _MARKING
        written = [] if marking else mutated(func, args, kwargs)
        if written and torch.Tag.inplace_view in func.tags:
            return self._turned(func, args, kwargs)
        if name == "as_strided" and not (args[0].is_contiguous() and not args[0].storage_offset()):
            return self._strided(func, args, kwargs)
        operands = [t for t in pytree.tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
        for t in written:
            self.node_of(t)  # it is known from here on
        if self.frozen and name in MASKED:
            self._freeze_masks(operands)
            func, args = masked_read(func, args)
        node = self._written_down(func, args, kwargs, value_form(func) if written else func)
        if name in READING and any(self.node_of(t).name in self.branching for t in operands):
            raise _refused(node, "the module branches on values that it computes", BranchingError)
        if any(storage_of(t) in self.given for t in written):
            raise _refused(node, "the module changes a tensor that it is given")
        if any(storage_of(t) in self.inside for t in written):
            raise _refused(node, "the module changes the elements of a sparse tensor in place")
        drawn = self.seed is not None and draws(node)
        if written and node.target is func and not drawn:
            raise _refused(
                node, f"{func} writes to a tensor, and no operation gives what it writes"
            )
        if drawn and name == "dropout":
            result, made = self._dropped(node, args[0])
            self._track(result, made)
            return result
        result = func(*args, **kwargs)
        if drawn and shapes_only(name, len(operands), bool(written)):
            node = self._held(node, written[0] if written else result)
        if name in EMPTY:
            result.zero_()  # what lies there differs from call to call
        node.meta["val"] = pytree.tree_map_only(torch.Tensor, lambda t: _shaped(torch, t), result)
        if isinstance(result, torch.Tensor):
            node.meta["layout"] = result.layout
        if written:
            self._write(written, node)
        elif self.frozen and chooses(name, len(operands)) and node.name in self.branching:
            self._chosen(node, result)
        elif isinstance(result, torch.Tensor):
            self._made(func, args, kwargs, result, node)
        elif isinstance(result, (tuple, list)):
            for place, part in enumerate(result):
                if isinstance(part, torch.Tensor):
                    piece = self._piece(node, place, _shaped(torch, part))
                    self._made(func, args, kwargs, part, piece, place)
        return result

    def _written_down(self, func: Any, args: Any, kwargs: Any, form: Any) -> Any:
        """A node of an operation on what its operands hold now.

        ``form`` is the operation that gives the same and writes to nothing, if there is one.
        """
        torch, pytree = self.torch, self.torch.utils._pytree
        name = func._schema.name.split("::")[-1].strip("_")
        given = dict(kwargs)
        if form is not None and form is not func:
            outputs = {a.name for a in func._schema.arguments if a.is_out}
            given = {key: value for key, value in given.items() if key not in outputs}
        nodes = pytree.tree_map_only(torch.Tensor, self.node_of, (tuple(args), given))
        target, nodes = sized_call(torch, func if form is None else form, *nodes)
        node = self.graph.create_node("call_function", target, *nodes, name=name)
        node.meta.update(self._origin())
        unsure = any(n.name in self.branching for n in node.all_input_nodes)
        if unsure and name not in _SHAPES:
            self.branching.add(node.name)
        return node

    def _origin(self) -> dict[str, str]:
        """The part of the module and the source line that an operation is called from."""
        return {MODULE: self.called[-1] if self.called else "", "stack_trace": self._place()}

    def _call(self, target: Any, args: tuple[Any, ...], val: Any) -> Any:
        """A node of an operation of which the module knows nothing."""
        node = self.graph.call_function(target, args)
        node.meta.update(self._origin(), val=val, layout=self.torch.strided)
        if any(n.name in self.branching for n in node.all_input_nodes):
            self.branching.add(node.name)
        return node

    def _piece(self, node: Any, place: int, val: Any) -> Any:
        """One of the results of an operation."""
        piece = self._call(operator.getitem, (node, place), val)
        del piece.meta["layout"]
        return piece

    def _made(
        self, func: Any, args: Any, kwargs: Any, result: Any, node: Any, place: int | None = None
    ) -> None:
        """Track a result, which may be a view of an operand, or the operand itself."""
        if result._cdata in self.known:
            if func._schema.is_mutable:  # what is known of it changed, not its elements
                self.known[result._cdata].node = node
            return
        leaves = self.torch.utils._pytree.tree_leaves((args, kwargs))
        operands = [t for t in leaves if isinstance(t, self.torch.Tensor)]
        whole = next((t for t in operands if storage_of(t) == storage_of(result)), None)
        tracked = self._track(result, node)
        if whole is None:
            return
        val = node.meta["val"]

        def again() -> Any:
            made = self._written_down(func, args, kwargs, func)
            made.meta["val"] = val
            return made if place is None else self._piece(made, place, val)

        tracked.parent, tracked.again = self.known[whole._cdata], again

    def _strided(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Carry out ``as_strided`` of a view: its elements are selected by their places."""
        aten, result = self.torch.ops.aten, func(*args, **kwargs)
        node, val = self.node_of(args[0]), _shaped(self.torch, result)
        whole: Tracked | None = self.known[args[0]._cdata]
        while whole is not None and (places := places_in(whole.tensor, result)) is None:
            whole = whole.parent
        if whole is None:
            raise _refused(node, "as_strided reads memory beside the tensor that it is given")
        count, size = places.numel(), whole.tensor.numel()

        def again(whole: Tracked = whole) -> Any:
            held = self._now(whole)
            flat = self._call(aten.reshape.default, (held, [size]), val.new_empty(size))
            at = self._constant(places)
            taken = self._call(aten.index_select.default, (flat, 0, at), val.new_empty(count))
            return self._call(aten.reshape.default, (taken, list(val.shape)), val)

        tracked = self._track(result, again())
        tracked.parent, tracked.again = whole, again
        return result

    def _turned(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Carry out what gives a tensor object another shape or order, on the same memory."""
        tensor, form = args[0], value_form(func)
        node = self._written_down(func, args, kwargs, form)
        views = form is not None and any(r.alias_info for r in form._schema.returns)
        if not views or storage_of(tensor) in self.given:
            raise _refused(node, f"{func} changes the memory of a tensor")
        tracked = self.known.pop(tensor._cdata)
        self.storages[storage_of(tensor)].remove(tracked)
        before = tensor.detach()
        self.known[before._cdata] = tracked
        self.storages[storage_of(tensor)].append(tracked)
        tracked.tensor = before
        result = func(*args, **kwargs)
        node.meta["val"] = _shaped(self.torch, result)
        self._made(form, (before, *args[1:]), kwargs, tensor, node)
        return result

    def _write(self, tensors: Sequence[Any], node: Any) -> None:
        """Note what tensors, and those that they are views of, hold after a write."""
        for place, tensor in enumerate(tensors):
            val = _shaped(self.torch, tensor)
            made = node if len(tensors) == 1 else self._piece(node, place, val)
            if len(tensors) == 1:
                node.meta["val"] = _value_type(self.torch, node, val)
            if made.meta["val"].dtype != tensor.dtype:
                made = self._call(self.torch.ops.aten.to.dtype, (made, tensor.dtype), val)
            self._changed(self.known[tensor._cdata], made)

    def _changed(self, tracked: Tracked, node: Any) -> None:
        """Note what a tensor, and the tensors that it is a part of, hold from now on."""
        storage = storage_of(tracked.tensor)
        now = [(tracked, node)]
        while tracked.parent is not None:
            whole = tracked.parent
            node = self._put_back(whole, tracked, node)
            now.append((whole, node))
            tracked = whole
        self.versions[storage] += 1
        for tracked, node in now:
            tracked.node, tracked.version = node, self.versions[storage]

    def _put_back(self, whole: Tracked, view: Tracked, node: Any) -> Any:
        """The value of a tensor with that of a view of it."""
        aten, val = self.torch.ops.aten, _shaped(self.torch, whole.tensor)
        part = part_of(whole.tensor, view.tensor)
        if part is None:
            raise _refused(node, "a write to a view whose elements overlap, or are of another type")
        if part.back is not None:
            target, rest = part.back
            same = target is aten.alias.default
            return node if same else self._call(target, (node, *rest), val)
        before = self._now(whole)
        if part.scatter is not None:
            target, rest = part.scatter
            return self._call(target, (before, node, *rest), val)
        count, size = part.places.numel(), whole.tensor.numel()
        flat = self._call(aten.reshape.default, (before, [size]), val.reshape(size))
        new = self._call(aten.reshape.default, (node, [count]), val.new_empty(count))
        at = self._constant(part.places)
        put = self._call(aten.index_put.default, (flat, [at], new), val.reshape(size))
        return self._call(aten.reshape.default, (put, list(val.shape)), val)

    def _place(self) -> str:
        """The frames of the module, as ``torch.export`` writes them."""
        frames = traceback.extract_stack()[self.depth :]
        kept = [f for f in frames if not Path(f.filename).is_relative_to(_OWN)]
        return "".join(traceback.StackSummary.from_list(kept).format())

    def capture(self, results: Sequence[Any]) -> Capture:
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
            tuple(dict.fromkeys(self.decisions)),
            self.frozen,
            self.seed,
        )


def _shaped(torch: Any, tensor: Any) -> Any:
    return torch.empty(tuple(tensor.shape), dtype=tensor.dtype, device="meta")


def _value_type(torch: Any, node: Any, val: Any) -> Any:
    """Return ``val`` in the type that the operation of a node gives."""
    given = torch.fx.node.map_arg((node.args, node.kwargs), lambda n: n.meta["val"])
    try:
        return torch.empty(val.shape, dtype=node.target(*given[0], **given[1]).dtype, device="meta")
    except Exception:  # operations that need values
        return val


def _refused(node: Any, what: str, kind: type[ProgramError] = ProgramError) -> ProgramError:
    hint = "the program is the same for all inputs: compute with masks instead, or copy"
    return kind(f"{what}, at {where(node)}", hint=hint)
