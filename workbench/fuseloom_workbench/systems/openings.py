"""Addresses that open a program on the pages of single systems, where these can take it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from string import ascii_letters
from types import MappingProxyType
from urllib.parse import urlencode

from fuseloom.access.program_layers import layers_of_program
from fuseloom.access.text import to_text
from fuseloom.comparison.rows import FusionSystem
from fuseloom.contraction.networks import from_einsum
from fuseloom.contraction.paths import binary
from fuseloom.contraction.tree import ContractionTree
from fuseloom.errors import FuseloomError
from fuseloom.program import Program
from fuseloom_workbench.state.addresses import LONGEST_ADDRESS

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Names of operands on the page of tensor networks."""


@dataclass(frozen=True)
class PageOpening:
    """An address that opens the program on the page of a system.

    Attributes
    ----------
    system : FusionSystem
    page : str
        The name of the page.
    address : str
    note : str
        The data that the program has there, in words.
    """

    system: FusionSystem
    page: str
    address: str
    note: str


def openings(
    program: Program,
    text: str,
    model: tuple[str, str] | None,
    more: Mapping[str, str] = MappingProxyType({}),
) -> list[PageOpening]:
    """Return an opening for each system whose page can take the program.

    The pages of calls and of deep fusion take what comes with them alone.

    Parameters
    ----------
    text : str
        The program's text.
    model : (str, str), optional
        The ready-made model that it is, or on whose data it is, and its data set.
    more : mapping of str to str
        What the explorer's address has besides: a schedule, sizes, a program edited from the model.

    Examples
    --------
    >>> from fuseloom.comparison.examples import example, example_path
    >>> program, _ = example("gcn_layer")
    >>> text = example_path("gcn_layer").read_text()
    >>> [(one.system.value, one.page) for one in openings(program, text, None)]
    [('dataflow', 'explorer'), ('contraction', 'networks')]
    """
    every = _every(program, text, model, more)
    return [one for one in every if len(one.address) <= LONGEST_ADDRESS]


def _every(
    program: Program, text: str, model: tuple[str, str] | None, more: Mapping[str, str]
) -> Iterator[PageOpening]:
    drawn = "on random data that are drawn there"
    if model is not None:
        given, note = {"model": model[0], "data": model[1]}, f"on its data set {model[1]}"
    else:
        given, note = {"model": "spmv", "data": "random", "program": text}, drawn
    query = urlencode({**given, **more})
    yield PageOpening(FusionSystem.DATAFLOW, "explorer", f"explorer?{query}", note)
    network = network_address(program)
    if network:
        yield PageOpening(FusionSystem.CONTRACTION, "networks", network, drawn)
    pattern = pattern_address(program)
    if pattern:
        yield PageOpening(FusionSystem.ACCESS, "patterns", pattern, drawn)


def network_address(program: Program) -> str:
    """Return the address of a program as a tensor network; empty if it is none.

    Examples
    --------
    >>> from fuseloom.comparison.examples import example
    >>> network_address(example("gcn_layer")[0])
    'networks?einsum=ab%2Cbc%2Cda-%3Edc&extents=a%3D34%2Cb%3D20%2Cc%3D8%2Cd%3D34&tree=%28C+%28A+B%29%29'
    """
    try:
        tree = ContractionTree.of(program)
        return _network_address(tree)
    except FuseloomError:
        return ""


def _network_address(tree: ContractionTree) -> str:
    if len(tree.inputs) > len(LETTERS) or any(len(c.operands) != 2 for c in tree.contractions):
        return ""
    if len(tree.given) != len(tree.inputs):
        return ""  # a tensor that is read twice, or made by the program itself
    indices = dict.fromkeys(x for one in tree.inputs for x in one.indices)
    if len(indices) > len(ascii_letters):
        return ""
    letter = dict(zip(indices, ascii_letters, strict=False))
    name = {one.tensor: LETTERS[n] for n, one in enumerate(tree.inputs)}

    def spelt(tensor: str) -> str:
        if tensor in name:
            return name[tensor]
        left, right = tree.by_name[tensor].operands
        return f"({spelt(left.tensor)} {spelt(right.tensor)})"

    operands = ["".join(letter[x] for x in one.indices) for one in tree.inputs]
    einsum = f"{','.join(operands)}->{''.join(letter[x] for x in tree.result.indices)}"
    extents = {letter[x]: tree.extents[x] for x in indices}
    written = spelt(tree.result.tensor)
    made = binary(from_einsum(einsum, extents), written)
    if _loops(made) != sorted(sorted(letter[x] for x in c.indices) for c in tree.contractions):
        return ""  # such as a sum that this page would do earlier
    sizes = ",".join(f"{x}={size}" for x, size in extents.items())
    given = {"einsum": einsum, "extents": sizes, "tree": written if len(name) > 2 else ""}
    return f"networks?{urlencode(given)}"


def _loops(tree: ContractionTree) -> list[list[str]]:
    """The indices of each contraction."""
    return sorted(sorted(c.indices) for c in tree.contractions)


def pattern_address(program: Program) -> str:
    """Return the address of a program that is one layer and nothing else; empty for others.

    Examples
    --------
    >>> import fuseloom as fl
    >>> text = "A: 8x4 dense\\nB: 4x5 dense\\nC[i,j] = A[i,k] * B[k,j]"
    >>> pattern_address(fl.parse(text))[:26]
    'patterns?source=term&term='
    >>> pattern_address(fl.parse(text + "\\nD[i,j] = relu(C[i,j])"))
    ''
    """
    try:
        layers, others = layers_of_program(program)
    except FuseloomError:
        return ""
    if len(layers) != 1 or others:
        return ""
    return f"patterns?source=term&{urlencode({'term': to_text(layers[0].term)})}"
