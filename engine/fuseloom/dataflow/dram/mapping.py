"""The mapping of an address: channel, bank group, bank, row and column, as shifts and masks.

The mapping is a line of fields from most to least significant, such as ``row bank column
bankgroup channel``, with the bytes of one access below the last.  Any order is allowed.  A field
may lie in two places; one of them then states its bits: ``row bank column channel column:2``
gives each channel four accesses in a row.

Every field is ``(a >> s & m) | (a >> s2 & m2)`` of the access number ``a``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from fuseloom.dataflow.dram.config import FIELDS, Dram


class DramAddress(NamedTuple):
    """The location of one access; ``channel`` counts pseudo channels."""

    channel: int
    bankgroup: int
    bank: int
    row: int
    column: int


class Field(NamedTuple):
    """Shifts and masks of one field."""

    shift: int
    mask: int
    shift2: int
    mask2: int

    def of(self, access: int) -> int:
        """The field of that access."""
        return (access >> self.shift & self.mask) | (access >> self.shift2 & self.mask2)


@dataclass(frozen=True)
class Mapping:
    """Shifts and masks of every field, over access numbers (address / access_bytes)."""

    access_bytes: int
    fields: dict[str, Field]
    pieces: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, config: Dram) -> Mapping:
        """The mapping a memory asks for."""
        parts: dict[str, list[tuple[int, int]]] = {name: [] for name in FIELDS}
        shift = 0
        for name, bits in reversed(config.pieces):
            parts[name].append((shift, bits))
            shift += bits
        fields = {}
        for name, places in parts.items():
            low, bits = places[0]
            high, more = places[1] if len(places) == 2 else (bits, 0)
            fields[name] = Field(low, (1 << bits) - 1, high - bits, ((1 << more) - 1) << bits)
        return cls(config.access_bytes, fields, config.pieces)

    @property
    def channel_bits(self) -> int:
        """Mask of an access number's bits that choose the channel."""
        field = self.fields["channel"]
        return (field.mask << field.shift) | (field.mask2 << field.shift2)

    def place(self, address: int) -> DramAddress:
        """Return the location of the byte at an address; addresses wrap around at the capacity."""
        access = address // self.access_bytes
        return DramAddress(**{name: field.of(access) for name, field in self.fields.items()})

    def address(self, place: DramAddress) -> int:
        """The first byte of the access at a place: the inverse of :meth:`place`."""
        left = place._asdict()
        access = shift = 0
        for name, bits in reversed(self.pieces):
            access |= (left[name] & ((1 << bits) - 1)) << shift
            left[name] >>= bits
            shift += bits
        return access * self.access_bytes
