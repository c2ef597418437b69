"""The command line: one module per command, thin over the engine."""

import sys

try:
    from fuseloom.cli.main import main
except KeyboardInterrupt:  # the imports take a second, in which users change their minds
    if "--json" in sys.argv:  # what tells documents is perhaps not there yet
        print(
            '{"fuseloom": "error", "version": 3, "error": "cancelled", "place": null, '
            '"rule": "cancelled", "hint": null}'
        )
    print("fuseloom: cancelled", file=sys.stderr)
    raise SystemExit(130) from None

__all__ = ["main"]
