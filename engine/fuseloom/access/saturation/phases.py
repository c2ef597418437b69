"""Rewriting without an e-graph: rules in an order, each replacing what it matches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fuseloom.access.constructs import CONSTRUCTS
from fuseloom.access.rules.rule import Rule
from fuseloom.access.shapes import AccessShape
from fuseloom.access.terms import Term, subterms

MOST_PARTS = 5_000
"""Parts of a term beyond which no further rule is applied."""


def rewrite_in_phases(
    term: Term, rules: Sequence[Rule], parameters: Mapping[str, int], rounds: int = 12
) -> Term:
    """Apply each rule once to every part, in order, and all of them again in the next round.

    What a rule replaces is lost, so that the result depends on the order: a phase-ordered rewriter,
    which :func:`fuseloom.access.saturation.saturate.saturate` is compared with.

    Parameters
    ----------
    rules : sequence of Rule
        The phases.
    rounds : int
        The most times that all phases are passed; fewer if nothing changes.

    Examples
    --------
    >>> from fuseloom.access.kernels import matmul
    >>> from fuseloom.access.rules.sets import rule_set
    >>> made = rewrite_in_phases(matmul(8, 8, 8), rule_set("boxes"), {"rows": 8, "columns": 8})
    >>> made.construct
    'systolicArray'
    """
    shapes: dict[Term, AccessShape] = {}
    for _ in range(rounds):
        before = term
        for rule in rules:
            term = _pass(term, rule, parameters, shapes)
            if len(list(subterms(term))) > MOST_PARTS:
                return term
        if term == before:
            break
    return term


def _pass(
    term: Term, rule: Rule, parameters: Mapping[str, int], shapes: dict[Term, AccessShape]
) -> Term:
    """A rule on every part, operands first."""
    made: dict[Term, Term] = {}
    for part in subterms(term):
        rebuilt = Term(part.construct, part.attributes, tuple(made[x] for x in part.operands))
        _shape(rebuilt, shapes)
        new = next(rule.applied(rebuilt, shapes, parameters), rebuilt)
        _shape(new, shapes)
        made[part] = new
    return made[term]


def _shape(term: Term, shapes: dict[Term, AccessShape]) -> None:
    """Add the shapes of a term's parts to those that are known."""
    for part in subterms(term, lambda x: () if x in shapes else x.operands):
        if part not in shapes:
            operands = [shapes[x] for x in part.operands]
            shapes[part] = CONSTRUCTS[part.construct].shape(operands, part.attributes)
