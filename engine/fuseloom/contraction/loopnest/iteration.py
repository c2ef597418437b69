"""The iteration of a fused region by the streaming machine, as loops (FuseFlow §3, Fig. 5).

Under one order of all indices a fused region can be iterated *globally*, as one product of all
tensors, or *factored*: a producer is iterated within its consumer's loops up to the first that it
sums over, so that only what is inside these is kept; it is done again wherever the consumer has a
loop outside that the producer has not.
"""

from __future__ import annotations

from collections.abc import Sequence

from fuseloom.contraction.loopnest.ir import Assign, Forall, Nest, Where
from fuseloom.contraction.tree import Contraction, ContractionTree
from fuseloom.errors import ProgramError
from fuseloom.program import Access


def factored(tree: ContractionTree, order: Sequence[str]) -> Nest:
    """The factored iteration of a tree under one order of its indices.

    Parameters
    ----------
    order : sequence of str
        Every index of the tree, outermost first.

    Raises
    ------
    ProgramError
        If it is no order of the indices.

    Examples
    --------
    >>> from fuseloom.contraction.loopnest.ir import indented
    >>> from fuseloom.contraction.networks import from_einsum
    >>> from fuseloom.contraction.paths import binary
    >>> tree = binary(from_einsum("ij,jk,kl->il", dict.fromkeys("ijkl", 4)), "((A B) C)")
    >>> print(indented(factored(tree, "ilkj")))
    for i
      for l
        for k
          X1() = 0
          for j
            X1() += A(i,j) * B(k,j)
          R(i,l) += X1() * C(l,k)
    """
    order = _checked(tree, order)
    return _factored(tree, tree.contractions[-1], _in_order(tree.result, order), order, ())


def global_iteration(tree: ContractionTree, order: Sequence[str]) -> Nest:
    """The global iteration: one product of all given tensors.

    Raises
    ------
    ProgramError
        As :func:`factored`.

    Examples
    --------
    >>> from fuseloom.contraction.networks import from_einsum
    >>> from fuseloom.contraction.paths import binary
    >>> tree = binary(from_einsum("ij,jk,k->i", dict.fromkeys("ijk", 4)), "((A B) C)")
    >>> print(global_iteration(tree, "ijk"))
    forall(i, forall(j, forall(k, R(i) += A(i,j) * B(j,k) * C(k))))
    """
    order = _checked(tree, order)
    operands = tuple(_in_order(a, order) for a in tree.inputs)
    nest: Nest = Assign(_in_order(tree.result, order), operands)
    for index in reversed(order):
        nest = Forall(index, nest)
    return nest


def _checked(tree: ContractionTree, order: Sequence[str]) -> tuple[str, ...]:
    wanted = sorted(tree.extents)
    if sorted(order) != wanted:
        raise ProgramError(
            f"{','.join(order)} is no order of the indices", hint=f"order {', '.join(wanted)}"
        )
    return tuple(order)


def _factored(
    tree: ContractionTree,
    made: Contraction,
    out: Access,
    order: tuple[str, ...],
    bound: tuple[str, ...],
) -> Nest:
    """The loops of a contraction within loops that are there, and of what it reads."""
    loops = [x for x in order if x in made.indices and x not in bound]
    producers: list[tuple[int, Nest]] = []
    operands: list[Access] = []
    for access in made.operands:
        producer = tree.by_name.get(access.tensor)
        if producer is None:
            operands.append(_in_order(access, order))
            continue
        depth = _shared(producer, loops, order)
        within = (*bound, *loops[:depth])
        left = Access(access.tensor, tuple(x for x in order if x in access.indices
                                           and x not in within))  # fmt: skip
        operands.append(left)
        producers.append((depth, _factored(tree, producer, left, order, within)))
    nest: Nest = Assign(out, tuple(operands))
    for depth in range(len(loops), -1, -1):
        for place, producer_nest in producers:
            if place == depth:
                nest = Where(nest, producer_nest)
        if depth:
            nest = Forall(loops[depth - 1], nest)
    return nest


def _shared(producer: Contraction, loops: Sequence[str], order: Sequence[str]) -> int:
    """Return the number of the consumer's loops that enclose the producer.

    Those up to the last that it has itself, as far as they are outside all that it sums.
    """
    summed = set(producer.indices) - set(producer.out.indices)
    first = min((order.index(x) for x in summed), default=len(order))
    own = [n for n, x in enumerate(loops) if x in producer.indices and order.index(x) < first]
    return max(own, default=-1) + 1


def _in_order(access: Access, order: Sequence[str]) -> Access:
    return Access(access.tensor, tuple(x for x in order if x in access.indices))
