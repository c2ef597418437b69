"""One catalogue: every trait said, everything registered, and no other room knows a name."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from fuseloom.dataflow.cost.rules import RULES
from fuseloom.dataflow.samml.catalogue import CATALOGUE
from fuseloom.dataflow.samml.primitive import Primitive, required_fields
from fuseloom.dataflow.sim.compiled.kernels import KERNELS
from fuseloom.dataflow.sim.golden.registry import IMPLEMENTATIONS
from fuseloom.errors import GraphError

ROOT = Path(__file__).parents[3]
ACCUMULATORS = """
from fuseloom.dataflow.table import cells
cells.MAX_ACCUMULATOR_ORDER = 7
from fuseloom.dataflow.samml.graph import Node
from fuseloom.dataflow.machine import Machine
from fuseloom.dataflow.sim.observe import is_peeked
for order in range(3, 8):
    node = Node(0, f"spacc{order}", tuple(range(order + 2)), (), {"fn": "add"})
    ports = [is_peeked(node, port, Machine.default()) for port in range(order + 2)]
    print(order, any(ports))
"""


@pytest.mark.deep  # takes seconds
def test_accumulators_of_every_order_look_at_nothing() -> None:
    """The traits of accumulators of any order follow from the one entry that makes them all."""
    done = subprocess.run(
        [sys.executable, "-c", ACCUMULATORS], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout == "".join(f"{order} False\n" for order in range(3, 8)), done.stderr


@pytest.mark.parametrize("left_out", required_fields())
def test_leaving_out_a_trait_is_an_error_that_names_it(left_out: str) -> None:
    said = {name: getattr(CATALOGUE["scan"], name) for name in required_fields()}
    assert Primitive("toy", **said).name == "toy"
    del said[left_out]
    with pytest.raises(GraphError, match=rf"'toy' says nothing of {left_out}\b"):
        Primitive("toy", **said)


def test_everything_that_is_registered_by_name_is_there() -> None:
    """Every entry has a golden model and kernels, and a rule if programs have it; no others do."""
    stalled = {e.memory.stalled for e in CATALOGUE.values()} - {None}
    assert IMPLEMENTATIONS.keys() == CATALOGUE.keys() | stalled
    kernels = set().union(*(entry.kernels.names for entry in CATALOGUE.values()))
    others = {"scheduler", "observed_scheduler", "memory", "memory_replay"}
    assert KERNELS.keys() == kernels | stalled | others
    assert RULES.keys() == {name for name, entry in CATALOGUE.items() if entry.estimated}


# ------------------------------------------------------------- nothing else switches on a name

OWN = (
    "fuseloom/dataflow/primitives/",  # the families' own files
    "fuseloom/dataflow/samml/exchange/",  # foreign dialects, translated name by name
)
OTHER_WORDS = {
    "fuseloom/cli/access.py": "keys of a document; one is called array, a systolic one",
    "fuseloom/cli/calls.py": "likewise; one is called source, of generated code",
    "fuseloom/cli/stitch.py": "likewise; one is called root",
    "fuseloom/dataflow/sim/conformance/vectors.py": "the dialect of the reference's vectors",
    "fuseloom/dataflow/sim/conformance/conform.py": "likewise",
    "fuseloom/dataflow/table/table_draft.py": "phases of building a table; one is called reduce",
    "fuseloom/dataflow/table/display.py": "likewise",
    "fuseloom_workbench/base/tokens.py": "families of colours; some are called after primitives",
    "fuseloom_workbench/graph/net.py": "likewise",
    "fuseloom_workbench/graph/view.py": "likewise",
    "fuseloom_workbench/figures/plot.py": "arguments of a plot; one is called source",
    "fuseloom_workbench/kernels/view.py": "fields of a drawing; one is called root",
    "fuseloom_workbench/notebook/course/forms.py": "answers are judged by the primitives in them",
    "fuseloom_workbench/notebook/course/joins.py": "likewise",
    "fuseloom_workbench/notebook/wiring.py": "likewise: what a list of nodes must have",
    "fuseloom_workbench/patterns/asked.py": "fields of a question; one is called source",
    "fuseloom_workbench/patterns/backend.py": "parts of a page; one is called array",
    "fuseloom_workbench/patterns/view.py": "keys of drawings: source, root, array",
    "fuseloom_workbench/running/run_panel.py": "requests of a visitor; one is called search",
    "fuseloom_workbench/service/client.py": "likewise",
}
"""Files with words that happen to be names of primitives, or are of another language."""


def switches(tree: ast.AST, names: frozenset[str], constants: Mapping[str, str]) -> Iterator[int]:
    """Lines that ask for a primitive by its name.

    That is a comparison with a name, a pattern or a question for the beginning of one, a
    collection or table of names, and a look into one.  ``constants`` are variables that hold one.
    """

    def is_name(node: ast.AST | None) -> bool:
        if isinstance(node, ast.Name):
            return node.id in constants
        return isinstance(node, ast.Constant) and node.value in names

    for node in ast.walk(tree):
        match node:
            case ast.Compare():
                found = any(map(is_name, (node.left, *node.comparators)))
            case ast.MatchValue():
                found = is_name(node.value)
            case ast.Set() | ast.List() | ast.Tuple():
                words = (is_name(e) or isinstance(e, ast.Constant) for e in node.elts)
                found = any(map(is_name, node.elts)) and all(words)
            case ast.Subscript():
                found = is_name(node.slice)
            case ast.Call(func=ast.Attribute(attr="get"), args=[first, *_]):
                found = is_name(first)
            case ast.Dict():
                found = any(map(is_name, node.keys))
            case ast.Call(func=ast.Name("dict")):
                found = any(keyword.arg in names for keyword in node.keywords)
            case ast.Call(func=ast.Attribute(ast.Attribute(attr="op"), "startswith" | "endswith")):
                found = True
            case _:
                found = False
        if found:
            yield node.lineno


def constants_of(tree: ast.Module, names: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Module variables that hold one name."""
    for node in tree.body:
        match node:
            case ast.Assign([ast.Name(variable)], ast.Constant(str(value))) if value in names:
                yield variable, value
            case _:
                pass


def imported(tree: ast.Module, known: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Those that a module imports from others."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            there = known.get(f"{node.module.replace('.', '/')}.py", {})
            found.update({a.asname or a.name: there[a.name] for a in node.names if a.name in there})
    return found


NAMES = frozenset(CATALOGUE) | {e.memory.stalled for e in CATALOGUE.values() if e.memory.stalled}


def modules() -> Iterator[tuple[str, ast.Module]]:
    engine = ROOT / "engine"
    for root, folder in (
        *((engine, f"fuseloom/{name}") for name in ("dataflow", "cli", "exploration")),
        (ROOT / "workbench", "fuseloom_workbench"),
        (ROOT, "apps"),
    ):
        for path in sorted((root / folder).rglob("*.py")):
            where = path.relative_to(root).as_posix()
            if not where.startswith(OWN) and where not in OTHER_WORDS:
                yield where, ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.deep  # takes seconds
def test_nothing_else_switches_on_a_primitives_name() -> None:
    trees = dict(modules())
    assert len(trees) > 150
    constants = {where: dict(constants_of(tree, NAMES)) for where, tree in trees.items()}
    ports = {"READ": "mem_read", "WRITE": "mem_write"}
    assert constants["fuseloom/dataflow/sim/ports.py"] == ports
    found = [
        f"{where}:{line}"
        for where, tree in trees.items()
        for line in switches(tree, NAMES, constants[where] | imported(tree, constants))
    ]
    assert not found, f"traits belong in the catalogue's entry: {', '.join(found)}"


def test_each_exception_is_needed() -> None:
    for where in OTHER_WORDS:
        root = "workbench" if where.startswith("fuseloom_workbench") else "engine"
        tree = ast.parse((ROOT / root / where).read_text(encoding="utf-8"))
        assert any(switches(tree, NAMES, {})), f"{where} needs no exception any more"


@pytest.mark.parametrize(
    "planted",
    [
        "if node.op == 'scan': pass",
        "if 'array' != maker.op: pass",
        "if node.op in ('root', 'anything'): pass",
        "if node.op not in READ_AND_WRITE or node.op == READ: pass",
        "match node.op:\n    case 'scan' | 'other': pass",
        "timing = {'binary': 1}[node.op]",
        "timing = dict(binary=1)[node.op]",
        "rule = RULES['scan']",
        "rule = CATALOGUE.get('scan')",
        "KINDS = frozenset({'repeat'})",
        "for name in ['repsig']: pass",
        "if node.op.startswith('spacc'): pass",
        "if node.op == 'stalling_scan': pass",
    ],
)
def test_a_planted_switch_is_found(planted: str) -> None:
    assert list(switches(ast.parse(planted), NAMES, {"READ": "mem_read"}))


@pytest.mark.parametrize(
    "harmless",
    [
        "draft.add('scan', (ref,), outputs)",
        "op = 'union' if join.union else 'intersect'",
        "READ = 'mem_read'",
        "if statement.op == Op.SUM: pass",
        "@rule('scan')\ndef scan(): pass",
    ],
)
def test_making_a_node_by_name_is_none(harmless: str) -> None:
    assert not list(switches(ast.parse(harmless), NAMES, {}))
