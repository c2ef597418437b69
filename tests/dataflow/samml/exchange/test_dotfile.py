"""Text that is no graph."""

from __future__ import annotations

import pygraphviz
import pytest

from fuseloom.dataflow.samml.exchange.dotfile import parse_dot
from fuseloom.dataflow.samml.exchange.sam_file import read_sam
from fuseloom.errors import FuseloomError


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected 'digraph', found the end"),
        ("graph G { a -- b }", "expected 'digraph'"),
        ('digraph G {\n a [label="x]\n}', "line 2, column 1: a quoted string never ends"),
        ("digraph G { a -> }", "expected a node, found '}'"),
        ("digraph G { subgraph s { a }", "expected a node, an edge or '}', found the end"),
        ("digraph G { a [type=mul }", "expected an attribute or ']', found '}'"),
        ("digraph G { a }", "node a has no type"),
        ("digraph G { a; b } x", "the end of the file after '}'"),
        ("digraph G { \x01 }", "not DOT text"),
    ],
)
def test_text_that_is_no_graph(text: str, message: str) -> None:
    with pytest.raises(FuseloomError) as caught:
        read_sam(text)
    assert message in str(caught.value)


NODES = 'a [type=one label="x"]\n b [type=two]\n c [type=two]'
PLAIN = f"digraph G {{\n {NODES}\n a -> b [type=crd]\n a -> c [type=crd]\n}}"


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace("\n", "\r\n"),
        "\ufeff" + PLAIN,
        "# first line\n" + PLAIN.replace("b [", "#b [type=gone]\n  # indented\n b ["),
        PLAIN.replace("a -> b", "// a -> c\n /* b -> a [\n */ a -> b"),
        PLAIN.replace("two]", "two] # end"),
        PLAIN.replace("digraph G", "strict digraph"),
        PLAIN.replace("digraph", "DiGraph").replace("a [", "graph [rankdir=LR]; a ["),
        PLAIN.replace("a -> b [type=crd]\n a -> c [type=crd]", "a -> {b c} [type=crd]"),
        PLAIN.replace("a -> b [type=crd]\n a -> c", "edge [type=crd] a:n:se -> {b; c}\n a2 -> b2")
        .replace("a2 -> b2 [type=crd]", ""),
        PLAIN.replace("b [type=two]\n c [type=two]",
                      "subgraph cluster_1 { node [type=two] label=here b c }"),
        PLAIN.replace(NODES, "{ comment=inner " + NODES + "}"),
        PLAIN.replace("type=two", 'type="t" + "wo"').replace("crd", '"c\\\nrd"'),
        PLAIN.replace("type=two]", "type=two][label=<<b>bold</b> &lt;>, color=\"#ff0000\"; w=-.5]"),
        PLAIN.replace("[type=crd]", "[type=crd,]").replace("a ->", '"a" ->'),
    ],
)  # fmt: skip
def test_ways_to_write_one_graph(text: str) -> None:
    plain, other = parse_dot(PLAIN), parse_dot(text)
    assert {n: g["type"] for n, g in other.nodes.items()} == {
        n: g["type"] for n, g in plain.nodes.items()
    }
    assert [(e.tail, e.head, e.attributes["type"]) for e in other.edges] == [
        (e.tail, e.head, e.attributes["type"]) for e in plain.edges
    ]
    assert "comment" not in other.attributes


TEXTS = [
    "digraph { a -> b -> {c; d} [w=1 x=<<i>y</i>>]; {a} -> {b:p c:q:ne} }",
    "digraph { subgraph s {a b} c -> subgraph s {d}; subgraph t { e } subgraph s {} -> e }",
    'DIGRAPH "a b" {\n# x -> y\n"n" + "ame" -> é // z\n -> -.5; /* { */ 7. -> "a\\"b"\n}',
    'digraph { node [w=1] a; subgraph { node [w=2] b; a } c [w=3]; edge[w="x\ny"] a -> c -> a }',
    'digraph { a [w=\n# so\n 5]; b [w = // that\n "con\\\ntinued"] }',
]


def test_a_string_of_very_many_pieces() -> None:
    (name,) = parse_dot('digraph { "a"' + ' + "a"' * 5_000 + " }").nodes
    assert name == "a" * 5_001


@pytest.mark.parametrize("text", TEXTS)
def test_files_are_read_as_graphviz_reads_them(text: str) -> None:
    ours, theirs = parse_dot(text), pygraphviz.AGraph(string=text)
    assert sorted(ours.nodes) == sorted(theirs.nodes())
    assert sorted((e.tail, e.head) for e in ours.edges) == sorted(map(tuple, theirs.edges()))
    for node, given in ours.nodes.items():
        assert given.get("w", "") == (theirs.get_node(node).attr["w"] or "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("strict digraph { a -> b; a -> b }", "a strict graph has one edge a -> b, the file two"),
        ("digraph { a [color=#ff0000] }", "a value begins with '#'"),
        ("digraph { a [label=<b> }", "expected an attribute or ']', found '}'"),
        ("digraph {\n a [label=<<b> }", "line 2, column 1: an HTML string never ends"),
        ("digraph { /* a }", "a comment never ends"),
        ("digraph { node -> a }", "expected '[' after node"),
        ("digraph { a -> edge }", "expected a node, an edge or '}', found 'edge'"),
        ("digraph {" + "{" * 80 + "}" * 80 + "}", "more than 64 subgraphs inside each other"),
        ("digraph {{" + " ".join(map(str, range(400))) + "} -> {" + " ".join(map(str, range(400)))
         + "}}", "the graph has more than 100,000 edges"),
        ("graph { a -- b }", "write digraph, and -> for edges"),
    ],
)  # fmt: skip
def test_text_that_is_refused(text: str, message: str) -> None:
    with pytest.raises(FuseloomError) as caught:
        parse_dot(text)
    assert message in str(caught.value)
