"""Z3, which is optional."""

from __future__ import annotations

from typing import Any

from fuseloom.errors import ProgramError


def load_z3() -> Any:
    """The z3 module.

    Raises
    ------
    ProgramError
        It is not installed.
    """
    try:
        import z3
    except ImportError:
        raise ProgramError(
            "fused structures of tensor networks are solved by Z3, which is not installed",
            hint="pip install 'fuseloom[networks]'",
        ) from None
    return z3
