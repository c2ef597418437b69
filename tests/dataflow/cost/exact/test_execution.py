"""Execution of graphs: what is made once, what it costs, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost.exact.execution import (
    RULES,
    ElementBudget,
    Executed,
    Execution,
    ExecutionContext,
    ExecutionRule,
    Inputs,
    Memo,
    TooLargeError,
    execute,
)
from fuseloom.dataflow.cost.exact.patterns import Patterns
from fuseloom.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from fuseloom.errors import LoweringError
from fuseloom.program import parse
from fuseloom.program.inputs import check_data

TEXT = """A: 5x6 csr
X: 6x4 csr
T[i,j] = A[i,k] * X[k,j]
Y[i,j] = relu(T[i,j])"""
RNG = np.random.default_rng(1)
DATA = {"A": RNG.random((5, 6)) * (RNG.random((5, 6)) < 0.5), "X": RNG.random((6, 4))}


def compiled(schedule: str) -> Compilation:
    return compile_program(parse(TEXT), schedule)


def patterns(compilation: Compilation) -> Patterns:
    return Patterns(compilation.program, check_data(compilation.program, DATA))


def executed(compilation: Compilation, memo: Memo, elements: float = 1e6) -> Execution:
    return execute(
        compilation.regions[0].graph, patterns(compilation), memo, ElementBudget(elements)
    )


def counts(execution: Execution) -> Sequence[object]:
    return [
        [(s, c.tokens.total, c.values.total) for s, c in sorted(execution.streams.items())],
        [(k, n.work.total, n.work.per.tolist()) for k, n in sorted(execution.nodes.items())],
    ]


@pytest.fixture
def asked() -> Iterator[list[str]]:
    """The primitives that were executed, one after another."""
    seen: list[str] = []

    def noting(rule: ExecutionRule) -> ExecutionRule:
        def run(node: Node, inputs: Inputs, context: ExecutionContext) -> Executed:
            seen.append(node.op)
            return rule.execute(node, inputs, context)

        return replace(rule, execute=run)

    with RULES.instead({op: noting(rule) for op, rule in RULES.items()}):
        yield seen


def test_the_same_graph_is_executed_once(asked: list[str]) -> None:
    memo, compilation = Memo(), compiled("")
    first = executed(compilation, memo)
    made = len(asked)
    again = executed(compilation, memo)
    assert len(asked) == made
    assert again.streams == first.streams


def test_graphs_share_what_is_in_front_of_where_they_differ(asked: list[str]) -> None:
    """The fused region has the product's scans and joins; behind them only relu is new."""
    memo = Memo()
    executed(compiled("order T: i,k,j"), memo)
    asked.clear()
    executed(compiled("fuse T..Y; order T..Y: i,k,j"), memo)
    assert "unary" in asked
    assert not {"scan", "intersect", "spacc1", "repeat"} & set(asked)


@pytest.mark.parametrize(
    "schedule",
    ["", "fuse T..Y", "order T: k,i,j; permute A to k,i", "order T: i,j,k; permute X to j,k"],
)
def test_counts_do_not_depend_on_what_was_executed_before(schedule: str) -> None:
    memo = Memo()
    for other in ("order T: i,k,j", "fuse T..Y", "order T: k,i,j; permute A to k,i"):
        executed(compiled(other), memo)
    compilation = compiled(schedule)
    assert counts(executed(compilation, memo)) == counts(executed(compilation, Memo()))


def test_a_tiny_memo_forgets_and_counts_alike() -> None:
    small = Memo(limit=150.0)
    compilation = compiled("")
    assert counts(executed(compilation, small)) == counts(executed(compilation, Memo()))
    assert small.held <= 150.0 or len(small.known) == 1
    assert len(small.known) < len(compilation.regions[0].graph.nodes)


def test_what_takes_too_much_is_refused_whatever_was_executed_before() -> None:
    """The least budget that does is the same with a memo that knows it all, and without."""
    compilation = compiled("fuse T..Y")
    memo = Memo()
    budget = ElementBudget(1e6)
    execute(compilation.regions[0].graph, patterns(compilation), memo, budget)
    for known in (memo, Memo()):
        assert executed(compilation, known, budget.made)
        with pytest.raises(TooLargeError):
            executed(compilation, known, budget.made - 1)


def test_parameters_that_change_no_count_do_not_tell_nodes_apart() -> None:
    """Of two loads of different tensors at the same references, one is executed."""
    text = "A: 4x4 csr\nB: 4x4 csr\nY[i,j] = A[i,j] * B[i,j]"
    compilation = compile_program(parse(text))
    found = Patterns(
        compilation.program, check_data(compilation.program, {"A": np.eye(4), "B": np.ones((4, 4))})
    )
    done = execute(compilation.regions[0].graph, found, Memo(), ElementBudget(1e6))
    scans = [n for n in compilation.regions[0].graph.nodes if n.op == "scan"]
    assert len({id(done.nodes[n.id]) for n in scans}) == len(scans)  # A and B are not the same
    values = [
        float(done.nodes[n.id].work.total)
        for n in compilation.regions[0].graph.nodes
        if n.op == "array"
    ]
    assert values == [8.0, 8.0]  # 4 of both, and their stops


def test_a_primitive_without_a_rule() -> None:
    streams = (Stream(0, StreamKind.REF, 0), Stream(1, StreamKind.REF, 0))
    nodes = (Node(0, "root", (), (0,)), Node(1, "mem_read", (0,), (1,)), Node(2, "sink", (1,), ()))
    with pytest.raises(LoweringError, match="mem_read"):
        execute(Graph("g", nodes, streams), patterns(compiled("")), Memo(), ElementBudget(1e6))


def test_a_budget_counts_what_is_taken() -> None:
    budget = ElementBudget(10)
    budget.take(6)
    budget.take(4)
    with pytest.raises(TooLargeError):
        budget.take(0.5)
