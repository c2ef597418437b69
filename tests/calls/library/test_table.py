"""The table of the library: every row is checked, and is what it says."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest

from fuseloom.calls.checker import check
from fuseloom.calls.language.reader import read_annotation
from fuseloom.calls.library import LIBRARY, SUBJECTS, LibraryCall
from fuseloom.calls.polynomials import Symbol

NO_TORCH = [row for row in LIBRARY.values() if row.needs is None]
"""Those by PyTorch are checked in ``test_torch_networks.py``."""


@pytest.mark.parametrize("row", NO_TORCH, ids=lambda row: row.name)
@pytest.mark.parametrize("seed", range(3))
def test_rows_pass_the_checker(row: LibraryCall, seed: int) -> None:
    report = check(row.annotated, row.kinds, row.example(seed), seed=seed, tolerance=row.tolerance)
    assert report.ok, report
    assert report.parts == 20
    assert report.hints == ()


@pytest.mark.parametrize("row", LIBRARY.values(), ids=lambda row: row.name)
def test_annotations_are_read_as_they_are_printed(row: LibraryCall) -> None:
    annotation = row.annotated.annotation
    assert read_annotation(str(annotation)) == annotation


@pytest.mark.parametrize("row", LIBRARY.values(), ids=lambda row: row.name)
def test_rows_are_complete(row: LibraryCall) -> None:
    assert re.fullmatch(r"[A-Z1].+[^.]\.", row.text)
    assert row.parameters[-1] == row.annotated.output == "out"
    assert set(row.kinds) == set(row.annotated.data)
    assert set(row.example()) == set(row.parameters)
    assert row.annotated is row.annotated


@pytest.mark.parametrize("row", NO_TORCH, ids=lambda row: row.name)
def test_examples_are_random_by_seed(row: LibraryCall) -> None:
    def plain(seed: int) -> list[str]:
        example = row.example(seed)
        inputs = {name: kind for name, kind in row.kinds.items() if name != "out"}
        parts = [kind.query(example[x], kind.whole(example[x])) for x, kind in inputs.items()]
        dense = [part.toarray() if hasattr(part, "toarray") else part for part in parts]
        return [repr(np.asarray(part).tolist()) for part in dense]

    assert plain(1) == plain(1)
    assert plain(1) != plain(2)


@pytest.mark.parametrize("row", LIBRARY.values(), ids=lambda row: row.name)
def test_rows_may_compute_intermediates(row: LibraryCall) -> None:
    """No field of what is produced or consumed reads the whole of the output."""
    annotation = row.annotated.annotation
    for subset in (annotation.produces, *annotation.consumes):
        for _, value in subset.fields:
            fields = [atom for atom in value.atoms() if not isinstance(atom, Symbol)]
            assert all(atom.data != "out" for atom in fields)


def test_the_table_has_every_row_once() -> None:
    rows = [row for rows in SUBJECTS.values() for row in rows]
    assert len(rows) == len(LIBRARY) >= 100
    assert list(LIBRARY) == [row.name for row in rows]
    assert len({row.annotation for row in rows}) >= 45


def test_the_library_is_there_without_heavy_imports() -> None:
    text = (
        "import sys, fuseloom.calls.library; "
        "print(sorted({'torch', 'scipy', 'numba'} & {x.partition('.')[0] for x in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
