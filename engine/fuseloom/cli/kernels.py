"""Kernels, terms, networks and programs as the command line names them, to be mapped."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuseloom.cli.inputs import MAX_FILE, model_of, program_options
from fuseloom.errors import ProgramError, UsageError
from fuseloom.program import Program, regular_files

if TYPE_CHECKING:
    from fuseloom.access.layers import Layer, OtherCall

KERNELS = ("matmul", "dense", "batched-matmul", "conv2d", "max-pool", "mean-pool")
"""Names of kernels, known without loading what makes them."""


def layers_given(options: Any) -> tuple[Sequence[Layer], Sequence[OtherCall]]:
    """What is mapped: a kernel or a term with random data, or a network's layers.

    Raises
    ------
    UsageError
        If none of them is named, or several.
    """
    from fuseloom.access.layers import Layer
    from fuseloom.access.meaning import evaluate, random_data
    from fuseloom.access.named_kernels import einsum_program, named_kernel
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
        return layers_of_program(einsum_program(options.kernel, options.extents), options.seed)
    if options.term:
        path = Path(options.term)
        text = regular_files.text(path, MAX_FILE, what="term", error=ProgramError)
        term, name = read_term(text, str(path)).term, path.name
    else:
        term, name = named_kernel(options.kernel, options.extents), options.kernel
    data = random_data(term, options.seed)
    return [Layer(name, term, data, evaluate(term, data))], ()


def _program(file: str) -> Program:
    """The program of a file, read as the other commands read it."""
    parser = argparse.ArgumentParser()
    program_options(parser)
    return model_of(parser.parse_args(["--", file])).program
