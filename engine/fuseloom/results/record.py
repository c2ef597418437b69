"""The record of a run: plain data, versioned, the same for every kind of run.

Both kinds of ``simulate`` print it, a worker of the workbench sends it, a session keeps it.  What
only some methods have (rows of nodes, timelines, critical paths, statistics of a memory) is plain
data, declared in :mod:`fuseloom.results.run_parts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any

from msgspec import Meta

from fuseloom.display.shows import Shows
from fuseloom.errors import RecordError
from fuseloom.results.area import AreaUse, largest_area
from fuseloom.results.check import Check
from fuseloom.results.declarations import Amount, Count, Record, read
from fuseloom.results.document import (
    VERSIONS,
    DocumentKind,
    content_of,
    document,
    from_text,
    to_text,
)
from fuseloom.results.energy import EnergyTerm, EnergyUse
from fuseloom.results.run_parts import (
    ChannelRow,
    CriticalPathRow,
    MemoryWork,
    NodeRow,
    RepairRow,
    TimelineData,
    WrittenTensor,
)
from fuseloom.wording import counted, described

WITHOUT_ENERGY = 3
"""The version of records that had no energy."""
WITHOUT_TERMS = 4
"""The version of records that did not say what their energy is the sum of."""


@dataclass(frozen=True)
class DataSource(Record):
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
        Values of the model's parameters by name, as ``fuseloom models`` lists them with their
        units; empty where nothing is known of them.
    drawn : str
        Which tensors are random numbers, and from which seed; empty where none is.
    """

    label: str
    origin: str = ""
    standin: bool = False
    options: Mapping[str, Amount] = field(default_factory=dict)
    drawn: str = ""


@dataclass(frozen=True)
class MachineId(Record):
    """Which machine: its name, and the hash of all that the numbers of a run depend on.

    Attributes
    ----------
    fingerprint : str
        16 hexadecimal digits of a simulated machine, 64 of a processor that ran loop nests.
    """

    name: str
    fingerprint: Annotated[str, Meta(pattern="^[0-9a-f]{16}([0-9a-f]{48})?$")]


@dataclass(frozen=True)
class RegionRecord(Record):
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
    energy : EnergyUse, optional
        Joules by kind of action, where the method knows them.
    energy_terms : tuple of EnergyTerm, optional
        What that energy is the sum of, if the run was explained.
    area : AreaUse, optional
        What its hardware takes, if that was asked for.
    """

    name: str
    order: tuple[str, ...]
    cycles: Count
    flops: Amount
    bytes: Amount
    tokens: Count | None = None
    nodes: tuple[NodeRow, ...] | None = field(default=None, repr=False)
    timeline: TimelineData | None = field(default=None, repr=False)
    memory: MemoryWork | None = field(default=None, repr=False)
    path: CriticalPathRow | None = field(default=None, repr=False)
    channels: tuple[ChannelRow, ...] | None = field(default=None, repr=False)
    energy: EnergyUse | None = field(default=None, repr=False)
    energy_terms: tuple[EnergyTerm, ...] | None = field(default=None, repr=False)
    area: AreaUse | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return described(
            self, f"{self.name}: {counted(self.cycles, 'cycle')}, order {','.join(self.order)}"
        )

    @cached_property
    def rows(self) -> Mapping[int, NodeRow]:
        """The activity of each node, by its number."""
        return {row["node"]: row for row in self.nodes or ()}


@dataclass(frozen=True)
class RunRecord(Record, Shows, html="fuseloom.results.display:record_html"):
    """One run of a program or a graph; its regions ran one after another.

    Attributes
    ----------
    name : str
        Of the program or graph.
    schedule : str
        Text of the scheduling language; empty where every statement is alone, and for graphs.
    machine : MachineId
        What it ran on.
    data : DataSource or None
        The data set; None where the data are no data set.
    regions : tuple of RegionRecord
        In the order they ran.
    cycles, flops, bytes, tokens, energy
        The sum over the regions.
    area : AreaUse or None
        That of the largest region; None where nobody has looked.
    check : Check or None
        How the outputs compare with what they should be; None if nothing says what that is.
    seconds : float
        Wall time, in seconds.
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
    seconds: Amount
    repairs: tuple[RepairRow, ...] = ()
    outputs: Mapping[str, WrittenTensor] | None = field(default=None, repr=False)

    derived = ("cycles", "flops", "bytes", "tokens", "energy", "area")

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
    def cycles(self) -> Count:
        return sum(region.cycles for region in self.regions)

    @property
    def flops(self) -> Amount:
        return sum(region.flops for region in self.regions)

    @property
    def bytes(self) -> Amount:
        return sum(region.bytes for region in self.regions)

    @property
    def tokens(self) -> Count | None:
        counts = [region.tokens for region in self.regions if region.tokens is not None]
        return sum(counts) if len(counts) == len(self.regions) else None

    @property
    def energy(self) -> EnergyUse | None:
        known = [region.energy for region in self.regions if region.energy is not None]
        return sum(known, EnergyUse()) if known and len(known) == len(self.regions) else None

    @property
    def area(self) -> AreaUse | None:
        return largest_area(region.area for region in self.regions)

    def with_areas(self, areas: Iterable[AreaUse]) -> RunRecord:
        """This record with the area of each region."""
        pairs = zip(self.regions, areas, strict=True)
        return replace(self, regions=tuple(replace(region, area=area) for region, area in pairs))

    @property
    def explained(self) -> bool:
        """True if the critical path of every region is known."""
        return all(region.path is not None for region in self.regions)

    def to_dict(self) -> dict[str, Any]:
        """A document of kind ``run``, which :meth:`from_dict` reads back to an equal record."""
        return document(DocumentKind.RUN, super().to_dict())

    @classmethod
    def from_dict(cls, data: Any) -> RunRecord:
        """Read what ``to_dict`` gave, of this version or of the three before.

        Raises
        ------
        RecordError
            If it is another document or of another version, or a field is missing, unknown or
            of another type; or the totals are not those of the regions.
        """
        content = content_of(DocumentKind.RUN, data)
        if data["version"] == WITHOUT_ENERGY:
            content = _with_energy(content)
        if data["version"] in (WITHOUT_ENERGY, WITHOUT_TERMS):
            content = _with_terms(content)
        if data["version"] != VERSIONS[DocumentKind.RUN]:
            content = _with_area(content)
        if content.get("check") is None:
            return read(cls, content, "run")
        made = read(cls, {**content, "check": None}, "run")
        return replace(made, check=Check.from_dict(content["check"], "run.check"))

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


def _with_terms(content: dict[str, Any]) -> dict[str, Any]:
    """The content of a record that did not say what its energies are the sums of."""
    regions = _regions_of(content)
    if regions is None:
        return content
    if any("energy_terms" in region for region in regions):
        raise RecordError("a run record of version 4 with terms", hint="that is of version 5")
    return {**content, "regions": [{**region, "energy_terms": None} for region in regions]}


def _with_area(content: dict[str, Any]) -> dict[str, Any]:
    """The content of a record that had no area, and not which data are drawn: neither is known."""
    regions, data = _regions_of(content), content.get("data")
    if regions is None:
        return content
    if isinstance(data, dict) and "drawn" not in data:
        content = {**content, "data": {**data, "drawn": ""}}
    if any("area" in region for region in (content, *regions)):
        raise RecordError("a run record of version 5 with areas", hint="that is of version 6")
    made = [{**region, "area": None} for region in regions]
    return {**content, "regions": made, "area": None}


def _regions_of(content: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The regions of the content of a record; None where they are no regions."""
    regions = content.get("regions")
    if not isinstance(regions, list) or not all(isinstance(region, dict) for region in regions):
        return None
    return regions


def _with_energy(content: dict[str, Any]) -> dict[str, Any]:
    """The content of a record that had no energy, which is not known."""
    regions = _regions_of(content)
    if regions is None:
        return content
    if any("energy" in region for region in (content, *regions)):
        raise RecordError("a run record of version 3 with energy", hint="that is of version 4")
    made = []
    for region in regions:
        nodes = region.get("nodes")
        if isinstance(nodes, list) and all(isinstance(node, dict) for node in nodes):
            region = {**region, "nodes": [{**node, "energy": None} for node in nodes]}
        made.append({**region, "energy": None})
    return {**content, "regions": made, "energy": None}
