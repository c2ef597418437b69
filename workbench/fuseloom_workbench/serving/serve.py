"""Serve the workbench until told to end."""

from __future__ import annotations

import argparse
import asyncio
import errno
import ipaddress
import json
import logging
import os
import secrets
import signal
import socket
import sys
import threading
import urllib.request
import webbrowser
from dataclasses import fields
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlencode

from fuseloom.cli.serve import PAGES as PAGE_NAMES
from fuseloom.cli.serve import pages, port
from fuseloom.errors import FuseloomError
from fuseloom_workbench.service import journal
from fuseloom_workbench.service import supervisor as supervisors
from fuseloom_workbench.service.budgets import KEEP_RUNS, MIB, Budgets

PATH = "explorer"
TOKEN = "FUSELOOM_TOKEN"
"""Environment variable with the token, where it should not stand in the list of processes."""
UNUSED, LOOK = 20_000, 3000
"""Milliseconds that a page without a connection is kept, and between two looks."""
LAST = 2.5
"""Seconds after which an end that hangs is forced."""


class _ServeParser(argparse.ArgumentParser):
    """A parser that says in one line what it cannot read."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"fuseloom: error: {message} (hint: {self.prog} --help)\n")


def parser() -> argparse.ArgumentParser:
    """The command line; ``fuseloom serve`` has the same options."""
    known = _ServeParser("fuseloom serve", allow_abbrev=False)
    known.add_argument("model", nargs="?", metavar="MODEL.fuseloom")
    known.add_argument("--port", type=port, default=5006)
    known.add_argument("--address", default="127.0.0.1")
    known.add_argument("--allow-origin", action="append", default=[], metavar="HOST:PORT")
    known.add_argument("--token-file", metavar="FILE")
    known.add_argument("--open-to-network", action="store_true")
    known.add_argument("--keep-runs", action="store_true")
    known.add_argument("--log-json", action="store_true")
    known.add_argument("--no-browser", action="store_true")
    known.add_argument("--pages", type=pages, metavar="NAME,...")
    for budget in fields(Budgets):
        known.add_argument(f"--max-{budget.name.replace('_', '-')}", type=int, metavar="N")
    return known


def budgets_of(options: argparse.Namespace) -> Budgets:
    """The budgets asked for, the others by default.

    Raises
    ------
    ValueError
        If one is not positive.
    """
    given = {f.name: getattr(options, f"max_{f.name}") for f in fields(Budgets)}
    return Budgets.of({name: value for name, value in given.items() if value is not None})


def is_loopback(address: str) -> bool:
    """Return whether only this machine reaches that address."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def token_of(options: argparse.Namespace) -> str:
    """The token, from a file or the environment; empty for none.

    Raises
    ------
    ValueError
        If the file cannot be read, or the token is too short to be one.
    """
    token = os.environ.get(TOKEN, "")
    if options.token_file:
        try:
            token = Path(options.token_file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as problem:
            raise ValueError(f"the token file cannot be read: {problem}") from None
    if (token or options.token_file) and len(token) < 12:
        raise ValueError("the token is shorter than 12 characters; fuseloom makes none that short")
    return token


def keep_runs(options: argparse.Namespace) -> None:
    """Have the processes that simulate keep their runs, if that is asked for.

    Raises
    ------
    StoreError
        If the store cannot be used.
    """
    os.environ.pop(KEEP_RUNS, None)
    if not options.keep_runs:
        return
    from fuseloom.exploration.store import RunStore, default_path

    path = default_path().absolute()
    with RunStore(path):
        os.environ[KEEP_RUNS] = str(path)
    journal.note("keeping_runs", store=str(path))


def check_network(options: argparse.Namespace, token: str) -> None:
    """Refuse to open the server to a network without a token, unless that is meant.

    Raises
    ------
    ValueError
        With what to do instead.
    """
    if is_loopback(options.address) or token or options.open_to_network:
        return
    example = secrets.token_urlsafe(18)
    raise ValueError(
        f"whoever reaches {options.address} could use this server; give it a token "
        f"({TOKEN}={example} fuseloom serve …, or --token-file FILE), or say --open-to-network"
    )


def check_port(options: argparse.Namespace) -> None:
    """See, before the engine is loaded, that the server can listen where it should.

    Raises
    ------
    ValueError
        With what to do instead.
    """
    try:
        ((family, kind, _, _, place), *_) = socket.getaddrinfo(
            options.address, options.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)
            probe.listen(1)
    except OSError as problem:
        raise ValueError(refused_port(options, problem)) from None


def page_of(options: argparse.Namespace) -> str:
    """The page to open: the explorer, with the model of a file if one is named.

    Raises
    ------
    FuseloomError
        If the file is no model.
    """
    if options.model is None:
        return PATH
    from fuseloom_workbench.state.files import keep_model  # with the engine, which others wait for

    name = keep_model(Path(options.model))
    return f"{PATH}?{urlencode({'model': name})}"


def handed_over(options: argparse.Namespace, page: str) -> bool:
    """Open the model at the server that is there already; False if none is, or no model named."""
    if options.model is None:
        return False
    url = address_of(options, options.port)
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=2) as answer:
            ours = "limits" in json.loads(answer.read(100_000))
    except (OSError, ValueError):
        return False
    if not ours:
        return False
    print(f"The model is at {url}/{page}", flush=True)
    if not options.no_browser:
        webbrowser.open(f"{url}/{page}")
    return True


def address_of(options: argparse.Namespace, port: int) -> str:
    """The address of the server, as a browser on this machine has it."""
    return f"http://{'localhost' if is_loopback(options.address) else options.address}:{port}"


def refused_port(options: argparse.Namespace, problem: OSError) -> str:
    """Return one line on why the server cannot listen, and on the option that changes it."""
    match problem.errno:
        case errno.EADDRINUSE:
            text = f"port {options.port} of {options.address} is in use"
            return f"{text} (hint: choose another one, such as --port {_next(options.port)})"
        case errno.EACCES:
            text = f"port {options.port} of {options.address} is not for this user"
            return f"{text} (hint: choose one from 1024, such as --port 5006)"
    text = f"cannot listen on port {options.port} of {options.address}: {problem.strerror}"
    return f"{text} (hint: see --address and --port)"


def _next(port: int) -> int:
    return port + 1 if port < 65535 else 5006


def origins(options: argparse.Namespace) -> list[str]:
    """Hosts whose pages may connect."""
    own = [options.address, "localhost", "127.0.0.1"] if is_loopback(options.address) else [
        options.address
    ]  # fmt: skip
    hosts = [f"[{host}]" if ":" in host else host for host in dict.fromkeys(own)]
    return [*(f"{host}:{options.port}" for host in hosts), *options.allow_origin]


def pages_of(options: argparse.Namespace) -> tuple[str, ...]:
    """Return the names of the pages that are served, the explorer first.

    The others start processes that no budget limits: beyond this machine they are served only
    where ``--pages`` names them.
    """
    if options.pages:
        return tuple(name for name in PAGE_NAMES if name == PATH or name in options.pages)
    return PAGE_NAMES if is_loopback(options.address) else (PATH,)


def make_server(options: argparse.Namespace, supervisor: supervisors.Supervisor, token: str) -> Any:
    """The server, not yet started."""
    import panel as pn
    from panel.io.server import get_server

    from fuseloom_workbench.base.page import PAGE_LINKS
    from fuseloom_workbench.serving.access import access
    from fuseloom_workbench.serving.first_paint import paint_early
    from fuseloom_workbench.serving.gate import guard
    from fuseloom_workbench.serving.health import Health
    from fuseloom_workbench.serving.home import Home
    from fuseloom_workbench.serving.opening import InTurn, rehearse, remember_resources
    from fuseloom_workbench.serving.page import page_of

    pn.extension()
    upload = supervisor.budgets.upload * MIB
    more: dict[str, Any] = {}
    user = None
    if token:
        provider = access(token)
        user = provider.get_user
        more = {"auth_provider": provider, "cookie_secret": secrets.token_hex(32)}
    names = pages_of(options)
    server = get_server(
        {name: page_of(name, names) for name in names},
        port=options.port,
        address=options.address,
        websocket_origin=origins(options),
        title={name: PAGE_LINKS[name].full_title for name in names},
        show=False,
        start=False,
        verbose=False,
        extra_patterns=[
            (r"/", Home, {"pages": names, "user": user}),
            (r"/health", Health, {"supervisor": supervisor}),
        ],
        unused_session_lifetime_milliseconds=UNUSED,
        check_unused_sessions_milliseconds=LOOK,
        websocket_max_message_size=upload,
        http_server_kwargs={
            "max_buffer_size": upload,
            "max_body_size": MIB,
            "max_header_size": 65536,
        },
        **more,
    )
    guard(server._tornado)
    in_turn = InTurn()
    for name in names:
        server._tornado.applications[f"/{name}"].application.add(in_turn)
    remember_resources()
    paint_early()
    rehearse()
    return server


class Refusals(logging.Filter):
    """A filter for faults in a browser's messages: one line, no traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        problem = record.exc_info[1] if record.exc_info else None
        if problem is None or not _raised_by_bokeh(problem):
            return True
        journal.note("message_refused", reason=f"{type(problem).__name__}: {problem}"[:200])
        return False


def _raised_by_bokeh(problem: BaseException) -> bool:
    """Return whether it was raised while messages are read, not while they are handled."""
    place = problem.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    name = place.tb_frame.f_globals.get("__name__", "") if place is not None else ""
    return name.partition(".")[0] in ("bokeh", "json")


def _ignore(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Ignore sends to pages that have gone: they are no fault."""
    problem = context.get("exception")
    if type(problem).__name__ in ("WebSocketClosedError", "StreamClosedError"):
        return
    journal.note("fault", reason=context.get("message", ""), exception=repr(problem))


def main(arguments: list[str]) -> int:
    """Serve until SIGTERM or SIGINT."""
    options = parser().parse_args(arguments)
    journal.write_to_stderr(options.log_json)
    try:
        budgets = budgets_of(options)
        token = token_of(options)
        check_network(options, token)
        page = page_of(options)
        if handed_over(options, page):
            return 0
        check_port(options)
        keep_runs(options)
    except (ValueError, FuseloomError) as reason:
        print(f"fuseloom: {reason}", file=sys.stderr)
        return 2
    supervisor = supervisors.supervisor(budgets)  # the engine is loaded while the server is made
    try:
        server = make_server(options, supervisor, token)
    except OSError as problem:
        print(f"fuseloom: {refused_port(options, problem)}", file=sys.stderr)
        supervisors.close()
        return 2
    except ValueError as problem:
        print(f"fuseloom: {problem}", file=sys.stderr)
        supervisors.close()
        return 2
    loop = server.io_loop.asyncio_loop
    loop.set_exception_handler(_ignore)
    logging.getLogger("bokeh").setLevel(logging.ERROR)
    for name in ("views.ws", "protocol_handler"):
        logging.getLogger(f"bokeh.server.{name}").addFilter(Refusals())
    logging.getLogger("tornado.access").setLevel(logging.CRITICAL)

    def end(number: int, *_: Any) -> None:
        journal.note("ending", signal=signal.Signals(number).name)
        hard = threading.Timer(LAST, os._exit, (1,))
        hard.daemon = True
        hard.start()
        loop.call_soon_threadsafe(server.io_loop.stop)

    url = address_of(options, server.port)
    server.start()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    journal.note("serving", url=f"{url}/{page}", address=options.address)
    if not options.log_json:
        print(f"The workbench is at {url}/{page}  (Ctrl+C ends it)", flush=True)
        if others := pages_of(options)[1:]:
            print(f"More pages: {', '.join(f'{url}/{name}' for name in others)}", flush=True)
    if not options.no_browser:
        server.io_loop.add_callback(server.show, f"/{page}")
    server.io_loop.start()
    supervisors.close()
    journal.note("ended")
    # what is left are threads of libraries, which must not hold it up
    sys.stdout.flush()
    os._exit(0)
