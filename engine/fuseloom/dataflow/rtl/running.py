"""Compiling and running a design with Verilator or Icarus, and what comes out."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fuseloom.dataflow.rtl.verilog import BENCH, CLOCKED, VerilogProject
from fuseloom.errors import SimulationError

INSTALL = "install it: apt-get install verilator iverilog, or the packages of those names elsewhere"


@dataclass(frozen=True)
class HardwareRun:
    """The outcome of a design's run.

    Attributes
    ----------
    cycles : int
        The largest final clock of a node, or the cycle in which everything stood still.
    clocks : mapping
        Final clock by node id.
    words : mapping
        By port, the words written.
    passed : bool
        All nodes have ended, and all that was expected was written.
    waiting : tuple of int
        The nodes that have not ended, in a deadlock.
    faults : tuple of int
        The nodes whose tokens contradicted a rule.
    wrong : tuple of str
        Where words differ from what was expected.
    """

    cycles: int
    clocks: Mapping[int, int]
    words: Mapping[str, tuple[int, ...]]
    passed: bool
    waiting: tuple[int, ...] = ()
    faults: tuple[int, ...] = ()
    wrong: tuple[str, ...] = ()

    @property
    def deadlocked(self) -> bool:
        return bool(self.waiting)


def tool(name: str) -> str:
    """The path of a program.

    Raises
    ------
    SimulationError
        If it is not installed.
    """
    path = shutil.which(name)
    if path is None:
        raise SimulationError(f"{name} is not installed", hint=INSTALL)
    return path


def run_tool(command: list[str], folder: Path, seconds: float) -> str:
    """Run a program in a folder; return what it printed.

    Raises
    ------
    SimulationError
        If it fails or takes too long.
    """
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise SimulationError(
            f"{Path(command[0]).name} took more than {seconds:g} s",
            hint="Verilator is faster than Icarus on long runs; or choose smaller data",
        ) from None
    if done.returncode:
        lines = (done.stderr + done.stdout).strip().splitlines() or [str(done.returncode)]
        told = next((line for line in lines if "error" in line.lower()), lines[0])
        raise SimulationError(
            f"{Path(command[0]).name} failed: {told}",
            hint="fuseloom rtl --output DIR writes the files, with a README how to run them",
        )
    return done.stdout


def verilate(
    project: VerilogProject, folder: Path, seconds: float = 600, optimise: str = "-O1"
) -> Path:
    """Compile a project that was written to a folder with Verilator; return the program.

    Parameters
    ----------
    project : VerilogProject
        The project.
    folder : Path
        Where it was written.
    seconds : float
        How long that may take.
    optimise : str
        How the C++ compiler optimises: ``-O0`` compiles fastest and runs slowest.

    Raises
    ------
    SimulationError
        If Verilator or a C++ compiler is missing or fails.
    """
    flags = [f"{which}={optimise}" for which in ("OPT_FAST", "OPT_SLOW", "OPT_GLOBAL")]
    command = [
        *(tool("verilator"), "--cc", "--exe", "--build", "-Wno-fatal", "-Wno-lint", "-O3"),
        *("--top-module", BENCH, "--Mdir", "build", "-MAKEFLAGS", " ".join(flags)),
        *project.sources,
        "main.cpp",
    ]
    run_tool(command, folder, seconds)
    return folder / "build" / f"V{BENCH}"


def run_verilator(
    project: VerilogProject, folder: Path, seconds: float = 600, optimise: str = "-O1"
) -> str:
    """Write, compile and run a project with Verilator; return what the test bench printed."""
    project.write(folder)
    return run_tool([str(verilate(project, folder, seconds, optimise))], folder, seconds)


def run_icarus(project: VerilogProject, folder: Path, seconds: float = 600) -> str:
    """Write, compile and run a project with Icarus; return what the test bench printed."""
    project.write(folder)
    sources = [*project.sources, f"{CLOCKED}.v"]
    run_tool([tool("iverilog"), "-g2005", "-o", "bench.vvp", *sources], folder, seconds)
    return run_tool([tool("vvp"), "-n", "bench.vvp"], folder, seconds)


def read_run(text: str) -> HardwareRun:
    """Read what a test bench of one run printed.

    Raises
    ------
    SimulationError
        If it did not come to an end.
    """
    runs = read_runs(text)
    if not runs:
        raise SimulationError("the test bench came to no end", hint="run it by hand to see why")
    return runs[0]


def read_runs(text: str) -> list[HardwareRun]:
    """Read what a test bench printed, run by run."""
    runs: list[HardwareRun] = []
    clocks: dict[int, int] = {}
    words: dict[str, list[int]] = {}
    wrong: list[str] = []
    for line in text.splitlines():
        ended = None
        match line.split():
            case ["clock", node, cycle]:
                clocks[int(node)] = int(cycle)
            case ["word", port, word]:
                words.setdefault(port, []).append(int(word, 16))
            case ["wrong", *rest]:
                wrong.append(" ".join(rest))
            case ["fault", cycle, nodes]:
                ended = HardwareRun(int(cycle), clocks, _kept(words), False, faults=_nodes(nodes))
            case ["deadlock", cycle, nodes]:
                ended = HardwareRun(int(cycle), clocks, _kept(words), False, waiting=_nodes(nodes))
            case ["PASS:" | "FAIL:" as verdict, cycles, "cycles"]:
                passed = verdict == "PASS:"
                ended = HardwareRun(int(cycles), clocks, _kept(words), passed, wrong=tuple(wrong))
        if ended is not None:
            runs.append(ended)
            clocks, words, wrong = {}, {}, []
    return runs


def _nodes(bits: str) -> tuple[int, ...]:
    """The positions of the ones, counted from the right."""
    return tuple(k for k, bit in enumerate(reversed(bits)) if bit != "0")


def _kept(words: Mapping[str, list[int]]) -> dict[str, tuple[int, ...]]:
    return {port: tuple(given) for port, given in words.items()}
