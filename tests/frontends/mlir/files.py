"""The corpus, and data for it."""

from __future__ import annotations

from pathlib import Path

from engine.dataflow.fusion.schedule import Schedule
from engine.frontends.mlir import ImportedMlir, from_mlir, to_mlir
from engine.models import Model, random_data
from engine.program import StoredTensor

CORPUS = Path(__file__).parent / "corpus"
NAMES = sorted(path.stem for path in CORPUS.glob("*.mlir"))
MALFORMED = sorted(path.stem for path in (CORPUS / "malformed").glob("*.mlir"))


def text_of(name: str) -> str:
    return (CORPUS / f"{name}.mlir").read_text(encoding="utf-8")


def imported(name: str) -> ImportedMlir:
    return from_mlir(text_of(name), source=f"{name}.mlir")


def printed(given: ImportedMlir, *, data: bool = False) -> str:
    return to_mlir(given.program, Schedule.parse(given.schedule), given.data if data else None)


def data_of(given: ImportedMlir, seed: int = 0) -> dict[str, StoredTensor]:
    return {**random_data(Model(given.program, ()), seed), **given.data}
