"""Energy of a machine's actions, in picojoules (``docs/spec/energy.md`` §3).

Sources of the defaults, line by line:

``add``, ``multiply``, ``integer``
    0.9, 3.7 and 0.1 pJ for 32 bits, in 45 nm at 0.9 V: M. Horowitz, "Computing's Energy Problem
    (and what we can do about it)", ISSCC 2014, Fig. 1.1.9.
``compare``
    Assumed to take what a subtraction takes.
``divide``
    26.3 pJ: 7.1 multiplications, as measured on a Cortex-M4F; table 3 of the study in Frontiers in
    Neurology that PubMed Central has as PMC8934428.
``special``
    Assumed: a polynomial of degree five, 5 multiplications and 5 additions.
``sram_word``
    5 pJ for 32 bits of a memory of 8 KiB: half of the 10 pJ that Horowitz gives for 64 bits.  That
    it grows with the square root of the size is assumed; Horowitz has 10 pJ at 32 KiB (by the
    rule: 10) and 50 pJ at 1 MiB (by the rule: 57) for 32 bits.
``buffer_bytes``, ``unbounded_depth``
    Assumed.
``memory_bit``, ``row_bit`` of HBM2
    1.51 + 1.17 + 0.80 pJ per bit moved within the die and to the interposer; 909 pJ to activate a
    row of 1 KiB: M. O'Connor et al., "Fine-Grained DRAM: Energy-Efficient DRAM for Extreme
    Bandwidth Systems", MICRO 2017, table 3.
``memory_bit``, ``row_bit`` of DDR4
    By currents of Micron's MT40A1G8 at 1.2 V, as gem5 has them for ``DDR4_2400_8x8`` (IDD0 48 mA,
    IDD2N 34, IDD3N 43, IDD4R 135; tRAS 32 ns, tRP 14.16 ns, a burst of 64 bits per chip in 3.33
    ns): 1.2 V x (135 - 43) mA x 3.33 ns = 368 pJ for 64 bits; 1.2 V x (48 x 46.16 - 43 x 32 - 34 x
    14.16) mA ns = 430 pJ for the row of 1 KiB of a chip.  Writes are taken to be as reads; the
    termination of the bus is not in these currents and is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import nan, sqrt
from typing import Annotated, cast

from msgspec import Meta

from fuseloom.dataflow.dram import Dram, Ideal, Queues
from fuseloom.errors import SimulationError
from fuseloom.results.declarations import Positive, Record
from fuseloom.results.energy import ActionKind

MOST_PICOJOULES = 1e9
MOST_SIZE = 1 << 40

Picojoules = Annotated[float, Meta(ge=0, le=MOST_PICOJOULES)]

SRAM_BYTES = 8192
"""Size of the memory whose energy ``sram_word`` is."""
HBM2 = (1.51 + 1.17 + 0.80, 909 / (8 * 1024))
DDR4 = (368 / 64, 430 / (8 * 1024))
"""Picojoules per bit that is moved, and per bit of an activated row."""


@dataclass(frozen=True)
class Energy(Record):
    """Picojoules of each action of a machine; sources of the defaults are in the module's text.

    Attributes
    ----------
    add, multiply, compare, divide : float
        Of two float32; a subtraction is an addition, a maximum or a rectifier a comparison.
    special : float
        Of any other function of a float32: exp, rsqrt, sqrt, tanh and so on.
    integer : float
        An addition or comparison of coordinates or references, 32 bits.
    sram_word : float
        One access to 32 bits of an SRAM of 8 KiB; in proportion to the square root of its size.
    buffer_bytes : int
        Size of the SRAM in which an accumulator or a replayer holds its entries.
    unbounded_depth : int
        Tokens for which a channel without a bound is built.
    memory_bit : float or None
        Moving a bit from or to the memory; None is as of its kind: DDR4 where the memory is a DRAM
        without pseudo channels, HBM2 otherwise.
    row_bit : float or None
        Activating a row of a DRAM, per bit of the row; None is as of its kind.

    Examples
    --------
    >>> energy = Energy()
    >>> energy.sram(8192), energy.sram(32768)
    (5.0, 10.0)
    >>> energy.of_token(None) == energy.of_token(64)
    True
    """

    add: Picojoules = 0.9
    multiply: Picojoules = 3.7
    compare: Picojoules = 0.9
    divide: Picojoules = 26.3
    special: Picojoules = 23.0
    integer: Picojoules = 0.1
    sram_word: Picojoules = 5.0
    buffer_bytes: Positive = 32768
    unbounded_depth: Positive = 64
    memory_bit: Picojoules | None = None
    row_bit: Picojoules | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value: object = getattr(self, field.name)
            real = isinstance(value, int | float) and not isinstance(value, bool)
            number = cast(float, value) if real else nan
            if field.name in ("buffer_bytes", "unbounded_depth"):
                if not (isinstance(number, int) and 1 <= number <= MOST_SIZE):
                    raise SimulationError(
                        f"energy: {field.name} is {value!r}",
                        hint=f"an integer from 1 to {MOST_SIZE:,}",
                    )
            elif not (value is None and field.default is None) and not (
                0 <= number <= MOST_PICOJOULES
            ):
                raise SimulationError(
                    f"energy: {field.name} is {value!r}",
                    hint=f"picojoules from 0 to {MOST_PICOJOULES:g}",
                )

    def operation(self, kind: ActionKind) -> float:
        """Picojoules of an operation on numbers."""
        picojoules: float = getattr(self, kind.value)
        return picojoules

    def sram(self, size: float) -> float:
        """Picojoules of an access to 32 bits of an SRAM of that many bytes."""
        return self.sram_word * sqrt(size / SRAM_BYTES)

    def of_token(self, depth: int | None, words: int = 1) -> float:
        """Picojoules per word that is put into and taken from a channel of tokens of that size."""
        return 2 * self.sram(self.channel_bytes(depth, words))

    def channel_bytes(self, depth: int | None, words: int = 1) -> int:
        """Bytes of a channel of so many tokens (None: no bound) of so many words of 32 bits."""
        return 4 * words * (self.unbounded_depth if depth is None else depth)

    def of_bit(self, memory: Dram | Ideal | Queues | None) -> float:
        """Picojoules of a bit that is moved from or to a memory."""
        return _kind(memory)[0] if self.memory_bit is None else self.memory_bit

    def of_row(self, memory: Dram) -> float:
        """Picojoules of activating a row of a DRAM."""
        bit = _kind(memory)[1] if self.row_bit is None else self.row_bit
        return 8 * memory.row_bytes * bit


def is_ddr4(memory: Dram | Ideal | Queues | None) -> bool:
    """Return whether a memory takes the energies of DDR4: a DRAM without pseudo channels."""
    return isinstance(memory, Dram) and memory.pseudo_channels == 1


def _kind(memory: Dram | Ideal | Queues | None) -> tuple[float, float]:
    return DDR4 if is_ddr4(memory) else HBM2
