"""Z3 is optional."""

from __future__ import annotations

import sys

import pytest

from fuseloom.contraction.solving.z3_module import load_z3
from fuseloom.errors import ProgramError


def test_its_absence_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "z3", None)
    with pytest.raises(ProgramError, match="solved by Z3") as caught:
        load_z3()
    assert "fuseloom\\[networks\\]".replace("\\", "") in str(caught.value)
