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
