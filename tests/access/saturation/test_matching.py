"""Patterns in e-graphs: every way in which they match."""

from __future__ import annotations

from fuseloom.access.rules.reader import read_rules
from fuseloom.access.rules.sets import rule_set
from fuseloom.access.saturation.classes import ENode, EquivalenceClasses
from fuseloom.access.saturation.matching import ClassNumber, applications, matches
from fuseloom.access.saturation.saturate import saturate
from fuseloom.access.shapes import AccessShape
from tests.access.test_kernels import matmul


def test_every_node_of_a_class_is_tried() -> None:
    classes = EquivalenceClasses(
        {
            0: (ENode("pair", (), (1, 1)), ENode("pair", (), (1, 2))),
            1: (ENode("tensor", ("A", (2,)), ()),),
            2: (ENode("tensor", ("B", (2,)), ()),),
        },
        {1: AccessShape((), (2,)), 2: AccessShape((), (2,))},
        0,
    )
    (both,) = read_rules('(rule r "x" (pair ?a ?b) => (pair ?b ?a))')
    found = [bound for bound, _ in matches(classes, both.left, 0, {}, ())]
    assert [bound["?b"] for bound in found] == [ClassNumber(1), ClassNumber(2)]
    (same,) = read_rules('(rule r "x" (pair ?a ?a) => (pair ?a ?a))')
    assert len(list(matches(classes, same.left, 0, {}, ()))) == 1


def test_applications_are_those_whose_right_side_is_there() -> None:
    made = saturate(matmul(8, 8, 8), rule_set("boxes"), {"rows": 8, "columns": 8})
    names = [
        application.rule.name
        for rule in made.rules
        for application in applications(made.classes, made.classes.root, rule, made.parameters)
    ]
    assert names == ["systolic-array"]
    small = [
        application
        for rule in made.rules
        for application in applications(
            made.classes, made.classes.root, rule, {"rows": 4, "columns": 8}
        )
    ]
    assert small == []
