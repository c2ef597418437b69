"""What notebooks import."""

from __future__ import annotations

import subprocess
import sys

import pytest

import workbench.notebook


def test_names_are_there_and_others_are_not():
    for name in workbench.notebook.__all__:
        assert callable(getattr(workbench.notebook, name)), name
    assert dir(workbench.notebook) == sorted(workbench.notebook.__all__)
    with pytest.raises(AttributeError, match="nosuch"):
        _ = workbench.notebook.nosuch


def test_drawing_needs_no_panel():
    program = (
        "import sys; from workbench.notebook import fiber_tree, streams, check;"
        "check('1.1', 4); print('panel' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr
