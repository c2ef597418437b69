"""Models as modules: the classes that FusionStitching was measured with, and two more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt

from fuseloom.errors import ProgramError
from fuseloom.stitch.graph import DenseModule
from fuseloom.stitch.hlo.reader import read_hlo


@dataclass(frozen=True)
class ExampleModel:
    """A model, whose text is in the file of its name.

    Attributes
    ----------
    name : str
    title : str
    description : str
    limits : mapping
        By parameters that are integers: the number of values that they may have, from 0.
    """

    name: str
    title: str
    description: str
    limits: Mapping[str, int] = field(default_factory=dict)


EXAMPLES: Mapping[str, ExampleModel] = {
    example.name: example
    for example in (
        ExampleModel(
            "logistic_regression",
            "Logistic regression",
            "a training step on images of 8 × 8 digits",
        ),
        ExampleModel(
            "word2vec",
            "Word2vec",
            "a training step of skip-grams with negative samples",
            {"center": 500, "context": 500, "negatives": 500},
        ),
        ExampleModel("rnn", "RNN", "a training step of an LSTM that reads digits row by row"),
        ExampleModel("birnn", "BiRNN", "a training step of LSTMs that read rows both ways"),
        ExampleModel(
            "translation",
            "NMT",
            "a layer of the encoder and one of the decoder of a Transformer",
            {"source": 64, "target": 64},
        ),
        ExampleModel("speech", "Speech", "convolutions of a spectrogram, and LSTMs in loops"),
        ExampleModel("attention", "Attention", "softmax of scores times values, as in Fig. 3"),
        ExampleModel("residual_block", "ResNet block", "a training step with batch normalization"),
    )
}
"""By name: six classes of models (FusionStitching, section 6), its Fig. 3, a block of ResNet."""


def example_text(name: str) -> str:
    """The text of a model.

    Raises
    ------
    ProgramError
        If there is none of this name.
    """
    if name not in EXAMPLES:
        raise ProgramError(f"{name} is no example", hint=f"examples are {', '.join(EXAMPLES)}")
    return resources.files(__package__).joinpath(f"{name}.hlo").read_text(encoding="utf-8")


@lru_cache(maxsize=len(EXAMPLES))
def read_example(name: str) -> DenseModule:
    """The module of a model.

    Examples
    --------
    >>> [str(one) for one in read_example("attention").main.parameters]
    ['scores.1 = f32[8,64,64,64] parameter()', 'values.1 = f32[8,64,64,64] parameter()']
    """
    return read_hlo(example_text(name), f"{name}.hlo")


def example_inputs(name: str, seed: int = 0) -> dict[str, npt.NDArray[Any]]:
    """Inputs of a model, by parameters: normal numbers, and integers within their limits.

    Examples
    --------
    >>> int(example_inputs("word2vec")["center.1"].max()) < 500
    True
    """
    rng = np.random.default_rng(seed)
    limits = EXAMPLES[name].limits
    made: dict[str, npt.NDArray[Any]] = {}
    for parameter in read_example(name).main.parameters:
        shape = parameter.array
        if shape.dtype.kind == "f":
            made[parameter.name] = rng.standard_normal(shape.dims).astype(shape.dtype)
        else:
            limit = limits.get(parameter.name.partition(".")[0], 2)
            made[parameter.name] = rng.integers(0, limit, shape.dims).astype(shape.dtype)
    return made
