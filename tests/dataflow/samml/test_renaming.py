"""Graphs under the names of other regions."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.samml.renaming import RegionClass, renamed
from fuseloom.program import parse

HEAD = "A: 4x4 csr\nB: 4x4 csr\nx: 4 dense\ncopy: 4x4 csr\nX0: 4x4 dense\n"


def graphs(*lines: str) -> tuple[Graph, ...]:
    text = HEAD + "\n".join(lines) + "\noutput " + ", ".join(line[0] for line in lines)
    return tuple(region.graph for region in compile_program(parse(text)).regions)


def test_renaming_changes_tensors_and_labels_and_nothing_else() -> None:
    one, other = graphs("p[i] = A[i,j] * x[j]", "q[i] = B[i,j] * p[j]")
    made = renamed(one, "q", {"A": "B", "p": "q", "x": "p"})
    assert made.name == "q"
    assert {str(n.params["tensor"]) for n in made.nodes if "tensor" in n.params} == {"B", "p", "q"}
    assert [n.op for n in made.nodes] == [n.op for n in one.nodes]
    back = renamed(made, "p", {"B": "A", "q": "p", "p": "x"})
    assert back == one
    assert other.name == "q"


def kind_of(line: str) -> RegionClass[None]:
    program = parse(f"{HEAD}{line}")
    return RegionClass(compile_program(program).regions[0].graph, program.statements, None)


def looked_at(kind: RegionClass[None], line: str) -> tuple[Graph, bool]:
    """The graph of another one of the kind, and whether it was built."""
    program = parse(f"{HEAD}{line}")
    graph, built = compile_program(program).regions[0].graph, []

    def build() -> Graph:
        built.append(1)
        return graph

    found = kind.graph_of(program.statements[0].out.tensor, program.statements, build)
    assert found == graph
    return found, bool(built)


def test_renaming_is_relied_on_where_it_was_seen_to_be_right() -> None:
    kind = kind_of("p[i,l] = A[i,k] * X0[k,l]")
    assert looked_at(kind, "p[i,l] = B[i,k] * X0[k,l]")[1]
    assert kind.seen == {"A"}
    assert not looked_at(kind, "p[i,l] = copy[i,k] * X0[k,l]")[1]
    assert looked_at(kind, "q[i,l] = B[i,k] * X0[k,l]")[1]  # of p nothing is known


@pytest.mark.parametrize("name", ["copy", "root", "i"])
def test_a_name_that_is_a_word_of_labels_too_is_not_renamed(name: str) -> None:
    line = "p[i,l] = {}[i,k] * X0[k,l]".format
    head = f"{name}: 4x4 csr\n" if name != "copy" else ""
    programs = [parse(f"{HEAD}{head}{line(tensor)}") for tensor in (name, "A", "B")]
    kind: RegionClass[None] = RegionClass(
        compile_program(programs[0]).regions[0].graph, programs[0].statements, None
    )
    for program in programs[1:]:
        graph = compile_program(program).regions[0].graph
        assert kind.graph_of("p", program.statements, lambda graph=graph: graph) == graph
    assert kind.seen == frozenset()
