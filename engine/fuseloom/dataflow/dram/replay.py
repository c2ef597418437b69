"""Requests of the ports of a graph, replayed against a memory without the graph.

What a run asks a memory for, and in which order each port does, follows from coordinates; when it
asks depends on the answers.  A replay asks as early as a run could:

* when the token has arrived that a request is for, had nobody waited for anything,
* a cycle later for each token since the port's last request,
* when the port has fewer requests under way than it may have,
* when all ports before it have been answered for the same place of the data, and
* when its buffer has room, that is when the token as many before as the buffer holds was taken,
  for which others have to be answered, too.

A token is taken when it has been answered, and not before whoever takes it has done its work on
those before.  Everything lies in one array of integers, so that the same function runs as Python,
over a list, and as machine code (:mod:`fuseloom.dataflow.sim.compiled.dram`).
"""

from __future__ import annotations

from fuseloom.dataflow.dram.controller import advance, answer_tag, answer_time, push
from fuseloom.dataflow.dram.lists import bare
from fuseloom.dataflow.dram.state import Int

PORTS, REQUESTS, OUTSTANDING, FLOOR = range(4)
HEADER = 4
"""The trace: ports, where its requests begin, how many of a port may be under way, and the earliest
answer of those given last."""

BEGIN, END, NEXT, TAKEN, FREE, ASKED, WRITES, NUMBER = range(8)
PORT = 8
"""A port: its first request and the one behind its last; the first not asked; the first not taken;
when what takes its tokens is free; when it asked last; whether it writes; its number."""

NEEDS, FREES, NEEDED_AT, FREED_AT = range(4)
PAIR = 4
"""A port and another: whether that has to be answered before it, and before its tokens are taken;
how far the other was looked at for either."""

(
    ADDRESS, SIZE, ARRIVAL, TOKENS, WORK,
    POSITION, BEHIND, FREED, ANSWER, DONE,
)  = range(10)  # fmt: skip
REQUEST = 10
"""A request: its bytes; when its token arrives; tokens since the last request of the port; work on
them of whoever takes them; the token's place; the place of the token that had its room before (-1:
none had), and when that one is taken at the earliest; when it was answered, 0 before; when its
token was taken."""

WAITS = -1


def reached(t: Int, pair: Int, other: Int, position: Int, looked: Int) -> Int:
    """When the other port's last token up to a place was taken; :data:`WAITS` if it was not."""
    k, end = t[pair + looked], t[other + END]
    while k < end and t[t[REQUESTS] + k * REQUEST + POSITION] <= position:
        k += 1
    t[pair + looked] = k
    if k == t[other + BEGIN]:
        return 0
    if k > t[other + TAKEN]:
        return WAITS
    return t[t[REQUESTS] + (k - 1) * REQUEST + DONE]


def earliest_of(t: Int, p: Int) -> Int:
    """When a port may ask its next request; :data:`WAITS` if that depends on answers to come."""
    ports = t[PORTS]
    port, pairs = HEADER + p * PORT, HEADER + ports * PORT + p * ports * PAIR
    k = t[port + NEXT]
    request = t[REQUESTS] + k * REQUEST
    soonest = max(t[request + ARRIVAL], t[port + ASKED] + t[request + TOKENS], t[FLOOR])
    oldest = k - t[OUTSTANDING]
    if oldest >= t[port + BEGIN]:
        if oldest >= t[port + TAKEN]:
            return WAITS
        soonest = max(soonest, t[t[REQUESTS] + oldest * REQUEST + ANSWER])
    behind = t[request + BEHIND]
    if behind >= 0:
        soonest = max(soonest, t[request + FREED])
    for q in range(ports):
        pair, other = pairs + q * PAIR, HEADER + q * PORT
        if t[pair + NEEDS]:
            when = reached(t, pair, other, t[request + POSITION], NEEDED_AT)
            if when == WAITS:
                return WAITS
            soonest = max(soonest, when)
        if behind >= 0 and t[pair + FREES]:
            when = reached(t, pair, other, behind, FREED_AT)
            if when == WAITS:
                return WAITS
            soonest = max(soonest, when)
    return soonest


def ask(m: Int, t: Int, p: Int) -> None:
    """Ask all that a port may ask by now."""
    port = HEADER + p * PORT
    while t[port + NEXT] < t[port + END]:
        when = earliest_of(t, p)
        if when == WAITS:
            return
        k = t[port + NEXT]
        request = t[REQUESTS] + k * REQUEST
        t[port + ASKED] = when
        t[port + NEXT] = k + 1
        address, size = t[request + ADDRESS], t[request + SIZE]
        push(m, when, t[port + NUMBER], address, size, t[port + WRITES], k)


def take(t: Int, p: Int) -> None:
    """Take the tokens of a port that have been answered, in order."""
    port = HEADER + p * PORT
    k = t[port + TAKEN]
    while k < t[port + NEXT]:
        request = t[REQUESTS] + k * REQUEST
        if not t[request + ANSWER]:
            break
        t[port + FREE] = max(t[port + FREE] + t[request + WORK], t[request + ANSWER])
        t[request + DONE] = t[port + FREE]
        k += 1
    t[port + TAKEN] = k


def replay_requests(m: Int, t: Int) -> Int:
    """Ask everything; when the last token was taken.  Each port's ``FREE`` says when its own was.

    Parameters
    ----------
    m, t : array
        The memory at rest, and the trace.
    """
    t = bare(t)
    ports = t[PORTS]
    while True:
        for p in range(ports):
            ask(m, t, p)
        answers = advance(m)
        if not answers:
            break
        soonest = answer_time(m, 0)
        for k in range(answers):
            when = answer_time(m, k)
            t[t[REQUESTS] + answer_tag(m, k) * REQUEST + ANSWER] = when
            soonest = min(soonest, when)
        t[FLOOR] = soonest
        for p in range(ports):
            take(t, p)
    last = 0
    for p in range(ports):
        last = max(last, t[HEADER + p * PORT + FREE])
    return last
