"""The names that notebooks import."""

from __future__ import annotations

import subprocess
import sys

import pytest

import fuseloom_workbench.notebook


def test_names_are_there_and_others_are_not():
    for name in fuseloom_workbench.notebook.__all__:
        assert callable(getattr(fuseloom_workbench.notebook, name)), name
    assert dir(fuseloom_workbench.notebook) == sorted(fuseloom_workbench.notebook.__all__)
    with pytest.raises(AttributeError, match="nosuch"):
        _ = fuseloom_workbench.notebook.nosuch


@pytest.mark.deep  # takes seconds
def test_drawing_needs_no_panel():
    program = (
        "import sys; from fuseloom_workbench.notebook import fiber_tree, streams, check;"
        "check('1.1', 4); print('panel' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr


@pytest.mark.deep  # needs IPython
def test_components_follow_the_theme_of_the_lab():
    program = (
        "from unittest.mock import patch; from fuseloom_workbench.notebook import notebook\n"
        "with patch('IPython.display.display') as shown, patch('IPython.get_ipython'): notebook()\n"
        "print(shown.call_args.args[0].data)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert '[data-jp-theme-light="false"]' in done.stdout, done.stderr
    assert "color-scheme: dark" in done.stdout
