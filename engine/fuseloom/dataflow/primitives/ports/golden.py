"""Ports of the memory (:mod:`fuseloom.dataflow.sim.ports`): reading ahead, and writing behind.

A memory with lines of ``access_bytes`` gives whole lines, so that neighbouring words cost one
access; a port remembers the line it asked for last.  Of the accesses of a port at most
``outstanding`` are under way: the next one waits for the answer of the one that many before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from typing import Any

from fuseloom.dataflow.sim.golden.registry import golden_model
from fuseloom.dataflow.sim.process import (
    AT_ONCE,
    Behaviour,
    MemoryRequest,
    Process,
    Request,
    RequestPort,
)
from fuseloom.dataflow.sim.tokens import DONE, Stop, is_number, same


class Requester:
    """A port of a node and its accesses under way."""

    def __init__(self, node: Process, port: RequestPort) -> None:
        self.node = node
        self.port = port
        self.line = node.machine.access_bytes
        self.under_way: deque[MemoryRequest] = deque()

    def ask(self, address: int, size: int) -> Generator[Request, Any, MemoryRequest]:
        """Ask for bytes as soon as that may be; the access."""
        if len(self.under_way) == self.node.machine.outstanding:
            when = yield self.port.answer(self.under_way.popleft())
            self.node.wait_memory(when)
        access: MemoryRequest = yield self.port.issue(address, size)
        self.under_way.append(access)
        return access

    def finish(self) -> Generator[Request, Any, None]:
        """Stand still until all is answered."""
        for access in self.under_way:
            when = yield self.port.answer(access)
            self.node.wait_memory(when)


@golden_model("mem_read")
def mem_read(node: Process) -> Behaviour:
    """Pass tokens on, references once the memory has what they refer to.

    The last input has the references; another, token by token beside it, goes along.  A token
    takes one cycle, and is asked for only when there is a slot for it on the other side.
    """
    reader = Requester(node, node.ports[0])
    stride, size = int(node.param("stride")), int(node.param("size"))
    last_line, access = -1, None
    while True:
        tokens = []
        for stream in node.inputs:
            token = yield stream.take
            tokens.append(token)
        ref = tokens[-1]
        if is_number(ref) != is_number(tokens[0]) or (
            not is_number(ref) and not same(ref, tokens[0])
        ):
            node.fail("coordinate and reference disagree", *tokens)
        for out in node.outputs:
            yield out.room
        when = AT_ONCE
        if is_number(ref):
            address = reader.port.base + stride * int(ref)
            first, last = address // reader.line, (address + size - 1) // reader.line
            first += first == last_line
            if first <= last:
                access = yield from reader.ask(
                    first * reader.line, (last - first + 1) * reader.line
                )
                last_line = last
            assert access is not None
            when = access
        for out, token in zip(node.outputs, tokens, strict=True):
            yield out.put(token, at=when)
        if ref is DONE:
            return
        node.clock += 1


class Gatherer(Requester):
    """Gathers what is written one after another, and posts it a line at a time."""

    written = 0
    gathered = 0

    def add(self, size: int) -> Generator[Request, Any, None]:
        """Take note of so many bytes."""
        self.gathered += size
        whole = self.gathered // self.line * self.line
        if whole:
            yield from self.post(whole)

    def post(self, size: int) -> Generator[Request, Any, None]:
        """Write so many of the bytes gathered."""
        if size:
            yield from self.ask(self.port.base + self.written, size)
            self.written += size
            self.gathered -= size


@golden_model("mem_write")
def mem_write(node: Process) -> Behaviour:
    """Pass tokens on and write them, a cycle each; the end waits until all is written.

    With ``segments`` it writes where fibers end as well, by the rule of the level writer.
    """
    (stream,) = node.inputs
    (out,) = node.outputs
    items = Gatherer(node, node.ports[0])
    fibers = Gatherer(node, node.ports[1]) if len(node.ports) > 1 else None
    size = int(node.param("size"))
    fiber_open = node.quirks.writer_records_leading_empty
    if fibers is not None:
        fibers.gathered = size  # the first segment begins at 0
    while True:
        token = yield stream.take
        if token is DONE:
            for port in (items, fibers):
                if port is not None:
                    yield from port.post(port.gathered)
            for port in (items, fibers):
                if port is not None:
                    yield from port.finish()
            yield out.put(token)
            return
        yield out.put(token)
        if is_number(token):
            yield from items.add(size)
            fiber_open = True
        elif isinstance(token, Stop) and fibers is not None and fiber_open:
            yield from fibers.add(size)
            fiber_open = False
        node.clock += 1
