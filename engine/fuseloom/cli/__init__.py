"""The command line: one module per command, thin over the engine."""

import sys

from fuseloom.cli.cancelled import cancelled

try:
    from fuseloom.cli.main import main
except KeyboardInterrupt:
    raise SystemExit(cancelled("--json" in sys.argv)) from None

__all__ = ["main"]
