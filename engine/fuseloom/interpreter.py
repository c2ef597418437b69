"""The start of other Python processes: with this Fuseloom, and nothing of the current folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType

_SOURCES = str(Path(__file__).resolve().parent.parent)


def command(*arguments: str) -> list[str]:
    """The command line of a Python like this one.

    ``-P`` keeps the current folder off its path: a ``numpy.py`` that lies beside a user's program
    is not what a process started for them imports.

    Examples
    --------
    >>> command("-m", "fuseloom", "--version")[1:]
    ['-P', '-m', 'fuseloom', '--version']
    """
    return [sys.executable, "-P", *arguments]


def environment(*packages: ModuleType) -> dict[str, str]:
    """The environment of this process, in which `fuseloom` and `packages` are those of here."""
    roots = [_SOURCES]
    for package in packages:
        assert package.__file__ is not None
        roots.append(str(Path(package.__file__).resolve().parent.parent))
    path = [*dict.fromkeys(roots), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
