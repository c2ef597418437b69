"""The options for a list of edges."""

from __future__ import annotations

from dataclasses import dataclass

from fuseloom.frontends.files.tensor import Duplicates


@dataclass(frozen=True)
class EdgeOptions:
    """The choices of :func:`read_edges`, for readers that take other files, too.

    Attributes
    ----------
    nodes : int or None
        How many nodes there are; None: what a comment says, or as many as the edges name.
    duplicates : Duplicates
        What becomes of an edge that is listed twice.
    symmetric : bool or None
        Whether the opposite of every edge is an edge; None: as the file says.
    weighted : bool
        Whether weights count.
    base : int or None
        What nodes count from, 0 or 1; None: 0 if there is a node 0, else 1.
    named : bool or None
        Whether nodes have names; None: if those of the first edge are no numbers.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from fuseloom.frontends.files import read_tensor
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.csv"
    ...     _ = path.write_text("1,2,5\\n1,2,3\\n")
    ...     read_tensor(path, EdgeOptions(duplicates=Duplicates.SUM, base=0)).to_scipy().toarray()
    array([[0., 0., 0.],
           [0., 0., 8.],
           [0., 0., 0.]])
    """

    nodes: int | None = None
    duplicates: Duplicates = Duplicates.FIRST
    symmetric: bool | None = None
    weighted: bool = True
    base: int | None = None
    named: bool | None = None
