"""A program and the seed of its data: all that a visitor chooses on the page of all systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from fuseloom.comparison.examples import EXAMPLES
from fuseloom.errors import ProgramError
from fuseloom.models import MODELS
from fuseloom.wording import closest
from fuseloom_workbench.state.addresses import LONGEST_ADDRESS

FIRST = "gcn_layer"
LONGEST = 20_000
"""Characters of a program that a page takes."""
LONGEST_IN_ADDRESS = 2_500
"""Characters of a program of one's own that an address holds."""
LONGEST_NAME = 100
MOST_SIZES = 50
MOST_SEED = 2**31 - 1
EXAMPLE_TEXTS: Mapping[str, str] = {
    "attention_block": "one head of attention, dense",
    "gcn_layer": "a layer of a graph network, sparse",
    "mttkrp": "a sparse tensor times two matrices",
    "conv_block": "convolution, bias, ReLU, pooling",
    "mlp_block": "two dense layers",
}
"""A few words on each example."""


@dataclass(frozen=True)
class SystemsQuestion:
    """The question about a program.

    What it has besides name, text and seed comes from other pages.

    Attributes
    ----------
    name : str
        An example of the comparison, or a ready-made model.
    text : str
        A program in its place; empty for the one of that name.
    seed : int
        Of the data.
    data : str
        A data set of the model, by default its first one; with a text, random data by default, and
        with a data set the values of that for every input of the same shape.
    sizes : tuple of (str, str)
        Sizes and densities of the model that differ from its own.
    schedule : str, optional
        A schedule of the explorer, which is one more row of the dataflow machine.

    Examples
    --------
    >>> SystemsQuestion(text="A: 4 dense\\ny[i] = relu(A[i])").changed({"name": "mttkrp"})
    SystemsQuestion(name='mttkrp', text='', seed=0, data='', sizes=(), schedule=None)
    """

    name: str = FIRST
    text: str = ""
    seed: int = 0
    data: str = ""
    sizes: tuple[tuple[str, str], ...] = ()
    schedule: str | None = None

    @property
    def is_model(self) -> bool:
        """True of a ready-made model that was not edited."""
        return not self.text and self.name in MODELS

    def changed(self, changes: Mapping[str, Any]) -> SystemsQuestion:
        """The same with other values, as a browser sends them; a name takes the place of a text.

        Raises
        ------
        ProgramError
            Of a value that is none.
        """
        made = self
        for key, value in changes.items():
            made = replace(made, **{key: _value(key, value)})
        if "name" in changes:
            other = replace(SystemsQuestion(), name=made.name, seed=made.seed)
            kept = {key: getattr(made, key) for key in changes}
            made = replace(other, **kept)
        return made

    def to_dict(self) -> dict[str, Any]:
        """The fields of a form, without the text."""
        return {"name": self.name, "seed": self.seed, "own": bool(self.text)}


def address(asked: SystemsQuestion) -> str:
    """The part of a page's address that asks the same again; empty if it is too long for one.

    Examples
    --------
    >>> address(SystemsQuestion("gcn", seed=3)), address(SystemsQuestion("mttkrp"))
    ('model=gcn&seed=3', 'example=mttkrp&seed=0')
    >>> address(SystemsQuestion(text="# " + "x" * LONGEST_IN_ADDRESS))
    ''
    """
    if len(asked.text) > LONGEST_IN_ADDRESS:
        return ""
    given: dict[str, Any] = {"model" if asked.name in MODELS else "example": asked.name}
    if asked.text and not asked.data:
        given = {}
    if asked.text:
        given["text"] = asked.text
    given["seed"] = asked.seed
    if asked.data:
        given["data"] = asked.data
    if asked.sizes:
        given["sizes"] = ",".join(f"{name}={value}" for name, value in asked.sizes)
    if asked.schedule is not None:
        given["schedule"] = asked.schedule
    query = urlencode(given)
    return query if len(f"compare?{query}") <= LONGEST_ADDRESS else ""


def from_address(given: Mapping[str, str]) -> SystemsQuestion:
    """The question of an address; a layer of a graph network by default.

    Raises
    ------
    ProgramError
        Of a value that is none.

    Examples
    --------
    >>> from_address({"example": "mttkrp", "seed": "7"})
    SystemsQuestion(name='mttkrp', text='', seed=7, data='', sizes=(), schedule=None)
    """
    changes: dict[str, Any] = {}
    for key, text in given.items():
        if key in ("example", "model"):
            names = EXAMPLES if key == "example" else tuple(MODELS)
            if text not in names:
                raise _unknown(text, names, key)
            changes["name"] = text
        elif key == "seed" and text.isascii() and text.isdecimal() and len(text) <= 12:
            changes[key] = int(text)
        elif key in ("seed", "text", "data", "schedule"):
            changes[key] = text
        elif key == "sizes":
            changes[key] = [one.split("=", 1) for one in text.split(",")]
        else:
            raise ProgramError(
                f"an address has no {key[:40]!r} here",
                hint="it has example or model or text, seed, data, sizes and schedule",
            )
    made = SystemsQuestion().changed(changes)
    if (made.data or made.sizes) and made.name not in MODELS:
        raise ProgramError("data and sizes are those of a model", hint="add e.g. model=gcn")
    return made


def _unknown(text: str, names: tuple[str, ...], kind: str) -> ProgramError:
    near = closest([text[:40]], list(names))
    return ProgramError(
        f"{text[:40]!r} is no {kind}",
        hint=f"did you mean {near!r}?" if near else f"there are {', '.join(names)}",
    )


def _is_size(one: Any) -> bool:
    return (
        isinstance(one, list)
        and len(one) == 2
        and all(isinstance(part, str) and 0 < len(part) <= LONGEST_NAME for part in one)
    )


def _value(key: str, value: Any) -> Any:
    match key, value:
        case "name", str() if value in EXAMPLES or value in MODELS:
            return value
        case "name", str():
            raise _unknown(value, (*EXAMPLES, *MODELS), "example and no model")
        case "text", str() if len(value) <= LONGEST:
            return value
        case "text", str():
            raise ProgramError(
                f"the program has {len(value):,} characters, and a page takes {LONGEST:,}",
                hint="fuseloom compare FILE takes more",
            )
        case "data", str() if len(value) <= LONGEST_NAME:
            return value
        case "schedule", str() if len(value) <= LONGEST:
            return value
        case "schedule", None:
            return None
        case "sizes", list() if len(value) <= MOST_SIZES and all(map(_is_size, value)):
            return tuple((name, number) for name, number in value)
        case "seed", int() if not isinstance(value, bool) and 0 <= value <= MOST_SEED:
            return value
        case "seed", _:
            raise ProgramError(
                f"a seed is an integer from 0 to {MOST_SEED:,}, not {str(value)[:40]!r}",
                hint="write e.g. 0",
            )
    raise ProgramError(f"{str(value)[:60]!r} is no value of {key[:40]}", hint="undo the change")
