"""Lists of edges as they are published: counting, names, fields, comments, and what is told."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from fuseloom.errors import DataError
from fuseloom.frontends.files import Duplicates, read_edges, read_graph, read_tensor
from tests.frontends.files import dense
from tests.frontends.files.written import written

PATH = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
WEIGHTED = [[0, 2.5, 0], [0, 0, 4], [0, 0, 0]]


@pytest.mark.parametrize(
    ("text", "expected", "note"),
    [
        ("1 2\n2 3\n", PATH, "nodes count from 1, as there is no node 0"),
        ("alice,bob\nbob,carol\n", PATH, "alice is 0, bob is 1, carol is 2"),
        (
            "Person;Friend;Since\nann;bob;2.5\nbob;cy;4\n",
            WEIGHTED,
            "field 3 is the weight, 2.5 to 4",
        ),
        ("u,v\nv,w\n", PATH, "u is 0, v is 1, w is 2"),
        ("u,v\na,b\nb,c\n", PATH, "the first line names the fields, it is no edge"),
        ("a b 2.5 100\nb c 4 101\n", WEIGHTED, "field 4 is the time, not read"),
        ("0,1,2.5\n1,2,4\n", WEIGHTED, "field 3 is the weight, 2.5 to 4"),
        ("source,target,timestamp\n0,1,9\n1,2,8\n", PATH, "field 3 is the time, not read"),
        ("time\tto\tfrom\n9\t1\t0\n8\t2\t1\n", PATH, "edges go from field 3 to field 2"),
        (
            "Source,Target,Type,Id,Label,Weight\n0,1,Directed,0,,2.5\n1,2,Directed,1,,4\n",
            WEIGHTED,
            "not read: Type, Id, Label",
        ),
        (",source,target\n0,0,1\n1,1,2\n", PATH, "not read: field 1"),
        ("# source target time\n0 1 9\n1 2 8\n", PATH, "field 3 is the time, not read"),
        (
            '\ufeff"source";"target"\r\n"a; b";"c ""d"""\r\n"c ""d""";e\r\n',
            PATH,
            'c "d" is 1, e is 2',
        ),
        ('"0","1"\n"1","2"\n', PATH, "does not say whether edges are directed"),
        ('"a b" c\nc "d"\n', PATH, "a b is 0, c is 1, d is 2"),
        ("0,1,\n1,2,\n", PATH, "does not say"),
        ("0.0,1.0\n1.0,2.0\n", PATH, "does not say"),
        ("0 1 {}\n1 2 {}\n", PATH, "does not say"),
        ("0 1 {'weight': 2.5, 'x': 1}\n1 2 {'weight': 4}\n", WEIGHTED, "field 3 is the weight"),
        (
            "99999999999 5\n5 7\n",
            [[0, 1, 0], [0, 0, 0], [1, 0, 0]],
            "the 3 that occur are numbered",
        ),
        (
            "0 1\n1 2\n0 1\n0 1\n",
            PATH,
            "2 edges repeat one that was given before: the first counts",
        ),
        ("0 1 2.5\n1 2 4\n0 1 3\n", WEIGHTED, "the first counts, 1 has another value"),
        ("1\t2\n3\t3\n", [[0, 1, 0], [0, 0, 0], [0, 0, 1]], "nodes count from 1"),
    ],
    ids=range(23),
)
def test_lists_and_what_is_told_of_them(
    tmp_path: Path, text: str, expected: list[list[float]], note: str
) -> None:
    path = tmp_path / "e.txt"
    path.write_bytes(text.encode())
    tensor = read_tensor(path)
    np.testing.assert_array_equal(dense(tensor), expected)
    assert note in "; ".join(tensor.notes)
    assert read_graph(path).notes == tensor.notes


SNAP = "# {}: x.txt\n# Some graph\n# Nodes: {} Edges: {}\n# FromNodeId\tToNodeId\n"


@pytest.mark.parametrize(
    ("name", "text", "expected", "notes"),
    [
        (
            "a.txt",
            SNAP.format("Directed graph (each unordered pair of nodes is saved once)", 4, 2)
            + "0\t1\r\n1\t2\r\n",
            np.eye(4, k=1) * [[1], [1], [0], [0]],
            ("1 of 4 nodes has no edge", "edges are directed, as the file says"),
        ),
        (
            "a.ungraph.txt",
            SNAP.format("Undirected graph", 3, 5) + "1\t2\n2\t3\n2\t1\n3\t3\n",
            [[0, 1, 0], [1, 0, 1], [0, 1, 1]],
            (
                "the file lists 4 edges, a comment says 5",
                "nodes count from 1, as there is no node 0",
                "edges are undirected, as the file says: the opposite of each is added",
                "1 edge repeats one that was given before: the first counts",
            ),
        ),
        (
            "out.sym",
            "% sym unweighted\n% 2 3 3\n1 2\n3 3\n",
            [[0, 1, 0], [1, 0, 0], [0, 0, 1]],
            ("edges are undirected, as the file says: the opposite of each is added",),
        ),
        (
            "out.asym-name",
            "% asym positive\n1 2 3 1100000000\n2 3 1 1100000001\n",
            [[0, 3, 0], [0, 0, 1], [0, 0, 0]],
            (
                "field 3 is the weight, 1 to 3",
                "field 4 is the time, not read",
                "edges are directed, as the file says",
            ),
        ),
        (
            "out.bip",
            "% bip weighted\n% 3 4 2\n2 2 5\n3 1 4\n3 2 1 \n",
            [[0, 0], [0, 5], [4, 1], [0, 0]],
            (
                "field 3 is the weight, 1 to 5",
                "2 of 4 nodes have no edge",
                "bipartite: 4 rows, 2 columns",
            ),
        ),
    ],
)
def test_snap_and_konect(
    tmp_path: Path, name: str, text: str, expected: object, notes: tuple[str, ...]
) -> None:
    tensor = read_tensor(written(tmp_path, name, text))
    np.testing.assert_array_equal(dense(tensor), expected)
    assert tensor.notes == notes


def test_a_bipartite_graph_is_a_matrix_not_a_graph(tmp_path: Path) -> None:
    path = written(tmp_path, "out.bip", "% bip unweighted\n1 2\n1 3\n")
    with pytest.raises(DataError, match=r"adjacency matrix of bip is 1x3 .*--tensors NAME=FILE"):
        read_graph(path)
    with pytest.raises(DataError, match="of which kind"):
        read_edges(path, 3)


def test_networkx_writes_them(tmp_path: Path) -> None:
    club = nx.karate_club_graph()
    nx.write_edgelist(club, tmp_path / "k.edgelist")
    tensor = read_edges(tmp_path / "k.edgelist", symmetric=True)
    np.testing.assert_array_equal(dense(tensor), nx.to_numpy_array(club))


def test_what_can_be_decided_for_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, "e.txt", "1 2\n2 3\n")
    given = read_edges(path, base=0)
    assert given.shape == (4, 4)
    assert "nodes count from 0, and node 0 has no edge" not in given.notes
    assert "1 of 4 nodes has no edge" in given.notes
    assert read_edges(path, 3).shape == (3, 3)
    assert "node 0 has no edge" in "; ".join(read_edges(path, 5).notes)
    assert read_edges(path, named=True).shape == (3, 3)
    both = dense(read_edges(path, symmetric=True))
    np.testing.assert_array_equal(both, np.array(PATH) + np.array(PATH).T)
    loop = written(tmp_path, "l.txt", "0 0 2\n0 1 3\n1 0 4\n")
    summed = read_edges(loop, symmetric=True, duplicates=Duplicates.SUM)
    np.testing.assert_array_equal(dense(summed), [[2, 7], [7, 0]])
    with pytest.raises(DataError, match=r"line 2.*node 3 is not in 0\.\.2"):
        read_edges(path, 3, base=0)
    with pytest.raises(DataError, match=r"3 names of nodes, for 2 nodes"):
        read_edges(path, 2, named=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a likes b\n", "line 1.*field 3, 'b', is not a number.*name the fields"),
        ("0 1\n1 x\n", "line 2.*'x', is not a number.*named=True"),
        ('0,"1\n', "line 1.*quote is not closed"),
        ('a,b\nc,"d\n"e,f\n', "line 2.*quote is not closed"),
        ("0,1\n" * 3 + "0,1,2\n", "line 4.*3 fields, expected 2"),
        ("\udcff\udcfe0\x000\x00", "UTF-16.*iconv"),
    ],
)
def test_ways_out(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "e.csv"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DataError, match=message):
        read_tensor(path)
