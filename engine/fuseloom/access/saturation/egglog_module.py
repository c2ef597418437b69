"""egglog, which is optional."""

from __future__ import annotations

import logging
from typing import Any

from fuseloom.errors import ProgramError


def load_egglog() -> Any:
    """The module of egglog's bindings.

    Raises
    ------
    ProgramError
        It is not installed.

    Examples
    --------
    >>> load_egglog().__name__
    'egglog.bindings'
    """
    try:
        import egglog.bindings as egglog
    except ImportError:
        raise ProgramError(
            "terms are rewritten by egglog, which is not installed",
            hint="pip install 'fuseloom[access]'",
        ) from None
    logging.getLogger("egglog").setLevel(logging.WARNING)  # it tells of every command
    return egglog
