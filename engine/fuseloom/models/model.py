"""The definition of a ready-made model: a program, its kernels, and schedules to compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType

from fuseloom.program import Program, parse
from fuseloom.wording import counted, described


@dataclass(frozen=True)
class Kernel:
    """One kernel as a framework would launch it.

    Attributes
    ----------
    name : str
        For display, e.g. ``A·X``.
    statements : tuple of str
        Output names of the statements it covers, in program order.
    place : str
        File and line of its source; empty where it has none.
    """

    name: str
    statements: tuple[str, ...]
    place: str = ""


@dataclass(frozen=True)
class Model:
    """A program with its kernels and schedules.

    Attributes
    ----------
    kernels : tuple of Kernel
        Cover every statement once, in program order.
    presets : mapping of str to str
        Text of the scheduling language by name, from least to most fused.
    masks : frozenset of str
        Inputs that hold 0 and 1 only.
    """

    program: Program
    kernels: tuple[Kernel, ...]
    presets: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    masks: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return described(
            self,
            f"{self.program.name}: "
            f"{counted(len(self.program.statements), 'statement')}, presets "
            f"{', '.join(self.presets) or 'none'}",
        )


def instantiate(template: str, **parameters: str | int | float) -> Program:
    """The program of a ``.loom`` template beside this module, with its parameters filled in.

    Raises
    ------
    ProgramError
        A size below 1, or a name that is not one.
    """
    text = files("fuseloom.models").joinpath(f"{template}.loom").read_text(encoding="utf-8")
    return _parsed(text.format(**parameters), f"{template}.loom")


@lru_cache(maxsize=64)
def _parsed(text: str, source: str) -> Program:
    """The program of a text, parsed once: a command asks several times for its model."""
    return parse(text, source=source)
