"""Recordings as JSON for a page: an outline, and the tokens of a span of cycles at a time.

Cycles and tokens are numbered from 0.  A chunk has, of each stream, the tokens that are put or
taken in its cycles, those about to be taken and some that were taken before; how many lie in a
channel follows from the counts, whatever tokens in the middle of a long queue are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fuseloom.dataflow.samml.catalogue import primitive
from fuseloom.dataflow.sim.observe import Int64
from fuseloom.dataflow.sim.steps.recording import NEVER, Recording, StreamRecord
from fuseloom.dataflow.sim.steps.scene import short
from fuseloom.dataflow.sim.steps.story import Doing, story

MOVES = 24_000
"""Puts and takes in a chunk, about; one takes some ten bytes."""
AROUND = 8
"""Tokens shown before and behind those that move."""
MOMENTS = 2_500
"""Sentences sent at once."""


def outline(recording: Recording) -> dict[str, Any]:
    """Return the data that precede any token: length, streams, ports of nodes, and chunks."""
    graph = recording.graph
    return {
        "cycles": recording.cycles,
        "last": recording.last,
        "tokens": recording.tokens,
        "note": recording.note,
        "machine": recording.machine.name,
        "streams": [
            {
                "name": stream.label or f"stream {stream.id}",
                "kind": stream.kind.value,
                "index": stream.indices[-1] if stream.indices else "",
                "capacity": record.capacity,
                "count": len(record.tokens),
                "from": graph.producer[stream.id],
                "to": graph.consumer[stream.id],
            }
            for stream, record in zip(graph.streams, recording.streams, strict=True)
        ],
        "nodes": [_node(recording, number) for number in range(len(graph.nodes))],
        "bounds": bounds(recording),
    }


def _node(recording: Recording, number: int) -> dict[str, Any]:
    node = recording.graph.nodes[number]
    entry = primitive(node.op)
    ins, outs = entry.input_ports(len(node.inputs)), entry.output_ports(len(node.outputs))
    return {
        "label": node.label or node.op,
        "title": entry.title,
        "doc": entry.doc,
        "family": entry.family.name.lower(),
        "ins": [[port.name, s] for port, s in zip(ins, node.inputs, strict=True)],
        "outs": [
            [port.name, s] for port, s in zip(outs, node.outputs, strict=True) if s is not None
        ],
    }


def bounds(recording: Recording) -> list[int]:
    """First cycles of the chunks, and behind them the cycle after the last one kept."""
    clocks = [clock for stream in recording.streams for clock in (stream.put, stream.taken)]
    moves = np.sort(np.concatenate([np.array([], np.int64), *clocks]))
    moves = moves[moves < NEVER]
    firsts = moves[MOVES::MOVES].tolist()
    return sorted({0, *(int(first) for first in firsts if first > 0), recording.last + 1})


def chunk(recording: Recording, first: int, stop: int) -> dict[str, Any]:
    """The tokens of the cycles from ``first`` on, before ``stop``.

    Per stream: tokens put and taken before ``first``, and spans of tokens.  A span is the number
    of its first token, the tokens' texts, and per token the cycle of its put, the cycles from
    there until it can be seen, and until it is taken (-1: not in the cycles kept); one number
    stands for as many that are equal.
    """
    return {
        "first": first,
        "stop": stop,
        "streams": [_passing(record, first, stop) for record in recording.streams],
    }


def _passing(record: StreamRecord, first: int, stop: int) -> list[Any]:
    entered, left = record.entered(first - 1), record.left(first - 1)
    ends = record.entered(stop - 1), record.left(stop - 1)
    taken = range(max(0, left - AROUND), min(len(record.tokens), ends[1] + AROUND))
    put = range(max(0, entered - AROUND), ends[0])
    if not len(put) or not len(taken) or put.start <= taken.stop:
        start = min(r.start for r in (taken, put) if len(r)) if len(put) or len(taken) else 0
        spans = [range(start, max(taken.stop, put.stop))]
    else:
        spans = [taken, put]
    return [entered, left, [_span(record, span) for span in spans if len(span)]]


def _span(record: StreamRecord, span: range) -> list[Any]:
    here = slice(span.start, span.stop)
    put = record.put[here]
    return [
        span.start,
        [short(token) for token in record.tokens[here]],
        [int(put[0]), *np.diff(put).tolist()],
        _compact(_lag(record.visible[here], put)),
        _compact(_lag(record.taken[here], put)),
    ]


def _lag(clocks: Int64, put: Int64) -> list[int]:
    lags: list[int] = np.where(clocks == NEVER, -1, clocks - put).tolist()
    return lags


def _compact(numbers: list[int]) -> list[int] | int:
    """One number instead of as many equal ones."""
    return numbers[0] if len(set(numbers)) == 1 else numbers


def acts(recording: Recording, node: int) -> list[int]:
    """The cycles in which a node acts, as runs: first cycle and length, in turn."""
    clocks = recording.acts(node)
    if not len(clocks):
        return []
    starts = np.flatnonzero(np.diff(clocks, prepend=clocks[0] - 2) > 1)
    lengths = np.diff(np.append(starts, len(clocks)))
    return np.column_stack((clocks[starts], lengths)).ravel().tolist()


def moments(recording: Recording, node: int, cycle: int) -> dict[str, Any]:
    """Sentences of a node around a cycle: as many as are sent at once, and where they hold.

    ``first`` and ``stop`` are the cycles told of; each sentence is its cycle, ``acts``, ``waits``,
    ``works`` or ``ended``, and its words.
    """
    told: list[list[Any]] = []
    first, stop = 0, recording.last + 1
    for moment in story(recording, node):
        if len(told) == MOMENTS:
            if moment.cycle > cycle:
                stop = moment.cycle
                break
            told, first = told[MOMENTS // 2 :], told[MOMENTS // 2][0]
        told.append([moment.cycle, moment.doing.value, moment.text])
    return {"node": node, "first": first, "stop": stop, "moments": told}


def as_text(recording: Recording, node: int) -> Iterator[str]:
    """The story of a node as lines of text, for a terminal."""
    name = recording.graph.nodes[node].label or recording.graph.nodes[node].op
    for moment in story(recording, node):
        mark = "" if moment.doing is Doing.ACTS else "  "
        yield f"{moment.cycle:6,}  {mark}{name} {moment.text}"
