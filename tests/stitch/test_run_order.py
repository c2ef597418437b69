"""The order of kernels and of operations that are in none."""

from __future__ import annotations

import pytest

from fuseloom.stitch.examples.models import EXAMPLES, read_example
from fuseloom.stitch.frames import fuse_module
from fuseloom.stitch.run_order import run_order


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_stands_behind_what_it_reads(name: str) -> None:
    for frame in fuse_module(read_example(name)).frames:
        fusion = frame.fusion
        order = run_order(fusion)
        assert len({*order}) == len(order)
        known: set[str] = set()
        for key in order:
            members = (key,) if isinstance(key, str) else fusion.kernels[key].operations
            inside = {*members}
            for member in members:
                read = {*fusion.computation.by_name[member].operands}
                assert read - inside <= known, (key, member)
            known |= inside
        assert fusion.computation.root in known
        assert {one for one in order if isinstance(one, int)} <= {*range(len(fusion.kernels))}
