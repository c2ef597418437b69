"""Ready-made models with data: the registry behind names on a command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from engine.errors import ProgramError
from engine.models.autoencoder import autoencoder
from engine.models.data import bigbird, bigbird_data, karate, random_data
from engine.models.examples import attention, spmm, spmv
from engine.models.gcn import gcn
from engine.models.gpt3 import gpt3
from engine.models.graphsage import graphsage
from engine.models.model import Kernel, Model
from engine.program import StoredTensor
from engine.program.formats import suggestion

__all__ = [
    "DATASETS",
    "MODELS",
    "DataSet",
    "Kernel",
    "Model",
    "attention",
    "autoencoder",
    "bigbird",
    "bigbird_data",
    "gcn",
    "gpt3",
    "graphsage",
    "karate",
    "load",
    "load_model",
    "random_data",
    "spmm",
    "spmv",
]


@dataclass(frozen=True)
class DataSet:
    """Data by name: ``build(model, seed)`` fits the models it names, or all if it names none."""

    build: Callable[[Model, int], dict[str, StoredTensor]]
    models: tuple[str, ...] = ()


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
DATASETS: Mapping[str, DataSet] = MappingProxyType(
    {
        "karate": DataSet(lambda model, seed: karate(seed), models=("gcn",)),
        "bigbird": DataSet(bigbird_data, models=("gpt3",)),
        "random": DataSet(random_data),
    }
)


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
    model: str = "gcn", data: str = "karate", seed: int = 0
) -> tuple[Model, dict[str, StoredTensor]]:
    """A model at its default sizes with data that fit it.

    Raises
    ------
    ProgramError
        An unknown name, or data made for another model.

    Examples
    --------
    >>> model, data = load("spmv", "random")
    >>> sorted(data)
    ['A', 'x']
    """
    built = load_model(model)
    if data not in DATASETS:
        raise ProgramError(f"no data set is called {data!r}", hint=suggestion(data, list(DATASETS)))
    chosen = DATASETS[data]
    if chosen.models and model not in chosen.models:
        fitting = [n for n, d in DATASETS.items() if not d.models or model in d.models]
        raise ProgramError(
            f"data set {data} does not fit model {model}",
            hint=f"for {model} there is {', '.join(fitting)}",
        )
    return built, chosen.build(built, seed)
