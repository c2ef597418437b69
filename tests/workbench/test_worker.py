"""Worker processes: results, refusals, cancelling, dying."""

from __future__ import annotations

import asyncio
import io
import os
import pickle
import time

import pytest

from engine.errors import SimulationError
from engine.program import Op
from workbench import layout
from workbench.child import Child, ChildError, _Requests
from workbench.run_panel import RunPanel
from workbench.session import Session
from workbench.worker import Job, Runner


def job(session):
    return Job(session.compilation, session.built.data, session.machine)


def echo(request, send):
    print("noise on the standard output")
    send(("heard", request))


def sleep(request, send):
    send(("progress", 0.5, "half way"))
    time.sleep(60)


def die(request, send):
    raise MemoryError("no space left")


def vanish(request, send):
    os._exit(3)


def refuse(request, send):
    send(("refused", str(SimulationError("tokens ran out", hint="run less"))))


def test_a_child_answers_and_keeps_noise_out():
    child = Child("tests.workbench.test_worker:echo")
    for k in range(3):
        child.send(k)
        assert child.receive() == ["heard", k]
    child.end()
    with pytest.raises(ChildError):
        child.receive()


def test_a_child_makes_nothing_but_data():
    child = Child("tests.workbench.test_worker:echo")
    child.send(os.getcwd)
    with pytest.raises(ChildError, match=r"a request holds a \w+\.getcwd"):
        child.receive()


def test_a_run_gives_plain_data_and_a_check():
    session = Session("spmm", "random")
    shares = []
    runner = Runner()
    runner.param.watch(lambda event: shares.append(event.new), "share")
    result = asyncio.run(runner.run(job(session)))
    assert result is not None
    assert result["ok"]
    assert result["cycles"] > 0
    assert len(result["regions"]) == len(session.regions)
    nodes = result["regions"][0]["nodes"]
    assert {row["node"] for row in nodes} == {n.id for n in session.current.graph.nodes}
    assert shares[-1] == 1
    assert not runner.running


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("die", "the simulator stopped: MemoryError: no space left"),
        ("vanish", "the simulator stopped: it ended with code 3"),
        ("refuse", "tokens ran out (hint: run less)"),
    ],
)
def test_a_run_that_fails_says_why(target, text):
    runner = Runner()
    runner.target = f"tests.workbench.test_worker:{target}"
    assert asyncio.run(runner.run(job(Session("spmv")))) is None
    assert runner.failed
    assert runner.status == text
    assert not runner.running


def test_cancel_is_quick_and_leaves_no_process():
    async def scenario():
        runner = Runner()
        runner.target = "tests.workbench.test_worker:sleep"
        task = asyncio.create_task(runner.run(job(Session("spmv"))))
        while runner.share < 0.5:
            assert not task.done(), runner.status
            await asyncio.sleep(0.02)
        process = runner._child._process
        runner.cancel()
        assert await asyncio.wait_for(task, 5) is None
        return runner, process

    runner, process = asyncio.run(scenario())
    assert runner.status == "cancelled"
    assert not runner.failed
    assert process.wait(5) != 0


def test_a_run_has_a_limit():
    runner = Runner(limit=0.5)
    runner.target = "tests.workbench.test_worker:sleep"
    assert asyncio.run(runner.run(job(Session("spmv")))) is None
    assert runner.failed
    assert "stopped after 0.5 s" in runner.status


def test_the_panel_keeps_the_record():
    session = Session("spmm", "random")
    panel = RunPanel(session)
    panel.handle({"kind": "run"})
    assert session.record is not None
    assert session.record.ok
    assert panel.view["result"]["cycles"].endswith(" cycles")


def test_layout_survives_its_worker():
    dot = "digraph { a -> b [id=e1] }"
    assert "<svg" in layout.svg(dot)
    layout._layouter._child.end()
    layout.svg.cache_clear()
    assert "<svg" in layout.svg(dot)


def test_layout_says_what_is_wrong():
    with pytest.raises(ChildError, match="graph layout failed"):
        layout.svg("digraph { a -> ")
    assert "<svg" in layout.svg("digraph { c }")


@pytest.mark.parametrize(
    "code",
    [
        b"cos\nsystem\n(S'true'\ntR.",
        b"cbuiltins\ngetattr\n(cengine.errors\nFuseloomError\nS'mro'\ntR.",
        b"cbuiltins\neval\n(S'1'\ntR.",
    ],
    ids=["system", "attribute", "eval"],
)
def test_a_request_makes_nothing_but_data(code):
    with pytest.raises(pickle.UnpicklingError):
        _Requests(io.BytesIO(code)).load()


def test_enum_members_travel_however_python_writes_them():
    code = b"cbuiltins\ngetattr\n(cengine.program.types\nOp\nS'MUL'\ntR."
    assert _Requests(io.BytesIO(code)).load() is Op.MUL
