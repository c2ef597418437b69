"""The commands: their names, their one-line texts, and the modules that implement them.

Only the module of the command that is used is imported: the others cost nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from fuseloom.cli.command import Command


class CommandEntry(NamedTuple):  # dataclasses would double the time of ``fuseloom --version``
    """One row of the list of commands.

    Attributes
    ----------
    name : str
        The word on the command line.
    text : str
        One sentence on what the command does.
    module : str
        The module of this package that implements it.
    attribute : str
        The name of its :class:`~fuseloom.cli.command.Command` in that module.
    """

    name: str
    text: str
    module: str
    attribute: str

    def load(self) -> Command:
        """Return the command; its module is imported at the first call."""
        module = import_module(f"fuseloom.cli.{self.module}")
        command: Command = getattr(module, self.attribute)
        return command


COMMANDS: tuple[CommandEntry, ...] = tuple(
    CommandEntry(name, text, module, name.upper().replace("-", "_"))
    for name, text, module in (
        ("compile", "Compile a program and show what came of it.", "compile"),
        ("estimate", "Estimate cycles, FLOPs and bytes without a run.", "estimate"),
        ("simulate", "Simulate a program and check it.", "simulate"),
        (
            "explore",
            "Rank the dataflow orders of every region, or sweep over a space.",
            "explore",
        ),
        (
            "autoschedule",
            "Find the schedule with the fewest cycles, and prove how good it is.",
            "autoschedule",
        ),
        ("why", "Say why a schedule is not the best one.", "autoschedule"),
        ("what-if", "Estimate other channels, latencies and lanes, without a run.", "what_if"),
        ("figures", "Run the paper's tables and figures and compare the numbers.", "figures"),
        ("runs", "List, show, export, import and throw away the runs that were kept.", "runs"),
        ("compare", "Fuse a program by every system, and compare them.", "compare"),
        (
            "contract",
            "Fuse a sparse tensor network, and run it on this machine's CPU.",
            "contract",
        ),
        ("access", "Map a dense kernel or network onto a systolic array.", "access"),
        ("calls", "Fuse calls of libraries tile by tile, or say why not to.", "calls"),
        ("stitch", "Fuse a dense graph into few kernels, block by block.", "stitch"),
        ("rtl", "Write a program as Verilog, and run it beside the simulator.", "rtl"),
        ("conform", "Replay reference vectors token by token.", "conform"),
        ("serve", "Serve the workbench.", "serve"),
        ("notebooks", "Write the notebooks and example programs into a folder.", "notebooks"),
        ("data", "List the data sets, download their files, and check these.", "data"),
        ("models", "List the ready-made models and what they take.", "models"),
        ("machine", "Print a machine as a file: what it has, or what to change.", "machine"),
        ("warmup", "Compile the simulator's kernels into the cache.", "warmup"),
        ("doctor", "Check this installation, and say what it lacks.", "doctor"),
        ("completion", "Print a script that completes commands in a shell.", "completion"),
    )
)
