"""Which given tensor, in which layout, each reference of a nest reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from fuseloom.contraction.loopnest.ir import Assign, Forall, Nest, children, verify
from fuseloom.contraction.tree import ContractionTree
from fuseloom.errors import ProgramError
from fuseloom.program import Access, Format, LevelFormat

Key = tuple[str, int]
"""A reference: the tensor that its assignment makes, and its place among the operands."""


@dataclass(frozen=True)
class OperandLayout:
    """A given tensor as a kernel reads it.

    Attributes
    ----------
    tensor : str
    format : Format
        All levels dense; or compressed, the outermost perhaps dense.
    """

    tensor: str
    format: Format


@dataclass(frozen=True)
class Bound:
    """A nest whose references are known.

    Attributes
    ----------
    nest : Nest
    tree : ContractionTree
    layouts : mapping
        Per reference to a given tensor, what it reads.
    """

    nest: Nest
    tree: ContractionTree
    layouts: Mapping[Key, OperandLayout]

    @cached_property
    def stored(self) -> tuple[OperandLayout, ...]:
        """Each layout once; a tensor that is referenced in two orders has two."""
        return tuple(dict.fromkeys(self.layouts.values()))

    @cached_property
    def assigns(self) -> dict[str, Assign]:
        """The assignments by what they make, in order of their execution."""
        return {a.out.tensor: a for a, _ in assignments(self.nest)}

    @cached_property
    def result(self) -> Access:
        """The result as the nest refers to it."""
        return self.assigns[self.tree.result.tensor].out

    @cached_property
    def workspaces(self) -> tuple[Access, ...]:
        """The intermediate results, as they are assigned."""
        return tuple(a.out for a in self.assigns.values() if a.out is not self.result)


def assignments(
    nest: Nest, loops: tuple[str, ...] = ()
) -> Iterator[tuple[Assign, tuple[str, ...]]]:
    """The assignments of a nest, each with the loops around it, in order of their execution."""
    if isinstance(nest, Assign):
        yield nest, loops
    inner = (*loops, nest.index) if isinstance(nest, Forall) else loops
    for part in children(nest):
        yield from assignments(part, inner)


def level_formats(tree: ContractionTree) -> dict[str, tuple[LevelFormat, ...]]:
    """Per given tensor its levels in a kernel, outermost first, by its declared format.

    Dense where all levels are declared so, or there is none; else compressed, but for the
    outermost where that is declared dense.

    Examples
    --------
    >>> from fuseloom.program import parse
    >>> tree = ContractionTree.of(parse("A: 4x5 csr\\nx: 5 dense\\ny[i] = A[i,j] * x[j]"))
    >>> [level.value for level in level_formats(tree)["A"]]
    ['dense', 'compressed']
    """
    found = {}
    for access in tree.inputs:
        declared = tree.program.tensor(access.tensor).format
        levels = declared.levels
        if not declared.all_dense:
            levels = (levels[0], *(LevelFormat.COMPRESSED,) * (len(levels) - 1))
            if levels[0] is not LevelFormat.DENSE:
                levels = (LevelFormat.COMPRESSED,) * len(levels)
        found[access.tensor] = levels
    return found


def bind(
    nest: Nest, tree: ContractionTree, levels: Mapping[str, tuple[LevelFormat, ...]] | None = None
) -> Bound:
    """Find what each reference of a nest reads.

    Parameters
    ----------
    levels : mapping, optional
        Per given tensor its levels, outermost first; by default those of
        :func:`level_formats`.

    Raises
    ------
    ProgramError
        If the nest has no meaning, does not make the tree's result of the tree's tensors, or
        runs through the levels of a compressed tensor in another order than they are stored.

    Examples
    --------
    >>> from fuseloom.contraction.loopnest.parser import parse_nest
    >>> from fuseloom.contraction.networks import from_einsum
    >>> from fuseloom.contraction.paths import binary
    >>> tree = binary(from_einsum("ij,jk->ik", {"i": 2, "j": 3, "k": 4}))
    >>> nest = parse_nest("forall(j, forall(i, forall(k, R(i,k) += A(j,i) * B(j,k))))")
    >>> bind(nest, tree).layouts["R", 0].format.mode_order
    (1, 0)
    """
    verify(nest)
    chosen = {**level_formats(tree), **(levels or {})}
    made = {a.out.tensor for a, _ in assignments(nest)}
    if tree.result.tensor not in made or not made <= set(tree.by_name):
        raise ProgramError(
            f"the nest makes {', '.join(sorted(made))}, the network {tree.result.tensor} by way of "
            f"{', '.join(tree.by_name)}",
            hint="use names of the network's contractions",
        )
    layouts: dict[Key, OperandLayout] = {}
    for assign, loops in assignments(nest):
        name = assign.out.tensor
        left = list(_needed(tree, name, made))
        for place, access in enumerate(assign.operands):
            own = access.tensor in made
            origin = next(
                (a for a in left if (a.tensor == access.tensor if own else _same(a, access))), None
            )
            if origin is None:
                raise ProgramError(
                    f"{assign} reads {access}, which the network has no such use of",
                    hint=f"the network: {'; '.join(map(str, tree.contractions))}",
                )
            left.remove(origin)
            if own:
                continue
            layout = _layout(access, origin, chosen[access.tensor])
            if not layout.format.all_dense:
                _check_order(access, loops)
            layouts[name, place] = layout
        if left:
            raise ProgramError(
                f"{assign} leaves out {', '.join(map(str, left))}",
                hint=f"the network: {'; '.join(map(str, tree.contractions))}",
            )
        if name == tree.result.tensor and not _same(assign.out, tree.result):
            raise ProgramError(
                f"the network's result is {tree.result}, the nest makes {assign.out}"
            )
    return Bound(nest, tree, layouts)


def _needed(tree: ContractionTree, name: str, made: set[str]) -> Iterator[Access]:
    """Yield the factors of a contraction: given tensors, and computed ones below it."""
    for access in tree.by_name[name].operands:
        if access.tensor not in tree.by_name or access.tensor in made:
            yield access
        else:
            yield from _needed(tree, access.tensor, made)


def _same(first: Access, second: Access) -> bool:
    return first.tensor == second.tensor and set(first.indices) == set(second.indices)


def _layout(access: Access, origin: Access, levels: tuple[LevelFormat, ...]) -> OperandLayout:
    modes = tuple(origin.indices.index(x) for x in access.indices)
    inner = levels[1:]
    if len(levels) != len(modes) or (
        LevelFormat.SINGLETON in levels
        or (LevelFormat.DENSE in inner and not all(level is LevelFormat.DENSE for level in levels))
    ):
        raise ProgramError(
            f"a kernel cannot read {access.tensor} with levels "
            f"{', '.join(level.value for level in levels) or '(none)'}",
            hint=f"give {len(modes)}: all dense, or compressed with the outermost perhaps dense",
        )
    return OperandLayout(access.tensor, Format(levels, modes))


def _check_order(access: Access, loops: tuple[str, ...]) -> None:
    places = [loops.index(x) for x in access.indices]
    if places != sorted(places):
        raise ProgramError(
            f"{access} has its levels in the order {','.join(access.indices)}, and the loops "
            f"around it run through {','.join(x for x in loops if x in access.indices)}",
            hint="write its indices in the order of the loops, or declare it dense",
        )
