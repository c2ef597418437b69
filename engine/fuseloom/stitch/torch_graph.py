"""Modules of PyTorch modules: what ``torch.export`` makes of them, operator by operator."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fuseloom.errors import ProgramError
from fuseloom.frontends.torch.capture import evaluating
from fuseloom.stitch.aten.call import (
    ELEMENT_OF,
    AtenCall,
    Handler,
    TensorValue,
    UnknownCaseError,
)
from fuseloom.stitch.aten.elementwise import ELEMENTWISE
from fuseloom.stitch.aten.moves import MOVES
from fuseloom.stitch.aten.products import PRODUCTS
from fuseloom.stitch.aten.reductions import REDUCTIONS
from fuseloom.stitch.graph import DenseModule
from fuseloom.stitch.module_builder import ModuleBuilder
from fuseloom.stitch.shapes import TensorShape, TupleShape

OPERATORS: Mapping[str, Handler] = {**ELEMENTWISE, **REDUCTIONS, **MOVES, **PRODUCTS}
"""By the names of ATen operators, without their overloads: what adds their operations."""
KEPT = ("linear.default", "matmul.default")
"""Overloads that PyTorch takes apart, and that are one operation here."""


class TorchGraph(NamedTuple):
    """A module of dense operations, and the tensors that a PyTorch module holds.

    Attributes
    ----------
    module : DenseModule
        Its parameters are the inputs, by the names of arguments, and the weights.
    weights : dict
        Arrays by the names of parameters and buffers, such as ``encoder.0.weight``; those alone
        that are read.
    """

    module: DenseModule
    weights: dict[str, npt.NDArray[Any]]

    @property
    def opaque(self) -> tuple[str, ...]:
        """The ATen operators that no operations are known for, each once."""
        targets = [
            str(one.attributes["custom_call_target"])
            for one in self.module.main.operations
            if one.opcode == "custom-call"
        ]
        return tuple(dict.fromkeys(targets))


def torch_module_graph(module: Any, example_inputs: Sequence[Any]) -> TorchGraph:
    """Export a PyTorch module in eval mode, and make a module of dense operations of it.

    Composed operators such as softmax and normalization are taken apart.  An operator that no
    operations are known for is a ``custom-call`` with its name, which nothing is fused across.

    Parameters
    ----------
    module : torch.nn.Module
    example_inputs : sequence of torch.Tensor
        Its arguments; the extents of the module are theirs.

    Returns
    -------
    TorchGraph
        The module, its weights, and the list of opaque operators.

    Raises
    ------
    ProgramError
        If PyTorch is not installed, cannot export the module, or what it does depends on values.

    Examples
    --------
    >>> import torch
    >>> module, weights = torch_module_graph(torch.nn.Linear(4, 3), [torch.ones(2, 4)])
    >>> for operation in module.main.operations:
    ...     print(operation)
    weight = f32[3,4] parameter()
    bias = f32[3] parameter()
    input = f32[2,4] parameter()
    linear.1 = f32[2,3] dot(input, weight)
    linear.2 = f32[2,3] broadcast(bias)
    linear = f32[2,3] add(linear.1, linear.2)
    """
    try:
        import torch
    except ImportError:
        raise ProgramError(
            "modules are exported by PyTorch, which is not installed",
            hint="pip install 'fuseloom[torch]'",
        ) from None
    try:
        with evaluating(module), torch.no_grad():
            exported = torch.export.export(module, tuple(example_inputs))
        table = torch.export.default_decompositions()
        for name in KEPT:
            packet, overload = name.split(".")
            table.pop(getattr(getattr(torch.ops.aten, packet), overload), None)
        exported = exported.run_decompositions(table)
    except Exception as error:  # any of PyTorch's own errors
        first = str(error).strip().split("\n", 1)[0]
        raise ProgramError(f"PyTorch does not export the module: {first}") from None
    return _GraphReader(exported, type(module).__name__).graph()


class _GraphReader:
    """Reads the nodes of an exported graph, one after another.

    Attributes
    ----------
    values : dict
        By node: a :class:`TensorValue`, a list of those, or a number.
    """

    def __init__(self, exported: Any, name: str) -> None:
        self.exported = exported
        self.builder = ModuleBuilder(name)
        self.values: dict[Any, Any] = {}
        self.weights: dict[str, npt.NDArray[Any]] = {}

    def graph(self) -> TorchGraph:
        """The module with all its nodes.

        Raises
        ------
        ProgramError
            If it returns no tensor.
        """
        signature = self.exported.graph_signature
        states = {
            **signature.inputs_to_parameters,
            **signature.inputs_to_buffers,
            **signature.inputs_to_lifted_tensor_constants,
        }
        results: list[Any] = []
        for node in self.exported.graph.nodes:
            if node.op == "placeholder":
                self._placeholder(node, states)
            elif node.op == "call_function":
                self.builder.prefix = node.name
                self.values[node] = self._call(node)
            elif node.op == "output":
                results = [
                    one
                    for spec, one in zip(signature.output_specs, node.args[0], strict=True)
                    if spec.kind.name == "USER_OUTPUT" and one in self.values
                ]
        made = [self.values[one] for one in results]
        names = [one.name for one in made if isinstance(one, TensorValue)]
        if not names:
            raise ProgramError("the module returns no tensor")
        return TorchGraph(self.builder.module(names), self.weights)

    def _placeholder(self, node: Any, states: Mapping[str, str]) -> None:
        value = node.meta.get("val")
        if not hasattr(value, "dtype"):
            self.values[node] = value
            return
        name, shape = node.name, _shape(value)
        if name in states:
            if not node.users:
                return
            tensor = self._held(states[name])
            name = self._free_name(states[name])
            self.weights[name] = _array(tensor, shape)
        self.values[node] = TensorValue(self.builder.parameter(name, shape))

    def _held(self, name: str) -> Any:
        """A parameter, a buffer or a constant of the module."""
        state = self.exported.state_dict
        return state[name] if name in state else self.exported.constants[name]

    def _free_name(self, name: str) -> str:
        """A name that no input has."""
        taken = {*self.exported.graph_signature.user_inputs, *self.weights}
        while name in taken:
            name += "_"
        return name

    def _call(self, node: Any) -> Any:
        """What the call of an operator makes."""
        if node.target is operator.getitem:
            made, at = self._known(node.args[0]), node.args[1]
            if at >= len(made):
                raise ProgramError(
                    f"{node.args[0].target} makes results that are not computed here: {node.name}"
                )
            return made[at]
        value = node.meta.get("val")
        several = isinstance(value, list | tuple)
        shapes = tuple(_shape(one) for one in _tensors(value))
        if value is None:  # checks of what was exported
            return None
        if not shapes:
            raise ProgramError(
                f"{node.target} makes what is no tensor: the module depends on values"
            )
        names = self._operations(node, shapes)
        if len(names) == 1 and not several:
            names = [self.builder.rename_last(names[0], node.name)]
        made = [TensorValue(name) for name in names]
        return made if several else made[0]

    def _operations(self, node: Any, shapes: tuple[TensorShape, ...]) -> list[str]:
        """Names of operations that make the results of a call."""
        schema = getattr(node.target, "_schema", None)
        packet = str(node.target).split(".")[1] if schema is not None else ""
        handler = OPERATORS.get(packet) if str(node.target).startswith("aten.") else None
        if handler is not None and _is_complete(node, packet):
            try:
                made = handler(AtenCall(self.builder, self._arguments(node, schema), shapes))
                names = [made] if isinstance(made, str) else list(made)
                if all(map(self._is, names, shapes)):
                    return names
            except UnknownCaseError:
                pass
        return self._opaque(node, shapes)

    def _arguments(self, node: Any, schema: Any) -> dict[str, Any]:
        """The arguments of a call by name, with defaults of those that are left out."""
        given = {x.name: x.default_value for x in schema.arguments if x.has_default_value()}
        for parameter, value in zip(schema.arguments, node.args, strict=False):
            given[parameter.name] = self._known(value)
        return given | {name: self._known(value) for name, value in node.kwargs.items()}

    def _is(self, name: str, shape: TensorShape) -> bool:
        return self.builder.shape(name) == shape

    def _opaque(self, node: Any, shapes: tuple[TensorShape, ...]) -> list[str]:
        """A call of what is not known here, with the tensors that it reads."""
        operands = [
            self.values[one].name
            for one in node.all_input_nodes
            if isinstance(self.values[one], TensorValue)
        ]
        attributes = {"custom_call_target": str(node.target)}
        several = isinstance(node.meta["val"], list | tuple)
        shape = TupleShape(shapes) if several else shapes[0]
        made = self.builder.add("custom-call", shape, operands, attributes)
        if not several:
            return [made]
        return [
            self.builder.add("get-tuple-element", one, (made,), {"index": k})
            for k, one in enumerate(shapes)
        ]

    def _known(self, value: Any) -> Any:
        """An argument, with nodes replaced by what they make."""
        if isinstance(value, list | tuple):
            return [self._known(one) for one in value]
        return self.values[value] if hasattr(value, "all_input_nodes") else value


def _is_complete(node: Any, packet: str) -> bool:
    """True unless results of a call are read that are not computed here."""
    if packet != "max_pool2d_with_indices":
        return True
    return all(user.args[1] == 0 for user in node.users if user.target is operator.getitem)


def _tensors(value: Any) -> list[Any]:
    several = value if isinstance(value, list | tuple) else [value]
    return [one for one in several if hasattr(one, "dtype")]


def _shape(tensor: Any) -> TensorShape:
    """The shape of a tensor.

    Raises
    ------
    ProgramError
        If it has elements of another type, or extents that are not known.
    """
    name = str(tensor.dtype).removeprefix("torch.")
    if name not in ELEMENT_OF:
        raise ProgramError(f"a tensor has elements of {name}, which no array has here")
    dims = tuple(tensor.shape)
    if not all(isinstance(n, int) for n in dims):
        raise ProgramError("a tensor has extents that depend on values, and no array has here")
    return TensorShape(ELEMENT_OF[name], dims)


def _array(tensor: Any, shape: TensorShape) -> npt.NDArray[Any]:
    tensor = tensor.detach().to("cpu")
    wide = tensor.float() if shape.element == "bf16" else tensor
    return np.asarray(wide.contiguous().numpy())
