"""Rules as text: what they say, and the places of faults."""

from __future__ import annotations

import pytest

from fuseloom.access.rules.reader import read_rules
from fuseloom.errors import ParseError


def test_a_rule_says_what_it_binds_and_uses() -> None:
    (rule,) = read_rules(
        '(rule halves "x" ?a => (concat (slice ?a ?d 0 ?h) (slice ?a ?d ?h ?n) ?d)\n'
        " (each ?d 0 1) (let ?n (item (dims ?a) ?d)) (let ?h (/ ?n 2)) (where (> ?n 1)))"
    )
    assert rule.uses == {"?a", "?d", "?n"}
    assert [choice["?d"] for choice in rule.variants()] == [0, 1]
    assert rule.conditions_text == ("(> ?n 1)",)
    assert rule.source.startswith("(rule halves")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(rules)", "no rule"),
        ('(rule x "t" ?a => ?b)', "no term on the left is ?b"),
        ('(rule x "t" ?a => (slice ?a ?d 0 1))', "nothing binds ?d"),
        ('(rule x "t" (access ?a ?n) => (access ?a ?a))', "nothing binds ?a"),
        ('(rule x "t" (access ?a ?a) => ?a)', "a term and for an attribute"),
        ('(rule x "t" A => A)', "no variable"),
        ('(rule x "t" (access ?a) => ?a)', "takes 2 arguments"),
        ('(rule x "t" ?a => ?a (when 1))', "no such part"),
        ('(rule x "t" (access ?a ?n) => ?a (let ?n 1))', "bound already"),
        ('(rule x "t" ?a => ?a) (rule x "t" ?a => ?a)', "two rules x"),
        ('(rule x "t" ?a => ?a', "never closed"),
        ("(rule x ?a => ?a)", "no rule"),
        ('(rule x "t" ?a => (pad ?a zero 0 1 y))', "no integer"),
    ],
)
def test_what_is_no_rule_is_refused(text: str, words: str) -> None:
    with pytest.raises(ParseError) as caught:
        read_rules(text, "own.rules")
    assert words in str(caught.value)
    assert caught.value.line == 1
    assert caught.value.source == "own.rules"
