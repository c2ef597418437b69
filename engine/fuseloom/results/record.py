"""The record of a run: plain data, versioned, the same for every kind of run.

Both kinds of ``simulate`` print it, a worker of the workbench sends it, a session keeps it.  What
only some methods have (rows of nodes, timelines, critical paths, statistics of a memory) is plain
data that this module hands on as it is; the schema ``run.json`` describes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from fuseloom.display.shows import Shows
from fuseloom.results.check import Check
from fuseloom.results.document import DocumentKind, content_of, document, from_text, plain, to_text
from fuseloom.results.fields import Fields
from fuseloom.wording import counted, described

Plain = Mapping[str, Any]
"""A JSON object."""


@dataclass(frozen=True)
class DataSource:
    """The source of data.

    Attributes
    ----------
    label : str
        What people call them.
    origin : str
        File or folder they were read from, or how they were made; empty where there is nothing
        to say.
    standin : bool
        Whether they only resemble the data set of that name.
    options : mapping of str to int or float
        Values of the model's parameters by name; empty where nothing is known of them.
    """

    label: str
    origin: str = ""
    standin: bool = False
    options: Mapping[str, int | float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "label": self.label,
            "origin": self.origin,
            "standin": self.standin,
            "options": plain(self.options),
        }

    @classmethod
    def from_dict(cls, data: Any, where: str) -> DataSource:
        """Read what :meth:`to_dict` gave, or raise :class:`RecordError`."""
        given = Fields.of(data, where, ("label", "origin", "standin", "options"))
        options = given.numbers("options")
        return cls(given.text("label"), given.text("origin"), given.flag("standin"), options)


@dataclass(frozen=True)
class MachineId:
    """Which machine: its name, and the hash of all that a cycle count depends on."""

    name: str
    fingerprint: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"name": self.name, "fingerprint": self.fingerprint}

    @classmethod
    def from_dict(cls, data: Any, where: str) -> MachineId:
        """Read what :meth:`to_dict` gave, or raise :class:`RecordError`."""
        given = Fields.of(data, where, ("name", "fingerprint"))
        return cls(given.text("name"), given.text("fingerprint"))


@dataclass(frozen=True)
class RegionRecord:
    """One region's run.

    Attributes
    ----------
    order : tuple of str
        Its index variables, outermost first; empty where there are none to tell.
    cycles : int
        Elapsed clock cycles.
    flops, bytes : float
        Arithmetic operations; bytes moved to and from memory.
    tokens : int or None
        Tokens that went through channels, where the method has channels.
    nodes : tuple of mapping, optional
        What each node did.
    timeline : mapping, optional
        Activity of every node over time.
    memory : mapping, optional
        What the memory did, if the machine has one.
    path : mapping, optional
        The critical path, if the run was explained.
    channels : tuple of mapping, optional
        Occupancy of every channel, the fullest first, if it was observed.
    """

    name: str
    order: tuple[str, ...]
    cycles: int
    flops: float
    bytes: float
    tokens: int | None = None
    nodes: tuple[Plain, ...] | None = field(default=None, repr=False)
    timeline: Plain | None = field(default=None, repr=False)
    memory: Plain | None = field(default=None, repr=False)
    path: Plain | None = field(default=None, repr=False)
    channels: tuple[Plain, ...] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return described(
            self, f"{self.name}: {counted(self.cycles, 'cycle')}, order {','.join(self.order)}"
        )

    @cached_property
    def rows(self) -> Mapping[int, Plain]:
        """The activity of each node, by its number."""
        return {row["node"]: row for row in self.nodes or ()}

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {f.name: plain(getattr(self, f.name)) for f in fields(self)}

    @classmethod
    def from_dict(cls, data: Any, where: str) -> RegionRecord:
        """Read what :meth:`to_dict` gave, or raise :class:`RecordError`."""
        given = Fields.of(data, where, [f.name for f in fields(cls)])
        return cls(
            given.text("name"),
            given.texts("order"),
            given.whole("cycles"),
            given.number("flops"),
            given.number("bytes"),
            given.optional("tokens", given.whole),
            given.optional("nodes", given.mappings),
            given.optional("timeline", given.mapping),
            given.optional("memory", given.mapping),
            given.optional("path", given.mapping),
            given.optional("channels", given.mappings),
        )


@dataclass(frozen=True)
class RunRecord(Shows, html="fuseloom.results.display:record_html"):
    """One run of a program or a graph; its regions ran one after another.

    Attributes
    ----------
    name : str
        Of the program or graph.
    schedule : str
        Text of the scheduling language; empty where every statement is alone, and for graphs.
    cycles, tokens, flops, bytes
        Sums over the regions.
    check : Check or None
        How the outputs compare with what they should be; None if nothing says what that is.
    seconds : float
        Wall time.
    repairs : tuple of mapping
        What an import changed in a graph: ``rule``, ``node``, ``change`` and ``why``.
    outputs : mapping or None
        What was written, by tensor, if the record is to hold it.
    """

    name: str
    schedule: str
    machine: MachineId
    data: DataSource | None
    regions: tuple[RegionRecord, ...]
    check: Check | None
    seconds: float
    repairs: tuple[Plain, ...] = ()
    outputs: Mapping[str, Plain] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return described(
            self,
            f"of {self.name} on {self.machine.name}: "
            f"{counted(len(self.regions), 'region')}, {counted(self.cycles, 'cycle')}; "
            f"{self.check or 'not checked'}",
        )

    @property
    def ok(self) -> bool:
        """True if nothing is known to be wrong."""
        return self.check is None or self.check.ok

    @property
    def cycles(self) -> int:
        return sum(region.cycles for region in self.regions)

    @property
    def flops(self) -> float:
        return sum(region.flops for region in self.regions)

    @property
    def bytes(self) -> float:
        return sum(region.bytes for region in self.regions)

    @property
    def tokens(self) -> int | None:
        counts = [region.tokens for region in self.regions if region.tokens is not None]
        return sum(counts) if len(counts) == len(self.regions) else None

    @property
    def explained(self) -> bool:
        """True if the critical path of every region is known."""
        return all(region.path is not None for region in self.regions)

    def to_dict(self) -> dict[str, Any]:
        """A document of kind ``run``, which :meth:`from_dict` reads back to an equal record."""
        return document(
            DocumentKind.RUN,
            {
                "name": self.name,
                "schedule": self.schedule,
                "machine": self.machine.to_dict(),
                "data": None if self.data is None else self.data.to_dict(),
                "cycles": self.cycles,
                "flops": self.flops,
                "bytes": self.bytes,
                "tokens": self.tokens,
                "regions": [region.to_dict() for region in self.regions],
                "check": None if self.check is None else self.check.to_dict(),
                "seconds": self.seconds,
                "repairs": plain(self.repairs),
                "outputs": plain(self.outputs),
            },
        )

    @classmethod
    def from_dict(cls, data: Any) -> RunRecord:
        """Read what :meth:`to_dict` gave.

        Raises
        ------
        RecordError
            If it is another document or of another version, or a field is missing, unknown or
            of another type; or the totals are not those of the regions.
        """
        given = Fields.of(content_of(DocumentKind.RUN, data), "run", _NAMES)
        made = cls(
            given.text("name"),
            given.text("schedule"),
            MachineId.from_dict(given.data["machine"], "run.machine"),
            given.optional("data", lambda name: DataSource.from_dict(given.data[name], "run.data")),
            tuple(RegionRecord.from_dict(item, place) for item, place in given.items("regions")),
            given.optional("check", lambda name: Check.from_dict(given.data[name], "run.check")),
            given.number("seconds"),
            given.mappings("repairs"),
            given.optional("outputs", given.mapping),
        )
        for name in ("cycles", "flops", "bytes", "tokens"):
            given.require(name, getattr(made, name), "the sum over the regions")
        return made

    def to_json(self) -> str:
        """One line of JSON that :meth:`from_json` reads back to an equal record."""
        return to_text(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> RunRecord:
        """Read what :meth:`to_json` wrote.

        Raises
        ------
        RecordError
            As :meth:`from_dict`, and if it is no JSON.
        """
        return cls.from_dict(from_text(text))


_NAMES = (
    "name",
    "schedule",
    "machine",
    "data",
    "cycles",
    "flops",
    "bytes",
    "tokens",
    "regions",
    "check",
    "seconds",
    "repairs",
    "outputs",
)
