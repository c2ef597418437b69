"""A module and how it is fused: all that a visitor chooses on the page of deep fusion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias

from fuseloom.errors import ProgramError
from fuseloom.stitch.examples.models import EXAMPLES
from fuseloom.stitch.fusion import SHARED_MEMORY
from fuseloom.stitch.opcodes import ProductFusion
from fuseloom.stitch.schedules import BlockSchedule, SplitType
from fuseloom.stitch.shared_memory import SpaceSharing
from fuseloom.wording import closest

LONGEST = 1_000_000
"""Characters of HLO text that a page takes."""
LEAST_MEMORY, MOST_MEMORY = 256, 65_536
"""Bytes of shared memory of a block that can be chosen."""
MOST_CHOSEN = 64
"""Kernels whose schedules are chosen by hand."""
ChosenSchedule: TypeAlias = tuple[str, str, str]
"""A frame, the operation that a kernel was grown from, and a schedule such as ``row 0/4``."""


@dataclass(frozen=True)
class KernelsQuestion:
    """The question about a module.

    Attributes
    ----------
    example : str
        The name of an example.
    text : str
        HLO text in its place; empty for the example.
    products : str
        The dots that are fused: ``never``, ``batched`` or ``all``.
    call_layers : bool
        True if nothing is taken in from layers with calls of libraries.
    shared_memory : int
        Bytes that a block of threads may have.
    sharing : str
        The way in which buffers share space: ``none``, ``dominance`` or ``liveness``.
    schedules : tuple of (str, str, str)
        Chosen by hand: frame, kernel, schedule.

    Examples
    --------
    >>> asked = KernelsQuestion(schedules=(("main", "y", "row 0/4"),))
    >>> asked.changed({"example": "rnn"}).schedules
    ()
    """

    example: str = "attention"
    text: str = ""
    products: str = ProductFusion.BATCHED.value
    call_layers: bool = False
    shared_memory: int = SHARED_MEMORY
    sharing: str = SpaceSharing.LIVENESS.value
    schedules: tuple[ChosenSchedule, ...] = ()

    def changed(self, changes: Mapping[str, Any]) -> KernelsQuestion:
        """The same with other values, as a browser sends them.

        Another module begins without schedules that were chosen by hand, an example without text.

        Raises
        ------
        ProgramError
            Of a value that is none.
        """
        made = self
        for key, value in changes.items():
            made = replace(made, **{key: _value(key, value)})
        if "example" in changes and "text" not in changes:
            made = replace(made, text="")
        if (made.example, made.text) != (self.example, self.text) and "schedules" not in changes:
            made = replace(made, schedules=())
        return made

    def chosen(self, frame: str, kernel: str, schedule: str | None) -> KernelsQuestion:
        """The same with another schedule of a kernel; without one fusion chooses.

        Raises
        ------
        ProgramError
            If the schedule is none, or too many are chosen.
        """
        kept = [one for one in self.schedules if one[:2] != (frame, kernel)]
        if schedule is not None:
            kept.append((frame, kernel, schedule))
        return self.changed({"schedules": kept})

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without the text."""
        made = asdict(self)
        made["own"] = bool(made.pop("text"))
        return made


def read_schedule(text: str) -> BlockSchedule:
    """A schedule as it prints.

    Raises
    ------
    ProgramError
        Of text that is none.

    Examples
    --------
    >>> read_schedule("column 1/2")
    BlockSchedule(split_dim=1, sword=2, sched_type=<SplitType.COLUMN: 'column'>)
    """
    kind, _, rest = text.partition(" ")
    dim, _, sword = rest.partition("/")
    if kind not in {*SplitType} or not (_is_number(dim) and _is_number(sword)):
        raise ProgramError(
            f"{text[:40]!r} is no schedule", hint="write row or column, a dimension, and parts: "
            "row 0/4",
        )  # fmt: skip
    return BlockSchedule(int(dim), int(sword), SplitType(kind))


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 12


def _value(key: str, value: Any) -> Any:
    match key, value:
        case "example", str() if value in EXAMPLES:
            return value
        case "example", str():
            near = closest([value[:40]], list(EXAMPLES))
            raise ProgramError(
                f"{value[:40]!r} is no example",
                hint=f"did you mean {near!r}?" if near else f"examples are {', '.join(EXAMPLES)}",
            )
        case "text", str() if len(value) <= LONGEST:
            return value
        case "text", str():
            raise ProgramError(
                f"the text has {len(value):,} characters, and a page takes {LONGEST:,}",
                hint="fuseloom stitch FILE takes more",
            )
        case "products", str() if value in {one.value for one in ProductFusion}:
            return value
        case "sharing", str() if value in {*SpaceSharing}:
            return value
        case "call_layers", bool():
            return value
        case "shared_memory", int() if not isinstance(value, bool):
            if LEAST_MEMORY <= value <= MOST_MEMORY:
                return value
        case "schedules", list() | tuple() if len(value) <= MOST_CHOSEN:
            if all(_is_chosen(one) for one in value):
                return tuple((str(a), str(b), str(read_schedule(c))) for a, b, c in value)
        case "schedules", list() | tuple():
            raise ProgramError(
                f"schedules of more than {MOST_CHOSEN} kernels are chosen", hint="undo the change"
            )
    if key == "shared_memory":
        raise ProgramError(
            f"shared memory is an integer from {LEAST_MEMORY:,} to {MOST_MEMORY:,} bytes, "
            f"not {str(value)[:40]}"
        )
    raise ProgramError(f"{str(value)[:60]!r} is no value of {key[:40]}", hint="undo the change")


def _is_chosen(value: Any) -> bool:
    match value:
        case [str(), str(), str()] | (str(), str(), str()):
            return all(len(one) <= 400 for one in value)
    return False
