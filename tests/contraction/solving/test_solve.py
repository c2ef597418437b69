"""Z3's answers against exhaustive search; all solutions; Pareto sets; why there is none."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import permutations, product

import pytest

from fuseloom.contraction.loopnest.generate import canonical, nest_of
from fuseloom.contraction.networks import from_einsum
from fuseloom.contraction.paths import binary
from fuseloom.contraction.shipped import shipped
from fuseloom.contraction.solution import Solution
from fuseloom.contraction.solving.encoding import ConstraintFamily
from fuseloom.contraction.solving.solve import Question, Satisfiability
from fuseloom.contraction.tree import ContractionTree
from fuseloom.errors import ProgramError
from tests.contraction.drawn import drawn

NETWORKS, MORE = 120, 300


def sequences(tree: ContractionTree) -> Iterator[tuple[str, ...]]:
    """Every order of the contractions that has producers before their consumers."""
    for order in permutations(c.name for c in tree.contractions):
        place = {name: n for n, name in enumerate(order)}
        if all(place[made] < place[c.name] for made, c in tree.consumer.items()):
            yield order


def exhaustive(tree: ContractionTree, bound: int) -> Iterator[Solution]:
    """Every structure, kept if each workspace has at most that many dimensions.

    A loop order is extended by a contraction at a time; whatever shared loops can still be is known
    when an intermediate has been read.
    """
    tied: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for c in tree.contractions:
        for access in c.operands:
            tied.setdefault(access.tensor, []).append((c.name, access.indices))

    def layouts_agree(loops: dict[str, tuple[str, ...]]) -> bool:
        for tensor, uses in tied.items():
            orders = {
                tuple(sorted(range(len(at)), key=lambda m, a=at, n=name: loops[n].index(a[m])))
                for name, at in uses
                if name in loops
            }
            if len(uses) > 1 and tensor not in tree.by_name and len(orders) > 1:
                return False
        return True

    def extend(order: tuple[str, ...], loops: dict[str, tuple[str, ...]]) -> Iterator[Solution]:
        done = len(loops)
        if done == len(order):
            yield Solution(tree, order, dict(loops))
            return
        name = order[done]
        for chosen in permutations(tree.by_name[name].indices):
            loops[name] = chosen
            if layouts_agree(loops) and fits(order, loops, name):
                yield from extend(order, loops)
        del loops[name]

    def fits(order: tuple[str, ...], loops: dict[str, tuple[str, ...]], reader: str) -> bool:
        for access in tree.intermediates:
            if tree.consumer[access.tensor].name != reader:
                continue
            first = order.index(access.tensor)
            nests = [loops[n] for n in order[first : order.index(reader) + 1]]
            for place in range(len(access.indices) - bound):
                column = {nest[place] if place < len(nest) else None for nest in nests}
                if len(column) > 1 or column.pop() not in access.indices:
                    return False
        return True

    for order in sequences(tree):
        yield from extend(order, {})


@pytest.mark.parametrize("count", [NETWORKS, pytest.param(MORE, marks=pytest.mark.fuzz)])
def test_verdicts_are_those_of_exhaustive_search(count: int) -> None:
    rng = random.Random(21)
    seen = {Satisfiability.SAT: 0, Satisfiability.UNSAT: 0}
    for number in range(count):
        tree = drawn(rng, (3, 4), tied=number % 2 == 0, least=2)
        question = Question(tree)
        for bound in (0, 1):
            verdict = question.solve(bound).verdict
            found = next(exhaustive(tree, bound), None)
            assert verdict is (Satisfiability.UNSAT if found is None else Satisfiability.SAT), tree
            seen[verdict] += 1
    assert min(seen.values()) > count // 20


@pytest.mark.parametrize(
    ("name", "bound", "count"), [("running example", 1, 24), ("MTTKRP", 1, 12)]
)
def test_all_solutions_are_those_of_exhaustive_search(name: str, bound: int, count: int) -> None:
    tree = shipped(name)
    solutions, every = Question(tree).all(bound)
    assert every
    assert len(solutions) == count
    texts = {str(solution) for solution in solutions}
    assert len(texts) == count
    assert texts == {str(solution) for solution in exhaustive(tree, bound)}
    assert all(max(s.orders.values()) <= bound for s in solutions)


def test_solutions_of_one_nest_are_one() -> None:
    """Of two independent products, either may come first."""
    sizes = dict.fromkeys("ijkl", 3)
    tree = binary(from_einsum("ij,jk,kl,li->ik", sizes), "((A B) (C D))")
    solutions, every = Question(tree).all(2)
    assert every
    nests = [canonical(nest_of(solution)) for solution in solutions]
    assert len(set(nests)) == len(nests)
    every_one = list(exhaustive(tree, 2))
    assert set(nests) == {canonical(nest_of(solution)) for solution in every_one}
    assert solutions.alike == len(every_one) - len(nests) > 0


def test_an_enumeration_that_ends_early_says_so() -> None:
    solutions, every = Question(shipped("running example")).all(2, most=10)
    assert (len(solutions), every) == (10, False)


def test_the_five_vectors_of_the_chain_of_two_graph_layers() -> None:
    found = Question(shipped("two-layer GCN")).pareto()
    assert {tuple(v.values()) for v in found} == {
        (0, 1, 2), (0, 2, 0), (1, 0, 2), (2, 0, 1), (2, 1, 0),
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
def test_vectors_are_those_that_no_other_lies_below(seed: int) -> None:
    question = Question(drawn(random.Random(100 + seed), (3, 3)))
    ranks = [range(len(a.indices) + 1) for a in question.tree.intermediates]
    names = [a.tensor for a in question.tree.intermediates]
    every = [dict(zip(names, v, strict=True)) for v in product(*ranks)]
    sat = [v for v in every if question.solve(v).verdict is Satisfiability.SAT]
    least = [v for v in sat if not any(w != v and all(w[n] <= v[n] for n in v) for w in sat)]
    shares: list[float] = []
    found = question.pareto(shares.append)
    assert sorted(map(str, found)) == sorted(map(str, least))
    assert shares == sorted(shares)
    assert shares[0] == 0.0


def test_what_forbids_a_solution_is_named_and_each_is_needed() -> None:
    answer = Question(shipped("running example")).solve(0)
    assert answer.verdict is Satisfiability.UNSAT
    assert {b.family for b in answer.blockers} >= {
        ConstraintFamily.PRODUCER,
        ConstraintFamily.LOOPS,
    }
    assert all(b.about in ("X1", "X2", "R") for b in answer.blockers)
    assert "X2: outermost loops of the producer" in " ".join(map(str, answer.blockers))


@pytest.mark.parametrize(
    ("bound", "message"),
    [(-1, "cannot have -1 dimensions"), ({"X1": 1}, "for the intermediates X1, X2"),
     ({"X1": 1, "Z": 1}, "for the intermediates")],
)  # fmt: skip
def test_bounds_that_are_none(bound: int | dict[str, int], message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        Question(shipped("running example")).solve(bound)


def test_no_answer_in_time_is_told() -> None:
    answer = Question(shipped("running example"), seconds=0.0).solve(1)
    assert answer.verdict in (Satisfiability.UNKNOWN, Satisfiability.SAT)


def test_one_contraction_has_nothing_to_fuse() -> None:
    tree = drawn(random.Random(3), (2, 2))
    answers = list(Question(tree).least())
    assert [a.verdict for a in answers] == [Satisfiability.SAT]
    assert Question(tree).pareto() == ({},)


def test_solutions_do_not_depend_on_what_was_solved_before() -> None:
    """A question has the same answers, in the same order, whatever else this process has solved."""
    rng = random.Random(6)
    trees = [shipped("running example"), *(drawn(rng) for _ in range(12))]
    questions = [Question(tree, most_bytes=most) for tree in trees for most in (None, 64)]

    def answers(question: Question) -> list[tuple[tuple[str, ...], dict[str, tuple[str, ...]]]]:
        return [(s.sequence, dict(s.loops)) for s in question.all(1, most=12)[0]]

    before = [answers(question) for question in questions]
    shipped_question = Question(shipped("two-layer GCN"))
    shipped_question.pareto()
    after = [answers(question) for question in reversed(questions)]
    assert after[::-1] == before
