"""Graphs by name: the real ones where their files are at hand, else stand-ins with a loud label."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from fuseloom.errors import DataError
from fuseloom.frontends.files import GraphData
from fuseloom.models.datasets.facts import GRAPHS, HIDDEN, Facts
from fuseloom.models.datasets.images import digits
from fuseloom.models.datasets.locate import LAYOUTS
from fuseloom.models.datasets.patterns import PATTERNS, pattern, pruned, synthetic
from fuseloom.models.datasets.standin import enlarged, standin
from fuseloom.program import regular_files
from fuseloom.program.formats import suggestion
from fuseloom.program.late import networkx as nx

__all__ = [
    "GRAPHS",
    "HIDDEN",
    "PATTERNS",
    "Facts",
    "digits",
    "karate_graph",
    "load_graph",
    "pattern",
    "pruned",
    "standin",
    "synthetic",
]

VARIABLE = "FUSELOOM_DATA_DIR"
"""Environment variable that names the folder of data where none is given."""


def load_graph(name: str, data_dir: str | Path | None = None, seed: int = 0) -> GraphData:
    """A graph of the evaluation.

    Parameters
    ----------
    name : str
        One of ``GRAPHS``, ``PATTERNS``, or ``karate``.
    data_dir : path, optional
        Folder with the files (``locate.LAYOUTS`` says where); by default what the environment
        variable ``FUSELOOM_DATA_DIR`` names.
    seed : int
        Of a stand-in, or of a pattern.

    Returns
    -------
    GraphData
        ``standin`` is true, and ``label`` says so, where the files are not there.

    Raises
    ------
    DataError
        An unknown name, no such folder, or damaged files.
    """
    folder = data_dir or os.environ.get(VARIABLE) or None
    if folder is not None and not regular_files.is_folder(folder):
        raise DataError(f"there is no folder {folder}", hint="name a folder with data sets")
    if name == "karate":
        return karate_graph()
    if name in PATTERNS:
        return synthetic(name, seed=seed)
    if name not in GRAPHS:
        known = [*GRAPHS, *PATTERNS, "karate"]
        raise DataError(f"no graph is called {name!r}", hint=suggestion(name, known))
    facts, layout = GRAPHS[name], LAYOUTS[name]
    place = None if folder is None else layout.find(Path(folder))
    if place is None:
        return standin(facts, seed)
    read = layout.read(place)
    named = replace(read, name=facts.title, classes=read.classes or facts.classes)
    return _with_others(named, facts.others)


def _with_others(graph: GraphData, others: int) -> GraphData:
    """A graph with so many more nodes, of other types: no edges, features 0, no class."""
    if not others:
        return graph
    nodes = graph.nodes + others
    features, labels = graph.features, graph.labels
    if features is not None:
        features = np.concatenate([features, np.zeros((others, features.shape[1]), np.float32)])
    if labels is not None:
        labels = np.concatenate([labels, np.full(others, -1)])
    adjacency = enlarged(graph.adjacency, nodes)
    return replace(graph, adjacency=adjacency, features=features, labels=labels)


def karate_graph() -> GraphData:
    """Zachary's karate club: 34 nodes, 156 directed edges of weight 1, identity features.

    Source: W. W. Zachary, "An information flow model for conflict and fission in small groups",
    1977, as shipped with networkx.
    """
    adjacency = nx.to_scipy_sparse_array(nx.karate_club_graph(), weight=None, dtype=np.float32)
    eye = np.eye(adjacency.shape[0], dtype=np.float32)
    return GraphData("Karate club", adjacency.tocsr(), eye, None, 4, "networkx")
