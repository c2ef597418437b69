"""Text that is no graph."""

from __future__ import annotations

import pytest

from engine.dataflow.samml.exchange.sam_file import read_sam
from engine.errors import FuseloomError


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
