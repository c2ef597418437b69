"""Level scanners and the locator as hardware (``docs/spec/machine.md`` §3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from amaranth.hdl import C, Module, Mux, Signal

from fuseloom.dataflow.rtl.registry import NodeSpec, hardware
from fuseloom.dataflow.rtl.tokens import WORD_BITS, TokenWires, choose
from fuseloom.dataflow.rtl.unit import PrimitiveUnit, RequestStep, StoredWords


@dataclass(frozen=True)
class ScannedPosition:
    """The position that a scanner is at.

    Attributes
    ----------
    opens : Value
        High where it is the first of its fiber.
    kept : Signal
        Its number where it is not: a register.
    passes : Value
        High in the cycle in which the scanner leaves it.
    """

    opens: Any
    kept: Any
    passes: Any


class ScannerUnit(PrimitiveUnit):
    """Puts the fiber of each reference, element by element, and its stop.

    Subclasses say which positions a fiber has, and what coordinate is at each.
    """

    def _outside(self, reference: Any) -> Any:
        """True where the level has no such reference."""
        return C(0, 1)

    def _opens(self, m: Module, reference: Any) -> tuple[Any, Any]:
        """The first position of a reference's fiber, and the one after the last."""
        raise NotImplementedError

    def _coordinate(self, m: Module, position: ScannedPosition) -> Any:
        """The coordinate at a position."""
        raise NotImplementedError

    def describe(self, m: Module, step: RequestStep) -> None:
        inside = Signal()
        kept, kept_end = Signal(WORD_BITS), Signal(WORD_BITS)
        position, end = Signal(WORD_BITS), Signal(WORD_BITS)
        token = step.take(0, ~inside)
        step.fault_if(~inside & token.is_value & self._outside(token.data))
        opens = Signal()
        m.d.comb += opens.eq(~inside & token.is_leaf)
        start, stop = self._opens(m, token.data)
        empty = opens & token.is_empty
        m.d.comb += [
            position.eq(Mux(opens, Mux(empty, 0, start), kept)),
            end.eq(Mux(opens, Mux(empty, 0, stop), kept_end)),
        ]
        element, closes = Signal(), Signal()
        m.d.comb += [
            element.eq((inside | opens) & (position != end)),
            closes.eq((inside | opens) & (position == end)),
        ]
        following = step.peek(0, closes)
        step.take(0, closes & following.is_stop)
        level = Mux(closes, Mux(following.is_stop, following.data + 1, 0), token.data + 1)
        others = choose(
            (~inside & token.is_done, TokenWires.done()),
            otherwise=TokenWires.stop(level[:WORD_BITS]),
        )
        scanned = ScannedPosition(opens, kept, step.complete)
        coordinate = self._coordinate(m, scanned)
        step.put(0, choose((element, TokenWires.value(coordinate)), otherwise=others))
        step.put(1, choose((element, TokenWires.value(position)), otherwise=others))
        step.end(last=~inside & token.is_done)
        with m.If(step.complete):
            m.d.sync += [inside.eq(element), kept.eq(position + 1), kept_end.eq(end)]


class CompressedScannerUnit(ScannerUnit):
    """Reads the bounds of a fiber (``bounds``: end above start) and its coordinates (``crd``).

    The first coordinate of each fiber is stored once more (``first``), because the address of that
    in ``crd`` is known only once the bounds were read.
    """

    def __init__(self, fibers: int, positions: int) -> None:
        self.fibers = fibers
        reads = {
            "bounds": StoredWords(fibers, 2 * WORD_BITS),
            "first": StoredWords(fibers, output=0),
            "crd": StoredWords(positions, output=0),
        }
        super().__init__(1, 2, reads)

    def _outside(self, reference: Any) -> Any:
        return reference >= self.fibers

    def _opens(self, m: Module, reference: Any) -> tuple[Any, Any]:
        m.d.comb += [self.bounds_address.eq(reference), self.first_address.eq(reference)]
        return self.bounds_word[:WORD_BITS], self.bounds_word[WORD_BITS:]

    def _coordinate(self, m: Module, position: ScannedPosition) -> Any:
        m.d.comb += self.crd_address.eq(position.kept)
        return Mux(position.opens, self.first_word, self.crd_word)


class DenseScannerUnit(ScannerUnit):
    """Counts through a dense level of that many coordinates."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        super().__init__(1, 2)

    def _opens(self, m: Module, reference: Any) -> tuple[Any, Any]:
        start = Signal(WORD_BITS)
        m.d.comb += start.eq(reference * self.dim)
        return start, (start + self.dim)[:WORD_BITS]

    def _coordinate(self, m: Module, position: ScannedPosition) -> Any:
        following = Signal(WORD_BITS)
        coordinate = Signal(WORD_BITS)
        m.d.comb += coordinate.eq(Mux(position.opens, 0, following))
        with m.If(position.passes):
            m.d.sync += following.eq(coordinate + 1)
        return coordinate


class LocatorUnit(PrimitiveUnit):
    """Puts ``reference · dim + coordinate``."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        super().__init__(2, 1)

    def describe(self, m: Module, step: RequestStep) -> None:
        coordinate = step.take(0)
        reference = step.take(1)
        step.fault_if(
            Mux(
                coordinate.is_leaf,
                ~reference.is_leaf,
                ~coordinate.same(reference),
            )
        )
        found = coordinate.is_value & reference.is_value
        position = Signal(WORD_BITS)
        m.d.comb += position.eq(reference.data * self.dim + coordinate.data)
        token = choose(
            (found, TokenWires.value(position)),
            (coordinate.is_leaf, TokenWires.empty()),
            otherwise=coordinate,
        )
        step.put(0, token)
        step.end(last=coordinate.is_done)


@hardware("scan")
def scan(spec: NodeSpec) -> PrimitiveUnit:
    """Build a scanner of a compressed level."""
    return CompressedScannerUnit(len(spec.arrays["seg"]) - 1, len(spec.arrays["crd"]))


@hardware("dense_scan")
def dense_scan(spec: NodeSpec) -> PrimitiveUnit:
    """Build a scanner of a dense level."""
    return DenseScannerUnit(int(spec.param("dim")))


@hardware("locate")
def locate(spec: NodeSpec) -> PrimitiveUnit:
    """Build a locator."""
    return LocatorUnit(int(spec.param("dim")))
