"""Graphs as synthesizable hardware: a module per primitive, channels between them, a test bench.

The golden model of a primitive and its hardware make the same requests in the same order
(:mod:`fuseloom.dataflow.rtl.unit`), so that tokens, deadlocks and, but for what is stated in
``docs/rtl.md``, cycles are those of the simulator.  Needs Amaranth (the extra ``rtl``).
"""

from importlib.util import find_spec

from fuseloom.errors import GraphError


def require_amaranth() -> None:
    """Check that Amaranth, which makes hardware, is installed.

    Raises
    ------
    GraphError
        If it is not.
    """
    if find_spec("amaranth") is None:
        raise GraphError(
            "Amaranth, which makes hardware, is not installed",
            hint="pip install 'fuseloom[rtl]'",
        )
