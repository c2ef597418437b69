"""Pages as visitors get them: several at once, in quick sequences, under load."""

from __future__ import annotations

import asyncio
import contextlib
import random

from benchmarks.sessions import cycles, measure, quantile
from benchmarks.visitors import Server, Visitor
from workbench.session import Session


def one_design(visitor: Visitor) -> str:
    """What the parts of the page that differ say, or nothing if all show one design."""
    chain = visitor.view("FusionChain")
    shown = chain["regions"][chain["shown"]]["name"]
    said = {
        name: visitor.view(name)["name"] for name in ("FusionTableGrid", "OrdersPanel", "GraphView")
    }
    said["PathPanel"] = visitor.view("PathPanel")["region"]
    table = [row["name"] for row in visitor.view("FusionTableGrid")["rows"] if row["movable"]]
    order = visitor.view("OrdersPanel")["chosen"].split(" → ")
    if set(said.values()) != {shown} or set(table) != set(order):
        return f"{shown}: {said}, rows {table}, order {order}"
    presets = Session("gcn", "karate")
    preset = visitor.data("Preset")["value"]
    if preset != "yours":
        presets.preset(preset)
        if [r.name for r in presets.regions] != [r["name"] for r in chain["regions"]]:
            return f"preset {preset}, but {chain['regions']}"
    result = visitor.view("RunPanel")["result"]
    if result and not result["stale"] and len(visitor.cuts) == 1:
        found = result["cycles"]
        if visitor.view("OrdersPanel")["entries"][0]["chosen"] and found != cycles(visitor.cuts):
            return f"{found} for {visitor.cuts}"
    return ""


async def hurry(visitor: Visitor, rng: random.Random) -> None:
    """Preset, drag, order and Run, a moment apart, whatever is under way."""
    steps = ["preset", "drag", "order", "run"]
    rng.shuffle(steps)
    for step in steps:
        match step:
            case "preset":
                await visitor.choose("Preset", rng.choice(["unfused", "partial", "full"]))
            case "drag":
                gaps = visitor.cuts or (4,)
                message = {"kind": "move", "gap": rng.choice(gaps), "to": rng.randint(1, 7)}
                await visitor.tell("FusionChain", message)
            case "order":
                entries = visitor.view("OrdersPanel")["entries"]
                if entries:
                    order = rng.choice(entries)["order"]
                    await visitor.tell("OrdersPanel", {"kind": "choose", "order": order})
            case "run":
                await visitor.tell("RunPanel", {"kind": "run"})
        await asyncio.sleep(rng.random() * 0.2)


async def sequences(server: Server, number: int, seed: int) -> None:
    rng = random.Random(seed)
    visitor = await Visitor(server).open()
    await visitor.until(lambda: visitor.settled)
    for k in range(number):
        await hurry(visitor, rng)
        await asyncio.sleep(0.3)
        with contextlib.suppress(TimeoutError):
            await visitor.until(lambda: visitor.settled and not one_design(visitor), 30)
        assert visitor.settled, (seed, k)
        assert not one_design(visitor), (seed, k, one_design(visitor))
    await visitor.close()


def test_all_parts_show_one_design_after_quick_sequences(server):
    asyncio.run(sequences(server, 12, seed=1))
    assert not server.faults()


def test_several_visitors_get_their_own_answers(server):
    outcome = asyncio.run(measure(server, visitors=4, seconds=8, pause=0.3))
    assert not outcome.wrong
    assert len(outcome.drags) >= 4
    assert quantile(outcome.drags, 0.5) < 10
    assert not server.faults()


def test_a_full_server_says_so():
    async def scenario(server):
        first = await Visitor(server).open()
        body = server.get("/explorer")
        second = Visitor(server)
        await second.open()
        assert "1 pages open, which is as many as it may" in str(second.models)
        assert body[0] == 200
        await second.close()
        await first.drag(4, 3)
        await first.close()

    with Server("--max-sessions", "1") as server:
        asyncio.run(scenario(server))
        assert not server.faults()
