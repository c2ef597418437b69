"""The controller again, as slow as it is obvious: every clock, every access, every past command.

It shares nothing with the model but the configuration and the mapping.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fuseloom.dataflow.dram import Dram, DramAddress, DramCommand, Mapping
from tests.dataflow.dram.protocol import gap, longest


@dataclass
class Access:
    arrival: int
    place: DramAddress
    write: int
    request: int
    age: int = -1


@dataclass
class Channel:
    """One channel: feed it accesses in order, then run it to the end."""

    config: Dram
    number: int
    waiting: list[Access] = field(default_factory=list)
    queue: list[Access] = field(default_factory=list)
    commands: list[DramCommand] = field(default_factory=list)
    rows: dict[tuple[int, int], int] = field(default_factory=dict)
    bypassed: dict[tuple[int, int], int] = field(default_factory=dict)
    closing: dict[tuple[int, int], int] = field(default_factory=dict)
    ends: list[tuple[int, int]] = field(default_factory=list)
    writing: bool = False
    turn: int = 0
    since: int = 0
    ages: int = 0
    refreshes: int = 0

    def run(self) -> None:
        clock = 0
        while self.waiting or self.queue:
            due = self.config.refresh and clock >= (self.refreshes + 1) * self.config.timing.refi
            if due:
                self.refresh(clock)
            else:
                self.admit(clock)
                self.choose_kind(clock)
                self.issue(clock)
            clock += 1

    # What is allowed

    def allowed(self, command: DramCommand) -> bool:
        t = self.config.timing
        reach = longest(t)
        for past in reversed(self.commands):
            if past.time <= command.time - reach:
                break
            if command.time - past.time < gap(t, past, command):
                return False
        if command.name == "ACT":
            activates = [c.time for c in self.commands[-400:] if c.name == "ACT"]
            if len(activates) >= 4 and command.time - activates[-4] < t.faw:
                return False
        if command.name in ("ACT", "REF"):
            banks = self.closing.items()
            bank = command.bankgroup, command.bank
            return all(
                command.time >= end + t.rp for b, end in banks if command.name == "REF" or b == bank
            )
        return True

    # What happens at a clock

    def count(self, write: bool) -> int:
        return sum(a.write == write for a in self.queue)

    def admit(self, clock: int) -> None:
        room = self.config.read_queue, self.config.write_queue
        while self.waiting and self.waiting[0].arrival <= clock:
            write = self.waiting[0].write
            if self.count(bool(write)) >= room[write]:
                return
            if write and self.count(True) == 0:
                self.since = clock
            access = self.waiting.pop(0)
            access.age = self.ages
            self.ages += 1
            self.queue.append(access)

    def choose_kind(self, clock: int) -> None:
        config = self.config
        reads, writes = self.count(False), self.count(True)
        if self.writing:
            if writes == 0 or (reads > 0 and self.turn <= 0):
                self.writing, self.turn = False, config.write_high - config.write_low
                self.since = clock
            return
        if writes == 0:
            return
        old = clock >= self.since + config.write_patience
        if reads == 0:
            self.writing, self.turn = True, 0
        elif self.turn <= 0 and writes >= config.write_high:
            self.writing, self.turn = True, writes - config.write_low
        elif self.turn <= 0 and old:
            self.writing, self.turn = True, writes

    def refresh(self, clock: int) -> None:
        name = "PREA" if self.rows else "REF"
        command = DramCommand(clock, self.number, name, -1, -1, -1)
        if self.allowed(command):
            self.commands.append(command)
            self.rows.clear()
            self.refreshes += name == "REF"

    def issue(self, clock: int) -> None:
        best: tuple[tuple[int, int], DramCommand, Access] | None = None
        mine = [a for a in self.queue if a.write == self.writing]
        banks = {(a.place.bankgroup, a.place.bank) for a in mine}
        for bank in banks:
            here = [a for a in mine if (a.place.bankgroup, a.place.bank) == bank]
            here.sort(key=lambda a: a.age)
            command, access = self.candidate(clock, bank, here)
            rank = (command.name in ("ACT", "PRE"), access.age)
            if (best is None or rank < best[0]) and self.allowed(command):
                best = rank, command, access
        if best is not None:
            self.perform(best[1], best[2])

    def candidate(
        self, clock: int, bank: tuple[int, int], here: list[Access]
    ) -> tuple[DramCommand, Access]:
        """Return the next command of a bank, and the access that it serves."""
        oldest = here[0]
        if bank not in self.rows:
            return DramCommand(clock, self.number, "ACT", *bank, oldest.place.row), oldest
        row = self.rows[bank]
        hits = [a for a in here if a.place.row == row]
        tired = self.bypassed[bank] >= self.config.row_hit_cap
        if hits and (hits[0] is oldest or not tired):
            name = ("WR" if self.writing else "RD") + ("A" if self.closed else "")
            return DramCommand(clock, self.number, name, *bank, row), hits[0]
        return DramCommand(clock, self.number, "PRE", *bank, row), oldest

    @property
    def closed(self) -> bool:
        return self.config.policy == "closed"

    def perform(self, command: DramCommand, access: Access) -> None:
        t = self.config.timing
        bank = command.bankgroup, command.bank
        self.commands.append(command)
        if command.name == "ACT":
            self.rows[bank], self.bypassed[bank] = command.row, 0
            return
        if command.name == "PRE":
            del self.rows[bank]
            return
        same = [a for a in self.queue if a.write == access.write]
        same = [a for a in same if (a.place.bankgroup, a.place.bank) == bank]
        self.bypassed[bank] += access.age > min(a.age for a in same)
        self.queue.remove(access)
        self.turn -= 1
        data = (t.cwl if access.write else t.cl) + t.bl
        if access.write:
            self.since = command.time
        self.ends.append((access.request, command.time + data))
        if self.closed:
            opened = max(c.time for c in self.commands if c.name == "ACT" and c[3:5] == bank)
            reach = data + t.wr if access.write else t.rtp
            self.closing[bank] = max(opened + t.ras, command.time + reach)
            del self.rows[bank]


def serve(
    config: Dram, requests: list[tuple[int, int, int, int]]
) -> tuple[list[DramCommand], list[int]]:
    """All commands, and the clock of the last data of each request (arrival clock, address,
    size, write), in order of arrival."""
    mapping = Mapping.of(config)
    channels = [Channel(config, k) for k in range(config.total_channels)]
    for number, (arrival, address, size, write) in enumerate(requests):
        first, last = address // config.access_bytes, (address + size - 1) // config.access_bytes
        for a in range(first, last + 1):
            place = mapping.place(a * config.access_bytes)
            channels[place.channel].waiting.append(Access(arrival, place, write, number))
    ends = [0] * len(requests)
    for channel in channels:
        channel.run()
        for request, end in channel.ends:
            ends[request] = max(ends[request], end)
    commands = [command for channel in channels for command in channel.commands]
    return commands, ends
