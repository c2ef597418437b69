"""The command line: one module per command, thin over the engine."""

from engine.cli.main import main

__all__ = ["main"]
