"""The parameters of the models: one declared list per model, which all its users read.

``load(..., **options)`` checks options against it, the command line lists it and reads texts by
it, and a form can be made of it.  A value is checked before anything is built.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from numbers import Integral, Real
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypedDict

from fuseloom.errors import ProgramError
from fuseloom.models.datasets import GRAPHS, PATTERNS
from fuseloom.models.datasets.patterns import FEATURES, NODES, SPARSITY
from fuseloom.program.formats import suggestion
from fuseloom.program.limits import MAX_DIMENSION

Number = int | float

MOST_WIDE = 65_536
MOST_LAYERS = 96
MOST_TOKENS = 16_384
LEAST_DENSITY = 1e-6
MADE_UP, MASKED, IMAGES = "random", "bigbird", "images"
"""Names of data sets: random numbers, BigBird's mask, and images without a 0."""
FILE = "file"
"""Stands for a graph from a file among the names of data sets."""


class ParameterData(TypedDict):
    """A :class:`Parameter` as plain data."""

    name: Annotated[str, "Its name."]
    type: Annotated[Literal["int", "float"], "Whether it is an integer."]
    default: Annotated[float, "Its default."]
    defaults: Annotated[
        Mapping[str, float | None],
        "Its default with data sets where that is another; null where the data decide it "
        "unless it is given.",
    ]
    least: Annotated[float, "Least value."]
    most: Annotated[float, "Largest value."]
    unit: Annotated[str, "Its unit."]
    help: Annotated[str, "What it is."]
    data: Annotated[Sequence[str] | None, "Data sets with which it can be chosen; null with any."]


@dataclass(frozen=True)
class Parameter:
    """One number that a model takes.

    Attributes
    ----------
    name : str
        As options have it.
    kind : type
        ``int`` or ``float``.
    default : int, float or None
        None, with some data, where the data decide it.
    least, most : int or float
        Bounds, both allowed.
    unit : str
    help : str
        What it is, in a few words.
    data : tuple of str
        Names of the data sets with which it can be chosen; empty if with any.  With others the
        data decide it, or have nothing of the kind.
    defaults : mapping
        Its default with data sets where that is another; ``FILE`` is among their names.
    argument : str
        What the model's function calls it; empty if it only concerns the data.
    """

    name: str
    kind: type[int] | type[float]
    default: Number | None
    least: Number
    most: Number
    unit: str
    help: str
    data: tuple[str, ...] = ()
    defaults: Mapping[str, Number | None] = field(default_factory=dict)
    argument: str = ""

    def goes_with(self, data: str) -> bool:
        """Return whether it can be chosen with a data set."""
        return not self.data or data in self.data

    def with_data(self, data: str) -> Parameter:
        """The same with the default that it has with a data set."""
        return replace(self, default=self.defaults.get(data, self.default))

    @property
    def bounds(self) -> str:
        """Bounds and unit, e.g. ``1 to 16,384 tokens``."""
        return f"{number_text(self.least)} to {number_text(self.most)} {self.unit}"

    def to_dict(self) -> ParameterData:
        """Plain data, of which a form can be made."""
        return {
            "name": self.name,
            "type": "int" if self.kind is int else "float",
            "default": self.default,  # type: ignore[typeddict-item]  # of those that are listed
            "defaults": dict(self.defaults),
            "least": self.least,
            "most": self.most,
            "unit": self.unit,
            "help": self.help,
            "data": list(self.data) or None,
        }


def _size(name: str, default: int, unit: str, text: str, **more: Any) -> Parameter:
    most = more.pop("most", MAX_DIMENSION)
    return Parameter(name, int, default, 1, most, unit, text, argument=more.pop("argument", name),
                     **more)  # fmt: skip


def _density(text: str, **more: Any) -> Parameter:
    return Parameter("density", float, 0.5, LEAST_DENSITY, 1.0, "of all elements", text, **more)


_MADE = (MADE_UP, *PATTERNS)
_READ = dict.fromkeys((*GRAPHS, FILE))
"""Graphs whose classes are those of the data set."""

_ON_GRAPHS = (
    _size("nodes", 34, "nodes", "nodes of the graph", data=_MADE,
          defaults=dict.fromkeys(PATTERNS, NODES)),
    _size("features", 34, "features", "width of the nodes' features", data=_MADE,
          defaults=dict.fromkeys(PATTERNS, FEATURES)),
    _size("hidden", 16, "features", "width of the hidden layer", most=MOST_WIDE),
    _size("classes", 4, "classes", "width of the result", most=MOST_WIDE, defaults=_READ),
    _density("share of the weights that is not 0; with random data, of every sparse tensor",
             defaults={MADE_UP: 0.3}),
    Parameter("sparsity", float, SPARSITY, 0.0, 1.0, "of all elements",
              "share of the adjacency matrix that is 0", data=tuple(PATTERNS)),
)  # fmt: skip

_RANDOM = _density("share of the elements of every sparse tensor that is not 0")
_RANDOM = replace(_RANDOM, default=0.3)

_BLOCK = _size("block", 4, "tokens", "edge of a block of BigBird's mask, which divides the "
               "sequence", most=MOST_TOKENS, data=(MASKED,), argument="")  # fmt: skip

PARAMETERS: Mapping[str, tuple[Parameter, ...]] = MappingProxyType(
    {
        "gcn": _ON_GRAPHS,
        "graphsage": _ON_GRAPHS,
        "autoencoder": (
            _size("batch", 32, "images", "images at once", most=MOST_WIDE),
            _size("inputs", 64, "pixels", "pixels of an image", data=(MADE_UP, IMAGES)),
            _size("hidden", 16, "features", "width of the hidden layer", most=MOST_WIDE),
            _density("share of the weights that is not 0; with random data, of the images too",
                     defaults={MADE_UP: 0.3}),
        ),
        "gpt3": (
            _size("sequence", 16, "tokens", "length of the sequence", most=MOST_TOKENS,
                  argument="tokens"),
            _size("width", 8, "features", "width of the model", most=MOST_WIDE),
            _size("heads", 2, "heads", "attention heads, which divide the width", most=MOST_WIDE),
            _size("inner", 16, "features", "width of the feed-forward network", most=MOST_WIDE),
            _size("layers", 2, "decoders", "decoders, one after another", most=MOST_LAYERS,
                  argument="decoders"),
            _BLOCK,
            replace(_RANDOM, data=(MADE_UP,), help="share of the mask that is not 0"),
        ),
        "attention": (
            _size("sequence", 8, "tokens", "length of the sequence", most=MOST_TOKENS,
                  argument="tokens"),
            _size("features", 4, "features", "width of queries, keys and values", most=MOST_WIDE),
            replace(_RANDOM, help="share of the mask that is not 0"),
        ),
        "heads": (
            _size("sequence", 16, "tokens", "length of the sequence", most=MOST_TOKENS,
                  argument="tokens"),
            _size("heads", 2, "heads", "attention heads", most=MOST_WIDE),
            _size("features", 4, "features", "width of each head", most=MOST_WIDE),
            _BLOCK,
            replace(_RANDOM, data=(MADE_UP,), help="share of the mask that is not 0"),
        ),
        "nested": (
            _size("nodes", 34, "nodes", "rows of the graph", data=(MADE_UP,)),
            _size("hidden", 16, "features", "width of the result", most=MOST_WIDE),
            _density("share of the weights that is not 0; with random data, of every sparse "
                     "tensor", defaults={MADE_UP: 0.3}),
            Parameter("filled", float, 1.0, LEAST_DENSITY, 1.0, "of all elements",
                      "share of the features that is not 0; they are dense if all are",
                      argument="filled"),
        ),
        "spmm": (
            _size("rows", 8, "rows", "rows of the sparse matrix"),
            _size("inner", 8, "columns", "columns of the sparse matrix"),
            _size("columns", 4, "columns", "columns of the dense matrix"),
            replace(_RANDOM, help="share of the sparse matrix that is not 0"),
        ),
        "spmv": (
            _size("rows", 8, "rows", "rows of the matrix"),
            _size("columns", 8, "columns", "columns of the matrix"),
            replace(_RANDOM, help="share of the matrix that is not 0"),
        ),
    }
)  # fmt: skip
"""The parameters of each model, under its name in ``MODELS``."""


def checked(model: str, given: Mapping[str, Any]) -> dict[str, Number]:
    """Options of a model, each known, of its type and within its bounds.

    Parameters
    ----------
    given : mapping
        Numbers, or texts that are read as numbers.

    Raises
    ------
    ProgramError
        An unknown name, or a value that is not one of its parameter's.
    """
    declared = {parameter.name: parameter for parameter in PARAMETERS[model]}
    made = {}
    for name, value in given.items():
        if name not in declared:
            raise ProgramError(
                f"{model} takes no {str(name)[:40]!r}", hint=suggestion(str(name), [*declared])
            )
        made[name] = _value(model, declared[name], value)
    return made


def _value(model: str, parameter: Parameter, given: Any) -> Number:
    value: Number | None = None
    try:
        if isinstance(given, str):
            value = parameter.kind(given)
        elif isinstance(given, bool):
            value = None
        elif isinstance(given, Integral):
            value = parameter.kind(int(given))
        elif isinstance(given, Real) and parameter.kind is float:
            value = float(given)
    except (ValueError, OverflowError):
        value = None
    if value is None or not isfinite(value):
        kind = "an integer" if parameter.kind is int else "a number"
        raise ProgramError(
            f"{parameter.name} of {model} is {str(given)[:40]!r}, not {kind}",
            hint=f"{parameter.bounds}",
        )
    if not parameter.least <= value <= parameter.most:
        shown = number_text(value) if abs(value) < 1e15 else f"{str(value)[:15]}..."
        side = "below" if value < parameter.least else "above"
        bound = number_text(parameter.least if value < parameter.least else parameter.most)
        raise ProgramError(
            f"{parameter.name} of {model} is {shown}, {side} {bound}", hint=parameter.bounds
        )
    return value


def check_fit(model: str, data: str, names: Iterable[str], what: str = "") -> None:
    """That the options of these names can be chosen with a data set.

    Parameters
    ----------
    what : str, optional
        What to call the data, by default by its name.

    Raises
    ------
    ProgramError
        If one of them cannot.
    """
    declared = {parameter.name: parameter for parameter in PARAMETERS[model]}
    for name in names:
        parameter = declared[name]
        if not parameter.goes_with(data):
            why = "is decided by" if parameter.argument else "has no meaning for"
            raise ProgramError(
                f"{name} of {model} {why} the data {what or data}",
                hint=f"leave it out, or choose --data {' or '.join(parameter.data)}",
            )


def arguments(model: str, options: Mapping[str, Number]) -> dict[str, Number]:
    """Those options that the model's function takes, as it calls them."""
    declared = {parameter.name: parameter for parameter in PARAMETERS[model]}
    return {
        declared[name].argument: value for name, value in options.items() if declared[name].argument
    }


def number_text(value: Number | None) -> str:
    """A number with separators; an en dash for none."""
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:g}"
