"""Graphs written by hand: names become streams, and what makes no sense is told with its line."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.samml.graph import StreamKind
from fuseloom.errors import FuseloomError
from fuseloom.program import parse
from fuseloom_workbench.notebook.wiring import uses, wired

TEXT = """
start = root()              # where each tree begins
i, place = scan(start) tensor=a level=0
number = array(place) tensor=a
crdwrite(i) tensor=y level=0
valwrite(number) tensor=y
"""


def test_kinds_and_depths_follow_from_the_catalogue():
    streams = {s.label: s for s in wired(TEXT).streams}
    assert {name: (s.kind, s.depth) for name, s in streams.items()} == {
        "start": (StreamKind.REF, 0),
        "i": (StreamKind.CRD, 1),
        "place": (StreamKind.REF, 1),
        "number": (StreamKind.VAL, 1),
    }


def test_streams_of_many_readers_are_copied_and_those_of_none_are_void():
    graph = wired(
        """
        start = root()
        i, p = scan(start) tensor=a level=0
        k, q, _ = intersect(i, p, i, p)
        v = array(q) tensor=a
        w = binary(v, v) fn=mul
        crdwrite(k) tensor=y level=0
        valwrite(w) tensor=y
        """
    )
    assert sum(node.op == "broadcast" for node in graph.nodes) == 3
    assert uses(graph)["intersect"] == 1
    assert "broadcast" not in uses(graph)
    assert next(n for n in graph.nodes if n.op == "intersect").outputs[2] is None


def test_the_graph_of_the_compiler_can_be_written_by_hand():
    theirs = compile_program(parse("a: 8 compressed\ny[i] = relu(a[i])")).regions[0].graph
    mine = wired(TEXT.replace("valwrite(number)", "r = unary(number) fn=relu\nvalwrite(r)"))
    assert uses(mine) == uses(theirs)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nothing is written"),
        ("start = root()", "nothing is written"),
        ("start = rot()", "line 1, column 1: no primitive is called 'rot'"),
        ("start := root()", "not a primitive: 'start := root()'"),
        ("a, b = root()", "root has 1 output here, and not 2"),
        (
            "s = root()\ni, p = scan(s) tensor=a level=0\nk = union(i, p)",
            "union has 2 outputs here",
        ),
        ("x = root()\nx = root()", "line 2, column 1: the stream 'x' has two producers"),
        ("valwrite(v) tensor=y", "no line above makes the stream 'v' (hint: made so far: none)"),
        ("s = root()\ni, p = scan(s) tensor=a", "scan needs level=..."),
        (
            "s = root()\ni = scan(s) tensor=a level=0",
            "line 2, column 1: scan has 2 outputs here, and not 1",
        ),
        ("s = root()\nx = intersect(s)", "intersect cannot have 1 input"),
        (TEXT.replace("valwrite(number)", "valwrite(i)"), "port val: takes val, got crd (i)"),
        (TEXT.replace("level=0", "level=" + "9" * 5000), "level is too large"),
        ("x = root()\n" * 500, "a graph of 500 lines"),
    ],
)
def test_texts_that_are_no_graphs(text, said):
    with pytest.raises(FuseloomError) as reason:
        wired(text)
    assert said in str(reason.value)
