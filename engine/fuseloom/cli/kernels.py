"""Kernels, terms, networks and programs as the command line names them, to be mapped."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuseloom.cli.inputs import MAX_FILE, model_of, program_options
from fuseloom.errors import ProgramError, UsageError
from fuseloom.program import Program, parse, regular_files

if TYPE_CHECKING:
    from fuseloom.access.layers import Layer, OtherCall

KERNELS: Mapping[str, tuple[str, str]] = {
    "matmul": ("m k n", ""),
    "dense": ("batch inputs outputs", ""),
    "batched-matmul": ("batch m k n", ""),
    "conv2d": ("n c h w o r s", "stride padding dilation groups"),
    "max-pool": ("n c h w r s", "stride padding"),
    "mean-pool": ("n c h w r s", "stride padding"),
}
"""By name: the extents that a kernel needs, and those that have defaults."""


def layers_given(options: Any) -> tuple[Sequence[Layer], Sequence[OtherCall]]:
    """What is mapped: a kernel or a term with random data, or a network's layers.

    Raises
    ------
    UsageError
        If none of them is named, or several.
    """
    from fuseloom.access.layers import Layer
    from fuseloom.access.meaning import evaluate, random_data
    from fuseloom.access.program_layers import layers_of_program
    from fuseloom.access.text import read_term
    from fuseloom.access.torch_layers import layers_of
    from fuseloom.access.torch_networks import network

    named = [x for x in ("kernel", "term", "torch", "program") if getattr(options, x)]
    if len(named) != 1:
        raise UsageError(
            "a kernel, a term, a network or a program is mapped"
            if not named
            else f"{' and '.join(named)} each say what is mapped",
            hint="give one of KERNEL, --term FILE, --torch NAME and --program FILE",
        )
    if options.kernel is None and options.extents:
        raise UsageError("--extents are those of a kernel", hint="leave them out, or name a kernel")
    if options.torch:
        module, inputs = network(options.torch).make(options.seed)
        return layers_of(module, inputs)
    if options.program:
        return layers_of_program(_program(options.program), options.seed)
    if options.kernel and "->" in options.kernel:
        return layers_of_program(_einsum(options.kernel, options.extents), options.seed)
    if options.term:
        path = Path(options.term)
        text = regular_files.text(path, MAX_FILE, what="term", error=ProgramError)
        term, name = read_term(text, str(path)).term, path.name
    else:
        term, name = _kernel(options.kernel, options.extents), options.kernel
    data = random_data(term, options.seed)
    return [Layer(name, term, data, evaluate(term, data))], ()


def _program(file: str) -> Program:
    """The program of a file, read as the other commands read it."""
    parser = argparse.ArgumentParser()
    program_options(parser)
    return model_of(parser.parse_args(["--", file])).program


def _einsum(text: str, extents: str) -> Program:
    """A program of one product of dense tensors A and B."""
    match = re.fullmatch(r"([a-zA-Z]{1,12}),([a-zA-Z]{1,12})->([a-zA-Z]{0,12})", text.strip())
    if match is None:
        raise UsageError(
            f"{text[:40]!r} is no einsum string of two operands", hint="write e.g. ij,jk->ik"
        )
    letters = "".join(dict.fromkeys(match[1] + match[2]))
    found = _extents(extents, text, letters)
    missing = [x for x in letters if x not in found]
    if missing:
        raise UsageError(
            f"{text} has no extent of {', '.join(missing)}",
            hint=f"give --extents {','.join(f'{x}=N' for x in letters)}",
        )
    lines = [
        f"{name}: {'x'.join(str(found[x]) for x in word)} dense"
        for name, word in (("A", match[1]), ("B", match[2]))
    ]
    left, right, out = (",".join(word) for word in match.groups())
    return parse("\n".join([*lines, f"R[{out}] = A[{left}] * B[{right}]"]))


def _kernel(name: str, text: str) -> Any:
    from fuseloom.access import kernels

    if name not in KERNELS:
        raise UsageError(f"{name[:30]!r} is no kernel", hint=f"kernels are {', '.join(KERNELS)}")
    needed, defaulted = (words.split() for words in KERNELS[name])
    found = _extents(text, name, [*needed, *defaulted])
    missing = [word for word in needed if word not in found]
    if missing:
        raise UsageError(
            f"{name} has no {' and no '.join(missing)}",
            hint=f"give --extents {','.join(f'{word}=N' for word in needed)}",
        )
    if name in ("matmul", "dense", "batched-matmul"):
        make = getattr(kernels, name.replace("-", "_"))
        return make(*(found[word] for word in needed))
    both = {word: (found.get(word, least),) * 2 for word, least in
            (("stride", 1), ("padding", 0), ("dilation", 1))}  # fmt: skip
    layer = kernels.Convolution(
        found["n"], found["c"], found["h"], found["w"], found.get("o", found["c"]),
        (found["r"], found["s"]), groups=found.get("groups", 1), **both,
    )  # fmt: skip
    if name == "conv2d":
        return kernels.conv2d(layer)
    return kernels.pool2d(layer, name.partition("-")[0])


def _extents(text: str, kernel: str, known: Sequence[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        match = re.fullmatch(r"(\w+)\s*=\s*(\d{1,9})", part)
        if match is None:
            raise UsageError(f"{part[:30]!r} is no extent", hint="write e.g. m=32,k=32,n=32")
        if match[1] not in known:
            raise UsageError(
                f"{kernel} has no extent {match[1][:30]}", hint=f"it has {', '.join(known)}"
            )
        if found.setdefault(match[1], int(match[2])) != int(match[2]):
            raise UsageError(f"{match[1]} has two extents", hint="give one")
    return found
