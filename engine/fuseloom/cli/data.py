"""``fuseloom data``: the data sets, the sources of their files, and a check of these."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuseloom.cli.command import Command, complete_with, json_option, print_json
from fuseloom.errors import UsageError
from fuseloom.models import DATASETS
from fuseloom.models.datasets import VARIABLE
from fuseloom.models.datasets.fetching import compare_facts, fetch, place_of
from fuseloom.models.datasets.sources import SOURCES
from fuseloom.results.document import DocumentKind
from fuseloom.results.text_table import Align, TextColumn, text_table
from fuseloom.wording import counted

if TYPE_CHECKING:
    from fuseloom.cli.data_documents import DataDocument, DataFactRow, DataSetRow

_COLUMNS = (
    TextColumn("data set", align=Align.LEFT), TextColumn("files", align=Align.LEFT),
    TextColumn("licence", align=Align.LEFT), TextColumn("described at", align=Align.LEFT),
)  # fmt: skip
_FACTS = (
    TextColumn("data set", align=Align.LEFT), TextColumn("what", align=Align.LEFT),
    TextColumn("found", align=Align.LEFT), TextColumn("known", align=Align.LEFT),
)  # fmt: skip


def _declare(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="ACTION", dest="action")

    made = actions.add_parser("list", help="all data sets", description="List data sets.")
    _common(made, _list)

    made = actions.add_parser(
        "verify", help="compare files with what is known",
        description="Compare files with the checksums, nodes, edges, features and classes that "
        "are known of them.",
    )  # fmt: skip
    _names(made, "*", "default: all whose files are there")
    _common(made, _verify)

    made = actions.add_parser(
        "fetch", help="download files", description="Download the files that are not there."
    )
    _names(made, "+", "")
    _common(made, _fetch)


def _names(parser: argparse.ArgumentParser, count: str, default: str) -> None:
    told = f" ({default})" if default else ""
    names = parser.add_argument(
        "names", nargs=count, metavar="NAME", help=f"of {', '.join(SOURCES)}{told}"
    )
    complete_with(names, SOURCES)


def _common(parser: argparse.ArgumentParser, run: Any) -> None:
    parser.add_argument(
        "--data-dir", type=Path, metavar="DIR", help=f"folder with the files (default: ${VARIABLE})"
    )
    json_option(parser)
    parser.set_defaults(data_action=run)


def _run(options: Any) -> int:
    code: int = options.data_action(options, _folder(options))
    return code


def _folder(options: Any) -> Path | None:
    given = options.data_dir or os.environ.get(VARIABLE) or None
    return None if given is None else Path(given)


def _needed(folder: Path | None) -> Path:
    if folder is None:
        raise UsageError(
            "no folder of data is named", hint=f"name one by --data-dir DIR, or by ${VARIABLE}"
        )
    return folder


def _list(options: Any, folder: Path | None) -> int:
    rows: list[DataSetRow] = []
    for name in DATASETS:
        source = SOURCES.get(name)
        place = place_of(name, folder) if source is not None and folder is not None else None
        rows.append({
            "name": name,
            "place": None if place is None else str(place),
            "licence": None if source is None else source.licence,
            "page": None if source is None else source.page,
            "files": {} if source is None else dict(source.files),
            "sha256": {} if source is None else dict(source.sha256),
        })  # fmt: skip
    if options.json:
        _print(folder, sets=rows)
        return 0
    shown = [
        (row["name"], _files(row), row["licence"] or "", row["page"] or "") for row in rows
    ]  # fmt: skip
    print("\n".join(text_table(_COLUMNS, shown)))
    if folder is None:
        print(f"no folder of data is named; --data-dir DIR, or ${VARIABLE}")
    return 0


def _files(row: DataSetRow) -> str:
    """The place of a data set's files, in words."""
    if row["page"] is None:
        return "made here"
    return row["place"] or "not there: a stand-in is made at random"


def _verify(options: Any, folder: Path | None) -> int:
    root = _needed(folder)
    there = [name for name in SOURCES if place_of(name, root) is not None]
    files = [SOURCES[name].files for name in there]
    names = options.names or [x for n, x in enumerate(there) if files[n] not in files[:n]]
    if not names:
        raise UsageError(f"{root} has files of no data set", hint="fuseloom data fetch cora")
    facts = [(name, fact) for name in names for fact in compare_facts(name, root)]
    wrong = sum(not fact.ok for _, fact in facts)
    if options.json:
        rows: list[DataFactRow] = [
            {"name": name, "what": fact.what, "found": fact.found, "known": fact.known,
             "ok": fact.ok}
            for name, fact in facts
        ]  # fmt: skip
        _print(root, facts=rows)
        return 1 if wrong else 0
    shown = [(name, fact.what, fact.found, "" if fact.ok else fact.known) for name, fact in facts]
    print("\n".join(text_table(_FACTS, shown)))
    agree = f"{counted(len(facts) - wrong, 'fact')} as known"
    print(agree if not wrong else f"{agree}; {counted(wrong, 'fact differs', 'facts differ')}")
    return 1 if wrong else 0


def _fetch(options: Any, folder: Path | None) -> int:
    root = _needed(folder)
    written = [path for name in options.names for path in fetch(name, root, progress=_tell)]
    if options.json:
        _print(root, written=[str(path) for path in written])
        return 0
    for path in written:
        print(path)
    print(f"{counted(len(written), 'file')} written" if written else "all files are there")
    return 0


def _print(
    folder: Path | None,
    sets: Sequence[DataSetRow] = (),
    facts: Sequence[DataFactRow] = (),
    written: Sequence[str] = (),
) -> None:
    place = None if folder is None else str(folder)
    content: DataDocument = {"folder": place, "sets": sets, "facts": facts, "written": written}
    print_json(DocumentKind.DATA, content)


def _tell(what: str) -> None:
    print(f"fuseloom: {what}", file=sys.stderr)


DATA = Command(_declare, _run)
