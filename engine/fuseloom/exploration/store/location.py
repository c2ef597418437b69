"""The location of the run store."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

VARIABLE = "FUSELOOM_RUNS"
"""Environment variable that names another file."""


def default_path() -> Path:
    """The file of ``$FUSELOOM_RUNS``, or ``runs.sqlite`` in the user's data directory."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    return Path(platformdirs.user_data_dir("fuseloom", appauthor=False)) / "runs.sqlite"
