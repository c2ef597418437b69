"""Random data of a network: elements at random places, with values of a normal distribution."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import prod

import numpy as np
import numpy.typing as npt

from fuseloom.contraction.tree import ContractionTree
from fuseloom.errors import DataError
from fuseloom.wording import counted

MOST = 50_000_000
"""Elements of a tensor."""

Elements = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]


def scattered(
    tree: ContractionTree,
    density: float | Mapping[str, float],
    seed: int = 0,
    names: Collection[str] | None = None,
) -> dict[str, Elements]:
    """Per given tensor, coordinates (one row per element) and values.

    Parameters
    ----------
    density : float, or mapping by name
        Which part of its elements a tensor stores, at least one.
    names : collection of str, optional
        Of the tensors that are made; by default all.

    Raises
    ------
    DataError
        If the density is none, or a tensor would have too many elements.

    Examples
    --------
    >>> from fuseloom.contraction.shipped import shipped
    >>> coords, values = scattered(shipped("MTTKRP"), 0.01)["A"]
    >>> coords.shape, values.shape
    ((1200, 3), (1200,))
    """
    given = list(tree.given)
    densities = density if isinstance(density, Mapping) else dict.fromkeys(given, density)
    for name, part in densities.items():
        if not 0 < part <= 1:
            raise DataError(f"a density is above 0 and at most 1, not {part:g}")
        if name not in given:
            raise DataError(f"the network has no tensor {name}", hint=f"given: {', '.join(given)}")
    rng = np.random.default_rng(seed)
    found: dict[str, Elements] = {}
    for access in tree.inputs:
        if access.tensor in found or access.tensor not in given:
            continue
        if names is not None and access.tensor not in names:
            continue
        shape = tree.program.tensor(access.tensor).shape
        every = prod(shape)
        count = max(1, round(densities[access.tensor] * every))
        if count > MOST:
            raise DataError(
                f"{access.tensor} would have {counted(count, 'element')}, at most {MOST:,} "
                "are made",
                hint="take a smaller density, or smaller extents",
            )
        if every <= 4 * count or every < 1_000_000:
            flat = np.sort(rng.permutation(every)[:count])
        else:  # few of very many: drawn until there are enough different ones
            flat = np.unique(rng.integers(every, size=count))
            while len(flat) < count:
                more = rng.integers(every, size=count - len(flat))
                flat = np.unique(np.concatenate([flat, more]))
        places = np.unravel_index(flat, shape) if shape else ()
        coords = np.array(places, dtype=np.int64).reshape(len(shape), count).T
        found[access.tensor] = coords, rng.normal(size=count)
    return found
