"""The result of an import: a program, its data, and the module's own answer to compare with."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

import fuseloom
from fuseloom.display.shows import Shows
from fuseloom.errors import DataError
from fuseloom.program import Format, Masked, Program, StoredTensor, evaluate
from fuseloom.program.rounded import largest_bound
from fuseloom.results.archive import ArchivedKernel, ModelArchive
from fuseloom.wording import counted, described

Array = npt.NDArray[np.float64]
TOLERANCE = 1e-4
NEAR_ZERO = 2.0**-10
"""The share of the largest input or constant below which an output counts as near 0."""


@dataclass(frozen=True)
class ImportedOutput:
    """The reading of a module's result from a tensor of the program.

    Attributes
    ----------
    tensor : str
        Name in the program.
    shape : tuple of int
        As the module returns it.
    axes : tuple
        Per dimension of ``shape`` the tensor's; None where all coordinates have one value.
    absent : float
        What elements that the tensor lacks stand for: 0, or minus infinity.
    """

    tensor: str
    shape: tuple[int, ...]
    axes: tuple[int | None, ...]
    absent: float = 0.0

    def read(self, stored: StoredTensor | Masked) -> Array:
        """The module's result, dense."""
        if isinstance(stored, StoredTensor):
            values, present = stored.to_dense(), stored.pattern()
        else:
            values, present = stored.values, stored.present
        filled = np.where(present, values, self.absent)
        own = [axis for axis in self.axes if axis is not None]
        missing = tuple(d for d, axis in enumerate(self.axes) if axis is None)
        arranged = np.expand_dims(np.transpose(filled, own), missing)
        return np.array(np.broadcast_to(arranged, self.shape))


@dataclass(frozen=True)
class ImportedKernel:
    """The statements that one operation of the module became.

    Attributes
    ----------
    name : str
        The operation as the trace calls it, e.g. ``aten.linear.default``.
    statements : tuple of str
        What its statements assign.
    place : str
        File and line of the user's module.
    module : str
        Dotted name of the part of the module that carries it out; empty for its own code.
    """

    name: str
    statements: tuple[str, ...]
    place: str
    module: str = ""

    @property
    def label(self) -> str:
        """The name for people: ``conv1.lin: linear`` of ``aten.linear.default``."""
        operation = self.name.removeprefix("aten.").partition(".")[0] or self.name
        return f"{self.module}: {operation}" if self.module else operation


@dataclass(frozen=True)
class Agreement(Shows, html="fuseloom.frontends.torch.display:agreement_html"):
    """Largest difference from the module's output, relative to its largest magnitude.

    ``rounding`` is how far a module in bfloat16 or float16 is from itself in float32, and
    ``cancelled`` what rounding to float32 may change in an output that is near 0 beside the numbers
    that it is computed from.  ``constant`` says that the outputs depend on no input, so that little
    is compared.
    """

    error: float
    tolerance: float
    rounding: float = 0.0
    cancelled: float = 0.0
    constant: bool = False

    @property
    def ok(self) -> bool:
        return self.error <= self.tolerance + self.rounding + self.cancelled

    def __str__(self) -> str:
        word = "agrees with" if self.ok else "DIFFERS FROM"
        own = f" and {self.rounding:.1e} of the module's own rounding" if self.rounding else ""
        if self.cancelled:
            own += f" and {self.cancelled:.1e} that float32 leaves of numbers near 0"
        constant = "; no output depends on an input of the module" if self.constant else ""
        return (
            f"{word} the module: relative error {self.error:.1e}, "
            f"tolerance {self.tolerance:.0e}{own}{constant}"
        )


@dataclass(frozen=True, eq=False)
class ImportedModule(Shows, html="fuseloom.frontends.torch.display:imported_html"):
    """A PyTorch module as a program.

    Attributes
    ----------
    program : Program
    data : mapping
        Every input of the program: example inputs, parameters, masks, constants.
    outputs : tuple of ImportedOutput
        What the module returns, flattened.
    expected : tuple of array
        What the module itself returned for the example inputs.
    kernels : tuple of ImportedKernel
        Statements by operation of the module, in program order.
    presets : mapping of str to str
        Schedules from least to most fused: ``unfused``, ``kernels`` (one region per operation),
        ``layers`` (cut where rows would be computed again), ``full`` (everything between two
        reshapes, which may recompute much, or not be possible).
    unpinned : tuple of str
        Inputs that are dense because neither formats nor the layouts of tensors say otherwise.
    rounding : tuple of float
        Of a module in bfloat16 or float16, how far each output is from that in float32.
    notes : tuple of str
        What became of lists of edges, what was computed beforehand with PyTorch and is data, and
        which inputs of the module are not used.
    constant : bool
        Whether none of its inputs is.
    """

    program: Program
    data: Mapping[str, StoredTensor]
    outputs: tuple[ImportedOutput, ...]
    expected: tuple[Array, ...]
    kernels: tuple[ImportedKernel, ...]
    presets: Mapping[str, str]
    rebind: Callable[..., tuple[dict[str, StoredTensor], tuple[Array, ...], tuple[float, ...]]]
    restore: Callable[[Mapping[str, str | Format]], ImportedModule]
    unpinned: tuple[str, ...] = ()
    rounding: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()
    constant: bool = False

    def __repr__(self) -> str:
        return described(
            self,
            f"{self.program.name}: "
            f"{counted(len(self.program.statements), 'statement')}, presets "
            f"{', '.join(self.presets)}",
        )

    def results(self, tensors: Mapping[str, StoredTensor | Masked]) -> tuple[Array, ...]:
        """The module's results, dense and in its shapes, from a run's outputs.

        Raises
        ------
        DataError
            An output is missing.
        """
        for output in self.outputs:
            if output.tensor not in tensors:
                raise DataError(
                    f"output {output.tensor} is missing",
                    hint="give the outputs of a run: imported.results(run.outputs)",
                )
        return tuple(output.read(tensors[output.tensor]) for output in self.outputs)

    def check(
        self,
        tensors: Mapping[str, StoredTensor | Masked] | None = None,
        tolerance: float = TOLERANCE,
    ) -> Agreement:
        """Compare a run's outputs (by default the dense reference's) with the module's own.

        The error of an output is relative to its largest magnitude.  Where all of an output is near
        0 beside the inputs and constants, as a sum that cancels, rounding to float32 may change it
        by more.
        """
        got = self.results(evaluate(self.program, self.data) if tensors is None else tensors)
        errors = [relative_error(a, b) for a, b in zip(got, self.expected, strict=True)]
        own = self.rounding or (0.0,) * len(errors)
        found = [Agreement(e, tolerance, r) for e, r in zip(errors, own, strict=True)]
        if not all(a.ok for a in found):
            found = [
                a if a.ok else replace(a, cancelled=self._cancelled(output, want))
                for a, output, want in zip(found, self.outputs, self.expected, strict=True)
            ]
        worst = max(found, key=lambda a: (not a.ok, a.error), default=Agreement(0.0, tolerance))
        return replace(worst, constant=self.constant)

    def _cancelled(self, output: ImportedOutput, want: Array) -> float:
        """Bound the relative rounding error of an output that is near 0.

        Twice the bound of the program: the module's own sums have another order.
        """
        sizes = [float(np.abs(t.values).max(initial=0.0)) for t in self.data.values()]
        sizes += [abs(s.constant) for s in self.program.statements if s.constant is not None]
        magnitude = float(np.abs(want[np.isfinite(want)]).max(initial=0.0))
        if magnitude > NEAR_ZERO * max(sizes, default=0.0):
            return 0.0
        bound = largest_bound(self.program, self.data, output.tensor)
        return 2.0 * bound / (magnitude or 1.0)

    def best(self, **options: Any) -> Any:
        """The best schedule, with a proof, beside the presets: :func:`fuseloom.best` of this."""
        return fuseloom.best(self, **options)

    def save(self, path: str | Path) -> None:
        """Write program, data, presets, notes and the places of kernels to one file.

        :func:`fuseloom.read_model` reads it, and so do commands:
        ``fuseloom simulate model.fuseloom --preset full``.

        Raises
        ------
        DataError
            If it cannot be written.
        """
        self.archive().save(path)

    def open(self, port: int = 5006, browser: bool = True) -> subprocess.Popen[bytes]:
        """Open it in the workbench; see :meth:`ModelArchive.open`."""
        return self.archive().open(port, browser)

    def archive(self) -> ModelArchive:
        """Program, data, presets, notes and kernels: what :meth:`save` writes."""
        kernels = tuple(ArchivedKernel(k.label, k.statements, k.place) for k in self.kernels)
        return ModelArchive(self.program, self.data, self.presets, kernels, self.notes)

    def bind(self, *inputs: Any) -> ImportedModule:
        """The same program with the data of other inputs of the same shapes.

        Raises
        ------
        DataError
            Inputs of other shapes.
        """
        data, expected, rounding = self.rebind(*inputs)
        return replace(self, data=MappingProxyType(data), expected=expected, rounding=rounding)

    def stored_as(self, formats: Mapping[str, str | Format]) -> ImportedModule:
        """The same module on the same inputs, with other formats of some tensors.

        Parameters
        ----------
        formats : mapping
            As for :func:`fuseloom.from_torch`; others stay as they are.

        Raises
        ------
        ProgramError
            Formats that mean nothing, or that the program cannot have.
        """
        return self.restore(formats)


def relative_error(got: Array, want: Array) -> float:
    """Largest difference, relative to the largest magnitude that is wanted.

    Where no number is wanted, none must be there.
    """
    finite = np.isfinite(want)
    beyond = [np.where(finite, 0, x) for x in (want, got)]
    same = np.array_equal(beyond[0], beyond[1], equal_nan=True)
    if not same or not np.isfinite(got[finite]).all():
        return float("inf")
    if not finite.any():
        return 0.0
    scale = float(np.abs(want[finite]).max()) or 1.0
    return float(np.abs(got[finite] - want[finite]).max()) / scale
