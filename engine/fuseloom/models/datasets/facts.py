"""The known statistics of the evaluation's graphs: enough to make others of the same cost.

Source: ``docs/spec/accounting.md`` §2, from the data sets' descriptions and from cycles published
for them.  What timing depends on is nodes, edges, two-hop paths and the longest row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

HIDDEN = 16
"""Width of the hidden layer in every experiment with graphs."""

WORDS = 49_216 / (2_708 * 1_433)
"""Density of Cora's features; those of the other bags of words are not known and taken as equal."""


@dataclass(frozen=True)
class Facts:
    """One graph.

    Attributes
    ----------
    title : str
        For display.
    nodes, edges : int
        ``edges`` are stored elements of the adjacency matrix: an undirected edge counts twice.
    two_hop_paths : int
        ``sum over k of in(k) * out(k)``; undirected, the sum of squared degrees.
    features, classes : int
    words : int or None
        Non-zeros of a bag of words; None where features are dense real numbers.
    directed : bool
    largest : int or None
        Largest degree, where it is known.
    others : int
        So many of the nodes, the last ones, have no edges: they are of other types, whose edges
        are not those of the graph.
    """

    title: str
    nodes: int
    edges: int
    two_hop_paths: int
    features: int
    classes: int
    words: int | None
    directed: bool = False
    largest: int | None = None
    others: int = 0

    def scaled(self, factor: float) -> Facts:
        """The same kind of graph with a share of the nodes; averages per node stay.

        Paths shrink with the nodes too, so that the cost per node stays.
        """
        edges = round(self.edges * factor)
        return Facts(
            f"{self.title} at {factor:g}",
            round(self.nodes * factor),
            edges if self.directed else edges // 2 * 2,
            round(self.two_hop_paths * factor),
            self.features,
            self.classes,
            None if self.words is None else round(self.words * factor),
            self.directed,
            others=round(self.others * factor),
        )


GRAPHS: Mapping[str, Facts] = MappingProxyType(
    {
        "cora": Facts("Cora", 2_708, 10_556, 115_158, 1_433, 7, 49_216, largest=168),
        "cora_ml": Facts(
            "Cora_ML", 2_995, 16_316, 290_000, 2_879, 7, round(WORDS * 2_995 * 2_879)
        ),
        "dblp": Facts(
            "DBLP", 17_716, 105_734, 2_170_000, 1_639, 4, round(WORDS * 17_716 * 1_639)
        ),
        # Duplicates of the 2,358,104 listed edges collapse; the loader's default is two classes.
        "collab": Facts("Collab", 235_868, 1_935_264, 82_500_000, 128, 2, None),
        # Papers that cite papers.
        "mag": Facts("MAG", 736_389, 5_416_271, 1_450_000_000, 128, 349, None, directed=True),
        # The same edges among the nodes of all types, as the published cycles count them.
        "mag_all": Facts(
            "MAG, nodes of all types", 1_939_743, 5_416_271, 1_450_000_000, 128, 349, None,
            directed=True, others=1_939_743 - 736_389,
        ),
    }
)  # fmt: skip
