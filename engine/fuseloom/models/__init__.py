"""Models: takes a name and sizes; gives a ready-made program with schedules and data.

The registry behind names on a command line and in the workbench.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from fuseloom.arguments import check_arguments
from fuseloom.errors import ProgramError
from fuseloom.frontends.files import GraphData, read_graph
from fuseloom.models.autoencoder import autoencoder
from fuseloom.models.data import bigbird, bigbird_data, karate, random_data
from fuseloom.models.datasets import GRAPHS, PATTERNS, digits, load_graph, synthetic
from fuseloom.models.drawing import check_made_up, normal
from fuseloom.models.examples import attention, heads, spmm, spmv
from fuseloom.models.fill import filled, graph_data, graph_model
from fuseloom.models.gcn import gcn
from fuseloom.models.gpt3 import gpt3
from fuseloom.models.graphsage import graphsage
from fuseloom.models.model import Kernel, Model
from fuseloom.models.nested import nested, nested_karate
from fuseloom.models.parameters import FILE, PARAMETERS, Parameter, arguments, check_fit, checked
from fuseloom.program import StoredTensor, regular_files
from fuseloom.program.formats import suggestion
from fuseloom.results.record import DataSource
from fuseloom.wording import counted, described

__all__ = [
    "DATASETS",
    "MODELS",
    "PARAMETERS",
    "PRESETS",
    "DataSet",
    "Kernel",
    "Loaded",
    "Model",
    "Parameter",
    "attention",
    "autoencoder",
    "bigbird",
    "bigbird_data",
    "data_for",
    "fitting",
    "gcn",
    "gpt3",
    "graph_data",
    "graph_model",
    "graphsage",
    "heads",
    "karate",
    "load",
    "load_graph",
    "load_labelled",
    "load_model",
    "nested",
    "parameters",
    "random_data",
    "spmm",
    "spmv",
]


Options = Mapping[str, int | float]


@dataclass(frozen=True)
class DataSet:
    """Data by name: for the models it names, or for all if it names none.

    Attributes
    ----------
    build : callable or None
        ``build(model, seed, options)`` fits a model of any sizes; None where a graph decides them,
        as :func:`~fuseloom.models.datasets.load_graph` knows it by this name.
    drawn : str
        Which of the tensors are random numbers.
    """

    build: Callable[[Model, int, Options], dict[str, StoredTensor]] | None = None
    models: tuple[str, ...] = ()
    drawn: str = "weights"


@dataclass(frozen=True)
class Loaded:
    """A model with data that fit it, and where they came from.

    Attributes
    ----------
    label : str
        For display, e.g. ``Cora (stand-in, seed 0)``.
    standin : bool
        Whether the data only resemble the data set of that name.
    options : mapping
        Values of the model's parameters, as chosen, by default, or as the data decide.
    notes : tuple of str
        What became of the files that were read; a sentence each.
    drawn : str
        Which of the tensors are random numbers, and their seed; empty of none.
    """

    model: Model
    data: dict[str, StoredTensor] = field(repr=False)
    label: str
    origin: str = ""
    standin: bool = False
    options: Options = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    drawn: str = ""

    @property
    def source(self) -> DataSource:
        """The source of the data, as records of runs name it."""
        return DataSource(self.label, self.origin, self.standin, self.options, self.drawn)

    def __repr__(self) -> str:
        return described(
            self, f"{self.model.program.name}: {self.label}, {counted(len(self.data), 'tensor')}"
        )


def _karate(model: Model, seed: int, options: Options) -> dict[str, StoredTensor]:
    if "filled" in options:  # features of a product, not those that a model learns from
        return nested_karate(model, seed, options["density"], options["filled"])
    return karate(seed, int(options["hidden"]), int(options["classes"]), options["density"])


def _bigbird(model: Model, seed: int, options: Options) -> dict[str, StoredTensor]:
    return bigbird_data(model, seed, int(options["block"]))


def _random(model: Model, seed: int, options: Options) -> dict[str, StoredTensor]:
    return random_data(model, seed, options["density"])


def _digits(model: Model, seed: int, options: Options) -> dict[str, StoredTensor]:
    images = digits(int(options["batch"]), seed)
    return filled(model, {"X": images}, seed, options["density"])


def _images(model: Model, seed: int, options: Options) -> dict[str, StoredTensor]:
    """Normal numbers, none of them 0, as the published evaluation of the autoencoder has them."""
    images = normal(model.program.tensor("X").shape, np.random.default_rng([seed, 1]))
    return filled(model, {"X": images}, seed, options["density"])


MODELS: Mapping[str, Callable[..., Model]] = MappingProxyType(
    {
        "gcn": gcn,
        "graphsage": graphsage,
        "autoencoder": autoencoder,
        "gpt3": gpt3,
        "attention": attention,
        "heads": heads,
        "nested": nested,
        "spmm": spmm,
        "spmv": spmv,
    }
)
"""Ready-made models by name."""
PRESETS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "unfused": (
            "gcn", "graphsage", "autoencoder", "gpt3", "attention", "heads", "nested",
        ),
        "C+S": ("gcn",),
        "partial": ("gcn", "graphsage", "autoencoder", "gpt3", "attention", "heads"),
        "full": ("gcn", "graphsage", "autoencoder", "gpt3", "attention", "heads", "nested"),
        "global": ("nested",),
    }
)  # fmt: skip
"""The models that have a preset, by its name, known without making them."""
ON_GRAPHS: Mapping[str, Callable[..., Model]] = MappingProxyType(
    {"gcn": gcn, "graphsage": graphsage}
)
"""Models that take their sizes from a graph."""

DATASETS: Mapping[str, DataSet] = MappingProxyType(
    {
        "karate": DataSet(_karate, models=("gcn", "nested")),
        "bigbird": DataSet(_bigbird, models=("gpt3", "heads"), drawn="all tensors"),
        "random": DataSet(_random, drawn="all tensors"),
        **{name: DataSet(models=tuple(ON_GRAPHS)) for name in (*GRAPHS, *PATTERNS)},
        "digits": DataSet(_digits, models=("autoencoder",)),
        "images": DataSet(_images, models=("autoencoder",), drawn="all tensors"),
    }
)  # fmt: skip
"""Data sets by name; :func:`fitting` says which go with a model."""


def _known(model: str) -> None:
    if model not in MODELS:
        raise ProgramError(f"no model is called {model!r}", hint=suggestion(model, list(MODELS)))


def load_model(model: str, **options: Any) -> Model:
    """A model at its default sizes, or at those that options give.

    Raises
    ------
    ProgramError
        An unknown name, or an option that is none of the model's (``PARAMETERS``).
    """
    _known(model)
    return MODELS[model](**arguments(model, checked(model, options)))


@check_arguments
def load(
    model: str = "gcn",
    data: str | None = None,
    seed: int = 0,
    data_dir: str | Path | None = None,
    **options: Any,
) -> tuple[Model, dict[str, StoredTensor]]:
    """A model with data that fit it: at its default sizes, at those of a graph, or as options say.

    :func:`load_labelled` says besides whether the data are real.

    Parameters
    ----------
    data : str, optional
        As for :func:`load_labelled`.
    **options
        Sizes and densities: those of ``PARAMETERS`` under the model's name.

    Raises
    ------
    ProgramError
        An unknown name, data made for another model, or a value out of bounds.
    DataError
        Data that cannot be read, or too large to be made.

    Examples
    --------
    >>> model, data = load("spmv", "random")
    >>> sorted(data)
    ['A', 'x']
    >>> load("gpt3", sequence=32, block=8)[0].program.tensor("M").shape
    (32, 32)
    """
    loaded = load_labelled(model, data, seed, data_dir, **options)
    return loaded.model, loaded.data


def load_labelled(
    model: str = "gcn",
    data: str | None = None,
    seed: int = 0,
    data_dir: str | Path | None = None,
    **options: Any,
) -> Loaded:
    """A model, data that fit it, and what to call them.

    Parameters
    ----------
    data : str, optional
        A name of ``DATASETS``, or a file or folder with a graph; by default the first data set
        that fits the model and takes the options.
    data_dir : path, optional
        Folder with the files of data sets.
    **options
        As for :func:`load`.

    Raises
    ------
    ProgramError
        An unknown name, data made for another model, or a value out of bounds.
    DataError
        Data that cannot be read, or too large to be made.
    """
    _known(model)
    given = checked(model, options)
    if data is None:
        data = data_for(model, given)
    if data not in DATASETS:
        if not (regular_files.is_file(data) or regular_files.is_folder(data)):
            names = [*DATASETS]
            raise ProgramError(f"no data set is called {data!r}", hint=suggestion(data, names))
        check_fit(model, FILE, given, f"of {data}")
        return _on_graph(model, read_graph(data), seed, FILE, given)
    chosen = DATASETS[data]
    if chosen.models and model not in chosen.models:
        raise _unfit(model, data)
    check_fit(model, data, given)
    if chosen.build is None:
        return _on_graph(model, _graph(model, data, data_dir, seed, given), seed, data, given)
    values = {p.name: given.get(p.name, p.default) for p in _meant(model, data)}
    sized = {name: value for name, value in values.items() if value is not None}
    built = MODELS[model](**arguments(model, sized))
    made = chosen.build(built, seed, sized)
    return Loaded(built, made, data, options=sized, drawn=_drawn(chosen.drawn, seed))


def _drawn(tensors: str, seed: int) -> str:
    return f"{tensors}: random numbers, seed {seed}"


def fitting(model: str) -> tuple[str, ...]:
    """Names of the data sets that fit a model; the first is its own, if it has one."""
    return tuple(n for n, d in DATASETS.items() if not d.models or model in d.models)


def data_for(model: str, options: Mapping[str, Any]) -> str:
    """The first data set that fits a model and takes options of these names."""
    own = fitting(model)
    declared = [p for p in PARAMETERS[model] if p.name in options]
    return next((data for data in own if all(p.goes_with(data) for p in declared)), own[0])


def parameters(model: str, data: str | None = None) -> tuple[Parameter, ...]:
    """Return the parameters of a model with a data set, with the defaults that it has there.

    Parameters
    ----------
    data : str, optional
        A name of ``DATASETS``, or a file; by default the model's own data set.

    Raises
    ------
    ProgramError
        An unknown model.
    """
    _known(model)
    own = fitting(model)[0] if data is None else data
    where = own if own in DATASETS else FILE
    return tuple(p.with_data(where) for p in PARAMETERS[model] if p.goes_with(where))


def _meant(model: str, data: str) -> list[Parameter]:
    """Parameters that have a meaning for a data set, those that it decides included."""
    declared = [p.with_data(data) for p in PARAMETERS[model]]
    return [p for p in declared if p.argument or p.goes_with(data)]


def _graph(
    model: str, data: str, data_dir: str | Path | None, seed: int, given: Options
) -> GraphData:
    if data not in PATTERNS:
        return load_graph(data, data_dir, seed)
    sizes = {p.name: given.get(p.name, p.default) for p in parameters(model, data)}
    made = load_model(model, **{name: size for name, size in sizes.items() if size is not None})
    check_made_up(map(made.program.tensor, made.program.given))
    nodes, features = int(sizes["nodes"] or 0), int(sizes["features"] or 0)
    return synthetic(data, nodes, features, float(sizes["sparsity"] or 0.0), seed)


def _on_graph(model: str, graph: GraphData, seed: int, data: str, given: Options) -> Loaded:
    if model not in ON_GRAPHS:
        raise _unfit(model, graph.label)
    values = {p.name: given.get(p.name, p.default) for p in parameters(model, data)}
    hidden, classes, density = (values[name] for name in ("hidden", "classes", "density"))
    sized = graph_model(
        ON_GRAPHS[model], graph, int(hidden or 0), None if classes is None else int(classes)
    )
    made = graph_data(sized, graph, seed, float(density or 0.0))
    (nodes, features), outcome = sized.program.tensor("X").shape, sized.program.outputs[0]
    classes = sized.program.tensor(outcome).shape[1]
    known = {"nodes": nodes, "features": features, **values, "classes": classes}
    options = {name: value for name, value in known.items() if value is not None}
    return Loaded(
        sized,
        made,
        graph.label,
        graph.origin,
        graph.standin,
        options,
        graph.notes,
        _drawn("graph and weights" if data in PATTERNS else "weights", seed),
    )


def _unfit(model: str, data: str) -> ProgramError:
    return ProgramError(
        f"data set {data} does not fit model {model}",
        hint=f"for {model} there is {', '.join(fitting(model))}",
    )
