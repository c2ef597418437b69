"""Kernels of nests: compiled, run on data, checked, and only then timed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import prod
from statistics import median
from typing import Any

import numpy as np

from fuseloom.codegen.compile import FLAGS, Backend, Call, CompiledRoutines, build
from fuseloom.contraction.kernels.arrays import Prepared, held_elements
from fuseloom.contraction.kernels.data import MOST_BYTES, WORD, Data, check_dense
from fuseloom.contraction.kernels.interruptible import interruptible
from fuseloom.contraction.kernels.lower import lower
from fuseloom.contraction.kernels.operands import Floats, Ints
from fuseloom.contraction.kernels.parts import Lowered
from fuseloom.contraction.kernels.references import bind
from fuseloom.contraction.loopnest.ir import Nest
from fuseloom.contraction.tree import ContractionTree
from fuseloom.errors import LimitError, ProgramError
from fuseloom.program import LevelFormat
from fuseloom.timing import check_rounds, in_turns, rounds_within
from fuseloom.wording import counted

EXACT = 1e-9
"""Relative error up to which a result counts as right."""
RUNS = 7
LONG = 0.1
"""Seconds from which on a run can be interrupted by Ctrl-C; of a shorter one, before and after."""
SHORT = 0.01
"""Seconds below which a run is not worth a thread of its own."""
SECONDS = 60.0
"""After so long no further round of runs begins."""


@dataclass(frozen=True)
class KernelMeasurement:
    """The measurements of a kernel.

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
        """True if the result equals that of the reference."""
        return self.max_rel_error <= EXACT


@dataclass(frozen=True, eq=False)
class NestKernel:
    """A nest as machine code.

    Attributes
    ----------
    lowered : Lowered
    built : CompiledRoutines
        The file that it is compiled in.
    number : int
        Which of that file's routines it is.

    Examples
    --------
    >>> from fuseloom.contraction.loopnest.parser import parse_nest
    >>> from fuseloom.contraction.networks import from_einsum
    >>> from fuseloom.contraction.paths import binary
    >>> tree = binary(from_einsum("ij,jk->ik", {"i": 2, "j": 2, "k": 2}))
    >>> nest = parse_nest("forall(j, forall(i, forall(k, R(i,k) += A(j,i) * B(j,k))))")
    >>> (kernel,) = kernels([nest], tree)
    >>> kernel({"A": np.array([[0, 2], [1, 0]]), "B": ([[0, 1], [1, 0]], [3.0, 0.5])})
    array([[1., 0.],
           [0., 3.]])
    """

    lowered: Lowered
    built: CompiledRoutines
    number: int

    @property
    def tree(self) -> ContractionTree:
        return self.lowered.bound.tree

    @property
    def call(self) -> Call:
        """The machine code."""
        return self.built.calls[self.number]

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
        return sum(WORD * n for n in held_elements(self.lowered)[:-1])

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
        if self.lowered.listed is not None:
            check_dense(self.tree)
        prepared = Prepared(self.lowered, self.call, taken, np.empty(self._room))
        self._execute(prepared)
        return prepared.result()

    def run_listed(self, data: Mapping[str, Any] | Data) -> tuple[Ints, Floats]:
        """Coordinates, shape (nnz, rank), and values of the result's elements that are not 0.

        In the order of the nest's loops; coordinates are in the tree's mode order.

        Raises
        ------
        DataError
            Of data that contradict their declaration.
        ProgramError
            If the kernel was not made with ``listed``.
        LimitError
            If there are too many elements.
        """
        if self.lowered.listed is None:
            raise ProgramError(
                "this kernel makes a dense result", hint="make it by kernels(..., listed=True)"
            )
        taken = data if isinstance(data, Data) else Data(self.tree, data)
        prepared = Prepared(self.lowered, self.call, taken, np.empty(self._room))
        self._execute(prepared)
        return prepared.elements()

    def _execute(self, prepared: Prepared) -> None:
        """Run, interruptible unless a run on as many elements was short: threads cost time."""
        size = sum(array.size for array in prepared.arrays)
        if size <= self._short[0]:
            prepared.execute()
            return
        began = time.perf_counter()
        interruptible(prepared.execute)
        if time.perf_counter() - began < SHORT:
            self._short[0] = size

    @cached_property
    def _short(self) -> list[int]:
        """The largest number of elements on which a run was short."""
        return [0]

    def time_listed(self, data: Mapping[str, Any] | Data, runs: int = RUNS) -> float:
        """Median of the seconds that :meth:`run_listed` takes, without what prepares data.

        The first run, which finds how many elements there are, does not count.
        """
        self.run_listed(data)
        taken = data if isinstance(data, Data) else Data(self.tree, data)
        prepared = Prepared(self.lowered, self.call, taken, np.empty(self._room))
        prepared.execute()
        clock = []
        for _ in rounds_within(runs):
            began = time.perf_counter()
            prepared.execute()
            clock.append(time.perf_counter() - began)
        return median(clock)

    @cached_property
    def _room(self) -> int:
        return sum(held_elements(self.lowered))


def count_products(
    nest: Nest,
    tree: ContractionTree,
    data: Mapping[str, Any] | Data,
    *,
    levels: Mapping[str, tuple[LevelFormat, ...]] | None = None,
) -> dict[str, int]:
    """Count how often a nest's code executes each assignment on data, by the assigned result.

    An assignment multiplies once less than it has operands.

    Raises
    ------
    FuseloomError
        As :func:`kernels` and :meth:`NestKernel.run`.

    Examples
    --------
    >>> from fuseloom.contraction.loopnest.parser import parse_nest
    >>> from fuseloom.contraction.networks import from_einsum
    >>> from fuseloom.contraction.paths import binary
    >>> tree = binary(from_einsum("ij,j->i", {"i": 3, "j": 3}))
    >>> nest = parse_nest("forall(i, forall(j, R(i) += A(i,j) * B(j)))")
    >>> count_products(nest, tree, {"A": np.eye(3), "B": np.ones(3)})
    {'R': 3}
    """
    lowered = lower(bind(nest, tree, levels), counted=True)
    _check_bytes(lowered, MOST_BYTES)
    kernel = NestKernel(lowered, build([lowered.routine]), 0)
    taken = data if isinstance(data, Data) else Data(tree, data)
    prepared = Prepared(lowered, kernel.call, taken, np.empty(kernel._room))
    prepared.execute()
    counts = dict(zip(tree.by_name, prepared.products.tolist(), strict=True))
    return {name: counts[name] for name in lowered.bound.assigns}


def kernels(
    nests: Sequence[Nest],
    tree: ContractionTree,
    *,
    levels: Mapping[str, tuple[LevelFormat, ...]] | None = None,
    backend: Backend | None = None,
    flags: Sequence[str] = FLAGS,
    most_bytes: int = MOST_BYTES,
    listed: bool = False,
) -> tuple[NestKernel, ...]:
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
    listed : bool
        Whether the result is a list of its elements, :meth:`NestKernel.run_listed`: of it only the
        dimensions of the inner loops are a dense array then.

    Raises
    ------
    ProgramError
        Of a nest that does not compute the network, or that nothing is compiled of.
    LimitError
        If workspaces and result of a nest take more bytes than they may; nothing is allocated.
    """
    if not nests:
        raise ProgramError("there is no nest to compile")
    if listed and prod(tree.extents[x] for x in tree.result.indices) >= 2**63:
        raise LimitError(
            f"{tree.result} has more positions than an int64 counts",
            hint="use smaller extents",
        )
    lowered = [lower(bind(nest, tree, levels), listed) for nest in nests]
    for one in lowered:
        _check_bytes(one, most_bytes)
    built = build([one.routine for one in lowered], backend, flags)
    return tuple(NestKernel(one, built, number) for number, one in enumerate(lowered))


def _check_bytes(lowered: Lowered, most: int) -> None:
    counts = held_elements(lowered)
    if WORD * sum(counts) <= most:
        return
    made = [*(a for a in lowered.bound.workspaces if a.indices), lowered.bound.result]
    largest = max(range(len(counts)), key=counts.__getitem__)
    raise LimitError(
        f"{made[largest]} takes {counted(WORD * counts[largest], 'byte')} as a dense array, and "
        "all that "
        f"the nest makes may take {most:,}",
        hint="choose a nest that fuses more of its loops, or give most_bytes; of a large result, "
        "listed=True holds the elements alone",
    )


def measure(
    named: Mapping[str, NestKernel],
    data: Mapping[str, Any] | Data,
    *,
    runs: int = RUNS,
    seconds: float = SECONDS,
) -> dict[str, KernelMeasurement]:
    """Times of kernels of one network, each checked first.

    They run in turns, so that what else the machine does meets all alike, and a short one once
    more before each run that counts.  A run includes emptying the result.

    Parameters
    ----------
    runs : int
        Of each kernel, besides the one that is checked.
    seconds : float
        After so long no further round of runs begins; there is one at least.

    Raises
    ------
    ProgramError
        If there is no kernel, no run, no time, or they are of different networks.
    DataError
        Of data that contradict their declaration.
    LimitError
        If the reference would take far too long.

    Examples
    --------
    >>> from fuseloom.contraction.loopnest.parser import parse_nest
    >>> from fuseloom.contraction.networks import from_einsum
    >>> from fuseloom.contraction.paths import binary
    >>> tree = binary(from_einsum("ij,j->i", {"i": 2, "j": 2}))
    >>> nest = parse_nest("forall(i, forall(j, R(i) += A(i,j) * B(j)))")
    >>> (kernel,) = kernels([nest], tree)
    >>> found = measure({"by rows": kernel}, {"A": np.eye(2), "B": np.ones(2)}, runs=3)
    >>> found["by rows"].right, found["by rows"].runs
    (True, 3)
    """
    check_rounds(runs, seconds)
    if not named:
        raise ProgramError("there is nothing to measure", hint="give a kernel")
    tree = next(iter(named.values())).tree
    if any(kernel.tree != tree for kernel in named.values()):
        raise ProgramError("kernels of different networks are no rivals", hint="measure them apart")
    check_dense(tree)
    taken = data if isinstance(data, Data) else Data(tree, data)
    memory = np.empty(max(kernel._room for kernel in named.values()))
    errors: dict[str, float] = {}
    ready: dict[str, Prepared] = {}
    apart: dict[str, bool] = {}
    for name, kernel in named.items():
        prepared = Prepared(kernel.lowered, kernel.call, taken, memory)
        first = interruptible(partial(_timed, prepared))
        apart[name] = first[0] > LONG
        errors[name] = taken.error(prepared.result())
        if errors[name] <= EXACT:
            ready[name] = prepared
    clock: dict[str, list[float]] = {name: [] for name in named}
    spent: dict[str, list[float]] = {name: [] for name in named}
    for number in rounds_within(runs, seconds):
        for name in in_turns([*ready], number):
            run = partial(_timed, ready[name])
            if not apart[name]:
                run()  # so that its own data are in the caches, not those of the one before
            taken_now = interruptible(run) if apart[name] else run()
            clock[name].append(taken_now[0])
            spent[name].append(taken_now[1])
    return {
        name: KernelMeasurement(
            seconds=median(clock[name]) if clock[name] else None,
            cpu_seconds=median(spent[name]) if spent[name] else None,
            runs=len(clock[name]),
            max_rel_error=errors[name],
            compile_seconds=kernel.built.seconds,
            workspace_bytes=kernel.workspace_bytes,
        )
        for name, kernel in named.items()
    }


def _timed(prepared: Prepared) -> tuple[float, float]:
    """Seconds by the clock and of the processor."""
    began, began_cpu = time.perf_counter(), time.thread_time()
    prepared.execute()
    return time.perf_counter() - began, time.thread_time() - began_cpu
