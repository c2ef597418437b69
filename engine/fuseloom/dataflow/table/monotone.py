"""Implication between formulas of "and" and "or": which coordinates are among which others.

Join trees have no negation, so most questions fall apart at once: a disjunction implies what each
of its terms implies, an atom that only the premise has may be taken as true, one that only the
conclusion has as false.  What is left takes a case distinction on one atom.  Join trees repeat few
atoms, so a question takes about as many steps as it has terms, not the 2^n of all assignments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property

MAX_STEPS = 50_000


@dataclass(frozen=True, eq=False)
class Joined:
    """Terms of which all hold, or (``some``) at least one."""

    some: bool
    terms: frozenset[Formula]

    @cached_property
    def _hash(self) -> int:
        return hash((self.some, self.terms))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Joined)
            and self._hash == other._hash
            and self.some is other.some
            and self.terms == other.terms
        )

    @cached_property
    def atoms(self) -> frozenset[Hashable]:
        return frozenset().union(*(atoms_of(t) for t in self.terms))


Formula = Joined | Hashable
NOTHING: frozenset[Hashable] = frozenset()
TRUE = Joined(False, frozenset())
FALSE = Joined(True, frozenset())


def joined(some: bool, terms: Iterable[Formula]) -> Formula:
    """A conjunction or disjunction, simplified: no constants, equal terms once, flat."""
    flat: set[Formula] = set()
    for term in terms:
        if isinstance(term, Joined) and (term.some is some):
            flat |= term.terms
        else:
            flat.add(term)
    # The empty term of the other operator decides: "or" with true, "and" with false.
    if (TRUE if some else FALSE) in flat:
        return TRUE if some else FALSE
    return next(iter(flat)) if len(flat) == 1 else Joined(some, frozenset(flat))


def atoms_of(formula: Formula) -> frozenset[Hashable]:
    return formula.atoms if isinstance(formula, Joined) else frozenset((formula,))


def given(formula: Formula, true: frozenset[Hashable], false: frozenset[Hashable]) -> Formula:
    """The formula where some atoms are known."""
    known: dict[int, Formula] = {}  # formulas share parts, and those are looked at once

    def look(formula: Formula) -> Formula:
        if not isinstance(formula, Joined):
            return TRUE if formula in true else FALSE if formula in false else formula
        if id(formula) not in known:
            if formula.atoms.isdisjoint(true) and formula.atoms.isdisjoint(false):
                known[id(formula)] = formula
            else:
                known[id(formula)] = joined(formula.some, map(look, formula.terms))
        return known[id(formula)]

    return look(formula)


class Implications:
    """Decides implications, remembers the answers, and counts what they take.

    Attributes
    ----------
    steps : int
        Pairs of formulas looked at so far; after ``max_steps`` of them every answer is no.
    """

    def __init__(self, max_steps: int = MAX_STEPS) -> None:
        self.steps = 0
        self.max_steps = max_steps
        self._known: dict[tuple[Formula, Formula], bool] = {}

    def implies(self, a: Formula, b: Formula) -> bool:
        """Return whether ``a`` implies ``b``; False also if the proof takes too many steps."""
        if a in (b, FALSE) or b == TRUE:
            return True
        if a == TRUE or b == FALSE:  # neither is a constant unless it is simplified to one
            return False
        key = (a, b)
        if key not in self._known:
            if self.steps >= self.max_steps:
                return False
            self.steps += 1
            self._known[key] = self._decide(a, b)
        return self._known[key]

    def _decide(self, a: Formula, b: Formula) -> bool:
        if isinstance(a, Joined) and a.some:
            return all(self.implies(term, b) for term in a.terms)
        if isinstance(b, Joined) and not b.some:
            return all(self.implies(a, term) for term in b.terms)
        # The premise is one atom or a conjunction, the conclusion one atom or a disjunction.
        facts, goals = _single(a), _single(b)
        if facts & goals:
            return True
        mine, theirs = atoms_of(a), atoms_of(b)
        true = facts | (mine - theirs)
        false = goals | (theirs - mine)
        if true or false:
            return self.implies(given(a, true, false), given(b, true, false))
        return self._cases(a, b)

    def _cases(self, a: Formula, b: Formula) -> bool:
        """Both ways for the atom that most terms have."""
        terms = [t for f in (a, b) if isinstance(f, Joined) for t in f.terms]
        ((atom, _),) = Counter(x for t in terms for x in atoms_of(t)).most_common(1)
        x = frozenset((atom,))
        return all(
            self.implies(given(a, true, false), given(b, true, false))
            for true, false in ((x, NOTHING), (NOTHING, x))
        )


def _single(formula: Formula) -> frozenset[Hashable]:
    """The atoms among a formula's terms."""
    terms = formula.terms if isinstance(formula, Joined) else (formula,)
    return frozenset(t for t in terms if not isinstance(t, Joined))
