"""Graphviz lays graphs out, and says nothing of fonts."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fuseloom.display.layout import laid_out


def test_nodes_get_places() -> None:
    graph = laid_out("digraph { rankdir=LR; a -> b }")
    places = [tuple(map(float, graph.get_node(n).attr["pos"].split(","))) for n in "ab"]
    assert places[0][0] < places[1][0]


def test_what_is_no_graph_is_refused() -> None:
    with pytest.raises(ValueError, match=r".+"):
        laid_out("digraph { a -> ")


def test_nothing_is_written_to_standard_error_before_the_first_drawing() -> None:
    code = (
        "import os, sys\n"
        "from fuseloom.display.layout import laid_out\n"
        "laid_out('digraph { a -> b }')\n"
        "os.write(2, b'here again')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "here again"
