"""``fuseloom doctor``: what this installation has, what it lacks, and how to get that."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from enum import Enum
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuseloom import __version__
from fuseloom.cli.command import Command, json_option, print_json

if TYPE_CHECKING:
    from fuseloom.cli.documents import DoctorDocument

DISTRIBUTION = "fuseloom"
COMPILERS = ("gcc", "clang")
BROWSERS = (
    "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome", "firefox",
)  # fmt: skip
FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts")
LATER_PYTHON = "3.99"
"""A version that is later than any of a requirement."""
PATIENCE = 20
"""Seconds within which another program tells its version."""


class CheckState(Enum):
    """The result of a check."""

    OK = "ok"
    MISSING = "missing"
    BROKEN = "broken"


@dataclass(frozen=True)
class CheckedThing:
    """The result of a check of one thing.

    Attributes
    ----------
    group, name : str
        What it is.
    state : str
        A value of :class:`CheckState`.
    required : bool
        Whether Fuseloom needs it.
    version : str or None
    detail : str
        Where it is, how large, or what is wrong with it.
    hint : str or None
        What to do about it.
    """

    group: str
    name: str
    state: str
    required: bool
    version: str | None = None
    detail: str = ""
    hint: str | None = None

    @property
    def ok(self) -> bool:
        """True if the thing is there, or is not needed."""
        return self.state == CheckState.OK.value or not self.required


def findings() -> Iterator[CheckedThing]:
    """Yield the result of every check, the compulsory ones first."""
    yield CheckedThing(
        "Python", "Python", CheckState.OK.value, True, platform.python_version(), sys.executable
    )
    package = Path(__file__).resolve().parent.parent
    yield CheckedThing("Python", "Fuseloom", CheckState.OK.value, True, __version__, str(package))
    yield from _libraries()
    yield _working("numba compiles", _compiles, "pip install --force-reinstall numba")
    yield _working("pygraphviz lays out", _lays_out, "pip install --force-reinstall pygraphviz")
    yield from _folders()
    yield from _programs()
    yield _fonts()
    yield from _extras()


def _requirements() -> list[Any]:
    """Return the requirements of the installed distribution, or none if it is not installed."""
    from packaging.requirements import Requirement

    try:
        lines = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return []
    return [Requirement(line) for line in lines]


def _applies(requirement: Any, extra: str) -> bool:
    marker = requirement.marker
    return marker is None or bool(marker.evaluate({"extra": extra}))


def _applies_later(requirement: Any, extra: str) -> bool:
    """Return whether an extra has a requirement on a later Python only."""
    marker = requirement.marker
    later = {"python_version": LATER_PYTHON, "python_full_version": f"{LATER_PYTHON}.0"}
    return marker is not None and all(
        marker.evaluate({**later, "extra": name}) is (name == extra) for name in (extra, "")
    )


def _installed(requirement: Any, group: str, required: bool, hint: str) -> CheckedThing:
    name = str(requirement.name)
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return CheckedThing(group, name, CheckState.MISSING.value, required, hint=hint)
    if not requirement.specifier.contains(version, prereleases=True):
        text = f"{requirement.specifier} is needed"
        return CheckedThing(group, name, CheckState.BROKEN.value, required, version, text, hint)
    return CheckedThing(group, name, CheckState.OK.value, required, version)


def _libraries() -> Iterator[CheckedThing]:
    requirements = _requirements()
    if not requirements:
        yield CheckedThing(
            "libraries",
            DISTRIBUTION,
            CheckState.MISSING.value,
            False,
            detail="runs from its sources, without being installed",
            hint="pip install .",
        )
    for requirement in requirements:
        if _applies(requirement, ""):
            hint = f"pip install --upgrade '{requirement.name}{requirement.specifier}'"
            yield _installed(requirement, "libraries", True, hint)


def _extras() -> Iterator[CheckedThing]:
    requirements = _requirements()
    if not requirements:
        return
    for extra in sorted(metadata.metadata(DISTRIBUTION).get_all("Provides-Extra") or []):
        own = [r for r in requirements if _applies(r, extra) and not _applies(r, "")]
        hint = f"pip install '{DISTRIBUTION}[{extra}]'"
        if not own and (of_later := [r for r in requirements if _applies_later(r, extra)]):
            names = ", ".join(str(requirement.name) for requirement in of_later)
            text = f"{names}: for a later Python than {platform.python_version()}"
            yield CheckedThing(
                "extras", extra, CheckState.MISSING.value, False, detail=text, hint=hint
            )
            continue
        lacking = [
            f for r in own if (f := _installed(r, "", False, hint)).state != CheckState.OK.value
        ]
        if lacking:
            text = "lacks " + ", ".join(finding.name for finding in lacking)
            yield CheckedThing(
                "extras", extra, CheckState.MISSING.value, False, detail=text, hint=hint
            )
        else:
            names = ", ".join(str(requirement.name) for requirement in own)
            yield CheckedThing("extras", extra, CheckState.OK.value, False, detail=names)


def _working(name: str, check: Callable[[], None], hint: str) -> CheckedThing:
    """Return the result of trying something that libraries with machine code do."""
    try:
        check()
    except Exception as problem:  # whatever a damaged library raises
        text = f"{type(problem).__name__}: {' '.join(str(problem).split())}"[:200]
        return CheckedThing(
            "libraries", name, CheckState.BROKEN.value, True, detail=text, hint=hint
        )
    return CheckedThing("libraries", name, CheckState.OK.value, True)


def _compiles() -> None:
    import numba

    if numba.njit(lambda x: x + 1)(1) != 2:
        raise ValueError("1 + 1 is not 2")


def _lays_out() -> None:
    from fuseloom.display.layout import laid_out

    laid_out("digraph { a -> b }")


def _folders() -> Iterator[CheckedThing]:
    from fuseloom.exploration.store.location import VARIABLE, default_path

    try:
        from fuseloom.dataflow.sim.compiled import cache
    except Exception as problem:  # numba is damaged, which is found above
        yield CheckedThing(
            "files", "kernel cache", CheckState.BROKEN.value, False, detail=str(problem)[:200]
        )
    else:
        own = cache.directory()
        kernels = _size(own)
        hint = None if kernels else "fuseloom warmup compiles the kernels beforehand"
        yield _folder("kernel cache", own, cache.ENVIRONMENT, hint)
    store = default_path()
    yield _folder("run store", store, VARIABLE, None)


def _folder(name: str, path: Path, variable: str, hint: str | None) -> CheckedThing:
    """Return whether a file or folder can be written, or made, and how large it is."""
    there = next(p for p in (path, *path.absolute().parents) if p.exists())
    wanted = os.W_OK | (os.X_OK if there.is_dir() else 0)
    size = f"{_size(path) / 2**20:,.1f} MiB" if path.exists() else "not there yet"
    if os.access(there, wanted):
        return CheckedThing("files", name, CheckState.OK.value, False, size, str(path), hint)
    return CheckedThing(
        "files",
        name,
        CheckState.BROKEN.value,
        False,
        size,
        f"{there} cannot be written to",
        f"name another place by ${variable}",
    )


def _size(path: Path) -> int:
    """Return the bytes of a file, or of all files of a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def _programs() -> Iterator[CheckedThing]:
    lacking = not any(map(shutil.which, COMPILERS))
    hint = "networks are compiled by Numba without a C compiler, and run slower"
    for name in COMPILERS:
        yield _program("C compiler", name, ["--version"], hint if lacking else None)
    hint = "only for drawing DOT text yourself; the workbench has its own Graphviz"
    yield _program("Graphviz", "dot", ["-V"], hint)
    hint = "only for running hardware: fuseloom rtl --run takes either"
    for name, arguments in (("verilator", ["--version"]), ("iverilog", ["-V"])):
        yield _program("Verilog", name, arguments, hint)
    hint = "only for measuring areas of hardware; those of primitives come measured"
    yield _program("Verilog", "yosys", ["-V"], hint)
    browser = next((name for name in BROWSERS if shutil.which(name)), None)
    if browser is None:
        hint = "only for the tests in a browser; the workbench opens in any browser"
        yield CheckedThing(
            "browser", "headless browser", CheckState.MISSING.value, False, hint=hint
        )
    else:
        yield _program("browser", browser, ["--version"], None)


def _program(group: str, name: str, arguments: list[str], hint: str | None) -> CheckedThing:
    path = shutil.which(name)
    if path is None:
        return CheckedThing(group, name, CheckState.MISSING.value, False, hint=hint)
    try:
        done = subprocess.run(
            [path, *arguments],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PATIENCE,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as problem:
        return CheckedThing(group, name, CheckState.BROKEN.value, False, detail=str(problem)[:200])
    lines = (done.stdout or done.stderr).strip().splitlines()
    if done.returncode or not lines:
        text = f"{path} ends with exit code {done.returncode}"
        return CheckedThing(group, name, CheckState.BROKEN.value, False, detail=text)
    return CheckedThing(group, name, CheckState.OK.value, False, lines[0][:100], path)


def _fonts() -> CheckedThing:
    """Return whether there is a font: Graphviz measures the labels of nodes with one."""
    for folder in map(os.path.expanduser, FONT_FOLDERS):
        for path in Path(folder).rglob("*"):
            if path.suffix.lower() in (".ttf", ".otf", ".ttc", ".pfb"):
                return CheckedThing("fonts", "fonts", CheckState.OK.value, False, None, folder)
    hint = "install one, such as the package fonts-dejavu-core; labels of graphs are cut otherwise"
    return CheckedThing("fonts", "fonts", CheckState.MISSING.value, False, hint=hint)


def _declare(parser: argparse.ArgumentParser) -> None:
    json_option(parser)


def _run(options: Any) -> int:
    """Print the findings; 1 if something compulsory is missing or broken."""
    every = list(findings())
    ok = all(finding.ok for finding in every)
    if options.json:
        from fuseloom.results.document import DocumentKind

        checks: Any = [asdict(finding) for finding in every]
        content: DoctorDocument = {"ok": ok, "checks": checks}
        print_json(DocumentKind.DOCTOR, content)
        return int(not ok)
    for line in _lines(every):
        print(line)
    print("everything that is compulsory works" if ok else "something compulsory does not work")
    return int(not ok)


def _lines(every: list[CheckedThing]) -> list[str]:
    from fuseloom.results.text_table import Align, TextColumn, text_table

    columns = [TextColumn(title, align=Align.LEFT) for title in ("", "what", "version", "details")]
    rows = []
    for finding in every:
        mark = finding.state if finding.required or finding.state == CheckState.OK.value else (
            f"({finding.state})"
        )  # fmt: skip
        name = finding.name
        if finding.group in ("extras", "C compiler"):
            name = f"{finding.group.removesuffix('s')} {finding.name}"
        details = "; ".join(text for text in (finding.detail, finding.hint) if text)
        rows.append((mark, name, finding.version or "", details))
    return text_table(columns, rows)


DOCTOR = Command(_declare, _run)
