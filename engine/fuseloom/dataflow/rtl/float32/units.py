# amaranth: UnusedElaboratable=no
"""The table of the units, by the names of the functions of values.

A unit may be made only to ask for its stages, so Amaranth is told, by the first line of this file,
not to warn of units that become part of no circuit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from fuseloom.dataflow.rtl.float32.addition import Adder
from fuseloom.dataflow.rtl.float32.comparison import Maximum, Relu
from fuseloom.dataflow.rtl.float32.component import FloatUnit
from fuseloom.dataflow.rtl.float32.conversion import FromInteger, ToInteger
from fuseloom.dataflow.rtl.float32.division import Divider
from fuseloom.dataflow.rtl.float32.exponential import Exponential
from fuseloom.dataflow.rtl.float32.multiplication import Multiplier
from fuseloom.dataflow.rtl.float32.reciprocal_root import ReciprocalRoot
from fuseloom.errors import GraphError

UNITS: Mapping[str, Callable[[], FloatUnit]] = {
    "add": Adder,
    "sub": partial(Adder, subtract=True),
    "mul": Multiplier,
    "div": Divider,
    "max": Maximum,
    "relu": Relu,
    "exp": Exponential,
    "rsqrt": ReciprocalRoot,
    "from_int": FromInteger,
    "to_int": ToInteger,
}
"""Each makes a new unit of that function."""


def float_unit(name: str, user: str = "") -> FloatUnit:
    """Make the unit of a function.

    Parameters
    ----------
    name : str
        A name of :data:`UNITS`.
    user : str, optional
        Who asks, for the message of the error.

    Returns
    -------
    FloatUnit
        A new unit, to become a submodule.

    Raises
    ------
    GraphError
        If there is no unit of that name.

    Examples
    --------
    >>> float_unit("add").stages, float_unit("div").stages
    (0, 11)
    """
    make = UNITS.get(name)
    if make is None:
        begin = f"{user}: " if user else ""
        raise GraphError(
            f"{begin}no floating-point unit computes {name}",
            hint=f"there are units of {', '.join(UNITS)}",
        )
    return make()
