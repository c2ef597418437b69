"""A new primitive touches one folder, as CONTRIBUTING says, and a name means nothing."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fuseloom.dataflow.samml.primitive import required_fields
from fuseloom.errors import GraphError
from tests.dataflow.sim.compiled.kept_kernels import taking_kernels

ROOT = Path(__file__).parents[3]
FAMILY = "shaping"

ENTRY = """\
    _entry(
        "twofold",
        title="twofold shifter",
        short="Shift2",
        family=Family.ROUTE,
        doc="Adds an offset to every coordinate, twice.",
        inputs=(Port("crd", (CRD,)),),
        outputs=(Port("crd", (CRD,)),),
        params=("offset", "dim"),
        nesting=Nesting.MAKES,
        traversal=Traversal.HANDS_ON,
        streaming=Streaming(NO_PEEKS, Takes.FIRST, Paced.BOTH),
        kernels=Kernels.one("twofold"),
        estimated=True,
        flops=lambda taken, made: 3 * taken[0],
    ),
)
"""
GOLDEN = '''

@golden_model("twofold")
def twofold(node: Process) -> Behaviour:
    """Add the offset twice, one token a cycle."""
    (stream,) = node.inputs
    (out,) = node.outputs
    while True:
        token = yield stream.take
        yield out.put(token + 2 * int(node.param("offset")) if is_number(token) else token)
        if token is DONE:
            return
        node.clock += 1
'''
RULE = """

@rule("twofold")
def _twofold(node: Node, inputs: tuple[Flow, ...], context: Context) -> Outcome:
    return _shift(replace(node, params={**node.params, "offset": 2 * node.params["offset"]}),
                  inputs, context)
"""
EXECUTION = """

@rule("twofold", steps="each coordinate and stop", shifts=True)
def _twofold(node: Node, inputs: Inputs, context: Context) -> Executed:
    return _shift(replace(node, params={**node.params, "offset": 2 * node.params["offset"]}),
                  inputs, context)
"""
WORDS = '''

@narrator("twofold")
def twofold(scene: Scene) -> str:
    """An offset added twice."""
    return "shifted"
'''
USE = """
import json
from dataclasses import replace
from fuseloom.dataflow.compiler import compile_program
from fuseloom.dataflow.cost import estimate
from fuseloom.dataflow.samml.graph import Graph, Node, Stream, StreamKind
from fuseloom.dataflow.sim.bound import BoundGraph
from fuseloom.dataflow.sim.compiled.pacing import paced_streams
from fuseloom.dataflow.sim.engines import run_graph
from fuseloom.dataflow.sim.explain.critical import critical_path
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.observe import Observe
from fuseloom.dataflow.sim.program_runs import simulate
from fuseloom.dataflow.sim.reports import InputStreams
from fuseloom.dataflow.sim.steps import record, story
from fuseloom.models.data import random_tensor
from fuseloom.program import parse

CRD, REF = StreamKind.CRD, StreamKind.REF
compiled = compile_program(parse("A: 4x2 dcsr\\nB: 4x6 dcsr\\nC[i,c] = concat[c](A[i,c], B[i,c])"))


def use_twofold(op, node):
    if node.op != "shift" or not node.params["offset"]:
        return node
    half, odd = divmod(node.params["offset"], 2)
    assert not odd
    return replace(node, op=op, params={**node.params, "offset": half})


def swapped(region):
    nodes = tuple(use_twofold("twofold", node) for node in region.graph.nodes)
    return replace(region, graph=replace(region.graph, nodes=nodes))


def small(op, offset):
    kinds = [(REF, 0), (CRD, 1), (CRD, 1)]
    streams = tuple(Stream(k, kind, depth, f"s{k}", 2) for k, (kind, depth) in enumerate(kinds))
    return Graph("small", (
        Node(0, "root", (), (0,)),
        Node(1, "dense_scan", (0,), (1, None), {"dim": 5}),
        Node(2, op, (1,), (2,), {"offset": offset, "dim": 9}),
        Node(3, "sink", (2,), ()),
    ), streams)


def facts(op, offset):
    bound, machine, found = BoundGraph(small(op, offset)), Machine.default(), {}
    for engine in ("interpreter", "compiled"):
        result = run_graph(bound, machine, engine, log=True, observe=Observe(log=True))
        observed, path = result.observed, critical_path(result)
        found[engine] = [
            str(result.log), result.clocks.tolist(), observed.occupancy_max.tolist(),
            observed.residence.tolist(), [s.peeked for s in observed.log],
            [(s.node, s.start, s.stop, s.why.value) for s in path.segments],
        ]
    found["told"] = [moment.text for moment in story(record(bound, machine), 2)]
    inputs = InputStreams.of(bound)
    found["paced"] = sorted(paced_streams(bound.graph, machine)[0])
    found["progress"] = [inputs.streams.tolist(), inputs.expected.tolist()]
    return found


data = {name: random_tensor(compiled.program.tensor(name), density=0.4) for name in "AB"}
other = replace(compiled, regions=tuple(swapped(region) for region in compiled.regions))
ops = [node.op for region in other.regions for node in region.graph.nodes]
runs = {}
for name, each in (("shift", compiled), ("twofold", other)):
    for sized in (each, each.sized()):
        run = simulate(sized, data, machine=Machine.preset("hbm2"), engine="interpreter")
        assert run.check().ok, str(run.check())
        runs.setdefault(name, []).append([run.cycles, run.tokens])
    total = estimate(each, data)
    runs[name].append([total.cycles, total.bytes])
    runs[name + " flops"] = total.flops
print(json.dumps({
    "ops": ops, "runs": runs, "shift": facts("shift", 4), "twofold": facts("twofold", 2),
}))
"""


def kernel(text: str) -> str:
    """The kernel: that of the shifter, which adds what is in ``p0``, given twice the offset."""
    found = re.search(r'\n\n@kernel\("shift".*?(?=\n\n\n)', text, re.DOTALL)
    assert found
    made = found.group()
    for old, new in (
        ('"shift"', '"twofold"'),
        ("def shift(", "def twofold("),
        ('setup.param("offset")', '2 * setup.param("offset")'),
    ):
        assert made.count(old) == 1
        made = made.replace(old, new)
    return f"\n{made.lstrip()}\n"


def with_entry(text: str, entry: str = ENTRY) -> str:
    assert text.endswith("\n)\n")
    return text.removesuffix(")\n") + entry


def places() -> list[str]:
    """The files of one folder that CONTRIBUTING tells to touch, in its order."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split("## Adding a primitive")[1].split("\n## ")[0]
    required, _, _ = section.partition("If SAM or Comal have it")
    (folder,) = re.findall(r"`(engine/[\w/]+/)<family>/`", required)
    return [f"{folder}{FAMILY}/{name}" for name in re.findall(r"^\d\. `(\w+\.py)`", required, re.M)]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the engine with one primitive more."""
    there = tmp_path_factory.mktemp("engine")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "engine", there / "engine", ignore=ignored)
    changes = (
        with_entry,
        lambda text: text + GOLDEN,
        lambda text: text + kernel(text),
        lambda text: text + RULE,
        lambda text: (
            text.replace("annotations\n", "annotations\n\nfrom dataclasses import replace\n")
            + EXECUTION
        ),
        lambda text: text + WORDS,
    )
    for place, change in zip(places(), changes, strict=True):
        path = there / place
        path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    return there


def python(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    cache = {"FUSELOOM_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(folder / "engine")}
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, **cache},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.deep
def test_a_new_primitive_needs_one_folder_only(copy: Path) -> None:
    """It runs on both engines, is explained, paced, sized, followed and estimated rightly."""
    done = python(copy, taking_kernels(["twofold"]) + USE)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert "twofold" in found["ops"]
    runs = found["runs"]
    assert runs["twofold"] == runs["shift"]
    assert runs["twofold flops"] > runs["shift flops"]
    toy, like = found["twofold"], found["shift"]
    assert toy["interpreter"] == like["interpreter"]
    assert toy["compiled"] == like["compiled"]
    assert toy["compiled"][:5] == toy["interpreter"][:5], "all but which of equal paths is told"
    assert toy["told"].count("shifted") == 7
    assert toy["paced"] == like["paced"] == [0, 1, 2]
    assert like["progress"] == [[1], [5]]
    assert toy["progress"] == [[2], [5]], "its trait says that it hands on what it takes"


@pytest.mark.parametrize("left_out", required_fields())
def test_an_entry_without_a_trait_cannot_be_imported(left_out: str, tmp_path: Path) -> None:
    """Neither the entry nor its family says what it is."""
    path = tmp_path / f"{FAMILY}.py"
    entry, own = re.subn(rf"^        {left_out}=.*\n", "", ENTRY, flags=re.MULTILINE)
    text = (ROOT / places()[0]).read_text(encoding="utf-8")
    text, common = re.subn(rf"^    {left_out}=.*\n", "", text, flags=re.MULTILINE)
    assert own + common >= 1
    path.write_text(with_entry(text, entry), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("shaping_without", path)
    assert spec is not None
    assert spec.loader is not None
    with pytest.raises(GraphError, match=rf"says nothing of {left_out}\b"):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


@pytest.mark.deep  # takes seconds
@pytest.mark.parametrize(
    ("place", "registry", "lacks"),
    [
        (1, "fuseloom.dataflow.sim.golden.registry.IMPLEMENTATIONS", "no golden model"),
        (2, "fuseloom.dataflow.sim.compiled.kernels.KERNELS", "no kernel"),
        (3, "fuseloom.dataflow.cost.rules.RULES", "no cost rule"),
        (4, "fuseloom.dataflow.cost.exact.execution.RULES", "no rule of execution"),
        (5, "fuseloom.dataflow.sim.steps.scene.NARRATORS", "no sentence"),
    ],
)
def test_a_primitive_that_lacks_one_place_is_refused(
    place: int, registry: str, lacks: str, copy: Path
) -> None:
    path = copy / places()[place]
    whole = path.read_text(encoding="utf-8")
    path.write_text((ROOT / places()[place]).read_text(encoding="utf-8"), encoding="utf-8")
    try:
        module, _, name = registry.rpartition(".")
        done = python(copy, f"from {module} import {name}\nlen({name})")
    finally:
        path.write_text(whole, encoding="utf-8")
    assert done.returncode != 0
    assert f"the primitive 'twofold' has {lacks} of the name 'twofold'" in done.stderr
