"""Libraries that take long are not imported before they are used."""

from __future__ import annotations

import subprocess
import sys
from operator import attrgetter

import pytest

from fuseloom.program.late import LazyModule


def test_a_module_is_imported_by_its_first_use() -> None:
    sys.modules.pop("colorsys", None)
    late = LazyModule("colorsys")
    assert "colorsys" not in sys.modules
    assert late.rgb_to_hsv(0.0, 0.0, 0.0) == (0.0, 0.0, 0.0)
    assert "colorsys" in sys.modules


def test_what_is_not_there_is_told_as_by_an_import() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        attrgetter("anything")(LazyModule("no_such_module"))
    with pytest.raises(AttributeError, match="nothing"):
        attrgetter("nothing")(LazyModule("math"))


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize("name", ["networkx", "scipy.special", "numba"])
def test_the_simulator_starts_without_libraries_it_may_not_need(name: str) -> None:
    code = f"import sys, fuseloom.dataflow.sim.program_runs; sys.exit({name!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


USE = """
import sys
import numpy as np
import fuseloom as fl
compiled = fl.compile(fl.parse("A: 3x4 csr\\nx: 4 dense\\nT[i] = A[i,j] * x[j]"))
data = {"A": np.eye(3, 4), "x": np.ones(4)}
fl.estimate(compiled, data)
print(*sorted(name for name in sys.modules if name.startswith("scipy")))
import scipy.sparse
assert is_scipy(scipy.sparse.eye_array(3))
assert not is_scipy(np.eye(3))
"""


def test_neither_compilation_nor_estimate_loads_scipy() -> None:
    """It takes a sixth of the time that it takes to start."""
    code = f"from fuseloom.program.late import is_scipy\n{USE}"
    command = [sys.executable, "-P", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
