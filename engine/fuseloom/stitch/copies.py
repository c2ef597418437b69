"""Copies of light operations, one for each operation that reads them.

Bitcasts, iotas, slices and broadcasts are computed where they are read.  With a copy for each of
their readers, each copy lies in the kernel of its reader, as copies do that XLA makes as it fuses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count

from fuseloom.stitch.graph import DenseComputation, DenseOperation
from fuseloom.stitch.opcodes import (
    POINTWISE,
    OperationClass,
    ProductFusion,
    is_library_call,
    is_light,
    operation_class,
)

MOST_COPIES = 64
"""Copies of an operation; one with more readers is computed once."""


@dataclass(frozen=True)
class CopiedComputation:
    """A computation with copies.

    Attributes
    ----------
    computation : DenseComputation
    originals : dict of str to str
        Per copy the operation that it is a copy of.
    """

    computation: DenseComputation
    originals: dict[str, str]


def with_copies(
    computation: DenseComputation, products: ProductFusion = ProductFusion.NEVER
) -> CopiedComputation:
    """Give each operation that computes light ones where it reads them a copy of its own.

    What is read by others, too, such as calls of libraries, stays for these under its name.

    Examples
    --------
    >>> from fuseloom.stitch.shapes import TensorShape
    >>> row, rows = TensorShape("f32", (4,)), TensorShape("f32", (8, 4))
    >>> made = with_copies(DenseComputation("f", (
    ...     DenseOperation("x", "parameter", row),
    ...     DenseOperation("wide", "broadcast", rows, ("x",), {"dimensions": (1,)}),
    ...     DenseOperation("y", "negate", rows, ("wide",)),
    ...     DenseOperation("z", "add", rows, ("wide", "y")),
    ... ), "z"))
    >>> [one.name for one in made.computation.operations], made.originals
    (['x', 'wide', 'wide.copy1', 'y', 'z'], {'wide.copy1': 'wide'})
    """
    names = {one.name for one in computation.operations}
    outputs = {*computation.outputs, computation.root}
    by_name = dict(computation.by_name)
    users = {name: list(of_one) for name, of_one in computation.users.items()}
    originals: dict[str, str] = {}
    copies: dict[str, list[str]] = {}
    for operation in reversed(computation.operations):
        name = operation.name
        if not is_light(computation, operation):
            continue
        readers = [user for user in users[name] if _computes(by_name[user], products)]
        kept = len(readers) < len(users[name]) or name in outputs
        if len(readers) + kept < 2 or len(readers) > MOST_COPIES:
            continue
        copies[name] = []
        for reader in readers if kept else readers[1:]:
            fresh = next(x for n in count(1) if (x := f"{name}.copy{n}") not in names)
            names.add(fresh)
            originals[fresh] = name
            copies[name].append(fresh)
            by_name[fresh] = replace(by_name[name], name=fresh)
            read = tuple(fresh if one == name else one for one in by_name[reader].operands)
            by_name[reader] = replace(by_name[reader], operands=read)
            users[fresh] = [reader]
            users[name].remove(reader)
            for operand in dict.fromkeys(operation.operands):
                users[operand].append(fresh)
    order: list[DenseOperation] = []
    for operation in computation.operations:
        own = [operation.name, *copies.get(operation.name, ())]
        order += [by_name[name] for name in own]
    return CopiedComputation(
        DenseComputation(computation.name, tuple(order), computation.root), originals
    )


def _computes(reader: DenseOperation, products: ProductFusion) -> bool:
    """Tell if an operation computes what it reads where it reads it, if that is light."""
    found = operation_class(reader)
    fused = {*POINTWISE, OperationClass.INDEXED, OperationClass.REDUCE, OperationClass.PRODUCT}
    return found in fused and not is_library_call(reader, products)
