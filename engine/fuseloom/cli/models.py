"""``fuseloom models``: the ready-made models and what they take; ``--with`` gives it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

from fuseloom.cli.command import Command, complete_with, json_option, print_json
from fuseloom.errors import UsageError
from fuseloom.models import MODELS as READY
from fuseloom.models import PARAMETERS, PRESETS, Parameter, fitting, load_model
from fuseloom.models.parameters import number_text
from fuseloom.results.document import DocumentKind
from fuseloom.results.text_table import Align, TextColumn, text_table

if TYPE_CHECKING:
    from fuseloom.cli.documents import ModelEntry, ModelsDocument

_COLUMNS = (
    TextColumn("--with", align=Align.LEFT),
    TextColumn("default"),
    TextColumn("values", align=Align.LEFT),
    TextColumn("what it is", align=Align.LEFT),
)
_WAY = "fuseloom simulate --model gpt3 --with sequence=128,block=16; fuseloom models lists them"


def presets_text() -> str:
    """Return the names of the presets, with the model of those that only one has."""
    several = [preset for preset, owners in PRESETS.items() if len(owners) > 1]
    others = [f"{preset} ({owners[0]})" for preset, owners in PRESETS.items() if len(owners) == 1]
    return f"{', '.join(several + others)}; 'models' lists those of each model"


def with_option(parser: argparse.ArgumentParser) -> None:
    """Declare ``--with``."""
    parser.add_argument(
        "--with", dest="sizes", action="append", metavar="NAME=VALUE,...",
        help="sizes and densities of the model, e.g. sequence=128,block=16 of gpt3; may be "
        "repeated; the command 'models' lists them with their defaults and units",
    )  # fmt: skip


def given_options(options: Any) -> dict[str, str]:
    """Return the values of ``--with``: texts by name, which the model checks.

    Raises
    ------
    UsageError
        If it cannot be read, or gives a name twice.
    """
    found: dict[str, str] = {}
    for part in (part for text in options.sizes or [] for part in text.split(",")):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not (name and equals and value):
            raise UsageError(f"--with: {part[:40]!r} is not NAME=VALUE", hint=_WAY)
        if name in found:
            raise UsageError(f"--with gives {name[:40]} twice", hint="leave one out")
        found[name] = value
    return found


def _declare(parser: argparse.ArgumentParser) -> None:
    model = parser.add_argument("model", nargs="?", metavar="MODEL", help="only this one")
    complete_with(model, READY)
    json_option(parser)


def _run(options: Any) -> int:
    names = [*READY] if options.model is None else [options.model]
    told = [_told(name) for name in names]
    if options.json:
        content: ModelsDocument = {"models": told}
        print_json(DocumentKind.MODELS, content)
        return 0
    print("\n\n".join("\n".join(_lines(entry)) for entry in told))
    return 0


def _told(name: str) -> ModelEntry:
    model = load_model(name)
    return {
        "name": name,
        "about": cleandoc(READY[name].__doc__ or "").partition("\n")[0].replace("``", ""),
        "presets": [*model.presets],
        "data": [*fitting(name)],
        "parameters": [parameter.to_dict() for parameter in PARAMETERS[name]],
    }


def _lines(entry: ModelEntry) -> Iterator[str]:
    yield f"{entry['name']}: {entry['about']}"
    if entry["presets"]:
        yield f"  --preset {', '.join(entry['presets'])}"
    yield f"  --data   {', '.join(entry['data'])}"
    rows = [_row(parameter) for parameter in PARAMETERS[entry["name"]]]
    yield from text_table(_COLUMNS, rows, indent="  ")


def _row(parameter: Parameter) -> list[str]:
    told = parameter.help
    by_value: dict[str, list[str]] = {}
    for data, value in parameter.defaults.items():
        default = "as the data have it" if value is None else f"default {number_text(value)}"
        by_value.setdefault(default, []).append(data)
    told += "".join(f"; {text} with {', '.join(names)}" for text, names in by_value.items())
    if parameter.data:
        told += f"; only with --data {', '.join(parameter.data)}"
    return [parameter.name, number_text(parameter.default), parameter.bounds, told]


MODELS = Command(_declare, _run)
