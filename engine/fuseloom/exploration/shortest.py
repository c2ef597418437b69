"""The shortest way through the places of a program."""

from __future__ import annotations

from math import inf

import numpy as np

from fuseloom.results.method import Floats
from fuseloom.results.order_ideals import OrderIdeals, Units


def shortest(places: OrderIdeals, counts: Floats) -> tuple[float, list[Units]]:
    """The length of the shortest way from the empty place to the full one, and its parts.

    Parameters
    ----------
    counts : ndarray of shape (p, p)
        Lengths of edges; infinite where there is none.

    Returns
    -------
    (length, parts)
        Infinite, and no parts, if there is no way.

    Notes
    -----
    Places are in an order in which each edge leads to a later one, so one pass from the last to the
    first finds what is left from each (Bellman): of O(e) for e pairs of places with a part between.

    Examples
    --------
    >>> counts = np.array([[inf, 2.0, 4.0], [inf, inf, 1.0], [inf, inf, inf]])
    >>> shortest(OrderIdeals.chain(2), counts)
    (3.0, [(0,), (1,)])
    """
    size = len(places)
    length = np.full(size, inf)
    length[-1] = 0.0
    ends = np.zeros(size, dtype=np.int64)
    for place in range(size - 2, -1, -1):
        last = places.ends(place)[-1] + 1
        total = counts[place, place + 1 : last] + length[place + 1 : last]
        ends[place] = best = int(total.argmin())
        length[place] = total[best]
    if length[0] == inf:
        return inf, []
    path, place = [], 0
    while place < size - 1:
        end = place + 1 + int(ends[place])
        path.append(places.units(place, end))
        place = end
    return float(length[0]), path
