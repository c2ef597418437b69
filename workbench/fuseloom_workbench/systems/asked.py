"""A program and the seed of its data: all that a visitor chooses on the page of all systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import urlencode

from fuseloom.comparison.examples import EXAMPLES
from fuseloom.errors import ProgramError
from fuseloom.models import MODELS
from fuseloom.wording import closest

FIRST = "gcn_layer"
LONGEST = 20_000
"""Characters of a program that a page takes."""
LONGEST_IN_ADDRESS = 2_500
"""Characters of a program of one's own that an address holds."""
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

    Attributes
    ----------
    name : str
        An example of the comparison, or a ready-made model with its first data set.
    text : str
        A program in its place, on random data; empty for the one of that name.
    seed : int
        Of the data.

    Examples
    --------
    >>> SystemsQuestion(text="A: 4 dense\\ny[i] = relu(A[i])").changed({"name": "mttkrp"})
    SystemsQuestion(name='mttkrp', text='', seed=0)
    """

    name: str = FIRST
    text: str = ""
    seed: int = 0

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
        if "name" in changes and "text" not in changes:
            made = replace(made, text="")
        return made

    def to_dict(self) -> dict[str, Any]:
        """Plain data, without the text."""
        made = asdict(self)
        made["own"] = bool(made.pop("text"))
        return made


def address(asked: SystemsQuestion) -> str:
    """The part of a page's address that asks the same again; empty if the text is too long for one.

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
    if asked.text:
        given = {"text": asked.text}
    return urlencode({**given, "seed": asked.seed})


def from_address(given: Mapping[str, str]) -> SystemsQuestion:
    """The question of an address; a layer of a graph network by default.

    Raises
    ------
    ProgramError
        Of a value that is none.

    Examples
    --------
    >>> from_address({"example": "mttkrp", "seed": "7"})
    SystemsQuestion(name='mttkrp', text='', seed=7)
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
        elif key in ("seed", "text"):
            changes[key] = text
        else:
            raise ProgramError(
                f"an address has no {key[:40]!r} here",
                hint="it has example or model or text, and seed",
            )
    return SystemsQuestion().changed(changes)


def _unknown(text: str, names: tuple[str, ...], kind: str) -> ProgramError:
    near = closest([text[:40]], list(names))
    return ProgramError(
        f"{text[:40]!r} is no {kind}",
        hint=f"did you mean {near!r}?" if near else f"there are {', '.join(names)}",
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
        case "seed", int() if not isinstance(value, bool) and 0 <= value <= MOST_SEED:
            return value
        case "seed", _:
            raise ProgramError(
                f"a seed is an integer from 0 to {MOST_SEED:,}, not {str(value)[:40]!r}",
                hint="write e.g. 0",
            )
    raise ProgramError(f"{str(value)[:60]!r} is no value of {key[:40]}", hint="undo the change")
