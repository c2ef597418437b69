"""Kernels of the baseline as kernels with schedules, so that they can be run and timed.

Each group of operations that XLA's rules make a kernel becomes a computation of its own, whose
parameters are what it reads; deep fusion makes a kernel of it, or several where it cannot.  What
the rules compute in several kernels is copied for each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fuseloom.stitch.fusion import SHARED_MEMORY, FusionSettings, fuse
from fuseloom.stitch.graph import DenseComputation, DenseModule, DenseOperation
from fuseloom.stitch.kernel_memory import memory_check
from fuseloom.stitch.shapes import TensorShape, TupleShape, ValueShape
from fuseloom.stitch.shared_memory import SpaceSharing
from fuseloom.stitch.spans import analyse_spans
from fuseloom.stitch.stitched import DeepFusion, StitchedKernel
from fuseloom.stitch.xla_rules import XlaFusion, XlaKernel


@dataclass(frozen=True)
class BaselineKernels:
    """A module whose main computation is fused as the baseline fuses it.

    Attributes
    ----------
    module : DenseModule
        With copies of what several kernels compute.
    fusion : DeepFusion
        Of its main computation.
    split : tuple of str
        Roots of kernels of the baseline that are several here.
    """

    module: DenseModule
    fusion: DeepFusion
    split: tuple[str, ...]


def baseline_kernels(
    module: DenseModule,
    baseline: XlaFusion,
    *,
    shared_memory: int = SHARED_MEMORY,
    sharing: SpaceSharing = SpaceSharing.LIVENESS,
) -> BaselineKernels:
    """Give the kernels of the baseline schedules, and write the computation of these kernels.

    Parameters
    ----------
    module : DenseModule
        Without calls; its main computation is the one that was fused.
    baseline : XlaFusion
    shared_memory : int
        Bytes that a block may have.
    sharing : SpaceSharing

    Examples
    --------
    >>> from fuseloom.stitch.hlo import read_hlo
    >>> from fuseloom.stitch.xla_rules import xla_fusion
    >>> module = read_hlo('''HloModule m
    ... ENTRY main {
    ...   x = f32[4,8] parameter(0)
    ...   y = f32[4,8] negate(x)
    ...   z = f32[8,4] transpose(y), dimensions={1,0}
    ...   ROOT w = f32[8,4] exponential(z)
    ... }''')
    >>> made = baseline_kernels(module, xla_fusion(module.main))
    >>> [kernel.operations for kernel in made.fusion.kernels], made.split
    ([('y',), ('z',), ('w',)], ())
    """
    computation = module.main
    kernels: list[StitchedKernel] = []
    split: list[str] = []
    made: dict[str, DenseOperation] = {}
    originals: dict[str, str] = {}
    for number, group in enumerate(baseline.kernels):
        if group.is_call:
            made |= {name: computation.by_name[name] for name in group.operations}
            kernels.append(_call(computation, group))
            continue
        part = _part(computation, group, f"kernel{number}/", originals)
        fusion = fuse(
            part, shared_memory=shared_memory,
            consistent=memory_check(part, limit=shared_memory, sharing=sharing),
            settings=FusionSettings(call_layers=False),
        )  # fmt: skip
        kernels += fusion.kernels
        if fusion.count > 1:
            split.append(group.roots[0])
        originals |= {
            copy: originals.get(one, one) for copy, one in fusion.originals.items()
        }  # fmt: skip
        made |= {
            one.name: one for one in fusion.computation.operations
            if one.opcode not in ("parameter", "constant") and one.name != _RESULT
        }  # fmt: skip
    inside = {name for group in baseline.kernels for name in group.operations}
    made |= {one.name: one for one in computation.operations if one.name not in inside}
    order = _in_order(made, computation)
    whole = DenseComputation(computation.name, order, computation.root)
    known = {**module.computations, module.entry: whole}
    return BaselineKernels(
        replace(module, computations=known),
        DeepFusion(whole, originals, analyse_spans(whole), tuple(kernels), ()),
        tuple(split),
    )


_RESULT = "results of a kernel"


def _call(computation: DenseComputation, group: XlaKernel) -> StitchedKernel:
    opcode = computation.by_name[group.roots[0]].opcode
    reason = f"a call of a library: {opcode}"
    return StitchedKernel(group.operations, group.roots, None, {}, (), reason, True)


def _part(
    computation: DenseComputation, group: XlaKernel, prefix: str, originals: dict[str, str]
) -> DenseComputation:
    """The operations of a kernel as a computation; those that are no roots have own names."""
    names = {name: name if name in group.roots else prefix + name for name in group.operations}
    originals |= {new: name for name, new in names.items() if new != name}
    made: dict[str, DenseOperation] = {}
    for name in group.operations:
        operation = computation.by_name[name]
        for operand in operation.operands:
            if operand not in names and operand not in made:
                made[operand] = _given(computation.by_name[operand], len(made))
        read = tuple(names.get(one, one) for one in operation.operands)
        made[names[name]] = replace(operation, name=names[name], operands=read)
    roots = group.roots
    if len(roots) > 1:
        shape = TupleShape(tuple(computation.by_name[root].array for root in roots))
        made[_RESULT] = DenseOperation(_RESULT, "tuple", shape, roots)
    root = _RESULT if len(roots) > 1 else roots[0]
    return DenseComputation(computation.name, tuple(made.values()), root)


def _given(operation: DenseOperation, number: int) -> DenseOperation:
    """A number as it is, and a parameter in the place of another operation."""
    shape: ValueShape = operation.shape
    if operation.opcode == "constant" and isinstance(shape, TensorShape) and shape.elements == 1:
        return operation
    return DenseOperation(operation.name, "parameter", shape, (), {"number": number})


def _in_order(
    operations: Mapping[str, DenseOperation], computation: DenseComputation
) -> tuple[DenseOperation, ...]:
    """Operations, each behind those that it reads.

    A bitcast that kernels compute may be read in memory, too, and is an operation of its own then.
    """
    made: dict[str, DenseOperation] = {}
    stack: list[tuple[str, bool]] = [(name, False) for name in list(operations)[::-1]]
    while stack:
        name, behind = stack.pop()
        if name in made:
            continue
        operation = operations.get(name) or computation.by_name[name]
        if behind:
            made[name] = operation
            continue
        stack.append((name, True))
        stack += [(one, False) for one in operation.operands if one not in made]
    return tuple(made.values())
