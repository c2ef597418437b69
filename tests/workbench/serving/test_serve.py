"""The server's command line, its address and token, its life and its death."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import time

import psutil
import pytest

from benchmarks.store import together
from benchmarks.visitors import Server, Visitor, wait_for_end
from fuseloom.cli import serve as command
from fuseloom.models import load
from fuseloom.results.archive import ModelArchive
from fuseloom_workbench.serving import serve
from fuseloom_workbench.serving.page import PAGES
from tests.waiting import PATIENCE, until, until_async


def options(*given):
    return serve.parser().parse_args(given)


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.3.2.1", True),
        ("::1", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.1.5", False),
        ("example.org", False),
        ("", False),
    ],
)
def test_only_loopback_is_open_by_itself(address, here):
    assert serve.is_loopback(address) is here
    given = options("--address", address)
    if here:
        serve.check_network(given, "")
        return
    with pytest.raises(ValueError, match="give it a token"):
        serve.check_network(given, "")
    serve.check_network(given, "a token of some length")
    serve.check_network(options("--address", address, "--open-to-network"), "")


def test_a_token_is_long(tmp_path, monkeypatch):
    monkeypatch.delenv(serve.TOKEN, raising=False)
    assert serve.token_of(options()) == ""
    file = tmp_path / "token"
    file.write_text("short\n")
    with pytest.raises(ValueError, match="shorter than 12"):
        serve.token_of(options("--token-file", str(file)))
    file.write_text("long enough to be one\n")
    assert serve.token_of(options("--token-file", str(file))) == "long enough to be one"
    with pytest.raises(ValueError, match="cannot be read"):
        serve.token_of(options("--token-file", str(tmp_path / "none")))
    monkeypatch.setenv(serve.TOKEN, "another long token")
    assert serve.token_of(options()) == "another long token"


def test_the_default_port_is_closed_to_others():
    assert serve.origins(options()) == ["127.0.0.1:5006", "localhost:5006"]
    assert serve.origins(options("--allow-origin", "proxy.example"))[-1] == "proxy.example"


def test_budgets_have_flags_here_and_on_the_command_line():
    given = options("--max-runs", "3", "--max-cpu-time", "7")
    assert serve.budgets_of(given).runs == 3
    assert serve.budgets_of(given).cpu_time == 7
    with pytest.raises(ValueError, match="integer from 1 on"):
        serve.budgets_of(options("--max-runs", "0"))
    flags = {f"max_{name.replace('-', '_')}" for name in command.BUDGETS}
    assert flags == {name for name in vars(options()) if name.startswith("max_")}


def test_what_cannot_be_served_is_said(capsys):
    assert serve.main(["--address", "0.0.0.0"]) == 2
    assert "--open-to-network" in capsys.readouterr().err


def test_it_listens_on_this_machine_only(server):
    at = [c.laddr.ip for c in psutil.Process(server.process.pid).net_connections("inet")
          if c.status == psutil.CONN_LISTEN]  # fmt: skip
    assert at == ["127.0.0.1"]


# Life and death ---------------------------------------------------------------------------


async def _page(server):
    return await Visitor(server).open()


async def _large(server):
    """A page with data whose requests and runs take long."""
    visitor = await _page(server)
    await visitor.choose("Data", "cora_ml")
    await visitor.until(lambda: "stand-in" in str(visitor.models), 90)
    return visitor


async def _idle(server):
    """Nobody is there."""


async def _opening(server):
    """A page is being made, and nobody waits for it any more."""
    with socket.create_connection(("127.0.0.1", server.port)) as line:
        line.sendall(b"GET /explorer HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await asyncio.sleep(0.1)


async def _dragging(server):
    visitor = await _page(server)
    for to in (3, 5, 2):
        await visitor.tell("FusionChain", {"kind": "move", "gap": 4, "to": to})


async def _loading(server):
    visitor = await _page(server)
    await visitor.choose("Data", "cora_ml")
    await visitor.until(lambda: visitor.data("Connection").get("working"))


async def _ranking_and_drawing(server):
    """Children of a session worker are at work."""
    visitor = await _page(server)
    text = "fuse T1..Y; parallel i by 24"
    await visitor.tell("schedule", {"kind": "apply", "text": text})
    await visitor.until(lambda: visitor.cuts == ())


async def _compiling(server):
    visitor = await _large(server)
    await visitor.choose("Preset", "full")
    await asyncio.sleep(0.3)


async def _running_and_waiting(server):
    """One simulation runs, another waits in line."""
    visitors = [await _large(server), await _page(server)]
    await visitors[0].choose("Preset", "full")
    await visitors[0].until(lambda: visitors[0].cuts == () and visitors[0].settled, 90)
    await visitors[0].tell("RunPanel", {"kind": "run", "sure": True})
    await visitors[0].until(lambda: server.health()["runs"] == 1)
    await visitors[1].tell("RunPanel", {"kind": "run"})
    await visitors[1].until(lambda: "in line" in visitors[1].view("RunPanel")["status"])


async def _gone(server):
    visitor = await _page(server)
    await visitor.drag(4, 3)
    await visitor.close()


STATES = {"idle": _idle, "opening a page": _opening, "dragging": _dragging, "loading": _loading,
          "ranking and drawing": _ranking_and_drawing, "compiling": _compiling,
          "running and waiting": _running_and_waiting, "tab closed": _gone}  # fmt: skip


ALIKE = ("idle", "loading", "compiling", "tab closed")
"""Those in which the server has the processes of another state, or fewer."""


@pytest.mark.parametrize(
    "state", [pytest.param(s, marks=[pytest.mark.fuzz] * (s in ALIKE)) for s in STATES]
)
def test_a_signal_ends_everything(state):
    number = signal.SIGINT if state == "dragging" else signal.SIGTERM
    with Server("--max-runs", "1") as server:
        asyncio.run(STATES[state](server))
        assert len(server.family()) >= 1
        _, left = server.end(number)
        assert not left, left
        assert not server.faults()


@pytest.mark.parametrize("wait", [0.0, 0.5, 1.5])
def test_a_signal_while_it_starts_ends_everything(wait, monkeypatch, tmp_path):
    if wait == 1.5:  # kernels must be compiled first, as on a new machine
        monkeypatch.setenv("FUSELOOM_CACHE_DIR", str(tmp_path))
    with Server(ready=False) as server:
        time.sleep(wait)
        family = server.family()
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(PATIENCE)
        assert not wait_for_end(family, PATIENCE)


def test_nothing_outlives_a_server_that_is_killed():
    with Server("--max-runs", "1") as server:
        asyncio.run(_running_and_waiting(server))
        family = server.family()
        assert len(family) >= 4
        server.process.kill()
        server.process.wait(PATIENCE)
        assert not wait_for_end(family, PATIENCE)


def test_a_closed_tab_leaves_no_process_and_no_zombie(server):
    async def scenario():
        visitor = await _page(server)
        await visitor.drag(4, 3)
        assert server.health()["workers"] >= 1
        await visitor.close()

    asyncio.run(scenario())
    until(lambda: not server.health()["workers"], "the page's process has ended")
    states = []
    for process in server.family():
        with contextlib.suppress(psutil.NoSuchProcess):
            states.append(process.status())
    assert psutil.STATUS_ZOMBIE not in states


@pytest.mark.parametrize(
    ("runs", "shared"), [(60, 15), pytest.param(3_000, 300, marks=pytest.mark.fuzz)]
)
def test_writers_and_readers_of_one_store_do_not_disturb_each_other(runs, shared):
    outcome = together(runs, 2, shared)
    assert not outcome.wrong, outcome.wrong
    assert outcome.drags


def test_all_pages_are_served_to_this_machine_alone():
    assert serve.pages_of(options()) == (
        "explorer", "figures", "networks", "patterns", "calls", "kernels", "compare"
    )  # fmt: skip
    assert serve.pages_of(options("--address", "0.0.0.0")) == ("explorer",)
    beyond = options("--address", "0.0.0.0", "--pages", "networks")
    assert serve.pages_of(beyond) == ("explorer", "networks")
    assert tuple(PAGES) == command.PAGES


@pytest.mark.parametrize("port", ["0", "65536", "http"])
def test_a_port_that_there_is_not_is_one_line(port, capsys):
    with pytest.raises(SystemExit) as caught:
        serve.main(["--port", port])
    assert caught.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--port" in line
    assert "from 1 to 65535" in line


def test_a_port_in_use_is_one_line_that_names_the_option(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert serve.main(["--port", str(port), "--no-browser"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"port {port} of 127.0.0.1 is in use" in line
    assert "--port" in line


def test_an_address_that_there_is_not_is_one_line(capsys):
    address = "no-such-host.invalid"
    assert serve.main(["--address", address, "--open-to-network", "--no-browser"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert address in line
    assert "--address" in line


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A model in a file, and a folder of its own in which servers keep it."""
    monkeypatch.setenv("FUSELOOM_UPLOADS", str(tmp_path / "uploads"))
    own, data = load("spmv")
    path = tmp_path / "own.fuseloom"
    ModelArchive(own.program, data, own.presets).save(path)
    return path


def test_a_model_is_opened_at_the_server_that_is_there(model, capsys):
    """And by its address the page shows it, with its data."""
    with Server() as server:
        arguments = [str(model), "--port", str(server.port), "--no-browser"]
        assert serve.main(arguments) == 0
        (line,) = capsys.readouterr().out.splitlines()
        query = line.partition("?")[2]
        assert f"{server.port}/explorer?model=" in line
        rail = asyncio.run(rail_of(server, query))
    assert rail["model"].startswith("spmv@")
    assert rail["data"] == "saved"


async def rail_of(server, query):
    visitor = await Visitor(server, f"/explorer?{query}").open()
    try:
        await until_async(lambda: visitor.view("Rail")["model"] != "gcn", "the model is shown")
        return visitor.view("Rail")
    finally:
        await visitor.close()


@pytest.mark.parametrize("text", [None, "program x\n"])
def test_a_file_that_is_no_model_is_one_line(text, tmp_path, capsys):
    path = tmp_path / "x.fuseloom"
    if text is not None:
        path.write_text(text)
    assert serve.main([str(path), "--no-browser"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "x.fuseloom" in line


def test_a_port_of_another_program_is_not_taken_for_a_server(model, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert serve.main([str(model), "--port", str(port), "--no-browser"]) == 2
    assert "is in use" in capsys.readouterr().err
