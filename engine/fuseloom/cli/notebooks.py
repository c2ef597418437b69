"""``fuseloom notebooks``: the notebooks and example programs, written into a folder."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fuseloom
from fuseloom.cli.command import Command, json_option, print_json
from fuseloom.errors import DataError
from fuseloom.wording import counted

if TYPE_CHECKING:
    from fuseloom.cli.documents import NotebooksDocument

PACKED = "course"
"""The folder of the installed package that the build fills; a checkout has the sources instead."""
SOURCES: Mapping[str, tuple[str, str]] = {
    "": ("notebooks", "*.ipynb"),
    "examples": ("docs/examples", "*"),
}
"""Per folder that is written: the folder of the repository that it comes from, and its files."""


def material() -> dict[str, bytes]:
    """Return the notebooks and examples by the path at which they are written.

    Raises
    ------
    DataError
        If they are not installed.
    """
    package = Path(fuseloom.__file__).resolve().parent
    files: dict[str, bytes] = {}
    for target, (source, pattern) in SOURCES.items():
        folders = (package / PACKED / source, package.parent.parent / source)
        folder = next((folder for folder in folders if folder.is_dir()), None)
        if folder is None:
            raise DataError(
                f"this installation has no {source}", hint="install Fuseloom from its wheel"
            )
        for path in sorted(folder.glob(pattern)):
            if path.is_file() and not path.name.startswith("."):
                files[str(Path(target, path.name))] = path.read_bytes()
    return files


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR", help="made where there is none")
    parser.add_argument("--force", action="store_true", help="overwrite files that are there")
    json_option(parser)


def _run(options: Any) -> int:
    """Write all files, or none if one of them is there already."""
    from fuseloom.program import regular_files

    files = material()
    if not options.force:
        for name in files:
            if regular_files.exists(options.folder / name):
                raise DataError(
                    f"{options.folder / name} is there already",
                    hint="name another folder, or overwrite it by --force",
                )
    for name, content in files.items():
        regular_files.write_bytes(options.folder / name, content)
    if options.json:
        from fuseloom.results.document import DocumentKind

        written: NotebooksDocument = {"folder": str(options.folder), "files": list(files)}
        print_json(DocumentKind.NOTEBOOKS, written)
        return 0
    number = sum(name.endswith(".ipynb") for name in files)
    print(
        f"{counted(number, 'notebook')} and {counted(len(files) - number, 'example')} are in "
        f"{options.folder}; jupyter lab {options.folder} opens them "
        "(pip install 'fuseloom[notebooks]')"
    )
    return 0


NOTEBOOKS = Command(_declare, _run)
