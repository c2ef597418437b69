"""Choices about lists of edges on the command line."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from fuseloom.cli import main
from tests.cli.commands import error, file, output

EDGES = "u,v,w\n1,2,5\n1,2,3\n2,1,7\n"
"""One edge twice; nodes count from 1."""
ON_EDGES = "A: 2x2 csr\nx: 2 dense\ny[i] = A[i,j] * x[j]\n"


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ((), [5, 7]),
        (("--duplicates", "first"), [5, 7]),
        (("--duplicates", "sum"), [8, 7]),
        (("--unweighted",), [1, 1]),
        (("--unweighted", "--duplicates", "sum"), [2, 1]),
        (("--base", "1", "--nodes", "2"), [5, 7]),
        (("--named", "yes"), [5, 7]),
        (("--directed", "no"), [5, 5]),
        (("--directed", "yes"), [5, 7]),
    ],
)
def test_choices_about_lists_of_edges(
    tmp_path: Path, chosen: tuple[str, ...], expected: list[float],
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    program = file(tmp_path, "p.loom", ON_EDGES)
    edges, ones = file(tmp_path, "e.csv", EDGES), tmp_path / "x.npy"
    np.save(ones, np.ones(2))
    made = tmp_path / "made"
    output(capsys, "compile", program, "--tensors", f"A={edges}", "--tensors", f"x={ones}",
           *chosen, "--export", "tortilla", "--output", str(made))  # fmt: skip
    values = next(made.rglob("tensor_A_mode_vals"))
    np.testing.assert_array_equal(np.loadtxt(values), expected)


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (("--duplicates", "refuse"), "line 3.*is given twice"),
        (("--base", "0"), "A has shape 2x2, .*e.csv has 3x3"),
        (("--named", "no", "--nodes", "1"), "line 2.*node 1 is not in 0..0"),
        (("--nodes", "0"), "--nodes 0: a graph has at least one node"),
        (("--nodes", "3"), "A has shape 2x2, .*e.csv has 3x3"),
    ],
)
def test_choices_that_do_not_fit_a_list_of_edges(
    tmp_path: Path, chosen: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    program, edges = file(tmp_path, "p.loom", ON_EDGES), file(tmp_path, "e.csv", EDGES)
    given = ("simulate", program, "--tensors", f"A={edges}", "--tensors", "x=random", *chosen)
    assert main(given) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert re.search(message, last)
    assert "hint: " in last


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("chosen", [("--base", "0"), ("--duplicates", "sum"), ("--unweighted",)])
@pytest.mark.parametrize("tensors", [(), ("--tensors", "A=random", "--tensors", "x=random")])
def test_choices_about_edges_without_a_list(
    tmp_path: Path, tensors: tuple[str, ...], chosen: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    given = ("simulate", file(tmp_path, "p.loom", ON_EDGES), *tensors, *chosen)
    assert f"{chosen[0]} goes with a list of edges" in error(capsys, *given)
    graph = ("simulate", "--sam", "g.gv", "--tensors", "d.npz", *chosen)
    assert chosen[0] in error(capsys, *graph)
