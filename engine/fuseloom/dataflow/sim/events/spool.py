"""Writing the waits of a run to a file, in bounded memory.

A node's clock either works or waits: for input, for room or for the memory.  Engines hand over
waits as they come, those of one node in order; they go to an unnamed file, 16 bytes each, and once
the run has ended to the file that :mod:`fuseloom.dataflow.sim.events.store` reads, where the waits
of one node and one reason lie one after another.  Waits that touch become one there.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from fuseloom.dataflow.samml.graph import Graph
from fuseloom.dataflow.sim.observe import INPUT, MEMORY, ROOM, Int64
from fuseloom.errors import SimulationError
from fuseloom.wording import counted

REASONS = (INPUT, ROOM, MEMORY)
"""Why a node waits, in the order of the file."""

MAGIC = int.from_bytes(b"FLEVENT1", "little")
PREAMBLE = 8
"""Words at the start of the file: magic, nodes, cycles, waits, cycles per token bin, token bins."""

PLACE_WORDS = 3
"""Per node and reason: where its starts are, where its sums are, how many waits."""

CHUNK = 1 << 20
"""Waits that are held at once; each takes about 100 bytes while it is sorted."""

SPARE_DISK = 1 << 30
"""Bytes that are left free on the disk; a run that would need them ends."""

_CODE_BITS = 24
_CODES = (1 << _CODE_BITS) - 1
_LONGEST = 1 << (63 - _CODE_BITS)


class WaitSpool:
    """Waits of a run on their way to a file.

    Parameters
    ----------
    path : Path
        Where the file will be; its folder has to be there.
    nodes : int
        Nodes of the graph.

    Raises
    ------
    SimulationError
        If there is nowhere to write, or the graph has more nodes than the file can tell apart.
    """

    def __init__(self, path: Path, nodes: int) -> None:
        if nodes * len(REASONS) > _CODES:
            raise SimulationError(f"events of {counted(nodes, 'node')}", hint="run without events")
        self.path = path
        self.nodes = nodes
        self.counts = np.zeros(nodes * len(REASONS), np.int64)
        try:
            self._file: IO[bytes] = tempfile.TemporaryFile(dir=path.parent)  # noqa: SIM115
        except OSError as problem:
            raise SimulationError(
                f"events cannot be written to {path.parent}: {problem.strerror}",
                hint="run without events",
            ) from problem

    def add(self, nodes: Int64, reasons: Int64, since: Int64, until: Int64) -> None:
        """Hand over waits: whose, why, clocks before and after; in order for each node."""
        codes = nodes * len(REASONS) + (reasons - INPUT)
        length = until - since
        if len(length) and int(length.max()) >= _LONGEST:
            raise SimulationError(
                f"a wait of {counted(int(length.max()), 'cycle')} has no place in a file"
            )
        if shutil.disk_usage(self.path.parent).free < SPARE_DISK + 3 * 16 * int(self.counts.sum()):
            raise SimulationError(
                f"the events of the run cannot be kept: {self.path.parent} is nearly full",
                hint="run without events, or make room",
            )
        records = np.stack((since, length << _CODE_BITS | codes), axis=1)
        self.counts += np.bincount(codes, minlength=len(self.counts))
        self._write(self._file, records)

    def finish(
        self, clocks: Int64, cycles: int, tokens: Int64 | None = None, width: int = 1
    ) -> Path:
        """Write the file and forget the rest.

        Parameters
        ----------
        clocks : ndarray of int64, (nodes,)
            Last cycle of each node.
        cycles : int
            Last cycle of the run.
        tokens : ndarray of int64, (nodes, bins), optional
            Tokens each node put, per ``width`` cycles.
        """
        if tokens is None:
            tokens = np.zeros((self.nodes, 0), np.int64)
        bins = tokens.shape[1]
        made = self.path.with_name(f"{self.path.name}.part")
        try:
            with made.open("wb") as file, self._file:
                places, total = self._places(tokens.size)
                head = np.zeros(PREAMBLE, np.int64)
                head[:6] = MAGIC, self.nodes, cycles, total, width, bins
                for part in (head, clocks, places.ravel(), tokens):
                    self._write(file, np.ascontiguousarray(part, np.int64))
                self._sort_into(file, places)
                file.seek(8 * (PREAMBLE + self.nodes))
                self._write(file, places)
            made.replace(self.path)
        finally:
            made.unlink(missing_ok=True)
        return self.path

    def _places(self, tokens: int) -> tuple[Int64, int]:
        """Return the highest possible positions of waits by node and reason, and their number."""
        total = int(self.counts.sum())
        first = PREAMBLE + self.nodes + PLACE_WORDS * len(self.counts) + tokens
        before = np.cumsum(self.counts) - self.counts
        places = np.zeros((len(self.counts), PLACE_WORDS), np.int64)
        places[:, 0] = first + before
        places[:, 1] = first + total + before + np.arange(len(self.counts))
        return places, total

    def _sort_into(self, file: IO[bytes], places: Int64) -> None:
        """Write starts, and cycles waited before each; count in ``places`` what was written."""
        waited = np.zeros(len(self.counts), np.int64)
        ended = np.full(len(self.counts), -1, np.int64)
        self._file.seek(0)
        while len(records := np.frombuffer(self._file.read(16 * CHUNK), np.int64).reshape(-1, 2)):
            self._sort_chunk(file, places, waited, ended, records)
        for code in range(len(places)):
            file.seek(8 * int(places[code, 1] + places[code, 2]))
            self._write(file, waited[code : code + 1])

    def _sort_chunk(
        self, file: IO[bytes], places: Int64, waited: Int64, ended: Int64, records: Int64
    ) -> None:
        codes = records[:, 1] & _CODES
        order = np.argsort(_narrow(codes, len(places)), kind="stable")
        codes, since = codes[order], records[order, 0]
        length = records[order, 1] >> _CODE_BITS
        there, first, count = np.unique(codes, return_index=True, return_counts=True)
        last = first + count - 1
        previous = np.concatenate(([0], (since + length)[:-1]))
        previous[first] = ended[there]
        fresh = since != previous
        sums = np.cumsum(length)
        offset = waited[there] - (sums[first] - length[first])
        before = sums - length + np.repeat(offset, count)
        for code, start, size in zip(there.tolist(), first.tolist(), count.tolist(), strict=True):
            keep = fresh[start : start + size]
            done = int(places[code, 2])
            for column, values in enumerate((since, before)):
                file.seek(8 * (int(places[code, column]) + done))
                self._write(file, values[start : start + size][keep])
            places[code, 2] = done + np.count_nonzero(keep)
        waited[there] = sums[last] + offset
        ended[there] = (since + length)[last]

    def _write(self, file: IO[bytes], values: npt.NDArray[np.int64]) -> None:
        try:
            file.write(np.ascontiguousarray(values).data)
        except OSError as problem:
            raise SimulationError(
                f"the events of the run cannot be kept: {problem.strerror}",
                hint="run without events, or make room",
            ) from problem


def tokens_of_nodes(graph: Graph, tokens: Sequence[Int64] | Int64, bins: int) -> Int64:
    """Tokens each node put, (nodes, bins), from those of each stream by their timestamps.

    Timestamps after the run's last cycle, of results that nobody took, count in its last bin.
    """
    made = np.zeros((len(graph.nodes), max(bins, 1)), np.int64)
    for stream in graph.streams:
        row = tokens[stream.id]
        made[graph.producer[stream.id], : len(row[:bins])] += row[:bins]
        made[graph.producer[stream.id], -1] += row[bins:].sum()
    return made


def _narrow(codes: Int64, count: int) -> npt.NDArray[np.unsignedinteger]:
    """Codes in the narrowest type, of which the smallest is sorted by its digits."""
    return codes.astype(np.uint16 if count <= 1 << 16 else np.uint32)
