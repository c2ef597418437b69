"""The search for counterexamples: it catches rules that are broken."""

from __future__ import annotations

import pytest

from fuseloom.access.meaning import evaluate, shape_of
from fuseloom.access.rules.reader import read_rules
from fuseloom.access.rules.rule import Rule
from fuseloom.access.rules.sets import rule_set
from fuseloom.access.rules.soundness import check_rule

SOURCES = {rule.name: rule.source for rule in (*rule_set("boxes"), *rule_set("laws"))}

BROKEN = [
    ("cartProd-of-concats", "(+ ?place 1)", "(+ ?place 2)"),
    ("dotProd-of-concat-compute", "(> ?dim", "(>= ?dim"),
    ("dotProd-of-concat-compute", "reduceSum", "reduceMax"),
    ("dotProd-of-reshape", "(where (= (item (compute-dims ?a) 0) (item (compute-dims ?shape) 0)))",
     ""),
    ("cartProd-of-concat-right", "(+ ?dim (length (access-dims ?a)))", "(+ ?dim 0)"),
    ("box-of-box", "(sum-lists ?low ?to)", "(sum-lists ?to ?to)"),
    ("boxes-join", "(= ?cut (replace ?low ?dim (item ?middle ?dim)))", "(= 1 1)"),
    ("systolic-array", "(systolicArray ?rows ?cols ?a0 (access (transpose ?a1 (list 1 0)) 0))",
     "(systolicArray ?rows ?cols ?a0 (access ?a1 0))"),
    ("group-of-one", "(= (access-dims ?shape) "
     "(list 1 (item (access-dims ?a) 1) (item (access-dims ?b) 1)))", "(= 1 1)"),
    ("transposes-compose", "(permuted ?p ?q)", "(permuted ?q ?p)"),
    ("stream-longer-operand", "(list 1 0)", "(list 0 1)"),
    ("slice-of-slice", "(+ ?low ?to)", "(+ ?low ?from)"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "right", "wrong"), BROKEN)
def test_every_broken_rule_is_caught(name: str, right: str, wrong: str) -> None:
    assert right in SOURCES[name]
    (rule,) = read_rules(SOURCES[name].replace(right, wrong))
    found = check_rule(rule, 300)
    assert found.counterexample is not None, str(found)
    assert "unsound" in str(found)
    if found.counterexample.data:
        left, right_value = (
            evaluate(term, found.counterexample.data)
            for term in (found.counterexample.left, found.counterexample.right)
        )
        assert left.shape == right_value.shape
        assert (left != right_value).any()
    assert shape_of(found.counterexample.left)


def test_a_rule_that_never_applies_says_so() -> None:
    (rule,) = read_rules('(rule never "x" ?a => (flatten ?a) (where (= 1 2)))')
    found = check_rule(rule, 2)
    assert isinstance(found.rule, Rule)
    assert "applied to none of 2000 random terms" in str(found)
