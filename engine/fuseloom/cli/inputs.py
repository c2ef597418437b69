"""The command line's inputs: programs, models, data sets, tensors and schedules."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

from fuseloom.cli.command import complete_with, json_option, natural
from fuseloom.cli.edges import EdgeFiles, edge_options
from fuseloom.cli.limits import MADE_UP_ELEMENTS
from fuseloom.cli.machine import machine_for, machine_options, sized
from fuseloom.cli.models import given_options, presets_text, with_option
from fuseloom.dataflow.compilation import Compilation
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.fusion.schedule import Schedule
from fuseloom.dataflow.machine import Machine
from fuseloom.errors import DataError, ProgramError, ScheduleError
from fuseloom.models import (
    DATASETS,
    MODELS,
    PRESETS,
    Model,
    load_labelled,
    load_model,
    random_data,
)
from fuseloom.models.data import RANDOM_DENSITY, random_tensor
from fuseloom.models.datasets import VARIABLE
from fuseloom.models.drawing import check_made_up
from fuseloom.models.from_file import ArchivedModel, MlirModel
from fuseloom.program import StoredTensor, check_data, parse, regular_files
from fuseloom.program.arrays import operand_shapes, read_npz, store_operand
from fuseloom.results.archive import SUFFIX
from fuseloom.results.record import DataSource
from fuseloom.wording import closest, counted

MAX_FILE = 64 << 20
RANDOM = "random"
"""Of a tensor or of all: numbers that are made up."""
MOST_MADE_UP = 1_000_000
"""Elements of all inputs that are made up only to rank orders on."""
MOST_RANKED = 400
"""Regions of a program whose orders are ranked: each takes some hundredths of a second."""
ONE = re.compile(r"([A-Za-z_][A-Za-z0-9_']*)=(.*)", re.DOTALL)
"""One tensor of ``--tensors``: its name and its file."""


@dataclass(frozen=True)
class DataAndMachine:
    """Data and a machine.

    Attributes
    ----------
    machine : Machine
        What it runs on.
    source : DataSource or None
        Where the data come from: a model's data set, or random numbers; None where neither is so.
    """

    data: Mapping[str, StoredTensor]
    machine: Machine
    source: DataSource | None

    @property
    def heading(self) -> str:
        """The line to print above results, with its newline; empty of data without an origin."""
        source = self.source
        if source is None or not source.origin:
            return ""
        if source.label == RANDOM:
            return f"data: {source.origin}; give --tensors\n"
        if not source.standin:
            return f"data: {source.label}\n"
        return (
            f"data: {source.label}: NOT the real graph, one made at random that costs about "
            f"the same; give --data-dir\n"
        )


@dataclass(frozen=True)
class Problem(DataAndMachine):
    """A program and its data, not compiled."""

    model: Model


@dataclass(frozen=True)
class CompiledInputs(DataAndMachine):
    """A compiled program and its data."""

    compilation: Compilation


def program_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that :func:`inputs` reads."""
    parser.add_argument("file", nargs="?", type=Path, help="program file")
    parser.add_argument(
        "--function",
        metavar="NAME",
        help="of an MLIR file, by default those that no other calls; NAME:2 is that of the second "
        "piece between lines // -----",
    )
    model = parser.add_argument("--model", help=f"ready-made model: {', '.join(MODELS)}")
    complete_with(model, MODELS)
    with_option(parser)
    data = parser.add_argument(
        "--data",
        help=f"data set: {', '.join(DATASETS)} (default: the first that is made for the model); "
        "or a file or folder with a graph that has features",
    )
    complete_with(data, DATASETS)
    parser.add_argument(
        "--data-dir",
        type=Path,
        metavar="DIR",
        help="folder with the files of real data sets, as their archives unpack (default: "
        f"${VARIABLE}); a graph whose files are not there is replaced by a stand-in, and the "
        "results say so",
    )
    parser.add_argument(
        "--tensors",
        action="append",
        metavar="FILE.npz|NAME=FILE",
        help="arrays by tensor name, for a program file or a graph; a sparse tensor B may be given "
        "by B_coords, B_vals and B_shape; a graph's result is compared with an array 'expected'. "
        "Or one tensor of a program file from .mtx, .tns, .npy, .npz (SciPy), .parquet, .csv, "
        ".tsv, .txt or .edges, packed or not, or NAME=random; may be repeated. What became of a "
        "file (added, renumbered, rounded) is said on standard error",
    )
    edge_options(parser)
    preset = parser.add_argument("--preset", help=f"schedule preset: {presets_text()}")
    complete_with(preset, PRESETS)
    parser.add_argument("--schedule", type=Path, metavar="FILE", help="schedule file")
    parser.add_argument("--seed", type=natural, default=0, help="seed of random data (default: 0)")
    parser.add_argument(
        "--orders", choices=["best", "first"], default="best",
        help="which order a region has whose order the schedule leaves open: the one with the "
        "fewest estimated cycles, ranked for about a second (best, the default), or the first "
        "that can be built; compile --show schedule names them all",
    )  # fmt: skip
    machine_options(parser)
    json_option(parser)


def compilation(options: Any) -> CompiledInputs:
    """The compiled program without data; orders are ranked on what stands in for them.

    Which takes the first orders that can be built where such data would be large.

    Raises
    ------
    FuseloomError
        Options that contradict each other, or files that do not hold what they should.
    """
    if options.orders == "best":
        model = model_of(options)
        shapes = (model.program.tensor(name).shape for name in model.program.given)
        if options.model is not None or sum(map(prod, shapes)) <= MOST_MADE_UP:
            return replace(inputs(options), data={}, source=None)
        _say("the first orders are taken; give --data or --tensors to have the best ones")
    model = model_of(options)
    compiled = compile_program(model.program, schedule_of(options, model))
    return CompiledInputs({}, machine_for(options), None, sized(options, compiled))


def inputs(options: Any) -> CompiledInputs:
    """The compiled program and its data, as the options say.

    Raises
    ------
    FuseloomError
        Options that contradict each other, or files that do not hold what they should.
    """
    given = problem(options)
    compiled = compile_program(given.model.program, schedule_of(options, given.model))
    if options.orders == "best":
        exported = bool(getattr(options, "export", ""))
        compiled = _ordered(compiled, given.data, given.machine, exported=exported)
    return CompiledInputs(given.data, given.machine, given.source, sized(options, compiled))


def problem(options: Any) -> Problem:
    """The program and its data, as the options say; no schedule is looked at.

    Raises
    ------
    FuseloomError
        As :func:`inputs`.
    """
    machine = machine_for(options)
    model = model_of(options)
    if options.model is None:
        return Problem(_file_data(options, model), machine, _random_source(options, model), model)
    loaded = load_labelled(
        options.model, options.data, options.seed, options.data_dir, **given_options(options)
    )
    _tell(loaded.origin, loaded.notes)
    return Problem(loaded.data, machine, loaded.source, loaded.model)


def _random_source(options: Any, model: Model) -> DataSource | None:
    """The tensors that are made up at random for a program file; None where none is."""
    made = [name for name, file in _named(options) if file == RANDOM]
    if options.tensors is None:
        if isinstance(model, ArchivedModel) and options.data is None:
            return None
        made = [name for name in model.program.given if name not in _constants(model)]
    if not made:
        return None
    which = "" if options.tensors is None else f"{', '.join(made)}: "
    thinned = any(
        not model.program.tensor(name).format.all_dense
        for name in made
        if name in model.program.inputs
    )
    share = f", {RANDOM_DENSITY:.0%} of the elements of sparse tensors" if thinned else ""
    drawn = f"{', '.join(made)}: random numbers, seed {options.seed}"
    return DataSource(RANDOM, f"{which}random numbers, seed {options.seed}{share}", drawn=drawn)


def _ordered(
    compiled: Compilation, data: Mapping[str, StoredTensor], machine: Machine, *, exported: bool
) -> Compilation:
    """The program under its best orders; other tools cannot search compressed levels."""
    from fuseloom.dataflow.look_ups import LookUps
    from fuseloom.dataflow.orders import best_orders

    if len(compiled.regions) > MOST_RANKED:
        count = (
            f"the program has {counted(len(compiled.regions), 'region')}, of more than "
            f"{MOST_RANKED}"
        )
        _say(f"{count} the first orders are taken; fuse more, or name orders in the schedule")
        return compiled
    look_ups = LookUps.NONE if exported else LookUps.OPEN
    found = best_orders(compiled, data, machine=machine, look_ups=look_ups)
    if found.note:
        _say(found.note)
    return found.compilation


def _say(note: str) -> None:
    print(f"fuseloom: {note}", file=sys.stderr)


def _tell(file: str, notes: Iterable[str]) -> None:
    """Say what became of a file."""
    for note in notes:
        _say(f"{file}: {note}")


def only_file(options: Any) -> Path | None:
    """The one path of ``--tensors``, which a graph from a file takes.

    Raises
    ------
    DataError
        If there are several.
    """
    given: list[str] = options.tensors or []
    if len(given) > 1:
        raise DataError("--tensors is given twice", hint="a graph has one file of tensors")
    return Path(given[0]) if given else None


def _read(path: Path, what: str) -> str:
    return regular_files.text(path, MAX_FILE, what=what, error=ProgramError)


def model_of(options: Any) -> Model:
    """The model or program file that the options name.

    Raises
    ------
    FuseloomError
        If they contradict each other, or the file holds no program.
    """
    if (options.file is None) == (options.model is None):
        raise ProgramError(
            "name a program file or a model, one of them",
            hint="fuseloom simulate --model gcn --data karate --preset full",
        )
    if options.tensors is not None and options.model is not None:
        raise DataError(
            "--tensors goes with a program file", hint="choose a model's data by --data"
        )
    if options.tensors is None:
        EdgeFiles(options).check()
    if options.tensors is not None and options.data is not None:
        raise DataError("give --tensors or --data, not both")
    if options.data_dir is not None and options.model is None:
        raise DataError("--data-dir goes with a model", hint="give a program's data by --tensors")
    if options.sizes and options.model is None:
        raise DataError("--with goes with a model", hint="write a program's sizes in its file")
    if options.model is None and options.file.suffix.lower() == SUFFIX:
        return ArchivedModel.read(options.file)
    if options.model is None:
        text = _read(options.file, "program")
        if options.file.suffix.lower() != ".mlir" and getattr(options, "function", None):
            raise ProgramError(
                f"{options.file} has no functions", hint="--function goes with an MLIR file"
            )
        if options.file.suffix.lower() == ".mlir":
            return _mlir(options, text)
        return Model(parse(text, source=str(options.file)), ())
    return load_model(options.model, **given_options(options))


def _mlir(options: Any, text: str) -> MlirModel:
    shapes = _shapes(options.tensors or [], EdgeFiles(options)) if "?" in text else {}
    wanted = getattr(options, "function", None)
    from fuseloom.frontends.mlir import from_mlir  # which takes long to import

    imported = from_mlir(text, source=str(options.file), shapes=shapes, function=wanted)
    for note in imported.notes:
        print(f"note: {note}", file=sys.stderr)
    presets = {"unfused": "", "functions": imported.schedule}
    return MlirModel(
        imported.program, (), presets, schedule=imported.schedule, constants=imported.data,
        imported=imported,
    )  # fmt: skip


def _shapes(tensors: list[str], files: EdgeFiles) -> dict[str, tuple[int, ...]]:
    """Shapes of the tensors that ``--tensors`` gives, for dimensions that a file leaves open."""
    found: dict[str, tuple[int, ...]] = {}
    for given in tensors:
        one = ONE.fullmatch(given)
        if one is None:
            found.update(operand_shapes(read_npz(given)))
        elif one[2] != RANDOM:
            found[one[1]] = files.read(one[2]).shape
    return found


def _file_data(options: Any, model: Model) -> dict[str, StoredTensor]:
    if options.tensors is None:
        if options.data not in (None, RANDOM):
            raise DataError(
                f"data set {options.data} does not fit a program file",
                hint="give --tensors FILE.npz, or leave it out for random data",
            )
        if isinstance(model, ArchivedModel) and options.data is None:
            return dict(model.data)
        _check_made_up(model, model.program.given)
        made = {**random_data(model, options.seed), **_constants(model)}
        return (
            {**made, **model.bound(model.drawn(options.seed))}
            if isinstance(model, MlirModel)
            else made
        )
    _check_made_up(model, [name for name, file in _named(options) if file == RANDOM])
    found: dict[str, Any] = {}
    files = EdgeFiles(options)
    for given in options.tensors:
        one = ONE.fullmatch(given)
        named = _one(model, one[1], one[2], options.seed, files) if one else read_npz(given)
        twice = next((name for name in named if name in found), None)
        if twice is not None:
            raise DataError(f"--tensors gives {twice} twice", hint="leave one out")
        found.update(named)
    files.check()
    held = model.data if isinstance(model, ArchivedModel) else _constants(model)
    given = {**held, **_operands(model, found)}
    if isinstance(model, MlirModel):
        given = model.bound(given)
    return check_data(model.program, given)


def _check_made_up(model: Model, names: Iterable[str]) -> None:
    """That the inputs of these names are small enough to be made up for a program file."""
    tensors = [model.program.tensor(name) for name in names if name in model.program.inputs]
    check_made_up(tensors, MADE_UP_ELEMENTS)


def _named(options: Any) -> list[tuple[str, str]]:
    """The tensors that ``--tensors`` gives one by one: their names and files."""
    found = map(ONE.fullmatch, options.tensors or [])
    return [(one[1], one[2]) for one in found if one is not None]


def _constants(model: Model) -> Mapping[str, StoredTensor]:
    return model.constants if isinstance(model, MlirModel) else {}


def _index(model: MlirModel, name: str, file: str, seed: int, files: EdgeFiles) -> Any:
    """An index tensor, of which every element counts."""
    if file == RANDOM:
        return model.drawn(seed)[name]
    read = files.read(file)
    _tell(file, read.notes)
    return read.to_dense()


def _one(model: Model, name: str, file: str, seed: int, files: EdgeFiles) -> dict[str, Any]:
    """One tensor of a file."""
    indices = model.indices if isinstance(model, MlirModel) else {}
    if isinstance(model, MlirModel) and name in model.unread:
        _say(f"{name}: no result needs it")
        return {}
    if name not in model.program.given and name not in indices:
        known = model.named if isinstance(model, MlirModel) else model.program.given
        raise DataError(f"no input is called {name!r}", hint=f"inputs: {', '.join(known)}")
    if name in indices and isinstance(model, MlirModel):
        return {name: _index(model, name, file, seed, files)}
    tensor = model.program.tensor(name)
    if file == RANDOM:
        return {name: random_tensor(tensor, seed)}
    read = files.read(file)
    _tell(file, read.notes)
    return {name: read.store(tensor)}


def _operands(model: Model, arrays: dict[str, Any]) -> dict[str, Any]:
    """Arrays by tensor name; tensors given by coordinates are stored."""
    found = dict(arrays)
    for name in model.program.inputs:
        parts = [f"{name}_coords", f"{name}_vals", f"{name}_shape"]
        if name not in arrays and all(part in arrays for part in parts):
            found[name] = store_operand(model.program.tensor(name), arrays)
            for part in parts:
                del found[part]
    return found


def schedule_of(options: Any, model: Model) -> Schedule:
    """The schedule that the options name, by a file or as a preset.

    Raises
    ------
    ScheduleError
        If there is none of that name, or the file holds none.
    """
    if options.preset is not None and options.schedule is not None:
        raise ScheduleError("give --preset or --schedule, not both")
    if options.schedule is not None:
        return Schedule.parse(_read(options.schedule, "schedule"), source=str(options.schedule))
    if options.preset is None:
        return Schedule.parse(model.schedule if isinstance(model, MlirModel) else "")
    if options.preset not in model.presets:
        names = list(model.presets)
        close = closest([options.preset], names)
        hint = f"presets: {', '.join(names) or 'none'}"
        raise ScheduleError(
            f"no preset is called {options.preset!r}",
            hint=hint if close is None else f"did you mean {close!r}? {hint}",
        )
    return Schedule.parse(model.presets[options.preset])
