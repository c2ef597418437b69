"""``from_torch``: a PyTorch module as a program with data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from fuseloom.arguments import ArgumentError, check_arguments, kind_of
from fuseloom.errors import DataError, ProgramError
from fuseloom.frontends.torch import (
    attention,
    bags,
    conditions,
    distances,
    gathers,
    losses,
    masks,
    moves,
    norms,
    pointwise,
    pooling,
    products,
    ranking,
    recurrent,
    reductions,
    scatters,
    sparse_layouts,
    windows,
    written,
)
from fuseloom.frontends.torch.calls import part_name
from fuseloom.frontends.torch.capture import (
    Capture,
    evaluating,
    exact_outputs,
    flattened,
    load_torch,
    own_outputs,
    run_node,
)
from fuseloom.frontends.torch.edges import over_pairs
from fuseloom.frontends.torch.finish import finished
from fuseloom.frontends.torch.formats import check_known, store
from fuseloom.frontends.torch.imported import (
    Array,
    ImportedKernel,
    ImportedModule,
    ImportedOutput,
    relative_error,
)
from fuseloom.frontends.torch.importer import Importer
from fuseloom.frontends.torch.messages import where
from fuseloom.frontends.torch.objects import open_objects
from fuseloom.frontends.torch.recorded_again import check_same
from fuseloom.frontends.torch.replay import check_faithful
from fuseloom.frontends.torch.tracing import trace
from fuseloom.frontends.torch.values import Support, Value
from fuseloom.program import Format, Op, Program, StoredTensor
from fuseloom.wording import counted

HANDLERS = {
    **pointwise.HANDLERS,
    **conditions.HANDLERS,
    **masks.HANDLERS,
    **reductions.HANDLERS,
    **products.HANDLERS,
    **moves.HANDLERS,
    **written.HANDLERS,
    **windows.HANDLERS,
    **pooling.HANDLERS,
    **norms.HANDLERS,
    **attention.HANDLERS,
    **ranking.HANDLERS,
    **recurrent.HANDLERS,
    **bags.HANDLERS,
    **distances.HANDLERS,
    **losses.HANDLERS,
    **gathers.HANDLERS,
    **scatters.HANDLERS,
    **sparse_layouts.HANDLERS,
}


@check_arguments
def from_torch(
    module: Any,
    example_inputs: Any,
    formats: Mapping[str, str | Format] | None = None,
    *,
    name: str | None = None,
    seed: int | None = None,
) -> ImportedModule:
    """Import a PyTorch module, with every strided tensor dense unless ``formats`` says otherwise.

    :func:`fuseloom.from_torch` chooses formats on top of it, and describes the rest.

    Parameters
    ----------
    module : torch.nn.Module
    example_inputs : tensor, object or tuple
        Positional arguments of ``forward``.
    formats : mapping, optional
        Storage by name.
    name : str, optional
        Name of the program; by default that of the module's class.
    seed : int, optional
        Of random draws, which are then held as constants.

    Raises
    ------
    ProgramError
        PyTorch is missing, the module cannot be traced, an operation has no counterpart, or the
        trace does not compute what the module does.
    DataError
        Values that are not finite, or an object whose tensors cannot be told apart.

    Examples
    --------
    >>> import torch
    >>> imported = from_torch(torch.nn.Linear(4, 2), torch.ones(3, 4))
    >>> imported.check().ok
    True
    """
    torch = load_torch()
    several = isinstance(example_inputs, tuple | list)
    inputs = tuple(example_inputs) if several else (example_inputs,)
    open_objects(inputs)
    if not isinstance(module, torch.nn.Module):
        raise ArgumentError(
            f"from_torch takes a torch.nn.Module as module, not {kind_of(module)}",
            hint="a function becomes one as the forward of a subclass",
        )
    if any(isinstance(t, torch.Tensor) and t.is_meta for t in flattened(inputs)):
        raise DataError("an example input is a meta tensor, which has no values")
    with evaluating(module):
        capture = trace(module, inputs, seed)

    @cache
    def own() -> tuple[tuple[Array, ...], tuple[float, ...]]:
        expected = _expected(module, inputs, capture.seed)
        return expected, _rounding(module, inputs, capture, expected)

    imported = _translated(capture, module, inputs, dict(formats or {}), name, own)
    check_faithful(capture, module, inputs)
    return imported


def _translated(
    capture: Capture,
    module: Any,
    inputs: tuple[Any, ...],
    annotations: dict[str, str | Format],
    name: str | None,
    own: Callable[[], tuple[tuple[Array, ...], tuple[float, ...]]],
) -> ImportedModule:
    """The program of a module that has been traced, with its data.

    ``own`` gives the module's results for these inputs, and how they are rounded.
    """
    for mixed in (False, True):
        importer = Importer(capture, capture.placeholders(inputs), HANDLERS, annotations, mixed)
        importer.run()
        outputs = _outputs(importer, capture)
        if not (importer.builder.dense_broadcast and importer.builder.masks):
            break
    wanted = tuple(dict.fromkeys(o.tensor for o in outputs))
    label = importer.builder.name(name or type(module).__name__)
    notes = over_pairs(importer.builder, importer.env, wanted)
    activations = {v.tensor: node for node, v in importer.values.items() if isinstance(v, Value)}
    check_known(annotations, _labels(importer, capture))
    program, presets = finished(importer.builder, importer.storage, label, wanted, activations)

    def rebind(*new: Any) -> tuple[dict[str, StoredTensor], tuple[Array, ...], tuple[float, ...]]:
        env = _bound(importer, new)
        check_same(capture, module, new)
        expected = _expected(module, new, capture.seed)
        return _data(importer, program, env), expected, _rounding(module, new, capture, expected)

    def stored_as(formats: Mapping[str, str | Format]) -> ImportedModule:
        return _translated(capture, module, inputs, {**annotations, **formats}, name, own)

    expected, rounding = own()
    return ImportedModule(
        program,
        MappingProxyType(_data(importer, program, _bound(importer, inputs))),
        outputs,
        expected,
        _kernels(importer, program),
        MappingProxyType(presets),
        rebind,
        stored_as,
        tuple(n for n in program.given if importer.storage.is_open(importer.builder.feeds[n])),
        rounding,
        (*notes, *importer.notes(program), *_unused(capture), *_frozen(capture)),
        bool(capture.arguments) and len(capture.unused) == len(capture.arguments),
    )


def _unused(capture: Capture) -> Iterator[str]:
    names = [capture.labels[name] for name in capture.unused]
    if names:
        yield f"no output depends on {', '.join(names)}"


def _frozen(capture: Capture) -> Iterator[str]:
    seed = "" if capture.seed is None else f" and seed {capture.seed}"
    for decision in capture.decisions:
        yield f"held in every run as the example inputs{seed} have it: {decision}"


def _labels(importer: Importer, capture: Capture) -> set[str]:
    """Everything an annotation may name."""
    names = set(capture.labels.values()) | set(importer.builder.shapes)
    names |= set(importer.env) | set(importer.values)
    return names | {feed.label for feed in importer.builder.feeds.values()}


def _expected(module: Any, inputs: tuple[Any, ...], seed: int | None) -> tuple[Array, ...]:
    outputs = own_outputs(module, inputs, seed)
    return tuple(np.asarray(o.cpu().double().numpy(), dtype=np.float64) for o in outputs)


def _rounding(
    module: Any, inputs: tuple[Any, ...], capture: Capture, expected: tuple[Array, ...]
) -> tuple[float, ...]:
    """Return the relative error of a module in fewer bits against itself in float32, per output."""
    exact = exact_outputs(module, inputs, capture)
    if exact is None:
        return ()
    return tuple(
        relative_error(np.asarray(o.cpu().double().numpy(), dtype=np.float64), own)
        for o, own in zip(exact, expected, strict=True)
    )


def _bound(importer: Importer, inputs: tuple[Any, ...]) -> dict[str, Any]:
    """Return the given and held values, with other inputs of the module."""
    env: dict[str, Any] = dict(importer.env)
    given = flattened(inputs)
    wanted = importer.capture.arguments
    if len(given) != len(wanted):
        raise DataError(
            f"{counted(len(given), 'input')} for a module of {len(wanted)}",
            hint=f"forward takes {', '.join(wanted)}",
        )
    for label, new in zip(wanted, given, strict=True):
        old = importer.env[label]
        if getattr(old, "shape", None) != getattr(new, "shape", None):
            raise DataError(
                f"input {label} has shape {tuple(getattr(new, 'shape', ()))}, the program was made "
                f"for {tuple(getattr(old, 'shape', ()))}",
                hint="import the module again for other sizes",
            )
        env[label] = new
    return env


def _data(importer: Importer, program: Program, env: dict[str, Any]) -> dict[str, StoredTensor]:
    """Every input of the program, from inputs of the module."""
    for node in importer.known:
        env[node.name] = run_node(node, env)
    for chosen in importer.builder.selections.values():
        chosen.check(env)
    feeds = importer.builder.feeds
    for check in importer.builder.checks.values():
        check(env)
    return {
        name: store(program.tensor(name), feeds[name].fetch(env), feeds[name].keep)
        for name in program.given
    }


def _outputs(importer: Importer, capture: Capture) -> tuple[ImportedOutput, ...]:
    """Return the module's outputs; one that is only an input gets a statement that copies it."""
    b = importer.builder
    result = []
    for given in capture.returned:
        if not hasattr(given, "meta"):
            continue
        held = importer.env.get(given.name)
        if held is not None and not isinstance(held, importer.torch.Tensor):
            continue
        importer.holes.check_read(given)
        value = importer.value(given)
        b.node = given
        if not isinstance(value, Value):
            raise b.refuse("an output that is a tuple of parts", "return the parts one by one")
        if value.tensor in b.feeds:
            value = b.unary("copy", Op.SUM, value)
        absent = -np.inf if value.support is Support.MASKED else 0.0
        result.append(ImportedOutput(value.tensor, value.shape, value.axes, absent))
    if not result:
        raise ProgramError("the module returns no tensor", hint="return one")
    return tuple(result)


def _kernels(importer: Importer, program: Program) -> tuple[ImportedKernel, ...]:
    kernels: list[tuple[Any, list[str]]] = []
    for s in program.statements:
        node = importer.builder.owners.get(s.out.tensor)
        if not kernels or kernels[-1][0] is not node:
            kernels.append((node, []))
        kernels[-1][1].append(s.out.tensor)
    return tuple(
        ImportedKernel(str(node.target), tuple(names), where(node), part_name(node))
        for node, names in kernels
    )
