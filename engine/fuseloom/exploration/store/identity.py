"""The identity of a run: a hash over everything that its result depends on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

import fuseloom
from fuseloom.errors import RecordError
from fuseloom.program import StoredTensor

NUMERICS = "float32"
"""Values are computed so by every engine."""
SIMULATION = ("program", "results", "dataflow")
"""Packages on whose sources the result of a simulation depends."""
_KINDS = (".py", ".lark")


@cache
def engine_version(packages: tuple[str, ...] = SIMULATION) -> str:
    """Version of the engine, with a hash of the sources of the packages results depend on."""
    digest = hashlib.sha256()
    root = Path(fuseloom.__file__).parent
    for package in packages:
        for path in sorted(p for p in (root / package).rglob("*") if p.suffix in _KINDS):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode())
            digest.update(content)
    return f"{fuseloom.__version__}+{digest.hexdigest()[:12]}"


def data_hash(data: Mapping[str, StoredTensor]) -> str:
    """SHA-256 of names, shapes, formats and contents of the tensors."""
    parts = [[name, data[name].content_hash()] for name in sorted(data)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


@dataclass(frozen=True)
class RunIdentity:
    """Everything that the result of a run depends on.

    Attributes
    ----------
    program : str
        Its text.
    schedule : str
        Text of the schedule with every region and order named (``Compilation.resolved``).
    data : str
        Hash of the tensors (:func:`data_hash`).
    machine : str
        Fingerprint of the machine.
    engine, numerics : str
        Version of what ran it, and the numbers it computed with.
    settings : mapping of str to str
        Whatever else was chosen, such as capacities that were computed.

    Raises
    ------
    RecordError
        If a text holds half a character, which no file can hold.
    """

    program: str
    schedule: str
    data: str
    machine: str
    engine: str = field(default_factory=engine_version)
    numerics: str = NUMERICS
    settings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for text in (self.program, self.schedule, self.data, self.machine, self.engine,
                     self.numerics, *self.settings, *self.settings.values()):  # fmt: skip
            try:
                text.encode()
            except UnicodeEncodeError:
                raise RecordError(f"{ascii(text)[:60]} holds half a character") from None

    @cached_property
    def key(self) -> str:
        """SHA-256 of all of it, 64 hexadecimal digits."""
        parts = [
            self.program,
            self.schedule,
            self.data,
            self.machine,
            self.engine,
            self.numerics,
            sorted(self.settings.items()),
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
