"""The sources of the machine code of each kernel, and their digest.

A kernel's machine code depends on the module that defines it and on the modules that this one
imports, directly or not, as far as they are sources of kernels at all: constants are frozen into
it, helpers become part of it.  What other kernels are made of does not matter.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from fuseloom.errors import SimulationError

_SOURCES = (
    "dataflow/sim/compiled/*.py",
    "dataflow/sim/compiled/kernels/*.py",
    "dataflow/primitives/*/*kernels.py",
    "dataflow/dram/*.py",
    "program/float32.py",
    "program/functions.py",
)
"""The sources of the machine code, from the folder of the package."""
_IMPORT = re.compile(
    r"^[ \t]*from (?P<module>fuseloom[\w.]*) import (?P<names>\([^)]*\)|[^\n]*)", re.MULTILINE
)
_PACKAGE = Path(__file__).parents[3]


def sources() -> list[Path]:
    """The files whose change makes compiled kernels stale.

    Raises
    ------
    SimulationError
        If a part of them is not there: what is cached could then be of other sources.
    """
    found: list[Path] = []
    for pattern in _SOURCES:
        files = sorted(_PACKAGE.glob(pattern))
        if not files:
            raise SimulationError(
                f"no source of the compiled kernels matches {pattern} in {_PACKAGE}",
                hint="install the package anew",
            )
        found += files
    return found


def module_name(path: Path) -> str:
    """Return the name under which a source is imported."""
    name = ".".join(path.relative_to(_PACKAGE.parent).with_suffix("").parts)
    return name.removesuffix(".__init__")


@cache
def texts() -> Mapping[str, str]:
    """Return the text of each source, by the name of its module."""
    return {module_name(path): path.read_text(encoding="utf-8") for path in sources()}


def imports_in(text: str) -> set[str]:
    """Return the modules of this package that a source may import.

    A name that is imported from a package may be a module in it, so both are listed.
    """
    found = set()
    for line in _IMPORT.finditer(text):
        found.add(line["module"])
        names = re.sub(r"#[^\n]*", "", line["names"]).strip("()").split(",")
        found |= {f"{line['module']}.{name.split()[0]}" for name in names if name.strip()}
    return found


def modules_behind(module: str, files: Mapping[str, str] | None = None) -> list[str]:
    """Return the sources that a module depends on, itself included, in order.

    Parameters
    ----------
    module : str
        A module that defines kernels.
    files : mapping, optional
        The text of each source by the name of its module; by default those of this package.
    """
    files = texts() if files is None else files
    reached, waiting = {module}, [module]
    while waiting:
        more = imports_in(files.get(waiting.pop(), "")) & files.keys() - reached
        reached |= more
        waiting += more
    return sorted(reached)


@cache
def digest(module: str) -> str:
    """Return 16 hexadecimal digits that change with any source that a module depends on."""
    return digest_of(module, texts())


def digest_of(module: str, files: Mapping[str, str]) -> str:
    """Return :func:`digest` for sources with these texts."""
    total = hashlib.sha256()
    for name in modules_behind(module, files):
        total.update(f"{name}\n{len(files.get(name, ''))}\n".encode())
        total.update(files.get(name, "").encode())
    return total.hexdigest()[:16]
