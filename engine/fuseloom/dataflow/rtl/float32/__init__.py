"""Arithmetic units of binary32 numbers (IEEE 754-2019), as synthesizable circuits.

Every unit is a :class:`FloatUnit`; :func:`float_unit` makes one by the name of its function.
"""

from fuseloom.dataflow.rtl.float32.component import FloatUnit, delayed
from fuseloom.dataflow.rtl.float32.units import UNITS, float_unit

__all__ = ["UNITS", "FloatUnit", "delayed", "float_unit"]
