"""Degrees drawn so that their sum and the cost they cause come out as wished."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from fuseloom.errors import DataError
from fuseloom.wording import counted

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

STEPS = 40
WIDEST = 6.0
"""Largest standard deviation of the logarithm that is tried."""


def spread(weights: Floats, total: int, least: int, most: int) -> Ints:
    """Integers with a given sum, ``least`` plus a part in proportion to a weight.

    Parameters
    ----------
    weights : (n,) array
        Positive.
    total : int
        Between ``n * least`` and ``n * most``.
    least, most : int
        Limits of each number.
    """
    extra, room = total - len(weights) * least, most - least
    low, high = 0.0, 1.0
    while np.minimum(weights * high, room).sum() < extra:
        low, high = high, high * 2.0
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        if np.minimum(weights * middle, room).sum() < extra:
            low = middle
        else:
            high = middle
    exact = np.minimum(weights * high, room)
    made = np.floor(exact).astype(np.int64)
    missing = extra - int(made.sum())
    # The largest remainders are rounded up: they have room, as their floor lies below it.
    made[np.argsort(made - exact, kind="stable")[: max(missing, 0)]] += 1
    excess = int(made.sum()) - extra
    if excess > 0:
        made[np.flatnonzero(made > 0)[:excess]] -= 1
    return made + least


def matching(cost: Callable[[float], int], wanted: int, what: str) -> float:
    """The standard deviation at which a cost that rises with it comes closest to what is wanted.

    Raises
    ------
    DataError
        If none comes within one part in a hundred.
    """
    low, high = 0.0, WIDEST
    for _ in range(STEPS // 2):
        middle = (low + high) / 2.0
        if cost(middle) < wanted:
            low = middle
        else:
            high = middle
    best = min((low, high), key=lambda sigma: abs(cost(sigma) - wanted))
    if abs(cost(best) - wanted) > 0.01 * wanted:
        raise DataError(
            f"no degrees give {wanted:,} {what}", hint="the numbers of the graph contradict"
        )
    return best


def undirected_degrees(
    rng: np.random.Generator, nodes: int, edges: int, squares: int, largest: int | None
) -> Ints:
    """Degrees of at least 1 with a given sum and, within 1 %, sum of squares.

    Logarithms are normal, as those of citation and co-author graphs nearly are; the largest
    degree is as given, or what the draw makes it.

    Raises
    ------
    DataError
        If there are no such degrees.
    """
    normal = np.sort(rng.standard_normal(nodes))[::-1]
    fixed = [] if largest is None else [largest]
    most = largest or nodes - 1
    if edges < nodes or edges % 2:
        raise DataError(
            f"{counted(nodes, 'node')} and {counted(edges, 'stored edge')}",
            hint="every node has one, and undirected edges count twice",
        )

    def drawn(sigma: float) -> Ints:
        rest = np.exp(sigma * normal[len(fixed) :])
        return np.concatenate([fixed, spread(rest, edges - sum(fixed), 1, most)]).astype(np.int64)

    sigma = matching(lambda s: int((drawn(s) ** 2).sum()), squares, "as sum of squared degrees")
    return rng.permutation(drawn(sigma))


TILT = 0.6
"""Spread of the logarithms of out-degrees, as a share of that of in-degrees: papers are cited more
unevenly than they cite.  An assumption, as the published figures fix only the number of paths."""


def directed_degrees(
    rng: np.random.Generator, nodes: int, edges: int, paths: int
) -> tuple[Ints, Ints]:
    """In- and out-degrees with a given sum and, within 1 %, sum of products.

    Every node has an edge that leaves it.  Nodes that are cited more cite more.

    Raises
    ------
    DataError
        If there are no such degrees.
    """
    normal = rng.standard_normal(nodes)

    def drawn(sigma: float) -> tuple[Ints, Ints]:
        into = spread(np.exp(sigma * normal), edges, 0, nodes // 2)
        out = spread(np.exp(TILT * sigma * normal), edges, 1, nodes // 2)
        return into, out

    def products(sigma: float) -> int:
        into, out = drawn(sigma)
        return int(into @ out)

    return drawn(matching(products, paths, "paths of two edges"))
