"""Models with their data, by names and numbers, and what is kept of them for a quick return."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from fuseloom.errors import ProgramError
from fuseloom.models import (
    DATASETS,
    MODELS,
    PARAMETERS,
    Loaded,
    Model,
    fitting,
    load_labelled,
    load_model,
    parameters,
    random_data,
)
from fuseloom.models.datasets import GRAPHS, VARIABLE
from fuseloom.models.from_file import ArchivedModel
from fuseloom.models.parameters import check_fit, checked
from fuseloom.program import StoredTensor, Tensor, parse
from fuseloom.wording import counted
from fuseloom_workbench.state import files
from fuseloom_workbench.state.files import Upload, with_files

Options = tuple[tuple[str, int | float], ...]
ARCHIVED = re.compile(r"[A-Za-z_][A-Za-z0-9_']{0,99}@([0-9a-f]{12})")
"""The name of a model that came in a file: its program's, and the file's key."""
SAVED = "saved"
"""The data that came with it."""
LARGEST = 20_000
"""Nodes of the largest graph offered; larger ones take longer than a page should wait."""


@lru_cache(maxsize=8)
def _loaded(model: str, data: str, seed: int, options: Options, folder: str | None) -> Loaded:
    archive = archived(model)
    if archive is None:
        return load_labelled(model, data, seed, folder, **dict(options))
    known_names(model, data)
    if data == SAVED:
        return Loaded(archive, dict(archive.data), f"data of {archive.program.name}")
    return Loaded(archive, random_data(archive, seed), "random")


@lru_cache(maxsize=4)
def archived(model: str) -> ArchivedModel | None:
    """The model of that name that came in a file; None if it is no such name.

    Raises
    ------
    ProgramError
        If the file is not there any more.
    """
    named = ARCHIVED.fullmatch(model)
    if named is None:
        return None
    path = files.model_file(named[1])
    if not path.is_file():
        raise ProgramError(
            f"the file of the model {model} is not here any more", hint="upload it again"
        )
    with contextlib.suppress(OSError):
        os.utime(path)
    return ArchivedModel.read(path)


def source(
    model: str,
    data: str,
    seed: int,
    text: str | None,
    options: Options = (),
    uploads: tuple[Upload, ...] = (),
) -> Loaded:
    """A model with its data; an edited program keeps the data of inputs of the same shape.

    Graphs come from the folder that ``FUSELOOM_DATA_DIR`` names, if they are there; otherwise
    they are stand-ins, and labelled so.

    Raises
    ------
    FuseloomError
        If the text is no program, the names are unknown, or an option does not fit.
    """
    folder = os.environ.get(VARIABLE) or None
    if uploads:
        return _with_files(model, data, seed, text, options, folder, uploads)
    return _edited(model, data, seed, text, options, folder)


def forget() -> None:
    """Let go of data sets and edited programs that were kept for a quick return."""
    _with_files.cache_clear()
    _edited.cache_clear()
    _loaded.cache_clear()
    archived.cache_clear()


def keep_programs(number: int) -> None:
    """Set the number of edited programs, with their data, that are kept for a quick return."""
    global _edited
    _edited = lru_cache(maxsize=number)(_edited.__wrapped__)


@lru_cache(maxsize=4)
def _with_files(
    model: str,
    data: str,
    seed: int,
    text: str | None,
    options: Options,
    folder: str | None,
    uploads: tuple[Upload, ...],
) -> Loaded:
    return with_files(_edited(model, data, seed, text, options, folder), uploads)


@lru_cache(maxsize=32)
def _edited(
    model: str, data: str, seed: int, text: str | None, options: Options, folder: str | None
) -> Loaded:
    loaded = _loaded(model, data, seed, options, folder)
    if text is None:
        return loaded
    known, data_set = loaded.model, loaded.data
    program = parse(text)
    before = known.program.producers
    kernels = tuple(  # one of which a statement was changed is what its statements say
        kernel
        for kernel in known.kernels
        if all(program.producers.get(name) == before[name] for name in kernel.statements)
    )
    edited = Model(program, kernels, {}, known.masks & set(program.inputs))
    fresh = random_data(edited, seed)
    kept = {
        name: as_declared(data_set[name], program.tensor(name))
        for name in program.given
        if name in data_set and data_set[name].tensor.shape == program.tensor(name).shape
    }
    drawn = [name for name in fresh if name not in kept]
    if drawn and not kept:
        loaded = replace(loaded, label="random", origin="", standin=False)
    elif drawn:
        loaded = replace(loaded, label=f"{loaded.label}; {', '.join(drawn)} random")
    return replace(loaded, model=edited, data={**fresh, **kept})


def as_declared(stored: StoredTensor, tensor: Tensor) -> StoredTensor:
    """The same values in the format that a tensor is declared in; no zeros where it is sparse."""
    if stored.tensor.format == tensor.format:
        return stored
    if stored.tensor.format.all_dense:
        return StoredTensor.from_dense(tensor, stored.to_dense())
    return stored.with_format(tensor.format)


def known_names(model: str, data: str | None) -> None:
    """Refuse what is no name of a model or data set: a page opens no files.

    Raises
    ------
    ProgramError
        If the model is unknown, or no data set has that name.
    """
    if archived(model) is None:
        load_model(model)
    known = fitting_data(model) if ARCHIVED.fullmatch(model) else tuple(DATASETS)
    if data is not None and data not in known:
        raise ProgramError(
            f"no data set is called {data[:60]!r}",
            hint=f"for {model}: {', '.join(fitting_data(model))}",
        )
    if data in GRAPHS and GRAPHS[data].nodes > LARGEST:
        raise ProgramError(
            f"data set {data} has {counted(GRAPHS[data].nodes, 'node')}, more than the {LARGEST:,} "
            "that the workbench loads",
            hint="use the command line",
        )


def fitting_data(model: str) -> tuple[str, ...]:
    """Names of the data sets that fit a model, the largest graphs left out."""
    if ARCHIVED.fullmatch(model):
        return SAVED, "random"
    return tuple(n for n in fitting(model) if n not in GRAPHS or GRAPHS[n].nodes <= LARGEST)


def model_names() -> tuple[str, ...]:
    return tuple(MODELS)


def chosen_options(model: str, data: str, given: Mapping[str, object]) -> Options:
    """Options of a model that differ from those it has with a data set, in its own order.

    Raises
    ------
    ProgramError
        If the model has no such option, a value is out of bounds, or the data decide it.
    """
    if ARCHIVED.fullmatch(model):
        if given:
            raise ProgramError(f"the model {model} has no sizes to choose", hint="edit its text")
        return ()
    values = checked(model, given)
    check_fit(model, data, values)
    own = {p.name: p.default for p in parameters(model, data)}
    return tuple((n, values[n]) for n in own if n in values and values[n] != own[n])


def fitting_options(model: str, data: str, options: Options) -> Options:
    """Those of the options that can be chosen with a data set."""
    free = {p.name for p in PARAMETERS.get(model, ()) if p.goes_with(data)}
    return chosen_options(model, data, {n: value for n, value in options if n in free})
