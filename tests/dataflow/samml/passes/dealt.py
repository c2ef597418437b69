"""Graphs for tests of lanes."""

from __future__ import annotations

from collections import Counter

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.samml.graph import Graph
from fuseloom.program import parse


def graph_of(text: str) -> Graph:
    (region,) = compile_program(parse(text)).regions
    return region.graph


def ops(graph: Graph) -> Counter[str]:
    return Counter(n.op for n in graph.nodes)


ALIGNED = """A: 4x5 csr
B: 4x6 csr
C: 5x6 dcsr
T[j,l] = A[i,j] * B[i,l]
Y[j,l] = T[j,l] * C[j,l]"""
