"""An e-graph as plain data: classes of equal terms, and their nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from fuseloom.access.shapes import AccessShape
from fuseloom.access.terms import Attribute, Term, subterms


class ENode(NamedTuple):
    """A construct whose operands are classes.

    Attributes
    ----------
    construct : str
    attributes : tuple
    operands : tuple of int
        Numbers of classes.
    """

    construct: str
    attributes: tuple[Attribute, ...]
    operands: tuple[int, ...]


@dataclass(frozen=True)
class EquivalenceClasses:
    """All that an e-graph holds.

    Attributes
    ----------
    nodes : mapping
        Per class the nodes that are equal.
    shapes : mapping
        Per class the shape of its terms.
    root : int
        The class of the term that was given.
    """

    nodes: Mapping[int, tuple[ENode, ...]]
    shapes: Mapping[int, AccessShape]
    root: int

    @cached_property
    def class_of(self) -> Mapping[ENode, int]:
        """The class of each node."""
        return {node: number for number, nodes in self.nodes.items() for node in nodes}

    @property
    def count(self) -> int:
        """The number of nodes."""
        return sum(map(len, self.nodes.values()))

    def locate(self, term: Term, known: dict[Term, int] | None = None) -> Mapping[Term, int]:
        """The class of each part of a term; parts that the e-graph does not hold are left out.

        Parameters
        ----------
        known : dict, optional
            Classes that were found before, to which those of this term are added.

        Examples
        --------
        >>> from fuseloom.access.terms import tensor
        >>> leaf = tensor("A", (2,))
        >>> classes = EquivalenceClasses({0: (ENode("tensor", ("A", (2,)), ()),)}, {}, 0)
        >>> classes.locate(leaf)[leaf]
        0
        """
        found = {} if known is None else known
        for part in subterms(term, lambda x: () if x in found else x.operands):
            if part not in found and all(operand in found for operand in part.operands):
                operands = tuple(found[operand] for operand in part.operands)
                number = self.class_of.get(ENode(part.construct, part.attributes, operands))
                if number is not None:
                    found[part] = number
        return found

    def reachable(self) -> Iterator[int]:
        """The classes below the root, the root first.

        Examples
        --------
        >>> leaf = ENode("tensor", ("A", (2,)), ())
        >>> list(EquivalenceClasses({0: (leaf,), 1: ()}, {}, 0).reachable())
        [0]
        """
        seen = {self.root}
        queue = [self.root]
        for number in queue:
            yield number
            for node in self.nodes[number]:
                for operand in node.operands:
                    if operand not in seen:
                        seen.add(operand)
                        queue.append(operand)
