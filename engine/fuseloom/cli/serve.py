"""``fuseloom serve``: the workbench in a browser."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.util import find_spec
from typing import Any

from fuseloom import interpreter
from fuseloom.cli.command import Command, complete_with, positive
from fuseloom.errors import FuseloomError

BUDGETS = {
    "sessions": "pages open at once",
    "workers": "pages with a process of their own; others wait until one is idle",
    "runs": "simulations at once; others wait in line",
    "memory": "MiB a request may take",
    "run-memory": "MiB a simulation may take",
    "cpu-time": "seconds of CPU time of a request",
    "wall-time": "seconds from a request to its answer",
    "draw-time": "seconds of CPU time of drawing a graph, or of ranking orders",
    "run-time": "seconds of a simulation",
    "programs": "edited programs a page keeps for a quick return",
    "records": "runs a page keeps",
    "kept": "MiB of the run store from which --keep-runs keeps no more",
    "statements": "statements of an edited program",
    "text": "characters of a program or schedule",
    "graph-nodes": "nodes of a graph that is drawn",
    "upload-file": "MiB of a file that a page sends",
    "upload": "MiB of a message from a browser",
    "pending": "requests of a page that wait",
}
"""The quantities that ``--max-NAME`` limits; the defaults come from the machine."""


def port(text: str) -> int:
    """Return the number of a port.

    Raises
    ------
    argparse.ArgumentTypeError
        If there is no such port.
    """
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:6]) <= 65535:
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is no port; give one from 1 to 65535")
    return int(text)


PAGES = ("explorer", "figures", "networks", "patterns", "calls", "kernels", "compare")
"""The pages that a server may have; the explorer is always one of them."""


def pages(text: str) -> tuple[str, ...]:
    """Return the names of pages.

    Raises
    ------
    argparse.ArgumentTypeError
        If one is none.
    """
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if name not in PAGES:
            raise argparse.ArgumentTypeError(
                f"{name[:40]!r} is no page; there are {', '.join(PAGES)}"
            )
    return names


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", nargs="?", metavar="MODEL.fuseloom",
        help="open that model, as imported.save writes it; at the server that is there, if one is",
    )  # fmt: skip
    parser.add_argument("--port", type=port, default=5006, help="default: %(default)s")
    parser.add_argument(
        "--address", default="127.0.0.1", help="where to listen; default: this machine only"
    )
    parser.add_argument(
        "--allow-origin", action="append", default=[], metavar="HOST:PORT",
        help="let pages of that host connect, such as those of a proxy; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--token-file", metavar="FILE",
        help="ask visitors for the token in that file; $FUSELOOM_TOKEN does the same",
    )  # fmt: skip
    parser.add_argument(
        "--open-to-network", action="store_true",
        help="listen beyond this machine although nobody is asked for a token",
    )  # fmt: skip
    parser.add_argument(
        "--keep-runs", action="store_true",
        help="keep the runs of all visitors in the run store (see the command 'runs'), and show "
        "each page those of its own program, data and machine",
    )  # fmt: skip
    choice = parser.add_argument(
        "--pages", type=pages, metavar="NAME,...",
        help=f"pages to serve: {', '.join(PAGES)} (default: all where only this machine can "
        "connect, else the explorer alone; the others start processes that no budget limits)",
    )  # fmt: skip
    complete_with(choice, PAGES)
    parser.add_argument("--log-json", action="store_true", help="one JSON object per line")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")
    for name, text in BUDGETS.items():
        parser.add_argument(f"--max-{name}", type=positive, metavar="N", help=text)


def arguments_of(options: Any) -> list[str]:
    """The same options for the server's own command line."""
    given = ["--port", str(options.port), "--address", options.address]
    for origin in options.allow_origin:
        given += ["--allow-origin", origin]
    if options.token_file:
        given += ["--token-file", options.token_file]
    if options.pages:
        given += ["--pages", ",".join(options.pages)]
    for flag in ("open_to_network", "keep_runs", "log_json", "no_browser"):
        if getattr(options, flag):
            given.append(f"--{flag.replace('_', '-')}")
    for name in BUDGETS:
        value = getattr(options, f"max_{name.replace('-', '_')}")
        if value is not None:
            given += [f"--max-{name}", str(value)]
    return given if options.model is None else [*given, "--", options.model]


def _run(options: Any) -> int:
    if find_spec("fuseloom_workbench") is None:
        raise FuseloomError("the workbench is not installed", hint="pip install fuseloom")
    command = interpreter.command("-m", "fuseloom_workbench.serving", *arguments_of(options))
    os.execve(sys.executable, command, interpreter.environment())


SERVE = Command(_declare, _run)
