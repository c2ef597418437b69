"""The output of a command that its user has ended."""

import sys


def cancelled(as_json: bool) -> int:
    """Say that the user ended the command; return the exit code.

    It imports nothing, because the interrupt may have come in the middle of an import.
    """
    if as_json:
        print(
            '{"fuseloom": "error", "version": 3, "error": "cancelled", "place": null, '
            '"rule": "cancelled", "hint": null}'
        )
    print("fuseloom: cancelled", file=sys.stderr)
    return 130
