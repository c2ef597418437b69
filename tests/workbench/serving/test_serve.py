"""The server's command line, its address and token, its life and its death."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import time

import psutil
import pytest

from benchmarks.visitors import Server, Visitor, wait_for_end
from engine.cli import serve as command
from workbench.serving import serve
from workbench.serving.__main__ import main as entrance

SLOW = "fuse T1..Y; parallel i by 512"


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
    with pytest.raises(ValueError, match="whole number from 1 on"):
        serve.budgets_of(options("--max-runs", "0"))
    flags = {f"max_{name.replace('-', '_')}" for name in command.BUDGETS}
    assert flags == {name for name in vars(options()) if name.startswith("max_")}


def test_what_cannot_be_served_is_said(capsys):
    assert serve.main(["--address", "0.0.0.0"]) == 2
    assert "--open-to-network" in capsys.readouterr().err
    assert entrance is serve.main


def test_it_listens_on_this_machine_only(server):
    at = [c.laddr.ip for c in psutil.Process(server.process.pid).net_connections("inet")
          if c.status == psutil.CONN_LISTEN]  # fmt: skip
    assert at == ["127.0.0.1"]


# Life and death ---------------------------------------------------------------------------


async def _nothing(server):
    return []


async def _page(server):
    return [await Visitor(server).open()]


async def _edit(server):
    visitor = await Visitor(server).open()
    await visitor.drag(4, 3)
    return [visitor]


async def _compiling(server):
    visitor = await Visitor(server).open()
    await visitor.tell("TextEditor", {"kind": "apply", "text": "x"})
    await visitor.choose("Preset", "full")
    await visitor.until(lambda: visitor.cuts == ())
    await visitor.choose("Data", "cora_ml")
    await asyncio.sleep(0.5)
    return [visitor]


async def _running(server):
    visitor = await Visitor(server).open()
    await visitor.choose("Data", "cora_ml")
    await visitor.until(lambda: "stand-in" in str(visitor.models), 90)
    await visitor.choose("Preset", "full")
    await visitor.until(lambda: visitor.cuts == () and visitor.settled, 90)
    await visitor.tell("RunPanel", {"kind": "run", "sure": True})
    await visitor.until(lambda: visitor.view("RunPanel")["running"])
    await asyncio.sleep(1)
    return [visitor]


async def _many(server):
    return [await _edit(server) for _ in range(3)]


async def _gone(server):
    visitor = await Visitor(server).open()
    await visitor.drag(4, 3)
    await visitor.close()
    return []


STATES = {"idle": _nothing, "page": _page, "edited": _edit, "compiling": _compiling,
          "running": _running, "many": _many, "tab closed": _gone}  # fmt: skip


@pytest.mark.parametrize("state", STATES, ids=lambda name: name.replace(" ", "_"))
def test_a_signal_ends_everything(state):
    number = signal.SIGINT if state == "page" else signal.SIGTERM
    with Server() as server:
        asyncio.run(STATES[state](server))
        assert len(server.family()) >= 1
        took, left = server.end(number)
        assert not left, left
        assert took < 3
        assert not server.faults()


@pytest.mark.parametrize("wait", [0.0, 0.5, 1.5])
def test_a_signal_while_it_starts_ends_everything(wait):
    with Server(ready=False) as server:
        time.sleep(wait)
        family = server.family()
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(4)
        assert not wait_for_end(family, 3)


@pytest.mark.parametrize("state", ["edited", "running"])
def test_nothing_outlives_a_server_that_is_killed(state):
    with Server() as server:
        asyncio.run(STATES[state](server))
        family = server.family()
        assert len(family) >= 2
        killed = time.monotonic()
        server.process.kill()
        server.process.wait(5)
        assert not wait_for_end(family)
        assert time.monotonic() - killed < 2


def test_a_closed_tab_leaves_no_process_and_no_zombie(server):
    async def scenario():
        visitor = await _edit(server)
        assert server.health()["workers"] >= 1
        await visitor[0].close()

    asyncio.run(scenario())
    until = time.monotonic() + 10
    while server.health()["workers"]:
        assert time.monotonic() < until
        time.sleep(0.2)
    states = []
    for process in server.family():
        with contextlib.suppress(psutil.NoSuchProcess):
            states.append(process.status())
    assert psutil.STATUS_ZOMBIE not in states
