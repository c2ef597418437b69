"""``fuseloom serve``: the workbench in a browser."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from engine.cli.command import Command, positive
from engine.errors import FuseloomError


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=positive, default=5006, help="default: %(default)s")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")


def _run(options: Any) -> int:
    app = Path(__file__).resolve().parents[2] / "apps" / "explorer.py"
    if not app.exists():
        raise FuseloomError(
            f"the workbench's page {app} is not there",
            hint="run from a checkout: panel serve apps/explorer.py",
        )
    show = [] if options.no_browser else ["--show"]
    command = ["-m", "panel", "serve", str(app), "--port", str(options.port), "--num-threads", "4"]
    os.execv(sys.executable, [sys.executable, *command, *show])


SERVE = Command("serve", "Serve the workbench.", _declare, _run)
