"""The notes of a release, and its tag: ``python docs/release.py notes``, ``… tag``.

The notes are the newest section of ``CHANGELOG.md``.  A tag is made of a clean checkout whose four
statements of the version agree with that section, which has a date; its message is the notes.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parent.parent
_SECTION = re.compile(
    r"^## (?P<version>\S+) \((?P<state>[^)]*)\)\n(?P<notes>.*?)(?=^## |\Z)", re.M | re.S
)


class ReleaseError(Exception):
    """Something that must hold before a release does not; the message says what to do."""


@dataclass(frozen=True)
class Section:
    """A section of the changelog.

    Attributes
    ----------
    state : str
        The date of the release, such as ``2026-12-01``, or ``unreleased``.
    """

    version: str
    state: str
    notes: str

    @property
    def dated(self) -> bool:
        try:
            date.fromisoformat(self.state)
        except ValueError:
            return False
        return True


def newest_section(changelog: str) -> Section:
    """Return the first section of a changelog.

    Raises
    ------
    ReleaseError
        If it has none of the form ``## VERSION (DATE)``, or an empty one.
    """
    found = _SECTION.search(changelog)
    if found is None or not found["notes"].strip():
        raise ReleaseError("CHANGELOG.md has no section '## VERSION (DATE)' with notes below it")
    return Section(found["version"], found["state"], found["notes"].strip())


def versions(root: Path) -> dict[str, str]:
    """Return the version that each file states.

    Raises
    ------
    ReleaseError
        If a file states none.
    """

    def text(name: str) -> str:
        return (root / name).read_text(encoding="utf-8")

    cited = re.search(r"^version: (\S+)$", text("CITATION.cff"), re.MULTILINE)
    package = "engine/fuseloom/__init__.py"
    found: dict[str, str | None] = {
        "pyproject.toml": tomllib.loads(text("pyproject.toml"))["project"].get("version"),
        "CITATION.cff": cited and cited[1],
        "codemeta.json": json.loads(text("codemeta.json")).get("version"),
        package: _assigned(text(package), "__version__"),
        "CHANGELOG.md": newest_section(text("CHANGELOG.md")).version,
    }
    for name, version in found.items():
        if not version:
            raise ReleaseError(f"{name} states no version")
    return {name: version for name, version in found.items() if version}


def _assigned(source: str, name: str) -> str | None:
    """Return the string that a module assigns to a name, without running it."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return str(ast.literal_eval(node.value))
    return None


def tag(root: Path) -> str:
    """Make the annotated tag ``vVERSION`` of the newest section; its name.

    Raises
    ------
    ReleaseError
        If versions differ, the section has no date, files have changed, or the tag is there.
    """
    stated = versions(root)
    if len(set(stated.values())) > 1:
        table = ", ".join(f"{name}: {version}" for name, version in stated.items())
        raise ReleaseError(f"the versions differ ({table}); make them the same")
    section = newest_section((root / "CHANGELOG.md").read_text(encoding="utf-8"))
    if not section.dated:
        today = date.today().isoformat()
        raise ReleaseError(
            f"the section of {section.version} in CHANGELOG.md is '{section.state}'; "
            f"give it its date, such as ({today}), and commit that"
        )
    if changed := _git(root, "status", "--porcelain"):
        raise ReleaseError(f"files have changed; commit them or take them away:\n{changed}")
    name = f"v{section.version}"
    if _git(root, "tag", "--list", name):
        raise ReleaseError(f"the tag {name} is there; set the next version")
    message = f"Fuseloom {section.version}\n\n{section.notes}"
    _git(root, "tag", "--annotate", "--cleanup=verbatim", "--message", message, name)
    return name


def _git(root: Path, *words: str) -> str:
    try:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True)
    except FileNotFoundError:
        raise ReleaseError("git is not installed") from None
    except subprocess.CalledProcessError as problem:
        raise ReleaseError(f"git {words[0]} failed: {problem.stderr.strip()}") from None
    return done.stdout.strip()


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command line; the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument(
        "task", choices=["notes", "tag"], help="print the notes of the newest version, or tag it"
    )
    task = parser.parse_args(arguments).task
    try:
        if task == "notes":
            print(newest_section((root / "CHANGELOG.md").read_text(encoding="utf-8")).notes)
        else:
            name = tag(root)
            print(f"tagged {name}; publish it with: git push origin {name}")
    except ReleaseError as problem:
        print(f"release: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
