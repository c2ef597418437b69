"""Models: takes a name and sizes; gives a ready-made program with schedules and data.

The registry behind names on a command line and in the workbench.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from engine.errors import ProgramError
from engine.frontends.files import GraphData, read_graph
from engine.models.autoencoder import autoencoder
from engine.models.data import bigbird, bigbird_data, karate, random_data
from engine.models.datasets import GRAPHS, PATTERNS, digits, load_graph
from engine.models.examples import attention, spmm, spmv
from engine.models.fill import filled, graph_data, graph_model
from engine.models.gcn import gcn
from engine.models.gpt3 import gpt3
from engine.models.graphsage import graphsage
from engine.models.model import Kernel, Model
from engine.program import StoredTensor, regular_files
from engine.program.formats import suggestion

__all__ = [
    "DATASETS",
    "MODELS",
    "DataSet",
    "Kernel",
    "Loaded",
    "Model",
    "attention",
    "autoencoder",
    "bigbird",
    "bigbird_data",
    "fitting",
    "gcn",
    "gpt3",
    "graph_data",
    "graph_model",
    "graphsage",
    "karate",
    "load",
    "load_graph",
    "load_labelled",
    "load_model",
    "random_data",
    "spmm",
    "spmv",
]


@dataclass(frozen=True)
class DataSet:
    """Data by name: for the models it names, or for all if it names none.

    Attributes
    ----------
    build : callable or None
        ``build(model, seed)`` fits a model at its default sizes; None where a graph decides the
        sizes, as :func:`~engine.models.datasets.load_graph` knows it by this name.
    """

    build: Callable[[Model, int], dict[str, StoredTensor]] | None = None
    models: tuple[str, ...] = ()


@dataclass(frozen=True)
class Loaded:
    """A model with data that fit it, and where they came from.

    Attributes
    ----------
    label : str
        For display, e.g. ``Cora (stand-in, seed 0)``.
    standin : bool
        Whether the data only resemble the data set of that name.
    """

    model: Model
    data: dict[str, StoredTensor] = field(repr=False)
    label: str
    origin: str = ""
    standin: bool = False


def _digits(model: Model, seed: int) -> dict[str, StoredTensor]:
    return filled(model, {"X": digits(model.program.tensor("X").shape[0], seed)}, seed)


MODELS: Mapping[str, Callable[[], Model]] = MappingProxyType(
    {
        "gcn": gcn,
        "graphsage": graphsage,
        "autoencoder": autoencoder,
        "gpt3": gpt3,
        "attention": attention,
        "spmm": spmm,
        "spmv": spmv,
    }
)
ON_GRAPHS: Mapping[str, Callable[..., Model]] = MappingProxyType(
    {"gcn": gcn, "graphsage": graphsage}
)
"""Models that take their sizes from a graph."""

DATASETS: Mapping[str, DataSet] = MappingProxyType(
    {
        "karate": DataSet(lambda model, seed: karate(seed), models=("gcn",)),
        "bigbird": DataSet(bigbird_data, models=("gpt3",)),
        "random": DataSet(random_data),
        **{name: DataSet(models=tuple(ON_GRAPHS)) for name in (*GRAPHS, *PATTERNS)},
        "digits": DataSet(_digits, models=("autoencoder",)),
    }
)  # fmt: skip


def load_model(model: str) -> Model:
    """A model at its default sizes.

    Raises
    ------
    ProgramError
        An unknown name.
    """
    if model not in MODELS:
        raise ProgramError(f"no model is called {model!r}", hint=suggestion(model, list(MODELS)))
    return MODELS[model]()


def load(
    model: str = "gcn",
    data: str = "karate",
    seed: int = 0,
    data_dir: str | Path | None = None,
) -> tuple[Model, dict[str, StoredTensor]]:
    """A model with data that fit it: at its default sizes, or at those of a graph.

    :func:`load_labelled` says besides whether the data are real.

    Raises
    ------
    ProgramError
        An unknown name, or data made for another model.
    DataError
        Data that cannot be read.

    Examples
    --------
    >>> model, data = load("spmv", "random")
    >>> sorted(data)
    ['A', 'x']
    """
    loaded = load_labelled(model, data, seed, data_dir)
    return loaded.model, loaded.data


def load_labelled(
    model: str = "gcn",
    data: str = "karate",
    seed: int = 0,
    data_dir: str | Path | None = None,
) -> Loaded:
    """A model, data that fit it, and what to call them.

    Parameters
    ----------
    data : str
        A name of ``DATASETS``, or a file or folder with a graph.
    data_dir : path, optional
        Folder with the files of data sets.

    Raises
    ------
    ProgramError
        An unknown name, or data made for another model.
    DataError
        Data that cannot be read.
    """
    built = load_model(model)
    if data not in DATASETS:
        if not (regular_files.is_file(data) or regular_files.is_folder(data)):
            names = [*DATASETS]
            raise ProgramError(f"no data set is called {data!r}", hint=suggestion(data, names))
        return _on_graph(model, read_graph(data), seed)
    chosen = DATASETS[data]
    if chosen.models and model not in chosen.models:
        raise _unfit(model, data)
    if chosen.build is not None:
        return Loaded(built, chosen.build(built, seed), data)
    return _on_graph(model, load_graph(data, data_dir, seed), seed)


def fitting(model: str) -> tuple[str, ...]:
    """Names of the data sets that fit a model; the first is its own, if it has one."""
    return tuple(n for n, d in DATASETS.items() if not d.models or model in d.models)


def _on_graph(model: str, graph: GraphData, seed: int) -> Loaded:
    if model not in ON_GRAPHS:
        raise _unfit(model, graph.label)
    sized = graph_model(ON_GRAPHS[model], graph)
    made = graph_data(sized, graph, seed)
    return Loaded(sized, made, graph.label, graph.origin, graph.standin)


def _unfit(model: str, data: str) -> ProgramError:
    return ProgramError(
        f"data set {data} does not fit model {model}",
        hint=f"for {model} there is {', '.join(fitting(model))}",
    )
