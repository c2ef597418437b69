"""Losses of dense graphs that become programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from fuseloom.stitch.graph import DenseComputation, DenseOperation
from fuseloom.wording import counted

_READ = {
    "number", "dimensions", "iota_dimension", "direction", "to_apply", "slice", "padding", "type",
    *(f"{side}_{key}_dims" for side in ("lhs", "rhs") for key in ("batch", "contracting")),
}  # fmt: skip
"""Attributes that decide on values."""


def graph_losses(
    main: DenseComputation,
    kept: Sequence[DenseOperation],
    held: Collection[str],
    inputs: Mapping[str, str],
) -> Iterator[str]:
    """Yield what a program of a graph does not say, a sentence each.

    Parameters
    ----------
    main : DenseComputation
        The graph.
    kept : sequence of DenseOperation
        Those that results need.
    held : collection of str
        Operations whose values are tensors, not numbers that are known.
    inputs : mapping
        Names of parameters to those of inputs of the program.

    Examples
    --------
    >>> from fuseloom.stitch.shapes import TensorShape
    >>> x = DenseOperation("x.1", "parameter", TensorShape("bf16", (3,)))
    >>> y = DenseOperation("y.1", "negate", TensorShape("bf16", (3,)), ("x.1",))
    >>> graph = DenseComputation("main", (x, y), "y.1")
    >>> for sentence in graph_losses(graph, graph.operations, {"x.1", "y.1"}, {"x.1": "x_1"}):
    ...     print(sentence)
    Elements of the type bf16 become numbers, whose meaning is float64.
    No statement rounds its result to 16 bits.
    Names of parameters became those of tensors: x.1 is x_1.
    """
    types = {one.array.element for one in kept if one.name in held} - {"f64"}
    if types:
        yield (
            f"Elements of the type{'s' * (len(types) > 1)} {', '.join(sorted(types))} become "
            "numbers, whose meaning is float64."
        )
    if types & {"bf16", "f16"}:
        yield "No statement rounds its result to 16 bits."
    if any(one[0] in "su" for one in types):
        yield "Integers no longer wrap."
    unread = [one.name for one in main.parameters if one.name not in inputs]
    if unread:
        yield f"No result needs {counted(len(unread), 'parameter')}: {', '.join(unread)}."
    names = {one.name for one in kept}
    dead = [one for one in main.operations if one.opcode != "parameter" and one.name not in names]
    left = len(dead) - (main.by_name[main.root].opcode == "tuple")
    if left:
        yield f"No result needs {counted(left, 'operation')}: left out."
    called = [f"{old} is {new}" for old, new in inputs.items() if new != old]
    if called:
        yield f"Names of parameters became those of tensors: {', '.join(called)}."
    bitcasts = sum(one.opcode == "bitcast" for one in kept)
    if bitcasts:
        yield f"Bitcasts became reshapes: {bitcasts}."
    for name, count in Counter(x for one in kept for x in one.attributes if x not in _READ).items():
        yield f"The attribute {name} of {counted(count, 'operation')} was left out."
