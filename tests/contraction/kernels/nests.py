"""Nests of networks as kernels, compiled quickly."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np

from fuseloom.codegen.compile import Backend
from fuseloom.contraction.kernels.run import Data, NestKernel, kernels
from fuseloom.contraction.loopnest.generate import nary, nest_of, unfused
from fuseloom.contraction.loopnest.ir import Nest
from fuseloom.contraction.loopnest.parser import parse_nest
from fuseloom.contraction.networks import from_einsum
from fuseloom.contraction.paths import binary
from fuseloom.contraction.shipped import SHIPPED
from fuseloom.contraction.solving.solve import Question
from fuseloom.contraction.tree import ContractionTree
from fuseloom.program import LevelFormat
from tests.contraction.drawn import Array, data_of, small, wanted

D, C = LevelFormat.DENSE, LevelFormat.COMPRESSED
QUICK = ("-O1",)
Levels = Mapping[str, tuple[LevelFormat, ...]]


def solved(tree: ContractionTree, most: int, seed: int = 0) -> list[Nest]:
    """Fused nests of solutions at the least bound and at the largest, n-ary and unfused ones."""
    *_, least = Question(tree).least()
    top = max((len(a.indices) for a in tree.intermediates), default=0)
    found = []
    for bound in {max(least.bounds.values(), default=0), top}:
        solutions, _ = Question(tree).all(bound, most=60)
        found += random.Random(seed).sample(solutions, min(most, len(solutions)))
    assert found
    others = [kind(found[n]) for n in (0, -1) for kind in (nary, unfused)]
    return list(dict.fromkeys([*map(nest_of, found), *others]))


def smallest(name: str) -> ContractionTree:
    """A shipped network with extents of two to four."""
    return small(SHIPPED[name].einsum, SHIPPED[name].tree)


def compiled(
    nests: Sequence[Nest],
    tree: ContractionTree,
    levels: Levels | None = None,
    backend: Backend | None = Backend.C,
) -> tuple[NestKernel, ...]:
    return kernels(nests, tree, levels=levels, backend=backend, flags=QUICK)


def one(
    text: str, einsum: str, extents: Mapping[str, int], levels: Levels | None = None
) -> NestKernel:
    """The kernel of one nest as text, of the network with one product after the other."""
    tree = binary(from_einsum(einsum, extents))
    (kernel,) = compiled([parse_nest(text)], tree, levels)
    return kernel


def check(kernel: NestKernel, data: Data, expected: Array) -> None:
    """The kernel's result is NumPy's to nine digits."""
    result = kernel.run(data)
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-12, err_msg=str(kernel.nest))


def check_all(
    made: Sequence[NestKernel], tree: ContractionTree, densities: Sequence[float], seed: int = 0
) -> None:
    for density in densities:
        given = data_of(tree, seed, density)
        data, expected = Data(tree, given), wanted(tree, given)
        for kernel in made:
            check(kernel, data, expected)
