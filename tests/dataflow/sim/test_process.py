"""The inputs of a golden model: parameters, arrays, clock; and late tokens in a channel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.sim.process import (
    ANSWER,
    ISSUE,
    PUT,
    TAKE,
    Channel,
    MemoryRequest,
    PendingStamp,
    Process,
    RequestPort,
    finish,
)
from fuseloom.dataflow.sim.tokens import DONE, Stop
from fuseloom.errors import SimulationError


def process(label: str = "", machine: Machine | None = None, **params: Any) -> Process:
    node = Node(3, "scan", (), (), params, label)
    return Process(node, machine or Machine.default(), {"crd": np.arange(2)}, (), ())


def test_a_node_is_called_by_its_label_or_its_number() -> None:
    assert process("rows of A").name == "rows of A"
    assert process().name == "scan 3"


def test_parameters_and_arrays_by_name() -> None:
    one = process(dim=4)
    assert (one.param("dim"), one.param("level"), one.param("level", 0)) == (4, None, 0)
    assert one.array("crd").tolist() == [0, 1]
    with pytest.raises(SimulationError, match="no array 'seg' is bound to it") as caught:
        one.array("seg")
    assert caught.value.hint == "bind the graph to data first"


def test_a_rule_broken_names_node_cycle_and_tokens() -> None:
    one = process("rows")
    one.clock = 17
    with pytest.raises(SimulationError, match=r"rows at cycle 17: too deep \(got 4, S1\)"):
        one.fail("too deep", 4, Stop(1))
    with pytest.raises(SimulationError, match=r"too deep$"):
        one.fail("too deep")


def test_waits_for_the_memory_are_booked_once() -> None:
    one = process()
    one.clock, one.waits = 5, []
    one.wait_memory(9)
    one.wait_memory(7)  # it is past that
    assert (one.clock, one.stall_memory) == (9, 4)
    assert one.waits == [(5, 9, False, -1, 0)]


def test_what_was_written_comes_in_the_machines_types() -> None:
    one = process()
    one.written = {"crd": [1, 2], "vals": [0.5], "seg": []}
    kinds = {name: array.dtype for name, array in one.results().items()}
    assert kinds == {"crd": np.int64, "vals": np.float32, "seg": np.int64}


def test_channels_without_a_reader_are_void() -> None:
    assert Channel(-1, None).void
    assert not Channel(0, None).void
    assert Channel(0, 4).put(7, at=3)[0] == PUT


def test_tokens_leave_the_memory_in_order() -> None:
    """A token answered early waits for the one before it, and the watch learns its stamp."""
    channel = Channel(0, None, watch=True)
    answered = [MemoryRequest(0, 4, answered=20), MemoryRequest(4, 4, answered=12)]
    stamps = []
    for k, access in enumerate(answered):
        late = PendingStamp(3 + k, access)
        channel.queue.append((k, late))
        channel.watch.stamps.append(-1)
        channel.watch.puts.append(-1)
        stamps.append(channel.arrive(late))
        assert channel.queue.popleft() == (k, stamps[-1])
        channel.taken_count += 1
    assert stamps == [20, 20]
    assert channel.watch.stamps == [20, 20]
    assert channel.watch.puts == [19, 19]


def test_ports_ask_with_an_access_of_their_own() -> None:
    port = RequestPort(2, write=True, base=64)
    kind, owner, access, _ = port.issue(80, 16)
    assert (kind, owner, access.address, access.size, access.answered) == (ISSUE, port, 80, 16, -1)
    assert port.answer(access) == (ANSWER, port, access, 0)
    assert port.issue(80, 16)[2] is not access


def driven(one: Process, tokens: list[Any]) -> list[Any]:
    """Return the tokens that are left after a golden model took its own."""
    channel, left = Channel(0, None), list(tokens)
    behaviour = finish(one, channel)
    try:
        request = next(behaviour)
        while True:
            assert request[:2] == (TAKE, channel)
            request = behaviour.send(left.pop(0))
    except StopIteration:
        return left


def test_inputs_are_read_to_their_end_unless_the_quirk_leaves_them() -> None:
    assert driven(process(), [Stop(0), Stop(1), DONE]) == []
    assert driven(process(machine=Machine.comal()), [Stop(0), DONE]) == [Stop(0), DONE]
    with pytest.raises(SimulationError, match="an input goes on after the others have ended"):
        driven(process(), [Stop(0), 4, DONE])
