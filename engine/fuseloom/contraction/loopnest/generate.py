"""From a solution to a nest of loops (CoNST §4.2, Algorithm 1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fuseloom.contraction.loopnest.ir import Assign, Forall, Nest, Where, assigned, read, walk
from fuseloom.contraction.solution import Solution
from fuseloom.contraction.tree import ContractionTree
from fuseloom.program import Access


@dataclass(frozen=True)
class _Pair:
    """An assignment, and the loops around it that are still to be made."""

    assign: Assign
    loops: tuple[str, ...]


def nest_of(solution: Solution) -> Nest:
    """The fused loops of a solution, references in the order of their levels.

    Dimensions of an intermediate that both its producer's and its consumer's loops run through
    together are no dimensions of its workspace.

    Examples
    --------
    >>> from fuseloom.contraction.shipped import shipped
    >>> loops = {"X1": ("i", "j", "r", "k"), "R": ("i", "j", "r")}
    >>> nest = nest_of(Solution(shipped("MTTKRP"), ("X1", "R"), loops))
    >>> nest.body.body.body.consumer
    Assign(out=Access(tensor='R', indices=('i', 'r')), operands=(Access(tensor='X1', indices=()), \
Access(tensor='C', indices=('j', 'r'))))
    """
    return _generate([_pair(solution, name) for name in solution.sequence])


def canonical(nest: Nest) -> str:
    """The text of a nest in which parts that do not depend on each other stand in one order.

    Nests with the same text do the same, whichever of two independent producers comes first.

    Examples
    --------
    >>> from fuseloom.contraction.loopnest.parser import parse_nest
    >>> one = "where(where(R() += S() * T(), forall(i, S() += A(i))), forall(j, T() += B(j)))"
    >>> two = "where(where(R() += S() * T(), forall(j, T() += B(j))), forall(i, S() += A(i)))"
    >>> canonical(parse_nest(one)) == canonical(parse_nest(two))
    True
    """
    match nest:
        case Assign():
            return str(nest)
        case Forall(index=index, body=body):
            return f"forall({index}, {canonical(body)})"
    parts = {canonical(part): part for part in _in_turn(nest)}
    written: list[str] = []
    while parts:
        ready = [
            text
            for text, part in parts.items()
            if not any(read(part) & assigned(other) for other in parts.values() if other != part)
        ]
        written.append(min(ready))
        del parts[written[-1]]
    return "; ".join(written)


def _in_turn(nest: Nest) -> Iterator[Nest]:
    """Yield the nests that are executed one after the other, at one level."""
    if isinstance(nest, Where):
        yield from _in_turn(nest.producer)
        yield from _in_turn(nest.consumer)
    else:
        yield nest


def unfused(solution: Solution) -> Nest:
    """The contractions of a solution one after the other, each with loops of its own."""
    nests = []
    for name in solution.sequence:
        pair = _pair(solution, name)
        nests.append(_around(pair.loops, pair.assign))
    nest = nests[0]
    for consumer in nests[1:]:
        nest = Where(consumer, nest)
    return nest


def nary(solution: Solution) -> Nest:
    """The whole network in one assignment.

    The loops are those of the last contraction, then what was summed before it, the latest first.
    """
    tree = solution.tree
    order: list[str] = []
    for name in reversed(solution.sequence):
        order += [x for x in solution.loops[name] if x not in order]
    return _around(order, _ordered(Assign(tree.result, tree.inputs), order))


def _around(loops: Sequence[str], body: Nest) -> Nest:
    for index in reversed(loops):
        body = Forall(index, body)
    return body


def layouts(nest: Nest, tree: ContractionTree) -> dict[str, tuple[int, ...]]:
    """Per given tensor and the result: which of its modes each level of the nest's holds.

    Examples
    --------
    >>> from fuseloom.contraction.loopnest.parser import parse_nest
    >>> from fuseloom.contraction.networks import from_einsum
    >>> from fuseloom.contraction.paths import binary
    >>> tree = binary(from_einsum("ij,jk->ik", {"i": 2, "j": 3, "k": 4}))
    >>> nest = parse_nest("forall(j, forall(i, forall(k, R(i,k) += A(j,i) * B(j,k))))")
    >>> layouts(nest, tree)
    {'R': (0, 1), 'A': (1, 0), 'B': (0, 1)}
    """
    known = {a.tensor: a.indices for a in (*tree.inputs, tree.result)}
    return {
        access.tensor: tuple(known[access.tensor].index(x) for x in access.indices)
        for part in walk(nest)
        if isinstance(part, Assign)
        for access in (part.out, *part.operands)
        if access.tensor in known
    }


def _pair(solution: Solution, name: str) -> _Pair:
    contraction = solution.tree.by_name[name]
    assign = _ordered(Assign(contraction.out, contraction.operands), solution.loops[name])
    # A workspace has one layout: that of the loops that fill it.
    operands = tuple(
        _ordered_access(a, solution.loops.get(a.tensor, solution.loops[name]))
        for a in assign.operands
    )
    return _Pair(Assign(assign.out, operands), solution.loops[name])


def _ordered(assign: Assign, loops: Sequence[str]) -> Assign:
    """The assignment with the indices of each reference in the order of the loops."""
    operands = tuple(_ordered_access(a, loops) for a in assign.operands)
    return Assign(_ordered_access(assign.out, loops), operands)


def _ordered_access(access: Access, loops: Sequence[str]) -> Access:
    return Access(access.tensor, tuple(x for x in loops if x in access.indices))


def _generate(pairs: Sequence[_Pair]) -> Nest:
    """The nest of a sequence of assignments at one level."""
    groups: list[tuple[str | None, list[_Pair]]] = []
    for pair in pairs:
        index = pair.loops[0] if pair.loops else None
        if groups and index is not None and groups[-1][0] == index:
            groups[-1][1].append(pair)
        else:
            groups.append((index, [pair]))
    index, last = groups[-1]
    if len(groups) > 1:
        before = [pair for _, group in groups[:-1] for pair in group]
        return Where(_generate(last), _generate(before))
    if index is None:
        return last[0].assign
    return Forall(index, _generate(_without(index, last)))


def _without(index: str, pairs: Sequence[_Pair]) -> list[_Pair]:
    """The assignments within a loop: its index is no dimension of what is made and read there."""
    made = {p.assign.out.tensor for p in pairs}
    read = {a.tensor for p in pairs for a in p.assign.operands}
    inside = made & read

    def reduced(access: Access) -> Access:
        if access.tensor not in inside:
            return access
        return Access(access.tensor, tuple(x for x in access.indices if x != index))

    return [
        _Pair(Assign(reduced(p.assign.out), tuple(map(reduced, p.assign.operands))), p.loops[1:])
        for p in pairs
    ]
