"""Options of lists of edges, among the files of ``--tensors``."""

from __future__ import annotations

import argparse
from typing import Any

from fuseloom.cli.command import natural
from fuseloom.errors import DataError
from fuseloom.frontends.files import (
    CoordinateTensor,
    Duplicates,
    EdgeOptions,
    is_edge_list,
    read_tensor,
)

EDGE_OPTIONS = ("duplicates", "base", "named", "nodes", "directed", "unweighted")


def edge_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that :class:`EdgeFiles` reads."""
    group = parser.add_argument_group(
        "lists of edges", "how --tensors reads .csv, .tsv, .txt, .edges and .parquet"
    )
    group.add_argument(
        "--duplicates", choices=[x.value for x in Duplicates],
        help="an edge that is listed twice is refused, has its first weight (the default), or the "
        "sum of its weights",
    )  # fmt: skip
    group.add_argument(
        "--base", type=int, choices=[0, 1],
        help="what nodes count from (default: 0 if there is a node 0, else 1)",
    )  # fmt: skip
    group.add_argument(
        "--named", choices=["yes", "no"],
        help="whether nodes have names, which are numbered in the order in which they appear "
        "(default: yes if those of the first edge are no numbers)",
    )  # fmt: skip
    group.add_argument(
        "--nodes", type=natural, metavar="N",
        help="how many nodes there are (default: what a comment says, or the edges name)",
    )  # fmt: skip
    group.add_argument(
        "--directed", choices=["yes", "no"],
        help="no: the opposite of every edge is an edge, too (default: as the file says, else yes)",
    )  # fmt: skip
    group.add_argument(
        "--unweighted", action="store_true", default=None, help="every edge weighs 1"
    )


class EdgeFiles:
    """The files of ``--tensors``, lists of edges as the options say."""

    def __init__(self, options: Any) -> None:
        given = {name: getattr(options, name, None) for name in EDGE_OPTIONS}
        self.used = False
        chosen = (f"--{name}" for name, value in given.items() if value is not None)
        self.named = next(chosen, None)
        if given["nodes"] == 0:
            raise DataError("--nodes 0: a graph has at least one node", hint="leave --nodes out")
        directed, named = given["directed"], given["named"]
        self.options = EdgeOptions(
            nodes=given["nodes"],
            duplicates=Duplicates(given["duplicates"] or Duplicates.FIRST.value),
            symmetric=None if directed is None else directed == "no",
            weighted=not given["unweighted"],
            base=given["base"],
            named=None if named is None else named == "yes",
        )

    def read(self, file: str) -> CoordinateTensor:
        """A tensor of a file.

        Raises
        ------
        DataError
            If it cannot be read.
        """
        if self.named is None or not is_edge_list(file):
            return read_tensor(file)
        self.used = True
        return read_tensor(file, self.options)

    def check(self) -> None:
        """Refuse options that no file took.

        Raises
        ------
        DataError
            If there are some.
        """
        if self.named is not None and not self.used:
            raise DataError(
                f"{self.named} goes with a list of edges, and there is none",
                hint="give one: --tensors NAME=FILE.csv, or .tsv, .txt, .edges, .parquet",
            )
