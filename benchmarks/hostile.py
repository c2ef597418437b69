"""The worst that a visitor of a served workbench may send: junk, long work, floods, silence.

Texts and messages come from a seed; :func:`harass` is a visitor who sends them all the time.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import string
import time
from collections import Counter

from tornado.websocket import WebSocketClosedError

from benchmarks.visitors import Server, Visitor

WORST = (
    ("TextEditor", "A: 12000x12000 csr\nx: 12000 dense\ny[i] = A[i,j] * x[j]"),
    ("MachinePanel", "a = " + "[" * 30_000),
    ("TextEditor", "\n".join(f"T{k}[i] = x[i] * x[i]" for k in range(30_000))),
    ("FusionChain", 1 << 40),
    ("MachinePanel", "x = '" + "a" * 60_000 + "'"),
    (
        "TextEditor",
        "x: 8 dense\nT0[i] = x[i] + x[i]\n"
        + "\n".join(f"T{k + 1}[i] = T{k}[i] + x[i]" for k in range(240)),
    ),
    ("schedule", "fuse T1..Y; parallel i by 64"),
    ("schedule", "fuse T1..Y; parallel i by 1024"),
)
COMPONENTS = ("FusionChain", "OrdersPanel", "FusionTableGrid", "GraphView", "RunPanel",
              "MachinePanel", "TextEditor", "schedule", "Connection", "PathPanel")  # fmt: skip
KINDS = ("move", "add", "remove", "show", "choose", "select", "apply", "clusters", "direction",
         "restore", "recall", "cell", "capacity", "row", "look", "nothing", "")  # fmt: skip
FIELDS = ("gap", "to", "region", "order", "node", "text", "on", "saved", "number", "column", "row",
          "name", "value", "machine", "tokens")  # fmt: skip


def junk(rng: random.Random, depth: int = 3) -> object:
    """Something that JSON can say."""
    match rng.randrange(12 if depth else 9):
        case 0:
            return rng.choice([0, -1, 1 << 31, -(1 << 63), 10**30, 1e308, True, None])
        case 1 | 2:
            return rng.randrange(-3, 12)
        case 3:
            return "x" * rng.choice([0, 1, 300, 50_000])
        case 4:
            return rng.choice(["../../etc/passwd", "/dev/zero", "file:///etc/passwd", "'; rm -rf",
                               "<script>alert(1)</script>", "\0", "\ud800", "{{7*7}}",
                               "%s%n", "__class__", "gcn", "cora", "T1..Y"])  # fmt: skip
        case 5:
            return "".join(rng.choices(string.printable, k=rng.randrange(40)))
        case 6:
            return "fuse T1..Y; parallel i by 4096; block i by 7; order T1: " + "i," * 99
        case 7:
            return "A: 99999x99999 dense\nB[i,j] = A[i,k] * A[k,j]\n" * rng.choice([1, 40])
        case 8:
            return rng.choice(["[", "{'a':", "a = [" * 500, "(" * 3000, "x[i" * 200])
        case 9 | 10:
            return [junk(rng, depth - 1) for _ in range(rng.randrange(6))]
        case _:
            return {rng.choice(FIELDS): junk(rng, depth - 1) for _ in range(4)}


def request(rng: random.Random) -> tuple[str, object]:
    """A component and what is sent to it."""
    if rng.random() < 0.1:
        return rng.choice(COMPONENTS), junk(rng)
    fields = rng.sample(FIELDS, rng.randrange(5))
    return rng.choice(COMPONENTS), {"kind": rng.choice(KINDS), **{f: junk(rng) for f in fields}}


async def harass(server: Server, until: float) -> Counter[str]:
    """Send the worst until then; how often of each kind."""
    rng = random.Random(0)
    sent: Counter[str] = Counter()
    visitor = await Visitor(server).open()
    while time.monotonic() < until:
        if visitor.lost:  # the server has had enough of it
            await visitor.close()
            visitor = await Visitor(server).open()
        kind = rng.choices(["work", "run", "junk", "flood", "deaf"], [6, 3, 3, 1, 1])[0]
        sent[kind] += 1
        with contextlib.suppress(WebSocketClosedError):
            await _send(visitor, kind, rng)
        await asyncio.sleep(rng.random() * 3)
    await visitor.close()
    return sent


async def _send(visitor: Visitor, kind: str, rng: random.Random) -> None:
    match kind:
        case "work":
            component, content = rng.choice(WORST)
            message: object = {"kind": "move", "gap": content, "to": 3}
            if isinstance(content, str):
                message = {"kind": "apply", "text": content}
            await visitor.tell(component, message)
        case "run":
            await visitor.choose("Data", rng.choice(["karate", "cora"]))
            await visitor.tell("RunPanel", {"kind": "run"})
        case "junk":
            for _ in range(20):
                component, message = request(rng)
                if component in visitor.components:
                    await visitor.tell(component, message)
        case "flood":  # more than a message may have
            await visitor.tell("TextEditor", {"kind": "apply", "text": "x" * (8 << 20)})
        case "deaf":  # asks for much, and does not read the answers
            with visitor.deaf():
                for to in range(60):
                    gap = 1 + to % 7
                    await visitor.tell("FusionChain", {"kind": "move", "gap": gap, "to": 8 - gap})
                await asyncio.sleep(10)
