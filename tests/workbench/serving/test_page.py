"""Pages as visitors get them: several at once, in quick sequences, under load."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import random
import weakref
from functools import cache
from unittest.mock import ANY

import pytest

from benchmarks.sessions import measure, quantile
from benchmarks.visitors import Server, Visitor
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom_workbench.base.page import words_of
from fuseloom_workbench.base.page_backend import LocalBackend
from fuseloom_workbench.explorer import explorer
from fuseloom_workbench.graph import layout
from fuseloom_workbench.graph import view as graph
from fuseloom_workbench.orders import view as orders
from fuseloom_workbench.orders.view import candidates
from fuseloom_workbench.state import saving
from fuseloom_workbench.state.addresses import requests_of
from fuseloom_workbench.state.commands import carry_out
from fuseloom_workbench.state.session import Session
from fuseloom_workbench.views import PARTS


@cache
def simulated(configuration: str, saved: str) -> str:
    """Return the cycles of a design's run, computed here."""
    session = of_page(saved)
    run = simulate(session.compilation, session.built.data, session.machine)
    return f"{run.cycles:,} cycles"


@cache
def ranking(key: str, saved: str, region: int) -> list:
    session = of_page(saved)
    session.select_region(region)
    return list(candidates(session.built, session.region, orders.LIMIT))


def of_page(saved: str) -> Session:
    """A session of this process with the design that a page would hand on."""
    session = Session("gcn", "karate")
    saving.restore(session, json.loads(saved))
    return session


def mixed(visitor: Visitor) -> list[str]:
    """Parts of the page that do not show the design of the page, or of another version."""
    saved, view = visitor.data("Connection")["drawn"], visitor.view
    session = of_page(saved)
    session.select_region(view("FusionChain")["shown"])
    ranked = ranking(orders.key(session), saved, session.region)
    picture = graph.GraphPicture(layout.draw(graph.dot(session), "places"))
    wanted = {
        "FusionChain": PARTS["chain"](session),
        "FusionTableGrid": PARTS["table"](session),
        "MachinePanel": PARTS["machine"](session),
        "TextEditor": PARTS["program"](session),
        "schedule": PARTS["schedule"](session),
        "OrdersPanel": orders.view(session, ranked),
        "GraphView": graph.view(session, picture),
        "RunPanel": {**PARTS["run"](session), "done": ANY, "finished": ANY, "result": ANY},
        "PathPanel": {"region": session.current.name},
    }
    for region in wanted["FusionChain"]["regions"]:  # its runs are not handed on
        region["simulated"] = ANY
    for unit in wanted["FusionChain"]["units"]:
        unit["path"] = ANY
    for entry in wanted["OrdersPanel"]["entries"]:
        entry["simulated"] = ANY
    wrong = []
    for name, expected in wanted.items():
        shown = view(name)
        plain = json.loads(json.dumps(expected, default=lambda _: None))
        if not all(plain[k] == shown.get(k) or expected[k] == shown.get(k) for k in expected):
            wrong.append(name)
    if set(view("GraphView")["places"]) != {f"n{node.id}" for node in session.current.graph.nodes}:
        wrong.append("picture")
    chosen = [preset["name"] for preset in view("Rail")["presets"] if preset["chosen"]]
    preset = [session.built.preset_name] * bool(session.built.preset_name)
    if chosen != preset:
        wrong.append(f"preset {chosen}, not {preset}")
    result = view("RunPanel")["result"]
    if result and not result["stale"]:
        if result["cycles"] != simulated(session.configuration, saved):
            wrong.append(f"result {result['cycles']}")
        sums = [region["simulated"] for region in view("FusionChain")["regions"]]
        if not all(sums):
            wrong.append("simulated cycles of the chain")
    return wrong


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
        with contextlib.suppress(TimeoutError):
            await visitor.until(lambda: visitor.settled and not mixed(visitor), 60)
        assert visitor.settled, (seed, k)
        assert not mixed(visitor), (seed, k, mixed(visitor))
    await visitor.close()


def test_all_parts_show_one_design_after_quick_sequences(server):
    asyncio.run(sequences(server, 3, seed=1))
    assert not server.faults()


def test_a_page_that_is_gone_leaves_nothing():
    """Nothing of the server keeps a page, its page backend or its document."""
    gc.unfreeze()
    made = [weakref.ref(explorer(LocalBackend(Session("attention")))) for _ in range(3)]
    gc.collect()
    assert [page() for page in made] == [None] * 3


@pytest.mark.parametrize(
    ("visitors", "number"), [(2, 3), pytest.param(4, 6, marks=pytest.mark.fuzz)]
)
def test_all_parts_show_one_design_after_many_quick_sequences(server, visitors, number):
    async def several():
        async with asyncio.TaskGroup() as group:
            for seed in range(2, 2 + visitors):
                group.create_task(sequences(server, number, seed))

    asyncio.run(several())
    assert not server.faults()


def test_several_visitors_get_their_own_answers(server):
    outcome = asyncio.run(measure(server, visitors=4, seconds=5, pause=0.3))
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
        assert "1 page open, its limit" in str(second.models)
        assert body[0] == 200
        await second.close()
        await first.drag(4, 3)
        await first.close()

    with Server("--max-sessions", "1") as server:
        asyncio.run(scenario(server))
        assert not server.faults()


ODD = [
    b"", b"gcn", b"spmv", b"gcn\0", b"\xff\xfe", b"../../etc/passwd", b"<script>alert(1)</script>",
    b"__import__('os').system('id')", b"-1", b"1e999", b"nan", b"9" * 400, b"x" * 5_000,
    b"fuse T1..Y; " * 400, b"order T1..H: " + b"i," * 3_000, b"(" * 4_000, b"{{7*7}}", b"%s%n%s",
    "\u202e\u0000".encode(), b"full\nunfused",
]  # fmt: skip
"""Values of an address that mean harm, or nothing."""


def test_what_an_address_asks_for_in_vain_changes_nothing() -> None:
    """60 addresses: each part is granted or refused in a sentence, and the page goes on."""
    rng, session, refused = random.Random(0), Session("spmv"), 0
    names = ["data", "preset", "schedule", "program", "nodes", "density", "rows", "seed", "a=b", ""]
    for _ in range(60):
        given = {"model": [rng.choice(ODD)]} | {
            name: [rng.choice(ODD)] for name in rng.sample(names, rng.randint(1, 4))
        }
        for name, *arguments in requests_of(words_of(given)):
            before = session.design
            carry_out(session, name, arguments)
            if not session.ok:
                refused += 1
                assert session.design == before, (given, session.message)
                assert len(session.message) <= 500
                assert "the engine failed" not in session.message, session.message
                assert "Traceback" not in session.message
    assert refused > 50
    assert session.choose("spmv")
    assert session.set_schedule("")
