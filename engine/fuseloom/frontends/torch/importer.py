"""Walks the traced graph and writes a statement, or several, for each of its operations."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from fuseloom.errors import ProgramError
from fuseloom.frontends.torch import views
from fuseloom.frontends.torch.builder import TorchBuilder
from fuseloom.frontends.torch.capture import Capture, draws, edge_data, load_torch, run_node
from fuseloom.frontends.torch.decompose import decomposed, has_parts
from fuseloom.frontends.torch.formats import Storage
from fuseloom.frontends.torch.integers import CONVERSIONS, IntegerBounds
from fuseloom.frontends.torch.messages import refusal, unsupported, where
from fuseloom.frontends.torch.nodes import (
    ASSIGNING,
    BEFOREHAND,
    KNOWN,
    LAYOUTS,
    LIKE,
    arguments,
    numbers,
    op_name,
    shape_of,
    takes,
    where_from,
)
from fuseloom.frontends.torch.uninitialised import Holes
from fuseloom.frontends.torch.values import Feed, Value
from fuseloom.program import Format, Program

Handler: TypeAlias = Callable[..., Any]


class Importer(IntegerBounds):
    """One module on its way to a program.

    Attributes
    ----------
    env : dict
        What the known nodes hold for the example inputs, by name.
    values : dict
        What the computed nodes are in the program; tuples for operations of several results.
    raw : set of str
        Nodes that hold numbers of the user's, as they are: inputs, parameters and buffers.  Numbers
        per edge of a list of edges are not among them: what they lead to is computed beforehand.
    fixed : set of str
        Nodes that follow from parameters and buffers alone: they are computed beforehand.
    settled : set of str
        Nodes that follow from buffers and from inputs that are no floating-point numbers
        (positions, masks) alone: computed beforehand where they have no translation.
    """

    def __init__(
        self,
        capture: Capture,
        placeholders: Mapping[str, Any],
        handlers: Mapping[str, Handler],
        annotations: Mapping[str, str | Format],
        mixed: bool = False,
    ) -> None:
        self.torch = load_torch()
        self.capture = capture
        self.handlers = handlers
        self.env: dict[str, Any] = dict(placeholders)
        self.storage = Storage(annotations, self.env)
        self.builder = TorchBuilder(self._full, mixed)
        self.values: dict[str, Any] = {}
        self.raw: set[str] = set()
        given = [placeholders[name] for name in capture.arguments]
        self.graph_data = {capture.arguments[place] for place in edge_data(given)}
        self.fixed: set[str] = set(capture.constants)
        self.settled: set[str] = {
            name
            for name, held in capture.constants.items()
            if not isinstance(held, self.torch.nn.Parameter)
        }
        self.counted = {}
        self.origins: dict[str, tuple[str, ...]] = {}
        self.known: list[Any] = []
        self.beforehand: dict[str, Any] = {}
        self.kernels: list[tuple[Any, int]] = []
        self.holes = Holes(self.env)

    def _full(self, feed: Feed) -> bool:
        return self.storage.format(feed).all_dense

    def run(self) -> None:
        """Translate every node.

        Raises
        ------
        ProgramError
            An operation that the program language cannot express, with its place.
        """
        for node in self.capture.nodes:
            self._node(node)

    def _node(self, node: Any) -> None:
        self.builder.node = node
        if node.op == "placeholder":
            self._placeholder(node)
        elif node.op == "call_function":
            self._call(node)
        elif node.op not in ("output", "get_attr"):
            raise refusal(node, f"a {node.op} in the traced graph", "call tensor operations")

    def _placeholder(self, node: Any) -> None:
        given = self.env.get(node.name)
        if node.name in self.capture.written:
            self.origins[node.name] = ()
            return
        self.origins[node.name] = (self.capture.labels.get(node.name, node.name),)
        if not isinstance(given, self.torch.Tensor) or not numbers(given):
            if node.name not in self.fixed:
                self.settled.add(node.name)
            return
        if node.name in self.graph_data and given.layout == self.torch.strided:
            return
        self.raw.add(node.name)

    def _call(self, node: Any) -> None:
        name = op_name(node)
        inputs = node.all_input_nodes
        if draws(node) and arguments(node).get("train"):
            raise refusal(node, "dropout that trains", "call module.eval() first")
        self.holes.note(node)
        for known in (self.fixed, self.settled):
            if all(n.name in known for n in inputs):
                known.add(node.name)
        filled = self._filled(node, name)
        if filled is not None:
            node.meta["filled"] = filled
            self._compute(node)
            return
        if all(n.name in self.env for n in inputs):
            if draws(node) and not (name in self.handlers or name in views.VIEWS):
                raise unsupported(node, name)
            raw = any(n.name in self.raw for n in inputs)
            stays = name in views.VIEWS or node.name in self.fixed
            if not raw or stays or not self._floating(node) or name in KNOWN:
                self._compute(node)
                stays = stays or name in LAYOUTS | ASSIGNING
                if raw and stays and self._floating(node):
                    self.raw.add(node.name)
                return
        elif node.name in self.fixed and not self._floating(node):
            self._compute(node)
            return
        elif not self._floating(node) and name != "getitem":
            if name in ("_assert_tensor_metadata", "sym_size", "_assert_scalar"):
                return
            self.check_whole(node, name)
        translated = name in self.handlers or name in views.VIEWS
        if node.name not in self.settled:
            self._translate(node, name)
        elif not translated or name in BEFOREHAND or not self._translates(node, name):
            self._compute(node)

    def _translates(self, node: Any, name: str) -> bool:
        """Translate a node that may be computed beforehand instead; False if that is refused."""
        values, before = dict(self.values), self.builder.state()
        try:
            self._translate(node, name)
        except ProgramError:
            self.values = values
            self.builder.restore(before)
            return False
        return True

    def _translate(self, node: Any, name: str) -> None:
        since = len(self.builder.statements)
        result = self._translated(node, name)
        wanted = getattr(node.meta.get("val"), "shape", None)
        if wanted is not None and node.meta["val"].dtype in (self.torch.int64, self.torch.int32):
            self.counted[node.name] = self.bound(node, name)
        if isinstance(result, Value) and wanted is not None and result.shape != tuple(wanted):
            raise unsupported(node, name)  # with arguments that its handler does not know
        self.values[node.name] = self._named(node, result, since)

    def _filled(self, node: Any, name: str) -> tuple[tuple[int, ...], float, Any] | None:
        """Shape, number and type of a tensor that holds one number everywhere, or nothing."""
        val = node.meta.get("val")
        if not isinstance(val, self.torch.Tensor):
            return None
        fill = LIKE.get(name, 0.0)
        fill = node.args[-1] if fill is None else fill
        nothing = self._floating(node) and val.numel() == 0
        if nothing or (name in LIKE and isinstance(fill, bool | int | float)):
            return tuple(val.shape), fill if name in LIKE else 0.0, val.dtype
        return None

    def _floating(self, node: Any) -> bool:
        val = node.meta.get("val")
        if isinstance(val, (list, tuple)):
            val = val[0] if val else None
        return bool(isinstance(val, self.torch.Tensor) and numbers(val))

    def _translated(self, node: Any, name: str) -> Any:
        if node.target is operator.getitem:
            parts = self.values[node.args[0].name]
            return parts[node.args[1]]
        if name in views.VIEWS:
            return self._view(node, name)
        if name in LAYOUTS:
            given = node.args[0]
            if (given.meta.get("layout") or given.meta["val"].layout) == self.torch.strided:
                raise refusal(
                    node,
                    "a sparse layout of a computed tensor, which has the elements that are not 0",
                    "multiply by a mask that is given as an input",
                )
            return self.value(given)
        handler = self.handlers.get(name)
        given = arguments(node)
        if handler is not None and takes(handler, given):
            return handler(self, **given)
        return self._in_parts(node, name)

    def _in_parts(self, node: Any, name: str) -> Any:
        """An operation without a translation of its own, by those that PyTorch makes it of."""
        parts = decomposed(node)
        if parts is None:
            raise unsupported(node, name)
        for part in parts.nodes:
            known = any(op_name(part) in names for names in (self.handlers, views.VIEWS, LIKE))
            known = known or has_parts(part)
            if not known and self._floating(part) and part.all_input_nodes:
                raise unsupported(node, name)
        try:
            for part in parts.nodes:
                self._node(part)
        except ProgramError as problem:
            raise unsupported(node, name, problem) from problem
        self.builder.node = node
        held = [self._held_value(part) for part in parts.results]
        return held[0] if parts.single else tuple(held)

    def _held_value(self, node: Any) -> Any:
        if node is None:
            return None
        return self.values[node.name] if node.name in self.values else self.value(node)

    def _compute(self, node: Any) -> None:
        """Make known what a node holds, and what it follows from."""
        for n in node.all_input_nodes:
            if n.name not in self.env and "filled" not in node.meta:
                self._compute(n)
        self.env[node.name] = run_node(node, self.env)
        self.known.append(node)
        if "filled" in node.meta:
            self.origins[node.name] = ()
            return
        found = [label for n in node.all_input_nodes for label in self.origins.get(n.name, ())]
        self.origins[node.name] = tuple(dict.fromkeys(found))

    def _view(self, node: Any, name: str) -> Any:
        source, *args = node.args
        value = self.value(source)
        if name in views.IDENTITIES:
            if name in CONVERSIONS and source.name not in self.env:
                value = self.converted(value, source, node)
            return (value, None) if name == "native_dropout" else value
        if name in views.PIECES:
            given = [self._numbers(a) for a in (*args, *node.kwargs.values())]
            return views.pieces(self.builder, name, value, given)
        shape = shape_of(node)
        renamed = views.rename(self.builder, name, value, args, shape)
        return views.reshape(self.builder, value, shape) if renamed is None else renamed

    def _numbers(self, given: Any) -> Any:
        """An argument, which a known tensor of integers may hold."""
        if not hasattr(given, "all_input_nodes"):
            return given
        held = self.held(given)
        if held is None:
            raise self.builder.refuse("places that are computed", "give them as inputs or buffers")
        return held.tolist()

    def _named(self, node: Any, result: Any, since: int) -> Any:
        """Name what a node computes after the node."""
        if not isinstance(result, Value):
            return result
        made = {s.out.tensor for s in self.builder.statements[since:]}
        if result.tensor not in made:
            return result
        wanted = node.name
        support = self.builder.supports.pop(result.tensor, None)
        new = self.builder.rename(result.tensor, wanted, since)
        if support is not None:
            self.builder.supports[new] = support
        return replace(result, tensor=new)

    # What operands are.

    def value(self, given: Any) -> Value:
        """An operand as a value of the program; what is known becomes an input of it."""
        if isinstance(given, bool | int | float):
            return self.builder.constant(float(given))
        if isinstance(value := self.values.get(given.name), Value):
            return value
        if given.name not in self.env:
            raise refusal(
                given,
                f"{where_from(given)} is an index, an auxiliary or a tuple",
                "use the values it gives",
            )
        made = self._fed(given)
        self.values[given.name] = made
        return made

    def _fed(self, node: Any) -> Value:
        if node.op == "placeholder" and node.name in self.raw:
            held = self.env[node.name]
            label = self.capture.labels[node.name]
            return self.builder.feed(label, held.shape, lambda env: env[node.name], (label,))
        if node.name in self.raw and op_name(node) in views.IDENTITIES:
            return self.value(node.args[0])
        if node.name in self.raw and op_name(node) in views.RENAMES:
            source, *args = node.args
            same = views.rename(
                self.builder,
                op_name(node),
                self.value(source),
                args,
                tuple(self.env[node.name].shape),
            )
            if same is not None:
                return same
        held = self.env[node.name]
        if held.layout != self.torch.strided and 1 not in held.shape:
            origins = self.origins.get(node.name, ())
            label = f"{origins[0]}_weights" if len(origins) == 1 else node.name
            return self.builder.feed(label, held.shape, lambda env: env[node.name], origins)
        return self.derived(node, node.name, lambda held: held)

    def derived(
        self, node: Any, label: str, function: Callable[[Any], Any], keep: bool = False
    ) -> Value:
        """An input that holds a function of a known node; dimensions of size 1 are left out."""
        torch = self.torch

        def fetch(env: Mapping[str, Any]) -> Any:
            held = env[node.name]
            held = held if held.layout == torch.strided else held.to_dense()
            made = function(held).to(torch.float64)
            return made.reshape([n for n in made.shape if n != 1])

        shape = tuple(function(self.env[node.name].to_dense()).shape)
        wide = [d for d, n in enumerate(shape) if n != 1]
        made = self.builder.feed(
            label, [shape[d] for d in wide], fetch, self.origins.get(node.name, ()), keep
        )
        self.beforehand[made.tensor] = node
        return made.picked([wide.index(d) if d in wide else None for d in range(len(shape))], shape)

    def notes(self, program: Program) -> tuple[str, ...]:
        """Return notes on the program's inputs that neither the user nor the module has."""
        said = []
        for name in program.inputs:
            node = self.beforehand.get(name)
            if node is None or node.op != "call_function":
                continue
            made = ", ".join(self.origins.get(node.name, ())) or "constants"
            said.append(f"{name}: {node.target} of {made}, computed beforehand, at {where(node)}")
        return tuple(said)

    def held(self, given: Any) -> Any:
        """Return the value of a known operand for the example inputs; None if it is computed."""
        if isinstance(given, bool | int | float):
            return self.torch.tensor(given)
        return self.env.get(given.name) if hasattr(given, "name") else None

    def number(self, given: Any) -> float | None:
        """The number that a known operand holds in every element, if it is no user's tensor."""
        if isinstance(given, bool | int | float):
            return float(given)
        if given.name in self.env and given.name not in self.raw and not self.origins[given.name]:
            held = self.env[given.name]
            if held.numel() and bool((held == held.reshape(-1)[0]).all()):
                return float(held.reshape(-1)[0])
        return None
