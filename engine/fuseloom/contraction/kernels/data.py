"""Data of a network, in every layout that a kernel asks for, and what the network makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from fuseloom.contraction.kernels.operands import Elements, Floats, Operand, TensorData
from fuseloom.contraction.kernels.reference import evaluate
from fuseloom.contraction.kernels.references import OperandLayout
from fuseloom.contraction.occupancy import Occupancy, suitable_levels
from fuseloom.contraction.tree import ContractionTree
from fuseloom.errors import DataError, LimitError
from fuseloom.program import LevelFormat
from fuseloom.program.formats import suggestion
from fuseloom.program.inputs import made_tensor
from fuseloom.wording import counted

MOST_BYTES = 2**31
"""Of workspaces and result together."""
WORD = 8


class Data:
    """Data of a network's given tensors, in the layouts that kernels ask for.

    Parameters
    ----------
    tree : ContractionTree
    given : mapping
        Per given tensor what :func:`~fuseloom.contraction.kernels.operands.elements_of` takes.

    Raises
    ------
    DataError
        If data are missing, unknown, or contradict their declaration.
    """

    def __init__(self, tree: ContractionTree, given: Mapping[str, Any]) -> None:
        names = list(tree.given)
        for name in given:
            if name not in names:
                raise DataError(
                    f"the network has no tensor {str(name)!r} to be given",
                    hint=suggestion(str(name), names),
                )
        missing = [name for name in names if name not in given]
        if missing:
            raise DataError(f"data of {missing[0]} are missing", hint=f"give {', '.join(names)}")
        self.tree = tree
        self._tensors = {name: TensorData(tree.program.tensor(name), given[name]) for name in names}
        for access in tree.inputs:
            tensor = tree.program.tensor(access.tensor)
            if tensor.made is not None:
                self._tensors[tensor.name] = TensorData(tensor, made_tensor(tensor))
        self._operands: dict[OperandLayout, Operand] = {}

    def operand(self, layout: OperandLayout) -> Operand:
        """A tensor in a layout, built once."""
        if layout not in self._operands:
            self._operands[layout] = self._tensors[layout.tensor].operand(layout)
        return self._operands[layout]

    @cached_property
    def elements(self) -> dict[str, Elements]:
        """The elements of each given tensor."""
        return {name: one.elements for name, one in self._tensors.items()}

    @cached_property
    def held(self) -> dict[str, Occupancy]:
        """The statistics of each given tensor."""
        return {
            name: Occupancy.dense(e.tensor.shape)
            if len(e.values) == prod(e.tensor.shape)
            else Occupancy(e.coords, e.tensor.shape)
            for name, e in self.elements.items()
        }

    @cached_property
    def levels(self) -> dict[str, tuple[LevelFormat, ...]]:
        """Per given tensor the levels that suit what it holds, outermost first.

        Dense where every element is there.  Else compressed, and the outermost dense where that
        takes no more room than the elements do: then no search finds its coordinates.
        """
        return suitable_levels(self.held)

    @cached_property
    def wanted(self) -> Floats:
        """The network's result, computed by the reference."""
        check_dense(self.tree)
        return evaluate(self.tree, self.elements)

    @cached_property
    def sizes(self) -> Floats:
        """Per element of the result the sum of its absolute products."""
        if all((e.values >= 0).all() for e in self.elements.values()):
            return self.wanted
        return evaluate(self.tree, self.elements, sizes=True)

    def error(self, result: Floats) -> float:
        """The largest relative error of a result; infinite where there is to be nothing."""
        with np.errstate(all="ignore"):
            off = np.abs(result - self.wanted)
            relative = np.where(off == 0, 0.0, off / self.sizes)
        worst = float(np.max(relative, initial=0.0))
        return worst if np.isfinite(worst) else float("inf")


def check_dense(tree: ContractionTree) -> None:
    """Refuse a result that is too large as a dense array."""
    size = WORD * prod(tree.extents[x] for x in tree.result.indices)
    if size > MOST_BYTES:
        raise LimitError(
            f"{tree.result} takes {counted(size, 'byte')} as a dense array, the limit is "
            f"{MOST_BYTES:,}",
            hint="take its elements, kernel.run_listed(data)",
        )
