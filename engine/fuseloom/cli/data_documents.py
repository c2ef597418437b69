"""The document of ``fuseloom data --json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, TypedDict


class DataSetRow(TypedDict):
    """A data set and the source of its files."""

    name: Annotated[str, "Its name, as --data takes it."]
    place: Annotated[
        str | None, "Where its files are; null where they are not there, or it has none."
    ]
    licence: Annotated[
        str | None, "Under which its files are published; null of one without files."
    ]
    page: Annotated[str | None, "A page that describes it; null of one without files."]
    files: Annotated[Mapping[str, str], "Addresses of its files by their paths in the folder."]
    sha256: Annotated[Mapping[str, str], "Known checksums by the same paths."]


class DataFactRow(TypedDict):
    """A fact that was compared."""

    name: Annotated[str, "The data set."]
    what: Annotated[str, "A checksum, or a number of nodes, edges, features or classes."]
    found: Annotated[str, "What the files have."]
    known: Annotated[str, "What they are known to have."]
    ok: Annotated[bool, "Whether these are equal."]


class DataDocument(TypedDict):
    """The document of ``fuseloom data list|verify|fetch``."""

    folder: Annotated[str | None, "The folder of data; null where none is named."]
    sets: Annotated[Sequence[DataSetRow], "The data sets, of list; empty of other actions."]
    facts: Annotated[Sequence[DataFactRow], "What was compared, of verify; empty of others."]
    written: Annotated[Sequence[str], "The files that were written, of fetch; empty of others."]
