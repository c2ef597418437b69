"""Reserved address space: zeros, that take memory only where they are written to."""

from __future__ import annotations

import mmap
import resource
import sys
from typing import Any

import numpy as np
import pytest

from fuseloom.dataflow.sim.compiled.reserving import RESERVED, reserved

linux = pytest.mark.skipif(sys.platform != "linux", reason="address space is reserved on Linux")


@linux
def test_it_takes_memory_as_it_is_written_to() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    arrays = [reserved(np.int64) for _ in range(10)]
    for array in arrays:
        assert array is not None
        assert array.nbytes == RESERVED
        array[:5] = range(5)
        assert array[:7].tolist() == [0, 1, 2, 3, 4, 0, 0]
        array[len(array) - 1] = 3
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10  # KiB


def test_where_it_is_refused_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(mmap, "mmap", refuse)
    assert reserved(np.float32) is None
    monkeypatch.undo()
    monkeypatch.setattr(sys, "platform", "win32")
    assert reserved(np.float32) is None
