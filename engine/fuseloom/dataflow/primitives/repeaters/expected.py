"""Expected outputs: repeated tokens."""

from __future__ import annotations

from dataclasses import replace

from fuseloom.dataflow.cost.flow import Flow, FlowContext, NestingLevel, NodeFlows, References
from fuseloom.dataflow.cost.rules import innermost_counts, plain, rule
from fuseloom.dataflow.samml.graph import Node


@rule("repsig")
def _repsig(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    return plain(inputs, replace(inputs[0], source=context.outputs[0]))


@rule("repeat")
def _repeat(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    source, signal = inputs
    references = source.references
    if references is not None:
        times = signal.values / max(source.values, 1e-12)
        old = references
        references = References(old.statistics, old.level, lambda: old.counts * times)
    out = Flow(signal.shape, context.outputs[0], references=references, present=source.present)
    return plain(inputs, out)


@rule("replay")
def _replay(node: Node, inputs: tuple[Flow, ...], context: FlowContext) -> NodeFlows:
    """The levels of the subtree, as often as the driver has coordinates, below the driver's."""
    stream, driver = inputs
    times = driver.values / max(driver.shape.fibers if driver.shape else 1.0, 1e-12)
    shape = driver.shape
    for values in innermost_counts(stream.shape, int(node.params["levels"])):
        shape = NestingLevel(values * times, shape)
    old = stream.references
    references = old and References(old.statistics, old.level, lambda: old.counts * times)
    counts = None if stream.counts is None else stream.counts * times
    out = Flow(
        shape, context.outputs[0], counts=counts, references=references, present=stream.present
    )
    return NodeFlows((out,), max(stream.tokens, out.tokens))
