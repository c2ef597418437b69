"""What only some runs record: activity of nodes, critical paths, memories, channels, outputs.

All of it is plain data, which pages and tables read as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, TypedDict

from msgspec import Meta

from fuseloom.results.declarations import Amount, Count, Positive, Share

PathCause = Literal[
    "working", "latency", "waiting for a token", "waiting for room", "waiting for memory"
]

NodeNumber = Annotated[str, Meta(pattern="^[0-9]+$")]


class NodeName(TypedDict):
    """A node."""

    node: Annotated[Count, "Number of the node in the graph that ran."]
    owner: Annotated[Count, "The node whose memory port it is; any other is its own."]
    label: Annotated[str, "What people call the node."]


class NodeRow(NodeName):
    """What one node did. busy, stall_input, stall_output and stall_memory add up to last."""

    op: Annotated[str, "Its primitive."]
    origin: Annotated[str, "The cell it came from, as column.row; empty for none."]
    tokens: Annotated[
        Count, "Tokens put on its busiest output, or taken from its busiest input by a writer."
    ]
    tokens_in: Annotated[Count, "Tokens taken, over all ports."]
    tokens_out: Annotated[Count, "Tokens put, over all ports."]
    busy: Annotated[Count, "Cycles of its own work."]
    stall_input: Annotated[Count, "Cycles of waiting for tokens."]
    stall_output: Annotated[Count, "Cycles of waiting for free slots."]
    stall_memory: Annotated[Count, "Cycles of waiting for the memory."]
    idle: Annotated[Count, "Cycles of the run after its end."]
    first: Annotated[Annotated[int, Meta(ge=-1)], "Clock at its first token; -1 if it had none."]
    last: Annotated[Count, "Its final clock."]
    busy_share: Annotated[Share, "Part of the elapsed cycles in which it worked."]
    energy: Annotated[Amount | None, "Energy of its actions, J; null where it is not known."]


class TimelineCycles(TypedDict):
    """Cycles of each activity, as [node][bin]."""

    busy: Annotated[Sequence[Sequence[Count]], "Its own work."]
    stall_input: Annotated[Sequence[Sequence[Count]], "Waiting for tokens."]
    stall_output: Annotated[Sequence[Sequence[Count]], "Waiting for free slots."]
    stall_memory: Annotated[Sequence[Sequence[Count]], "Waiting for the memory."]
    idle: Annotated[Sequence[Sequence[Count]], "After its end."]


class TimelineData(TypedDict):
    """Activity of every node over time: cycles by node and bin."""

    width: Annotated[Positive, "Cycles per bin."]
    events: Annotated[str | None, "File of all waits of the run; null unless it was asked for."]
    cycles: Annotated[TimelineCycles, "Cycles of each activity, as [node][bin]."]


class MemoryChannelWork(TypedDict):
    """Counters of one channel of the memory."""

    reads: Annotated[Count, "Accesses that read."]
    writes: Annotated[Count, "Accesses that wrote."]
    bytes: Annotated[Count, "Bytes moved, whole accesses."]
    hits: Annotated[Count, "Accesses whose row was open."]
    misses: Annotated[Count, "Accesses whose bank was closed."]
    conflicts: Annotated[Count, "Accesses whose bank had another row open."]
    activates: Annotated[Count, "Activate commands."]
    precharges: Annotated[Count, "Precharge commands of their own."]
    refreshes: Annotated[Count, "Refresh commands."]
    busy: Annotated[
        Count, "Memory clocks in which the data bus was in use (queues: machine cycles)."
    ]
    bandwidth: Annotated[Amount, "Bytes per second."]
    share: Annotated[Amount, "Part of the channel's peak."]


class MemoryWork(TypedDict):
    """What the memory did."""

    name: Annotated[str, "The memory."]
    cycles: Annotated[Count, "Machine cycles of the run."]
    seconds: Annotated[Amount, "How long that is, in seconds."]
    reads: Annotated[Count, "Read requests answered."]
    writes: Annotated[Count, "Write requests answered."]
    requested: Annotated[Count, "Bytes asked for."]
    read_latency: Annotated[
        Amount, "Mean machine cycles from request to answer of reads; 0 without any."
    ]
    write_latency: Annotated[
        Amount, "Mean machine cycles from request to answer of writes; 0 without any."
    ]
    read_histogram: Annotated[
        Sequence[Count], "Entry k: reads answered after 2^k to 2^(k+1) - 1 machine cycles."
    ]
    write_histogram: Annotated[
        Sequence[Count], "Entry k: writes answered after 2^k to 2^(k+1) - 1 machine cycles."
    ]
    peak: Annotated[Amount | None, "Most bytes per second; null where there is no limit."]
    channels: Annotated[Sequence[MemoryChannelWork], "By number."]
    bytes: Annotated[Count, "Bytes moved by all channels."]
    bandwidth: Annotated[Amount, "Bytes per second of all channels."]
    share: Annotated[Amount, "Part of the peak; 0 where there is no limit."]
    hit_rate: Annotated[
        Share, "Part of the accesses that found their row open; 0 where there are no rows."
    ]


class PathPart(NodeName):
    """What a part of the path was spent on."""

    why: Annotated[PathCause, "What the cycles were spent on."]
    what: Annotated[str, "The same in words, with the nodes and the stream."]
    stream: Annotated[Count | None, "The stream between the two nodes."]
    other: Annotated[
        Count | None,
        "The other node: reader of a late result, producer of the token, or consumer that "
        "made room.",
    ]
    cycles: Annotated[Count, "Clock cycles."]


class PathSummary(PathPart):
    """One of them."""

    segments: Annotated[Positive, "In how many segments."]
    share: Annotated[Share, "Part of the elapsed cycles."]


class PathSegment(PathPart):
    """A segment."""

    start: Annotated[Count, "Its first cycle."]
    stop: Annotated[Count, "The cycle after its last one."]


class PathGain(NodeName):
    """For one node."""

    own: Annotated[Count, "Clock cycles of its work and latency on the path."]
    gain: Annotated[Count, "Most clock cycles that could be saved."]
    cycles: Annotated[Count, "Fewest elapsed clock cycles then."]


class CriticalPathRow(TypedDict):
    """The chain of work and waits that determined the last cycle."""

    cycles: Annotated[Count, "Elapsed clock cycles, where it ends."]
    start: Annotated[Count, "Cycle from which it is known; 0 unless the log was too short."]
    summary: Annotated[Sequence[PathSummary], "Cycles by node, reason and stream, the most first."]
    summaries: Annotated[Count, "Rows of the whole summary."]
    segments: Annotated[Sequence[PathSegment], "The longest segments, in time."]
    pieces: Annotated[Count, "Segments of the whole path."]
    what_if: Annotated[
        Sequence[PathGain], "What could be gained by making one node twice as fast, the most first."
    ]
    shares: Annotated[
        Mapping[NodeNumber, Share],
        "Part of the elapsed cycles by node; memory ports count for the node they serve.",
    ]
    streams: Annotated[Sequence[Count], "Streams on the path."]


class ChannelRow(TypedDict):
    """Occupancy of one channel."""

    stream: Annotated[Count, "Number of the stream."]
    label: Annotated[str, "What people call the stream."]
    producer: Annotated[NodeName, "Who puts tokens into it."]
    consumer: Annotated[NodeName, "Who takes them out."]
    mean: Annotated[Amount, "Mean tokens in it."]
    most: Annotated[Count, "Most tokens in it."]
    capacity: Annotated[Positive | None, "Tokens it holds; null is unbounded."]
    tokens: Annotated[Count, "Tokens that went through it."]


class RepairRow(TypedDict):
    """A repair."""

    rule: Annotated[Literal["R1", "R2", "R3", "R4", "R5", "R6"], "Its rule."]
    node: Annotated[str, "Name of the node in the file."]
    change: Annotated[str, "What was done."]
    why: Annotated[str, "Why, in words."]


class WrittenLevel(TypedDict):
    """A level."""

    seg: Annotated[Sequence[Count], "Where each fiber begins, and the end."]
    crd: Annotated[Sequence[Count], "Coordinates."]


class WrittenTensor(TypedDict):
    """A tensor that a graph wrote, by coordinates, and level by level as the writers hold it.

    Values that are no finite number are null.
    """

    levels: Annotated[Sequence[WrittenLevel], "Levels, outermost first."]
    level_values: Annotated[Sequence[float | None], "Values in the order of the last level."]
    shape: Annotated[Sequence[Count] | None, "Shape; null where the levels make no tensor."]
    coordinates: Annotated[
        Sequence[Sequence[Count]] | None,
        "Coordinates of each value; null where the levels make no tensor.",
    ]
    values: Annotated[
        Sequence[float | None] | None, "Values; null where the levels make no tensor."
    ]
    problem: Annotated[str | None, "Why the levels make no tensor."]
