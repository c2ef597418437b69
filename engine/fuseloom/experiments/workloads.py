"""The workloads of the figures: models with their data, and small programs only for them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from math import prod
from pathlib import Path
from types import MappingProxyType

import numpy as np

import fuseloom.models
from fuseloom.dataflow.cost.statistics import ExpectedStatistics
from fuseloom.errors import ProgramError
from fuseloom.experiments.configuration import Configuration, Number
from fuseloom.models import Loaded, Model, load_labelled, load_model
from fuseloom.models.data import WEIGHT_DENSITY
from fuseloom.models.datasets import GRAPHS
from fuseloom.models.datasets.locate import LAYOUTS
from fuseloom.models.drawing import MOST_MADE_UP, normal
from fuseloom.models.fill import filled
from fuseloom.models.nested import INDICES, nested_in
from fuseloom.program import check_data
from fuseloom.program.formats import suggestion

Options = Mapping[str, Number]
MOST_WEIGHTS = 2**30 + 2**21
"""Weights and biases, stored or not, of the largest autoencoder of the published evaluation."""
_KINDS = (".py", ".loom")


@dataclass(frozen=True)
class Workload:
    """A program by name, with its data.

    Attributes
    ----------
    load : callable
        ``load(data, options, seed, data_dir)``.
    expect : callable, optional
        ``expect(data, options)``: the same for an estimate, with statistics in place of data that
        are too large to be drawn for it; None where they are not.
    """

    load: Callable[[str, Options, int, Path | None], Loaded]
    expect: Callable[[str, Options], Foreseen | None] = lambda data, options: None


@dataclass(frozen=True)
class Foreseen:
    """A model with what is expected of its data.

    Attributes
    ----------
    data : mapping
        Statistics of every input by name, as estimates take them.
    label : str
        What to call them.
    """

    model: Model
    data: Mapping[str, ExpectedStatistics]
    label: str


def load(configuration: Configuration, data_dir: Path | None = None) -> Loaded:
    """The model of a configuration, with its data.

    Raises
    ------
    FuseloomError
        An unknown workload, or sizes that it does not take.
    """
    workload, options = _named(configuration.workload), dict(configuration.options)
    return workload.load(configuration.data, options, configuration.seed, data_dir)


def foreseen(configuration: Configuration) -> Foreseen | None:
    """Return the basis of an estimate of a configuration whose data are too large to be drawn.

    Raises
    ------
    FuseloomError
        As for :func:`load`.
    """
    workload = _named(configuration.workload)
    return workload.expect(configuration.data, dict(configuration.options))


def _named(name: str) -> Workload:
    if name not in WORKLOADS:
        raise ProgramError(f"no workload is called {name!r}", hint=suggestion(name, [*WORKLOADS]))
    return WORKLOADS[name]


def _model(name: str) -> Workload:
    def build(data: str, options: Options, seed: int, data_dir: Path | None) -> Loaded:
        return load_labelled(name, data or None, seed, data_dir, **options)

    return Workload(build)


def _heads(data: str, options: Options, seed: int, data_dir: Path | None) -> Loaded:
    """Masked attention of several heads with BigBird's mask in blocks of ``block``."""
    return load_labelled("heads", "bigbird", seed, data_dir, **options)


def _images(data: str, options: Options, seed: int, data_dir: Path | None) -> Loaded:
    """The autoencoder on normal numbers, none of them 0; ``data`` is what to call them."""
    model = load_model("autoencoder", **options)
    images = normal(model.program.tensor("X").shape, np.random.default_rng([seed, 1]))
    made = filled(model, {"X": images}, seed, WEIGHT_DENSITY, MOST_WEIGHTS)
    sized = {"density": WEIGHT_DENSITY, **options}
    return Loaded(model, made, data or "images", options=sized)


def _expected_images(data: str, options: Options) -> Foreseen | None:
    """As many elements as :func:`_images` draws, spread evenly."""
    model = load_model("autoencoder", **options)
    tensors = [model.program.tensor(name) for name in model.program.inputs]
    if sum(prod(tensor.shape) for tensor in tensors) <= MOST_MADE_UP:
        return None
    found = {}
    for tensor in tensors:
        share = WEIGHT_DENSITY if tensor.name in ("We", "Wd") else 1.0
        found[tensor.name] = ExpectedStatistics.uniform(tensor, share * prod(tensor.shape))
    return Foreseen(model, found, data or "images")


def _nested(data: str, options: Options, seed: int, data_dir: Path | None) -> Loaded:
    """The karate club's nested product, stored as the order traverses it that ``data`` is."""
    loaded = load_labelled("nested", "karate", seed, data_dir, **options)
    chosen = loaded.options
    model = nested_in(
        data or INDICES, int(chosen["nodes"]), int(chosen["hidden"]), float(chosen["filled"])
    )
    return replace(loaded, model=model, data=check_data(model.program, loaded.data))


WORKLOADS: Mapping[str, Workload] = MappingProxyType(
    {
        "gcn": _model("gcn"),
        "graphsage": _model("graphsage"),
        "gpt3": _model("gpt3"),
        "heads": Workload(_heads),
        "images": Workload(_images, _expected_images),
        "nested": Workload(_nested),
    }
)
"""By name: three models on their data, attention alone, the autoencoder, two nested products."""


# What a result rests on -------------------------------------------------------------------------


@cache
def sources_version() -> str:
    """A hash of what makes models and data: code here and in ``fuseloom.models``, and NumPy."""
    digest = hashlib.sha256(version("numpy").encode())
    models = Path(fuseloom.models.__file__).parent
    files = sorted(p for p in models.rglob("*") if p.suffix in _KINDS)
    for path in [*files, Path(__file__)]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def data_version(configuration: Configuration, data_dir: Path | None) -> str:
    """A hash of how the data of a configuration are made, or of the files they are read from."""
    own = configuration
    parts = [sources_version(), own.workload, own.data, repr(own.options), str(own.seed)]
    if own.data in GRAPHS and data_dir is not None:
        place = LAYOUTS[own.data].find(data_dir)
        if place is not None:
            files = [place] if place.is_file() else [*place.iterdir(), *(place / "raw").rglob("*")]
            parts += [f"{p.name} {_fingerprint(p)}" for p in sorted(files) if p.is_file()]
    return "made " + hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _fingerprint(path: Path) -> str:
    """Size and a hash of both ends of a file."""
    size, end = path.stat().st_size, 1 << 20
    with path.open("rb") as file:
        digest = hashlib.sha256(file.read(end))
        file.seek(max(0, size - end))
        digest.update(file.read(end))
    return f"{size} {digest.hexdigest()[:16]}"
