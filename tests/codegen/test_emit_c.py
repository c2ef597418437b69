"""Routines as C: what the text may hold."""

from __future__ import annotations

import re

import pytest

from fuseloom.contraction.loopnest.parser import parse_nest
from fuseloom.contraction.tree import ContractionTree
from fuseloom.program import parse
from tests.contraction.kernels.nests import compiled, smallest, solved

KNOWN = """
include stdint h static inline int64_t const void double restrict for while if else return
seek crd first end least step last middle sizes arrays z
"""


def words(source: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", source)) - set(KNOWN.split())


@pytest.mark.deep  # takes seconds
def test_all_names_are_generated() -> None:
    text = "zebra: 3x4 csf\nsystem: 4 csf\nint[yak] = zebra[yak,goto] * system[goto]"
    tree = ContractionTree.of(parse(text))
    nest = parse_nest("forall(yak, forall(goto, int(yak) += zebra(yak,goto) * system(goto)))")
    (kernel,) = compiled([nest], tree)
    assert all(re.fullmatch(r"[navwskrt]\d+", word) for word in words(kernel.source))
    assert "zebra" not in kernel.source
    tree = smallest("running example")
    (kernel, *_) = compiled(solved(tree, 2), tree)
    assert all(re.fullmatch(r"[navwskrt]\d+", word) for word in words(kernel.source))


def test_equal_networks_of_other_names_and_sizes_are_one_text() -> None:
    sources = set()
    for a, b, i, size in (("A", "B", "i", 3), ("P", "Q", "row", 5)):
        text = f"{a}: {size}x4 csf\n{b}: 4 csf\nR[{i}] = {a}[{i},j] * {b}[j]"
        nest = parse_nest(f"forall({i}, forall(j, R({i}) += {a}({i},j) * {b}(j)))")
        (kernel,) = compiled([nest], ContractionTree.of(parse(text)))
        sources.add(kernel.source)
    assert len(sources) == 1
