"""Which heads a reader may look at: what golden models really do agrees with the trait."""

from __future__ import annotations

from typing import Any

import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.sim.conformance.bench import bench
from fuseloom.dataflow.sim.golden import interpreter
from fuseloom.dataflow.sim.peeking import is_peeked, peeked_streams
from fuseloom.dataflow.sim.process import PEEK


def test_streams_are_named_by_the_port_that_looks() -> None:
    machine = Machine.default()
    nodes = [
        Node(0, "scan", (7,), (1, 2), {"tensor": "A", "level": 0}),
        Node(1, "unary", (3,), (4,), {"fn": "exp"}),
    ]
    assert is_peeked(nodes[0], 0, machine)
    assert not is_peeked(nodes[1], 0, machine)
    assert peeked_streams(nodes, machine) == {7}
    assert peeked_streams([], machine) == frozenset()


RUNS: list[tuple[str, tuple[str, ...], dict[str, Any]]] = [
    ("repeat", ("4 5 S0 D", "R R S R S D"), {}),
    ("repsig", ("1 2 S0 D",), {}),
    ("crdhold", ("1 2 S0 3 S1 D", "7 8 S0 D"), {}),
    ("flatten", ("1 2 S0 3 S1 D", "7 8 S0 D"), {"params": {"factor": 4}}),
    ("intersect", ("1 2 S0 D", "1 2 S0 D", "2 S0 D", "2 S0 D"), {"outputs": 3}),
    ("union", ("1 2 S0 D", "1 2 S0 D", "2 S0 D", "2 S0 D"), {"outputs": 3}),
    ("reduce", ("1 2 S0 S0 3 S1 D",), {"params": {"fn": "add"}}),
    ("stopdrop", ("1 S0 D",), {}),
    ("unary", ("1 S0 D",), {"params": {"fn": "exp"}}),
]


@pytest.mark.parametrize(("op", "inputs", "how"), RUNS, ids=[run[0] for run in RUNS])
def test_golden_models_peek_only_where_the_trait_says(
    op: str, inputs: tuple[str, ...], how: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: set[int] = set()
    golden = interpreter.implementation(op).generator

    def watched(process: Any) -> Any:
        behaviour = golden(process)
        answer = None
        while True:
            try:
                request = behaviour.send(answer)
            except StopIteration:
                return
            if request[0] == PEEK:
                looked.add(process.inputs.index(request[1]))
            answer = yield request

    real = interpreter.implementation

    def implementation(name: str) -> Any:
        found = real(name)
        return type(found)(watched, found.reads) if name == op else found

    monkeypatch.setattr(interpreter, "implementation", implementation)
    run = bench(op, *inputs, **how)
    node, machine = run.result.graph.nodes[0], Machine.default()
    allowed = {port for port in range(len(inputs)) if is_peeked(node, port, machine)}
    assert looked <= allowed
