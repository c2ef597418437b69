"""The shortest path through the ideals of a program."""

from __future__ import annotations

from math import inf

import numpy as np

from fuseloom.results.method import Floats
from fuseloom.results.order_ideals import OrderIdeals, Units


def shortest(ideals: OrderIdeals, counts: Floats) -> tuple[float, list[Units]]:
    """The length of the shortest path from the empty ideal to the full one, and its parts.

    Parameters
    ----------
    counts : ndarray of shape (p, p)
        Lengths of edges; infinite where there is none.

    Returns
    -------
    (length, parts)
        Infinite, and no parts, if there is no path.

    Notes
    -----
    Ideals are in an order in which each edge leads to a later one, so one pass from the last to the
    first finds what is left from each (Bellman): of O(e) for e pairs of ideals with a part between.

    Examples
    --------
    >>> counts = np.array([[inf, 2.0, 4.0], [inf, inf, 1.0], [inf, inf, inf]])
    >>> shortest(OrderIdeals.chain(2), counts)
    (3.0, [(0,), (1,)])
    """
    size = len(ideals)
    length = np.full(size, inf)
    length[-1] = 0.0
    ends = np.zeros(size, dtype=np.int64)
    for ideal in range(size - 2, -1, -1):
        last = ideals.ends(ideal)[-1] + 1
        total = counts[ideal, ideal + 1 : last] + length[ideal + 1 : last]
        ends[ideal] = best = int(total.argmin())
        length[ideal] = total[best]
    if length[0] == inf:
        return inf, []
    path, ideal = [], 0
    while ideal < size - 1:
        end = ideal + 1 + int(ends[ideal])
        path.append(ideals.units(ideal, end))
        ideal = end
    return float(length[0]), path
