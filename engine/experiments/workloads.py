"""What the figures run: models with their data, and small programs that only they need."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

import engine.models
from engine.errors import ProgramError
from engine.experiments.configuration import Configuration, Number
from engine.models import Loaded, autoencoder, load_labelled
from engine.models.data import bigbird
from engine.models.datasets import GRAPHS, karate_graph
from engine.models.datasets.locate import LAYOUTS
from engine.models.datasets.patterns import pruned
from engine.models.drawing import normal, stored
from engine.models.fill import filled
from engine.models.model import Model
from engine.program import Program, StoredTensor, parse
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


# Attention by itself ----------------------------------------------------------------------------

_HEADS = """program attention
Q: {t}x{h}x{e} dense order 1,0,2
K: {t}x{h}x{e} dense order 1,0,2
V: {t}x{h}x{e} dense order 1,0,2
M: {t}x{t} dcsr
O: {t}x{h}x{e} csf order 1,0,2
S[h,i,l] = Q[i,h,e] * K[l,h,e]
P[h,i,l] = S[h,i,l] * M[i,l]
Z[h,i,l] = {scale!r} * P[h,i,l]
x[h,i] = max[l] Z[h,i,l]
d[h,i,l] = Z[h,i,l] - x[h,i]
e[h,i,l] = exp(d[h,i,l])
s[h,i] = e[h,i,l]
R[h,i,l] = e[h,i,l] / s[h,i]
O[i,h,v] = R[h,i,l] * V[l,h,v]
output O
"""
"""The second subset of a decoder (:mod:`engine.models.gpt3`), from queries, keys and values."""


def _heads(data: str, options: Options, seed: int, data_dir: Path | None) -> Loaded:
    """Masked attention of several heads with BigBird's mask in blocks of ``block``."""
    chosen = {"sequence": 1024, "heads": 12, "features": 64, "block": 64, **options}
    t, h, e = (int(chosen[name]) for name in ("sequence", "heads", "features"))
    program = parse(_HEADS.format(t=t, h=h, e=e, scale=e**-0.5), source="attention")
    presets = MappingProxyType({"unfused": "fuse x..R", "full": "fuse S..O"})
    model = Model(program, (), presets, frozenset({"M"}))
    rng = np.random.default_rng(seed)
    tensors: dict[str, StoredTensor] = {}
    for name in program.inputs:
        tensor = program.tensor(name)
        values: Any = normal(tensor.shape, rng)
        if name == "M":
            values = bigbird(t, int(chosen["block"])).astype(np.float32)
        tensors[name] = stored(tensor, values)
    return Loaded(model, tensors, "BigBird", "made at random", options=chosen)


# The autoencoder on dense images ----------------------------------------------------------------


def _images(data: str, options: Options, seed: int, data_dir: Path | None) -> Loaded:
    """The autoencoder on normal numbers, none of them 0, as the published evaluation has it."""
    chosen = {"batch": 32, "inputs": 64, "hidden": 16, "density": 0.5, **options}
    model = autoencoder(int(chosen["batch"]), int(chosen["inputs"]), int(chosen["hidden"]))
    shape = model.program.tensor("X").shape
    images = normal(shape, np.random.default_rng([seed, 1]))
    tensors = filled(model, {"X": images}, seed, float(chosen["density"]))
    return Loaded(model, tensors, data or "images", "made at random", options=chosen)


# Chains of two products -------------------------------------------------------------------------

NESTED_INDICES = "ikjl"


def nested_program(order: str, nodes: int, hidden: int, reads: str = "dense") -> Program:
    """``D[i,l] = (A[i,k] * X[k,j]) * W[j,l]``, each operand stored as an order traverses it.

    Parameters
    ----------
    order : str
        The indices i, k, j, l, outermost first.
    reads : str
        How ``X`` is stored: ``dense`` or ``sparse``.

    Raises
    ------
    ProgramError
        If the order does not name these indices.
    """
    if sorted(order) != sorted(NESTED_INDICES):
        raise ProgramError(f"{order!r} is no order of {', '.join(NESTED_INDICES)}")

    def levels(first: str, second: str, kind: str) -> str:
        forwards = order.index(first) < order.index(second)
        return kind if forwards else f"[{kind}, {kind}] order 1,0"

    features = "dense" if reads == "dense" else levels("k", "j", "compressed")
    text = f"""program nested
A: {nodes}x{nodes} {levels("i", "k", "compressed")}
X: {nodes}x{nodes} {features}
W: {nodes}x{hidden} {levels("j", "l", "compressed")}
D: {nodes}x{hidden} {levels("i", "l", "compressed")}
T[i,j] = A[i,k] * X[k,j]
D[i,l] = T[i,j] * W[j,l]
output D
"""
    return parse(text, source="nested")


def _nested(data: str, options: Options, seed: int, data_dir: Path | None) -> Loaded:
    """The karate club's nested product; ``data`` is the order, ``features`` the density of X."""
    chosen = {"hidden": 16, "density": 0.5, "features": 1.0, **options}
    graph = karate_graph()
    sparse = chosen["features"] < 1.0
    made = nested_program(
        data or "ikjl", graph.nodes, int(chosen["hidden"]), "sparse" if sparse else "dense"
    )
    rng = np.random.default_rng(seed)
    values = {
        "A": graph.adjacency.toarray(),
        "X": pruned(made.tensor("X").shape, float(chosen["features"]), rng),
        "W": pruned(made.tensor("W").shape, float(chosen["density"]), rng),
    }
    tensors = {name: stored(made.tensor(name), value) for name, value in values.items()}
    presets = MappingProxyType({"unfused": "", "full": "fuse T..D", "global": "global"})
    return Loaded(Model(made, (), presets), tensors, "Karate club", "networkx", options=chosen)


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
