"""What the figures run: models with their data, and small programs that only they need."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType

import engine.models
from engine.errors import ProgramError
from engine.experiments.configuration import Configuration, Number
from engine.models import Loaded, load_labelled
from engine.models.datasets import GRAPHS
from engine.models.datasets.locate import LAYOUTS
from engine.models.nested import INDICES, nested_in
from engine.program import check_data
from engine.program.formats import suggestion

Options = Mapping[str, Number]
_KINDS = (".py", ".loom")


@dataclass(frozen=True)
class Workload:
    """A program by name, with its data.

    Attributes
    ----------
    load : callable
        ``load(data, options, seed, data_dir)``.
    """

    load: Callable[[str, Options, int, Path | None], Loaded]


def load(configuration: Configuration, data_dir: Path | None = None) -> Loaded:
    """The model of a configuration, with its data.

    Raises
    ------
    FuseloomError
        An unknown workload, or sizes that it does not take.
    """
    name = configuration.workload
    if name not in WORKLOADS:
        raise ProgramError(f"no workload is called {name!r}", hint=suggestion(name, [*WORKLOADS]))
    options = dict(configuration.options)
    return WORKLOADS[name].load(configuration.data, options, configuration.seed, data_dir)


def _model(name: str) -> Workload:
    def build(data: str, options: Options, seed: int, data_dir: Path | None) -> Loaded:
        return load_labelled(name, data or None, seed, data_dir, **options)

    return Workload(build)


def _heads(data: str, options: Options, seed: int, data_dir: Path | None) -> Loaded:
    """Masked attention of several heads with BigBird's mask in blocks of ``block``."""
    return load_labelled("heads", "bigbird", seed, data_dir, **options)


def _images(data: str, options: Options, seed: int, data_dir: Path | None) -> Loaded:
    """The autoencoder on normal numbers, none of them 0; ``data`` is what to call them."""
    loaded = load_labelled("autoencoder", "images", seed, data_dir, **options)
    return replace(loaded, label=data or loaded.label)


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
        "images": Workload(_images),
        "nested": Workload(_nested),
    }
)
"""By name: three models on their data, attention alone, the autoencoder, two nested products."""


# What a result rests on -------------------------------------------------------------------------


@cache
def sources_version() -> str:
    """A hash of what makes models and data: code here and in ``engine.models``, and NumPy."""
    digest = hashlib.sha256(version("numpy").encode())
    models = Path(engine.models.__file__).parent
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
