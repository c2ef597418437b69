"""Rules applied to terms."""

from __future__ import annotations

from fuseloom.access.kernels import apply, matmul
from fuseloom.access.meaning import shapes_of
from fuseloom.access.rules.reader import read_rules
from fuseloom.access.rules.rule import Variable, match
from fuseloom.access.terms import tensor

A, B = tensor("A", (4, 4)), tensor("B", (4, 4))


def test_a_variable_stands_for_one_term() -> None:
    (rule,) = read_rules('(rule same "x" (pair ?a ?a) => (pair ?a ?a))')
    assert match(rule.left, apply("pair", A, A), {}) == {"?a": A}
    assert match(rule.left, apply("pair", A, B), {}) is None
    assert match(Variable("?a"), A, {"?a": B}) is None


def test_each_value_is_tried_and_conditions_hold() -> None:
    (rule,) = read_rules(
        '(rule halves "x" ?a => (concat (slice ?a ?d 0 ?h) (slice ?a ?d ?h ?n) ?d)\n'
        " (each ?d 0 1 2) (let ?n (item (dims ?a) ?d)) (let ?h (/ ?n 2)) (where (> ?n rows)))"
    )
    assert len(list(rule.applied(A, shapes_of(A), {"rows": 3}))) == 2
    assert list(rule.applied(A, shapes_of(A), {"rows": 4})) == []


def test_what_fails_is_said_with_values() -> None:
    (rule,) = read_rules('(rule few "x" ?a => ?a (let ?n (item (dims ?a) 0)) (where (< ?n rows)))')
    shape = shapes_of(A)[A]
    assert rule.failing({"?a": shape, "rows": 2}) == ["few needs (< ?n rows), and rows = 2, ?n = 4"]
    assert rule.failing({"?a": shape, "rows": 9}) == []
    scalar = shapes_of(apply("literal", 1.0))[apply("literal", 1.0)]
    assert rule.failing({"?a": scalar, "rows": 2}) == ["few needs more dimensions"]


def test_the_root_alone_is_rewritten() -> None:
    (rule,) = read_rules('(rule twice "x" (access ?a ?n) => (access (access ?a 0) ?n))')
    term = matmul(2, 2, 2)
    assert list(rule.applied(term, shapes_of(term), {})) == []
