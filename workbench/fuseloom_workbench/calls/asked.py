"""A composition and its schedule: all that a visitor chooses on the page of library calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from fuseloom.calls.commands import (
    BreakBefore,
    Parallelize,
    Reorder,
    ReuseOverlap,
    ScheduleCommand,
    SplitLoop,
    Subpipeline,
    SubstituteValue,
)
from fuseloom.calls.pipelines import PIPELINES, pipeline_named, read_extents
from fuseloom.errors import ProgramError

LONGEST = 5_000
"""Characters of an annotation that is read."""
MOST_COMMANDS = 12
SMALLER: Mapping[str, str] = {
    "haversine": "n=200000",
    "add6": "n=400000",
    "gemm-bias-relu": "m=512,k=64,n=256",
    "conv-pool": "h=64,w=64,c=3,o=8",
}
"""Extents with which a page begins where the defaults take long; of others 512 × 512."""
COMMANDS: Mapping[str, tuple[type[Any], tuple[type, ...]]] = {
    "parallelize": (Parallelize, (int,)),
    "reorder": (Reorder, (int, int)),
    "split": (SplitLoop, (int, str, str, str, str)),
    "substitute": (SubstituteValue, (str, int)),
    "reuse": (ReuseOverlap, (str, int)),
    "break": (BreakBefore, (int,)),
    "subpipeline": (Subpipeline, (int, int)),
}
"""Commands by the word that a visitor writes, and what follows it."""


@dataclass(frozen=True)
class CallsQuestion:
    """The question about a composition.

    Attributes
    ----------
    pipeline : str
        The name of a composition.
    extents : str
    tile : int
        The size of tiles along the first dimension of the result.
    threads : int
    commands : tuple of str
        Such as ``parallelize 0``, in order.
    annotations : tuple of (int, str)
        Texts in place of those of calls, by their numbers.
    seed : int

    Examples
    --------
    >>> CallsQuestion().changed({"pipeline": "add6"}).extents
    'n=400000'
    """

    pipeline: str = "softmax"
    extents: str = "h=512,w=512"
    tile: int = 32
    threads: int = 1
    commands: tuple[str, ...] = ()
    annotations: tuple[tuple[int, str], ...] = ()
    seed: int = 0

    def changed(self, changes: Mapping[str, Any]) -> CallsQuestion:
        """The same with other values, as a browser sends them.

        Another composition begins with extents that fit it, without commands and edits.

        Raises
        ------
        ProgramError
            Of a value that is none.
        """
        made = self
        for key, value in changes.items():
            made = replace(made, **{key: _value(key, value)})
        if made.pipeline != self.pipeline:
            first = {
                "extents": SMALLER.get(made.pipeline, "h=512,w=512"),
                "commands": (), "annotations": (),
                "tile": 4096 if "n" in PIPELINES[made.pipeline].extents and "m" not in
                PIPELINES[made.pipeline].extents else 32,
            }  # fmt: skip
            made = replace(made, **{k: v for k, v in first.items() if k not in changes})
        for command in made.commands:
            read_command(command)
        return made

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def read_command(text: str) -> ScheduleCommand:
    """A command as a visitor writes it.

    Raises
    ------
    ProgramError
        Of text that is none.

    Examples
    --------
    >>> read_command("split 0 xo xi big small").outer
    'xo'
    """
    word, *rest = text.split()
    if word not in COMMANDS:
        raise ProgramError(
            f"{word[:30]!r} is no command", hint=f"commands are {', '.join(COMMANDS)}"
        )
    kind, wanted = COMMANDS[word]
    if len(rest) != len(wanted) or any(
        of is int and not part.lstrip("-").isdecimal()
        for part, of in zip(rest, wanted, strict=False)
    ):
        form = " ".join("NUMBER" if of is int else "NAME" for of in wanted)
        raise ProgramError(f"{text[:60]!r} is no command", hint=f"write {word} {form}")
    command: ScheduleCommand = kind(*(of(part) for part, of in zip(rest, wanted, strict=True)))
    return command


def _value(key: str, value: Any) -> Any:
    match key, value:
        case "pipeline", str():
            return pipeline_named(value).name
        case "extents", str() if len(value) <= 200:
            read_extents(value)
            return value.strip()
        case "tile", int() if not isinstance(value, bool) and 1 <= value <= 2**26:
            return value
        case "threads", int() if not isinstance(value, bool) and 1 <= value <= 16:
            return value
        case "seed", int() if not isinstance(value, bool) and 0 <= value < 2**31:
            return value
        case "commands", list() | tuple() if len(value) <= MOST_COMMANDS:
            if all(isinstance(x, str) and len(x.split()) > 0 and len(x) <= 100 for x in value):
                return tuple(" ".join(x.split()) for x in value)
        case "annotations", list() | tuple() if len(value) <= 64:
            if all(_is_annotation(x) for x in value):
                return tuple(sorted({int(n): text for n, text in value}.items()))
        case (("tile" | "threads" | "seed"), _):
            most = {"tile": 2**26, "threads": 16, "seed": 2**31 - 1}[key]
            raise ProgramError(f"{key} is an integer from {int(key != 'seed')} to {most:,}")
    raise ProgramError(f"{str(value)[:60]!r} is no value of {key[:40]}", hint="undo the change")


def _is_annotation(value: Any) -> bool:
    match value:
        case [int(number), str(text)] | (int(number), str(text)):
            return not isinstance(number, bool) and 0 <= number < 64 and len(text) <= LONGEST
    return False
