"""Where rules applied in an e-graph: the nodes that their two sides stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fuseloom.access.rules.rule import Pattern, Rule, Variable
from fuseloom.access.saturation.classes import ENode, EquivalenceClasses
from fuseloom.access.terms import Path

Bound = dict[str, Any]
"""Variables of operands to classes, those of attributes to attributes."""


@dataclass(frozen=True)
class Application:
    """A rule, and the nodes of its two sides.

    Attributes
    ----------
    rule : Rule
    bound : mapping
        Variables of operands to classes, those of attributes to attributes.
    left, right : mapping
        The path of each construct of a side to its node; empty where a side is a variable.
    """

    rule: Rule
    bound: Mapping[str, Any]
    left: Mapping[Path, ENode]
    right: Mapping[Path, ENode]


def applications(
    classes: EquivalenceClasses, number: int, rule: Rule, parameters: Mapping[str, int]
) -> Iterator[Application]:
    """Where a rule makes of one node of a class another of that class.

    Examples
    --------
    >>> from fuseloom.access.kernels import matmul
    >>> from fuseloom.access.rules.sets import rule_set
    >>> from fuseloom.access.saturation.saturate import saturate
    >>> made = saturate(matmul(8, 8, 8), rule_set("boxes"), {"rows": 8, "columns": 8})
    >>> array = next(x for x in rule_set("boxes") if x.name == "systolic-array")
    >>> [a.right[()].construct for a in
    ...  applications(made.classes, made.classes.root, array, made.parameters)]
    ['systolicArray']
    """
    for variant in rule.variants():
        for bound, left in matches(classes, rule.left, number, dict(variant), ()):
            values = rule.computed({**parameters, **environment(classes, bound)})
            if values is None:
                continue
            names = (name for name, _ in rule.lets)
            whole = {**bound, **dict(zip(names, values, strict=True))}
            right: dict[Path, ENode] = {}
            if _located(classes, rule.right, whole, (), right) == number:
                yield Application(rule, whole, left, right)


def environment(classes: EquivalenceClasses, bound: Bound) -> Bound:
    """What a rule's expressions read: shapes in place of classes.

    Examples
    --------
    >>> environment(EquivalenceClasses({}, {}, 0), {"?n": (1, 2)})
    {'?n': (1, 2)}
    """
    return {
        name: classes.shapes[value.number] if isinstance(value, ClassNumber) else value
        for name, value in bound.items()
    }


@dataclass(frozen=True)
class ClassNumber:
    """A class that a variable stands for."""

    number: int


def matches(
    classes: EquivalenceClasses, pattern: Pattern, number: int, bound: Bound, path: Path
) -> Iterator[tuple[Bound, dict[Path, ENode]]]:
    """What variables stand for where a pattern matches a class, and the nodes of its constructs.

    Examples
    --------
    >>> node = ENode("tensor", ("A", (2,)), ())
    >>> list(matches(EquivalenceClasses({0: (node,)}, {}, 0), Variable("?a"), 0, {}, ()))
    [({'?a': ClassNumber(number=0)}, {})]
    """
    if isinstance(pattern, Variable):
        value = ClassNumber(number)
        if bound.get(pattern.name, value) == value:
            yield {**bound, pattern.name: value}, {}
        return
    for node in classes.nodes[number]:
        if node.construct != pattern.construct:
            continue
        own = dict(bound)
        for wanted, attribute in zip(pattern.attributes, node.attributes, strict=True):
            if isinstance(wanted, Variable):
                if own.setdefault(wanted.name, attribute) != attribute:
                    break
            elif wanted != attribute:
                break
        else:
            partial = [(own, {path: node})]
            for place, (inner, operand) in enumerate(
                zip(pattern.operands, node.operands, strict=True)
            ):
                partial = [
                    (more, {**nodes, **found})
                    for known, nodes in partial
                    for more, found in matches(classes, inner, operand, known, (*path, place))
                ]
            yield from partial


def _located(
    classes: EquivalenceClasses,
    pattern: Pattern,
    bound: Mapping[str, Any],
    path: Path,
    nodes: dict[Path, ENode],
) -> int | None:
    """The class of a side; its nodes are collected.  None if the e-graph does not hold it."""
    if isinstance(pattern, Variable):
        value: ClassNumber = bound[pattern.name]
        return value.number
    operands = []
    for place, inner in enumerate(pattern.operands):
        operand = _located(classes, inner, bound, (*path, place), nodes)
        if operand is None:
            return None
        operands.append(operand)
    attributes = tuple(bound[x.name] if isinstance(x, Variable) else x for x in pattern.attributes)
    node = nodes[path] = ENode(pattern.construct, attributes, tuple(operands))
    return classes.class_of.get(node)
