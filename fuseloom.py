"""Fuseloom, as its users import it.

::

    import fuseloom as fl
    program = fl.parse(text)
    compiled = fl.compile(program, "fuse T1..H; fuse T5..Y")
    fl.estimate(compiled, data).cycles
    fl.simulate(compiled, data).check()

The names are those of :mod:`engine`, each imported on first use.
"""

from __future__ import annotations

from typing import Any

import engine
from engine import __all__ as __all__


def __getattr__(name: str) -> Any:
    try:
        if name in __all__ and name != "__version__":
            return engine.__getattr__(name)  # also where a room has the name, once it is loaded
        return getattr(engine, name)
    except AttributeError:
        raise AttributeError(f"module 'fuseloom' has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return dir(engine)
