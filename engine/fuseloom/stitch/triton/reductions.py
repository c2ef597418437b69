"""Reductions in Triton: tiles that many values are combined in, and how a tile is combined."""

from __future__ import annotations

from collections.abc import Mapping

from fuseloom.errors import LoweringError
from fuseloom.stitch.phase_values import ElementNumber, KernelPhase, PhaseValue
from fuseloom.stitch.triton.scalars import (
    FLOATS,
    extreme_text,
    literal_text,
    number_text,
    triton_type,
)

_SIGNS: Mapping[str, str] = {"add": "+", "multiply": "*", "and": "&", "or": "|", "xor": "^"}
_OF_TRUTH: Mapping[str, str] = {
    "add": "or", "multiply": "and", "maximum": "or", "minimum": "and",
}  # fmt: skip
_FUNCTIONS: Mapping[str, str] = {
    "multiply": "product_of", "and": "both_of", "or": "any_of", "xor": "one_of",
}  # fmt: skip


class TileAccumulator:
    """The way in which a phase combines values.

    Parameters
    ----------
    phase : KernelPhase
        With a reduction.

    Attributes
    ----------
    opcode : str
    element : str
        The type that values are combined in.

    Raises
    ------
    LoweringError
        If Triton has no such reduction of the type.

    Examples
    --------
    >>> from fuseloom.stitch.graph import DenseOperation
    >>> from fuseloom.stitch.phase_values import PhaseReduction
    >>> from fuseloom.stitch.shapes import TensorShape
    >>> one = ElementNumber(1.0, "f32")
    >>> y = DenseOperation("y", "reduce", TensorShape("f32", ()), ("x", "zero"))
    >>> total = TileAccumulator(
    ...     KernelPhase(y, (), (), (one,), one, PhaseReduction("maximum", ()), ()))
    >>> total.neutral, total.reduced("x", 1, keep=True)
    ('tl.full([], float("-inf"), tl.float32)', 'largest(x, 1, True)')
    """

    def __init__(self, phase: KernelPhase) -> None:
        assert phase.reduction is not None
        element = phase.operation.array.element
        opcode = phase.reduction.opcode
        self.phase = phase
        self.opcode = _OF_TRUTH.get(opcode, opcode) if element == "pred" else opcode
        self.element = "f32" if element == "bf16" else element
        self.kind = triton_type(element)
        if self.element in FLOATS and self.opcode in ("and", "or", "xor"):
            raise LoweringError(
                f"there is no Triton for a reduction by {opcode} of {element}",
                hint="NumPy evaluates it",
            )

    @property
    def neutral_number(self) -> float:
        """The number that changes nothing that it is combined with."""
        if self.opcode in ("add", "or", "xor"):
            return 0
        if self.opcode == "multiply":
            return 1
        if self.element in FLOATS:
            return float("-inf" if self.opcode == "maximum" else "inf")
        if self.element == "pred":
            return 1
        bits = int(self.element[1:])
        signed = self.element[0] == "s"
        if self.opcode == "and":
            return -1 if signed else 2**bits - 1
        if self.opcode == "maximum":
            return -(2 ** (bits - 1)) if signed else 0
        return int(2 ** (bits - signed)) - 1

    @property
    def neutral_text(self) -> str:
        """That number as a literal."""
        return literal_text(self.neutral_number, self.element)

    @property
    def neutral(self) -> str:
        """That number as a scalar of its type."""
        return number_text(self.neutral_number, self.element)

    @property
    def start(self) -> tuple[PhaseValue, ...]:
        """The value that it starts from; none if that changes nothing."""
        assert self.phase.reduction is not None
        start = self.phase.reduction.start
        if start is None:
            return ()
        known = isinstance(start, ElementNumber) and start.number == self.neutral_number
        return () if known else (start,)

    def combined(self, one: str, other: str) -> str:
        """Two values, or tiles of them, combined."""
        if self.opcode in ("maximum", "minimum"):
            return extreme_text(self.opcode, one, other, self.element)
        return f"{one} {_SIGNS[self.opcode]} {other}"

    def reduced(self, tile: str, axis: int, *, keep: bool) -> str:
        """The values along an axis of a tile combined."""
        dims = f"{axis}, keep_dims={keep}"
        if self.element == "pred":
            number = f"{tile}.to(tl.int32)"
            if self.opcode == "xor":
                return f"(tl.sum({number}, {dims}) & 1) != 0"
            return f"tl.{'max' if self.opcode == 'or' else 'min'}({number}, {dims}) != 0"
        if self.opcode == "add":
            made = f"tl.sum({tile}, {dims})"
            return made if self.element[1:] in ("32", "64") else f"{made}.to({self.kind})"
        if self.opcode in ("maximum", "minimum"):
            function = "largest" if self.opcode == "maximum" else "smallest"
            return f"{function}({tile}, {axis}, {keep})"
        return f"tl.reduce({tile}, {axis}, {_FUNCTIONS[self.opcode]}, keep_dims={keep})"
