"""Tracing a module with ``torch.export``, or by recording one call of it."""

from __future__ import annotations

import inspect
import io
import logging
import operator
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any

from fuseloom.errors import DataError, FuseloomError, ProgramError
from fuseloom.frontends.torch.adapting import adapted
from fuseloom.frontends.torch.capture import (
    Capture,
    edge_data,
    first_line,
    flattened,
    load_torch,
    tensors,
)
from fuseloom.frontends.torch.messages import refusal
from fuseloom.frontends.torch.nodes import mutates
from fuseloom.frontends.torch.recording import BranchingError, RecordingError, record
from fuseloom.frontends.torch.replay import comparable, error

_COMPONENTS = frozenset(
    {
        *("crow_indices", "col_indices", "ccol_indices", "row_indices"),
        *("indices", "_indices", "values", "_values"),
    }
)


_LOSSY = frozenset({"unfold_backward"})
"""Operations by which ``torch.export`` loses what is between windows that are written to."""


def trace(module: Any, inputs: tuple[Any, ...], seed: int | None = None) -> Capture:
    """Trace a module that is in eval mode.

    Where ``torch.export`` has no graph of known sizes, the operations of one call are recorded; so
    they are with a seed, whose random numbers are held.

    Raises
    ------
    ProgramError
        ``torch.export`` cannot trace it, and it branches on values that the program computes.
    """
    torch = load_torch()
    if seed is not None:
        return recorded(module, inputs, seed)
    try:
        with torch.no_grad(), warnings.catch_warnings(), _quiet(), adapted(module):
            warnings.simplefilter("ignore")
            with _returning_tensors(module):
                exported = torch.export.export(module, inputs)
            if has_known_sizes(exported) and any(map(_needs_decomposition, exported.graph.nodes)):
                exported = exported.run_decompositions({})
    except Exception as problem:  # export raises errors of many kinds
        try:
            return recorded(module, inputs)
        except Exception as other:
            if isinstance(other, ProgramError) and not isinstance(other, RecordingError):
                raise  # it says where, and what to write instead
        # what the module cannot do at all, export has said
        raise ProgramError(
            f"torch.export cannot trace {type(module).__name__}: {first_line(problem)}",
            hint="forward must take tensors and not branch on their values; "
            "torch.export.export(module, inputs) shows the whole error",
        ) from problem
    if export_suffices(exported):
        capture = _capture(exported)
        if not _left_out(capture, module, inputs):
            return capture
    try:
        return recorded(module, inputs)
    except (DataError, RecordingError) as problem:
        chosen = [n for n in exported.graph.nodes if str(n.target) in CHOICES]
        if not chosen:
            raise
        raise refusal(
            chosen[0],
            f"{chosen[0].target} chooses by values that the module computes",
            "compute both sides, and choose with torch.where",
        ) from problem


def recorded(module: Any, inputs: tuple[Any, ...], seed: int | None = None) -> Capture:
    """Record one call of a module; where it branches on what it chose, its choices are held.

    Raises
    ------
    ProgramError, DataError
        As :func:`~fuseloom.frontends.torch.recording.record`.
    """
    loose = edge_data(inputs)
    try:
        return record(module, inputs, loose, seed=seed)
    except BranchingError as problem:
        try:
            return record(module, inputs, loose, frozen=True, seed=seed)
        except FuseloomError:
            raise problem from None


def _left_out(capture: Capture, module: Any, inputs: tuple[Any, ...]) -> bool:
    """Return whether a graph of ``torch.export`` lacks what the module does when it is called."""
    with suppress(Exception):  # what cannot be computed is refused where that is said
        return comparable(capture) and error(capture, module, inputs) > 0
    return False


CHOICES = frozenset({"cond", "while_loop", "switch", "scan", "associative_scan", "map_impl"})
"""Operations of PyTorch that take functions, and decide while they run."""


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


def _needs_decomposition(node: Any) -> bool:
    """Return whether a node changes a tensor, or calls what is in Python, such as ``vmap``."""
    return inspect.isfunction(node.target) or mutates(node)


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


def has_known_sizes(exported: Any) -> bool:
    """Return whether a graph of ``torch.export`` has sizes that are all known.

    Sizes that depend on the values of an index are symbols in it, and of a sparse tensor's
    components it does not know how many there are.  No decomposition changes that.
    """
    torch = load_torch()
    for node in exported.graph.nodes:
        if _operation(node) in _COMPONENTS:
            return False
        for val in flattened(node.meta.get("val")):
            if isinstance(val, torch.SymInt | torch.SymFloat | torch.SymBool):
                return False
            if isinstance(val, torch.Tensor) and not all(isinstance(n, int) for n in val.shape):
                return False
    return True


def export_suffices(exported: Any) -> bool:
    """Return whether a graph of ``torch.export`` has sizes that are all known, and right.

    After a write to windows it has zeros between them.  What runs under ``torch.autocast``,
    ``checkpoint`` or ``vmap`` stands in graphs of its own, or in calls of Python.
    """
    called = [node for node in exported.graph.nodes if node.op == "call_function"]
    return has_known_sizes(exported) and all(
        node.target is operator.getitem or _operation(node) not in {None, *_LOSSY}
        for node in called
    )


def _operation(node: Any) -> str | None:
    """The name of the operation that a node calls; None if it is no operator of PyTorch."""
    schema = getattr(node.target, "_schema", None)
    return None if schema is None else str(schema.name).split("::")[-1]
