"""Exports marked as ours read back exactly, or are refused."""

from __future__ import annotations

import pytest

from fuseloom.dataflow.samml.exchange import import_sam
from fuseloom.errors import FuseloomError
from tests.dataflow.samml.exchange.exports import PRODUCT, exported


def test_a_changed_file_is_refused_with_the_way_out() -> None:
    _, text, _ = exported("a: 4 compressed\nb: 4 compressed\nt[i] = a[i] - b[i]")
    with pytest.raises(FuseloomError, match=r"changed after it was written: node \d+.*take out"):
        import_sam(text.replace('sub="1"', 'sub="0"'), {"a": (4,), "b": (4,)})
    without = "\n".join(line for line in text.split("\n") if "->" not in line or "val" not in line)
    with pytest.raises(FuseloomError, match="changed after it was written"):
        import_sam(without, {"a": (4,), "b": (4,)})


def test_broken_marks_are_refused() -> None:
    _, text, _ = exported(PRODUCT)
    changes = {
        r"version\":1": r"version\":9",
        r"\"id\":3,": r"\"id\":\"x\",",
        r"\"op\"": r"\"oq\"",
        r"hidden\":[": r"hidden\":[7,",
        r"\"streams\":[[": r"\"streams\":[[1,",
    }
    for old, new in changes.items():
        assert old in text
        with pytest.raises(FuseloomError, match="marks are broken"):
            import_sam(text.replace(old, new, 1), {"A": (4, 5), "B": (4, 5)})
