"""Networks as the command line names them: einsum strings, shipped ones, programs in files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuseloom.cli.inputs import MAX_FILE
from fuseloom.errors import ProgramError, UsageError
from fuseloom.program import parse, regular_files

if TYPE_CHECKING:
    from fuseloom.contraction.tree import ContractionTree
    from fuseloom.frontends.files import CoordinateTensor


def tree_of(options: Any, tensors: Mapping[str, CoordinateTensor]) -> ContractionTree:
    """The network that the options name.

    Raises
    ------
    UsageError
        Of options that contradict each other.
    ProgramError
        Of what is no network, or no tree of it.
    DataError
        Of sizes that the given tensors contradict.
    """
    from fuseloom.contraction.given import sizes_of
    from fuseloom.contraction.networks import from_einsum, read_extents
    from fuseloom.contraction.paths import binary, optimised
    from fuseloom.contraction.shipped import SHIPPED, shipped

    if options.network in SHIPPED:
        if options.extents or options.tree or options.optimiser:
            raise UsageError(
                f"{options.network} has its own sizes and tree",
                hint=SHIPPED[options.network].einsum,
            )
        return shipped(options.network)
    if options.tree and options.optimiser:
        raise UsageError("--tree and --optimiser both choose the tree", hint="give one of them")
    if not is_einsum(options.network):
        return _of_program(options)
    extents = sizes_of(options.network, tensors, read_extents(options.extents))
    program = from_einsum(options.network, extents)
    if options.optimiser:
        return optimised(program, options.optimiser)
    return binary(program, options.tree)


def is_einsum(network: str) -> bool:
    """Return whether a text is an einsum string: it says a result, or has several operands.

    Examples
    --------
    >>> is_einsum("ii->"), is_einsum("ij,jk"), is_einsum("gcn.loom")
    (True, True, False)
    """
    return "->" in network or ("," in network and not Path(network).is_file())


def _of_program(options: Any) -> ContractionTree:
    """The network that a program's file holds."""
    from fuseloom.contraction.shipped import SHIPPED
    from fuseloom.contraction.tree import ContractionTree

    path = Path(options.network)
    if not path.is_file():
        raise ProgramError(
            f"{options.network[:40]!r} is no einsum string, no network that is shipped, and no "
            "file with a program",
            hint=f"write e.g. ij,jk->ik; shipped are {', '.join(SHIPPED)}",
        )
    if options.tree or options.optimiser:
        raise UsageError(
            "a program is a tree already; a longer product takes two at a time, from the left",
            hint="write parentheses, R[i,l] = A[i,j] * (B[j,k] * C[k,l]), or give an einsum string",
        )
    if options.extents:
        raise UsageError("a program declares its sizes itself", hint="leave --extents out")
    text = regular_files.text(path, MAX_FILE, what="program", error=ProgramError)
    program = parse(text, source=str(path))
    return ContractionTree.of(program)
