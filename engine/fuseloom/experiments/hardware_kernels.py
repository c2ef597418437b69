"""The kernels of Fig. 13: fused regions of three models, small enough for memories on a chip.

The published 41 are those of GCN and GraphSAGE on the karate club and of GPT-3 on 64 tokens, one
by one and fused; these are the same, by this project's programs, and some with two lanes or looked
up and accumulated otherwise, so that every primitive of the models is among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import networkx as nx
import numpy as np

from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.program_runs import Run, simulate
from fuseloom.models import Model, graphsage, load
from fuseloom.models.fill import filled
from fuseloom.program import StoredTensor

MACHINE = "rtl"
"""The preset of the machine: its latencies are those of the modules."""
Given = tuple[Model, Mapping[str, StoredTensor]]


def graphsage_on_karate() -> Given:
    """GraphSAGE of the sizes that the GCN has on the karate club; features are the identity."""
    graph = nx.karate_club_graph()
    adjacency = nx.to_scipy_sparse_array(graph, weight=None, dtype=np.float32)
    model = graphsage(nodes=34, features=34, hidden=16, classes=4)
    return model, filled(model, {"A": adjacency, "X": np.eye(34)})


def decoder() -> Given:
    """A decoder of GPT-3: 64 tokens, two heads of width 8, BigBird's mask in blocks of 16."""
    return load("gpt3", "bigbird", sequence=64, width=16, heads=2, inner=32, layers=1, block=16)


MODELS: Mapping[str, Callable[[], Given]] = MappingProxyType(
    {
        "GCN": lambda: load("gcn", "karate"),
        "GraphSAGE": graphsage_on_karate,
        "GPT-3": decoder,
    }
)
"""The models with their data, by name."""


@dataclass(frozen=True)
class KernelGroup:
    """Kernels that one compiled program has.

    Attributes
    ----------
    model : str
        A name of :data:`MODELS`.
    preset : str
        Name of a schedule of the model.
    settings : str
        Further directives.
    title : str
        What the settings are, for the kernels' names; empty if there are none.
    regions : tuple of str
        The regions that are kernels of the figure; empty if all are.
    leave_out : tuple of str
        Regions that are equal to others but for the names of their tensors.
    """

    model: str
    preset: str
    settings: str = ""
    title: str = ""
    regions: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the group."""
        return " ".join(part for part in (self.model, self.preset, self.title) if part)

    def kernel(self, region: str) -> str:
        """The name of the kernel that a region is."""
        parts = (f"{self.model} {region}", self.title)
        return ", ".join(part for part in parts if part)

    def kept(self, region: str) -> bool:
        """Return whether a region is one of the figure's kernels."""
        return (not self.regions or region in self.regions) and region not in self.leave_out

    def run(self) -> Run:
        """Simulate the program on the machine that the hardware is compared with."""
        model, data = MODELS[self.model]()
        parts = (model.presets[self.preset], self.settings)
        text = "; ".join(part for part in parts if part)
        compiled = compile_program(model.program, text).sized()
        return simulate(compiled, data, Machine.preset(MACHINE))


SMALLEST = (
    KernelGroup("GCN", "unfused"),
    KernelGroup("GCN", "partial"),
)
"""Those of the smallest size."""
GROUPS = (
    *SMALLEST,
    KernelGroup("GCN", "full"),
    KernelGroup("GraphSAGE", "unfused"),
    KernelGroup("GraphSAGE", "partial"),
    KernelGroup("GraphSAGE", "full"),
    KernelGroup("GPT-3", "unfused", leave_out=("Kp1", "Vp1", "Kb1", "Vb1")),
    KernelGroup("GPT-3", "partial"),
    KernelGroup("GCN", "C+S", title="global", regions=("T2", "T6")),
    KernelGroup(
        "GCN",
        "unfused",
        "order T1: k,i,p; order T2: p,i,n; order T5: k,i,n",
        "outer products",
        regions=("T1", "T2", "T5"),
    ),
    KernelGroup("GCN", "unfused", "order T2: i,n,p; locate W1.p on", "searched", regions=("T2",)),
    KernelGroup("GCN", "partial", "parallel i by 2", "2 lanes"),
    KernelGroup("GPT-3", "partial", "parallel h by 2", "2 lanes", regions=("S1..O1",)),
)
"""All of them."""


def group(name: str) -> KernelGroup:
    """The group of that name.

    Raises
    ------
    KeyError
        If there is none.
    """
    return {one.name: one for one in GROUPS}[name]


def kernels(run: Run, of: KernelGroup) -> Iterator[tuple[str, int]]:
    """The kernels of a simulated group, each with the number of its region."""
    for number, region in enumerate(run.regions):
        if of.kept(region.name):
            yield of.kernel(region.name), number
