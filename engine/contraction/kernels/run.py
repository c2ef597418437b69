"""Kernels of nests: compiled, run on data, checked, and only then timed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from statistics import median
from typing import Any

import numpy as np

from engine.contraction.kernels.compile import FLAGS, Backend, Built, build
from engine.contraction.kernels.lower import Lowered, lower
from engine.contraction.kernels.operands import (
    Elements,
    Floats,
    Ints,
    Operand,
    elements_of,
    operand,
)
from engine.contraction.kernels.reference import evaluate
from engine.contraction.kernels.references import Layout, bind
from engine.contraction.loopnest.ir import Nest
from engine.contraction.tree import ContractionTree
from engine.errors import DataError, LimitError, ProgramError
from engine.program import Access, CompressedLevel, LevelFormat
from engine.program.formats import suggestion

MOST_BYTES = 2**31
"""Of workspaces and result together."""
EXACT = 1e-9
"""Relative error up to which a result counts as right."""
RUNS = 7
SECONDS = 60.0
"""After so long no further round of runs begins."""
_WORD = 8


@dataclass(frozen=True)
class Measured:
    """How a kernel did.

    Attributes
    ----------
    seconds : float or None
        Median of its runs, by the clock; None where its result is wrong.
    cpu_seconds : float or None
        Median of what its runs took of the processor.
    runs : int
    max_rel_error : float
        The largest difference from the reference, relative to the sum of the absolute products
        of its element.
    compile_seconds : float
        Of the file that it is compiled in.
    workspace_bytes : int
    """

    seconds: float | None
    cpu_seconds: float | None
    runs: int
    max_rel_error: float
    compile_seconds: float
    workspace_bytes: int

    @property
    def right(self) -> bool:
        """Whether the result is that of the reference."""
        return self.max_rel_error <= EXACT


class Data:
    """Data of a network's given tensors, in the layouts that kernels ask for.

    Parameters
    ----------
    tree : ContractionTree
    given : mapping
        Per given tensor what :func:`~engine.contraction.kernels.operands.elements_of` takes.

    Raises
    ------
    DataError
        If data are missing, unknown, or contradict their declaration.
    """

    def __init__(self, tree: ContractionTree, given: Mapping[str, Any]) -> None:
        names = list(dict.fromkeys(a.tensor for a in tree.inputs))
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
        self.elements: dict[str, Elements] = {
            name: elements_of(tree.program.tensor(name), given[name]) for name in names
        }
        self._operands: dict[Layout, Operand] = {}

    def operand(self, layout: Layout) -> Operand:
        """A tensor in a layout, built once."""
        if layout not in self._operands:
            self._operands[layout] = operand(self.elements[layout.tensor], layout)
        return self._operands[layout]

    @cached_property
    def wanted(self) -> Floats:
        """What the network computes, by the reference."""
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


@dataclass(frozen=True, eq=False)
class Kernel:
    """A nest as machine code.

    Attributes
    ----------
    lowered : Lowered
    built : Built
        The file that it is compiled in.
    number : int
        Which of that file's routines it is.

    Examples
    --------
    >>> from engine.contraction.loopnest.parser import parse_nest
    >>> from engine.contraction.networks import binary, from_einsum
    >>> tree = binary(from_einsum("ij,jk->ik", {"i": 2, "j": 2, "k": 2}))
    >>> nest = parse_nest("forall(j, forall(i, forall(k, R(i,k) += A(j,i) * B(j,k))))")
    >>> (kernel,) = kernels([nest], tree)
    >>> kernel({"A": np.array([[0, 2], [1, 0]]), "B": ([[0, 1], [1, 0]], [3.0, 0.5])})
    array([[1., 0.],
           [0., 3.]])
    """

    lowered: Lowered
    built: Built
    number: int

    @property
    def tree(self) -> ContractionTree:
        return self.lowered.bound.tree

    @property
    def nest(self) -> Nest:
        return self.lowered.bound.nest

    @property
    def source(self) -> str:
        """The text of the file that it is compiled in."""
        return self.built.source

    @cached_property
    def workspace_bytes(self) -> int:
        """Of all its workspaces."""
        return sum(_WORD * n for n in _elements(self.lowered)[:-1])

    def __call__(self, data: Mapping[str, Any] | Data) -> Floats:
        """The result, as :meth:`run` gives it."""
        return self.run(data)

    def run(self, data: Mapping[str, Any] | Data) -> Floats:
        """The result, its dimensions as the tree has them.

        Raises
        ------
        DataError
            Of data that contradict their declaration.
        """
        taken = data if isinstance(data, Data) else Data(self.tree, data)
        prepared = _Prepared(self, taken, np.empty(self._room))
        prepared.execute()
        return prepared.result()

    @cached_property
    def _room(self) -> int:
        return sum(_elements(self.lowered))


class _Prepared:
    """A kernel with its arrays, in a part of memory that others may use as well between runs."""

    def __init__(self, kernel: Kernel, data: Data, memory: Floats) -> None:
        lowered = kernel.lowered
        tree = kernel.tree
        self.call = kernel.built.calls[kernel.number]
        self.sizes: Ints = np.array([tree.extents[x] for x in lowered.sizes], dtype=np.int64)
        self.arrays: list[Any] = []
        made = {a.out.tensor: a.out for a in lowered.bound.assigns.values()}
        used = 0
        for slot in lowered.slots:
            if slot.layout is not None:
                self.arrays.append(_part(data.operand(slot.layout), slot.part, slot.level))
                continue
            count = prod(tree.extents[x] for x in made[slot.part].indices)
            self.arrays.append(memory[used : used + count])
            used += count
        self.out = self.arrays[-1]
        access = lowered.bound.result
        self.shape = tuple(tree.extents[x] for x in access.indices)
        self.order = tuple(access.indices.index(x) for x in tree.result.indices)

    def execute(self) -> None:
        self.out.fill(0.0)
        self.call(self.sizes, self.arrays)

    def result(self) -> Floats:
        """A copy."""
        return np.array(self.out.reshape(self.shape).transpose(self.order), order="C")


def _part(found: Operand, part: str, level: int) -> Any:
    array: Any = found.values
    if part != "values":
        held = found.levels[level]
        assert isinstance(held, CompressedLevel)
        array = held.seg if part == "seg" else held.crd
    return np.require(array, requirements=["C", "A", "W"])


def _elements(lowered: Lowered) -> list[int]:
    """Per workspace, and at last the result, its number of elements."""
    extents = lowered.bound.tree.extents
    made: list[Access] = [a for a in lowered.bound.workspaces if a.indices]
    return [prod(extents[x] for x in a.indices) for a in (*made, lowered.bound.result)]


def kernels(
    nests: Sequence[Nest],
    tree: ContractionTree,
    *,
    levels: Mapping[str, tuple[LevelFormat, ...]] | None = None,
    backend: Backend | None = None,
    flags: Sequence[str] = FLAGS,
    most_bytes: int = MOST_BYTES,
) -> tuple[Kernel, ...]:
    """Nests of a network as machine code, compiled in one file.

    Parameters
    ----------
    levels : mapping, optional
        Per given tensor its levels, outermost first; by default as they are declared.
    backend : Backend, optional
        By default C, or numba where there is no C compiler.
    flags : sequence of str
        Of the C compiler.
    most_bytes : int
        Of the workspaces and the result of each.

    Raises
    ------
    ProgramError
        Of a nest that does not compute the network, or that nothing is compiled of.
    LimitError
        If workspaces and result of a nest take more bytes than they may; nothing is allocated.
    """
    if not nests:
        raise ProgramError("there is no nest to compile")
    lowered = [lower(bind(nest, tree, levels)) for nest in nests]
    for one in lowered:
        _check_bytes(one, most_bytes)
    built = build([one.routine for one in lowered], backend, flags)
    return tuple(Kernel(one, built, number) for number, one in enumerate(lowered))


def _check_bytes(lowered: Lowered, most: int) -> None:
    counts = _elements(lowered)
    if _WORD * sum(counts) <= most:
        return
    made = [*(a for a in lowered.bound.workspaces if a.indices), lowered.bound.result]
    largest = max(range(len(counts)), key=counts.__getitem__)
    raise LimitError(
        f"{made[largest]} takes {_WORD * counts[largest]:,} bytes as a dense array, and all that "
        f"the nest makes may take {most:,}",
        hint="choose a nest that fuses more of its loops, or give most_bytes",
    )


def measure(
    named: Mapping[str, Kernel],
    data: Mapping[str, Any] | Data,
    *,
    runs: int = RUNS,
    seconds: float = SECONDS,
) -> dict[str, Measured]:
    """Times of kernels of one network, each checked first.

    They run in turns, so that what else the machine does meets all alike.  A run includes
    emptying the result.

    Parameters
    ----------
    runs : int
        Of each kernel, besides the one that is checked.
    seconds : float
        After so long no further round of runs begins; there is one at least.

    Raises
    ------
    ProgramError
        If there is no kernel, no run, or they are of different networks.
    DataError
        Of data that contradict their declaration.
    LimitError
        If the reference would take far too long.

    Examples
    --------
    >>> from engine.contraction.loopnest.parser import parse_nest
    >>> from engine.contraction.networks import binary, from_einsum
    >>> tree = binary(from_einsum("ij,j->i", {"i": 2, "j": 2}))
    >>> nest = parse_nest("forall(i, forall(j, R(i) += A(i,j) * B(j)))")
    >>> (kernel,) = kernels([nest], tree)
    >>> found = measure({"by rows": kernel}, {"A": np.eye(2), "B": np.ones(2)}, runs=3)
    >>> found["by rows"].right, found["by rows"].runs
    (True, 3)
    """
    if not named or runs < 1:
        raise ProgramError(
            "there is nothing to measure", hint="give a kernel, and runs of 1 or more"
        )
    tree = next(iter(named.values())).tree
    if any(kernel.tree != tree for kernel in named.values()):
        raise ProgramError("kernels of different networks are no rivals", hint="measure them apart")
    taken = data if isinstance(data, Data) else Data(tree, data)
    memory = np.empty(max(kernel._room for kernel in named.values()))
    errors: dict[str, float] = {}
    ready: dict[str, _Prepared] = {}
    for name, kernel in named.items():
        prepared = _Prepared(kernel, taken, memory)
        prepared.execute()
        errors[name] = taken.error(prepared.result())
        if errors[name] <= EXACT:
            ready[name] = prepared
    clock: dict[str, list[float]] = {name: [] for name in named}
    spent: dict[str, list[float]] = {name: [] for name in named}
    end = time.perf_counter() + seconds
    for _ in range(runs):
        for name, prepared in ready.items():
            began, began_cpu = time.perf_counter(), time.thread_time()
            prepared.execute()
            spent[name].append(time.thread_time() - began_cpu)
            clock[name].append(time.perf_counter() - began)
        if time.perf_counter() > end:
            break
    return {
        name: Measured(
            seconds=median(clock[name]) if clock[name] else None,
            cpu_seconds=median(spent[name]) if spent[name] else None,
            runs=len(clock[name]),
            max_rel_error=errors[name],
            compile_seconds=kernel.built.seconds,
            workspace_bytes=kernel.workspace_bytes,
        )
        for name, kernel in named.items()
    }
