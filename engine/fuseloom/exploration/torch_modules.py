"""PyTorch modules, imported with formats that fit what their inputs and weights hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fuseloom.arguments import check_arguments
from fuseloom.dataflow.formats import DENSITY, FormatChoice, choose_formats
from fuseloom.errors import FuseloomError, ProgramError
from fuseloom.frontends.torch import from_torch as traced
from fuseloom.frontends.torch.imported import ImportedModule
from fuseloom.program import Format


@check_arguments
def from_torch(
    module: Any,
    example_inputs: Any,
    formats: Mapping[str, str | Format] | None = None,
    *,
    infer_density: float | None = DENSITY,
    name: str | None = None,
    seed: int | None = None,
) -> ImportedModule:
    """Import a PyTorch module.

    The module is traced by ``torch.export`` in eval mode.  The program computes exactly what the
    module does: elements that sparse tensors lack count as 0, except for logits that are filled
    with minus infinity before a softmax, which then runs over what the mask keeps.

    A list of edges (2 x E integers) by whose rows tensors are gathered and scattered becomes
    an adjacency matrix; ``ImportedModule.notes`` says so.  Where sizes follow from such an index,
    the operations of the module are recorded as it carries them out.

    Inputs and weights that are strided tensors with few nonzeros, by pruning or by nature, are
    stored compressed, in the mode order that the estimate finds best, where that saves cycles
    (:func:`fuseloom.dataflow.formats.choose_formats`); notes say so, with the gain.

    A module that branches on what it selected by scores that it computes, as pooling and routing
    do, is imported with the selection of the example inputs; notes say so, and ``bind`` refuses
    inputs that lead to another.

    Parameters
    ----------
    module : torch.nn.Module
    example_inputs : tensor, object or tuple
        Positional arguments of ``forward``; they fix all sizes and become the program's data.
        Sparse tensors keep their layout (CSR, CSC, COO, BSR, BSC).  Of objects, such as the graphs
        of PyTorch Geometric, dataclasses and namespaces, all tensors are inputs (``data_x``).
    formats : mapping, optional
        Storage by name of an argument of ``forward``, dotted parameter or buffer, or activation
        (a tensor of the program): ``{"adj": "csr", "fc.weight": "dcsr", "mask": "bsr16"}``.  These
        are kept, ``"dense"`` too.
    infer_density : float, optional
        Largest share of nonzeros of tensors whose format is chosen; None or 0 chooses none.
    name : str, optional
        Name of the program; by default that of the module's class.
    seed : int, optional
        Of random draws, which are then held as constants; without one they are refused.

    Raises
    ------
    ProgramError
        PyTorch is missing, the module cannot be traced, or an operation has no counterpart: the
        message names operation, file and line, and the nearest supported form.  Or the trace does
        not compute what the module does, with these inputs and with others.
    DataError
        Values that are not finite, or an object whose tensors cannot be told apart.

    Examples
    --------
    >>> import fuseloom as fl
    >>> import torch
    >>> imported = fl.from_torch(torch.nn.Linear(4, 2), torch.ones(3, 4))
    >>> run = fl.simulate(fl.compile(imported.program, None, imported.data), imported.data)
    >>> imported.check(run.outputs).ok
    True
    """
    density = infer_density or 0.0
    if not 0.0 <= density <= 1.0:
        raise ProgramError(f"infer_density is {density}", hint="a share, from 0 to 1")
    imported = traced(module, example_inputs, formats, name=name, seed=seed)
    if not density or not imported.unpinned:
        return imported
    choices = choose_formats(
        imported.program,
        imported.data,
        imported.unpinned,
        schedule=imported.presets["layers"],
        density=density,
    )
    return _stored_as(imported, choices)


def _stored_as(imported: ImportedModule, choices: Sequence[FormatChoice]) -> ImportedModule:
    """The module with these formats; those with which its results differ are left out."""
    made = _tried(imported, imported, choices) if choices else imported
    if made is not None:
        return made
    made, left_out = imported, []
    for choice in choices:
        one = _tried(made, imported, [choice])
        if one is None:
            left_out.append(
                f"{choice.tensor.name} stays dense: in another format the program is refused, or "
                "does not compute what the module does"
            )
        else:
            made = one
    return replace(made, notes=(*made.notes, *left_out))


def _tried(
    made: ImportedModule, plain: ImportedModule, choices: Sequence[FormatChoice]
) -> ImportedModule | None:
    """The module with more formats; None if that is refused, or is not what the module computes."""
    try:
        other = made.stored_as({choice.tensor.name: choice.format for choice in choices})
        if not other.check().ok and plain.check().ok:
            return None
    except FuseloomError:
        return None
    said = made.notes[len(plain.notes) :]
    return replace(other, notes=(*other.notes, *said, *map(str, choices)))
