"""Tests mirror the tree: who looks for the tests of a module finds them where the module lies.

Tests of ``engine/a/b.py`` are in ``tests/a/test_b.py``, those of ``workbench/a/b.py`` in
``tests/workbench/a/test_b.py``, and those of a package's front (``engine/a/__init__.py``) in
``tests/test_a.py``.
"""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
TESTS = ROOT / "tests"


class Elsewhere(NamedTuple):
    """The place of tests for modules that have no test of their own, and the reason."""

    modules: str
    tests: str
    why: str


S, P = "fuseloom/dataflow/sim", "tests/property"
F = "fuseloom/dataflow/primitives"
DRAWN = "tests/workbench/base/test_component.py"
N = "tests/workbench/networks/test_backend.py"
W = "fuseloom_workbench"
ELSEWHERE = (
    Elsewhere(
        "fuseloom/dataflow/rtl/float32/*.py",
        "tests/dataflow/rtl/float32/test_units.py",
        "parts of units, run as units",
    ),
    Elsewhere(
        "fuseloom/dataflow/primitives/*/*hardware.py",
        "tests/dataflow/rtl/test_primitives.py",
        "each beside its golden model, on random streams",
    ),
    Elsewhere(
        "fuseloom/dataflow/rtl/*.py", "tests/dataflow/rtl/test_graphs.py", "whole graphs"
    ),
    Elsewhere("fuseloom/cli/rtl_documents.py", "tests/cli/test_rtl.py", "documents"),
    Elsewhere(
        "fuseloom/stitch/gpu/cuda_on_cpu.py", "tests/stitch/cuda/test_emitter.py", "what it runs"
    ),
    Elsewhere(
        "fuseloom/stitch/gpu/job_files/run.py", "tests/stitch/gpu/test_job.py", "in its own process"
    ),
    Elsewhere(
        "fuseloom/dataflow/samml/level_lowering.py",
        "tests/dataflow/samml/test_lowering.py",
        "levels, in whole graphs",
    ),
    Elsewhere("fuseloom/calls/commands.py", "tests/calls/test_schedule.py", "records"),
    Elsewhere(
        "fuseloom/calls/pipeline_writer.py", "tests/calls/test_emit_python.py", "what writers share"
    ),
    Elsewhere("fuseloom/calls/parts.py", "tests/calls/test_resolution.py", "records"),
    Elsewhere("fuseloom/calls/pipeline_nodes.py", "tests/calls/test_pipeline.py", "records"),
    Elsewhere("fuseloom/access/shapes.py", "tests/access/test_meaning.py", "by shape rules"),
    Elsewhere("fuseloom/access/layers.py", "tests/access/test_mapped_layers.py", "records"),
    Elsewhere("fuseloom/access/terms.py", "tests/access/test_meaning.py", "what is shared"),
    Elsewhere(
        "fuseloom/access/constructs/construct.py",
        "tests/access/constructs/test_transformers.py",
        "what a construct is, by those there are",
    ),
    Elsewhere(
        "fuseloom/access/constructs/*.py",
        "tests/access/constructs/test_operators.py",
        "leaves and calls, beside operators",
    ),
    Elsewhere(
        "fuseloom/access/saturation/egglog_module.py",
        "tests/access/saturation/test_egraph.py",
        "the import of egglog",
    ),
    Elsewhere(
        "fuseloom/access/saturation/classes.py",
        "tests/access/saturation/test_egraph.py",
        "what the e-graph gives",
    ),
    Elsewhere("fuseloom/contraction/paths.py", "tests/contraction/test_networks.py", "by text"),
    Elsewhere(
        "fuseloom/dataflow/table/join_trees.py",
        "tests/dataflow/table/test_joins.py",
        "the trees of joins, by what they join",
    ),
    Elsewhere(
        "fuseloom/frontends/torch/traced.py",
        "tests/frontends/torch/test_importer.py",
        "a protocol, no behaviour",
    ),
    Elsewhere(
        "fuseloom/frontends/torch/pooling.py",
        "tests/frontends/torch/test_windows.py",
        "windows that are reduced",
    ),
    Elsewhere(
        "fuseloom/frontends/torch/recorded_again.py",
        "tests/frontends/torch/test_recording.py",
        "one recording beside another",
    ),
    Elsewhere(
        "fuseloom/program/declarations.py", "tests/program/test_verify.py", "through a program"
    ),
    Elsewhere("fuseloom/__main__.py", "tests/cli/test_main.py", "a door to main"),
    Elsewhere("fuseloom/cli/command.py", "tests/cli/test_json.py", "what commands share"),
    Elsewhere("fuseloom/cli/cancelled.py", "tests/cli/test_main.py", "Ctrl+C, among imports, too"),
    Elsewhere("fuseloom/cli/*documents.py", "tests/cli/test_json.py", "held to what is printed"),
    Elsewhere("fuseloom/results/schemas.py", "tests/results/test_document.py", "the schemas"),
    Elsewhere("fuseloom/results/run_parts.py", "tests/results/test_record.py", "parts of records"),
    Elsewhere("fuseloom/cli/registry.py", "tests/cli/test_main.py", "the list of the commands"),
    Elsewhere("fuseloom/cli/kernels.py", "tests/cli/test_access.py", "one half of a command"),
    Elsewhere("fuseloom/cli/networks.py", "tests/cli/test_contract.py", "one half of a command"),
    Elsewhere("fuseloom/cli/programs.py", "tests/cli/test_simulate.py", "one half of a command"),
    Elsewhere(
        "fuseloom/dataflow/samml/traits.py",
        "tests/dataflow/samml/test_catalogue.py",
        "words in which the catalogue speaks",
    ),
    Elsewhere(
        f"{F}/*/entries.py",
        "tests/dataflow/samml/test_catalogue.py",
        "entries of one table, each held to the same rules",
    ),
    Elsewhere(
        f"{F}/*/*kernels.py",
        f"{P}/test_kernels_equal_golden.py",
        "kernels are compared with their golden models, token by token",
    ),
    Elsewhere(
        f"{F}/*/*_golden.py",
        "tests/dataflow/primitives/scanners/test_stalling_golden.py",
        "what stands still for the memory",
    ),
    Elsewhere(
        f"{F}/*/expected.py",
        "tests/property/test_names.py",
        "estimates from statistics, of whole programs",
    ),
    Elsewhere(
        f"{F}/*/exact.py",
        "tests/dataflow/primitives/values/test_exact.py",
        "what leaves coordinates alone, sources and writers",
    ),
    Elsewhere(
        f"{F}/*/narration.py",
        f"{S.replace('fuseloom', 'tests')}/steps/test_narration.py",
        "sentences, primitive by primitive",
    ),
    Elsewhere(
        "fuseloom/dataflow/samml/exchange/record.py",
        "tests/dataflow/samml/exchange/test_legalise.py",
        "what an import says of itself",
    ),
    Elsewhere(
        "fuseloom/dataflow/samml/exchange/sam_build.py",
        "tests/dataflow/samml/exchange/test_sam_import.py",
        "steps of one import",
    ),
    Elsewhere(
        "fuseloom/dataflow/samml/exchange/tortilla_ops.py",
        "tests/dataflow/samml/exchange/test_tortilla_export.py",
        "a table of the format's operations, there and back",
    ),
    Elsewhere(
        f"{S}/compiled/kernels/*.py",
        f"{P}/test_observation.py",
        "the scheduler, and what observes a run, beside the interpreter",
    ),
    Elsewhere(
        f"{S}/compiled/observing.py", f"{P}/test_observation.py", "held to the golden models"
    ),
    Elsewhere(
        "fuseloom/dataflow/machine/ports.py", "tests/dataflow/machine/test_machine.py", "addresses"
    ),
    Elsewhere(f"{S}/compiled/control.py", f"{P}/test_observation.py", "offsets of the observer"),
    Elsewhere(f"{S}/compiled/maxima.py", f"{P}/test_observation.py", "held to the golden models"),
    Elsewhere(f"{S}/compiled/flushing.py", f"{P}/test_observation.py", "held to the golden models"),
    Elsewhere(
        f"{S}/compiled/dram.py", "tests/dataflow/dram/test_random.py",
        "the memory as machine code, compared with the memory as Python",
    ),
    Elsewhere(f"{S}/compiled/asking.py", f"{P}/test_memory.py", "a part of kernels"),
    Elsewhere(f"{S}/compiled/*.py", f"{P}/test_primitives.py", "parts of kernels, run as kernels"),
    Elsewhere(
        "fuseloom/dataflow/dram/*.py",
        "tests/dataflow/dram/test_random.py",
        "one controller in four files, held to the protocol and to another one",
    ),
    Elsewhere(f"{S}/golden/observing.py", f"{P}/test_observation.py", "compared with the kernels"),
    Elsewhere(
        "fuseloom/dataflow/fusion/alike.py",
        "tests/property/test_alike.py",
        "what is alike compiles to what it does alone",
    ),
    Elsewhere(
        "fuseloom/frontends/mlir/print_statements.py",
        "tests/frontends/mlir/test_printer.py",
        "one half of the printer",
    ),
    Elsewhere(
        "fuseloom/frontends/mlir/*.py",
        "tests/frontends/mlir/test_corpus.py",
        "parts of one importer, seen in the programs it gives",
    ),
    Elsewhere(
        "fuseloom/frontends/torch/*.py",
        "tests/frontends/torch/test_operations.py",
        "operation by operation, compared with PyTorch",
    ),
    Elsewhere(
        "fuseloom/dataflow/cost/exact/axes.py",
        "tests/dataflow/cost/exact/test_timing.py",
        "places of the recurrence, through it",
    ),
    Elsewhere(
        "fuseloom/dataflow/cost/exact/arrivals.py",
        "tests/dataflow/cost/exact/test_timing.py",
        "steps of the recurrence, through it",
    ),
    Elsewhere(
        "fuseloom/comparison/*.py",
        "tests/comparison/test_compare.py",
        "rows of every system, by one call",
    ),
    Elsewhere(
        "fuseloom/exploration/designs.py",
        "tests/exploration/test_codesign.py",
        "results of that search",
    ),
    Elsewhere(
        "fuseloom/exploration/store/rows.py",
        "tests/exploration/store/test_store.py",
        "what the store writes and reads back",
    ),
    Elsewhere(
        "fuseloom/exploration/executors/*.py",
        "tests/exploration/executors/test_local.py",
        "parts of executors, seen in what comes of jobs",
    ),
    Elsewhere(
        "fuseloom/experiments/accounting.py",
        "tests/experiments/recipes/test_fusion.py",
        "what the models on graphs are run with",
    ),
    Elsewhere(
        "fuseloom/experiments/recipe.py",
        "tests/experiments/test_driver.py",
        "what recipes are made of, seen in what comes of them",
    ),
    Elsewhere(
        "fuseloom/experiments/recipes/*.py",
        "tests/experiments/test_registry.py",
        "recipes, each at its smallest size",
    ),
    Elsewhere("fuseloom/cli/keeping.py", "tests/cli/test_runs.py", "runs that simulate keeps"),
    Elsewhere("fuseloom/models/from_file.py", "tests/cli/test_inputs.py", "a record, no behaviour"),
    Elsewhere(
        "fuseloom_workbench/service/*.py",
        "tests/workbench/service/test_client.py",
        "processes that work together, seen from a page",
    ),
    Elsewhere(f"{W}/serving/__main__.py", "tests/workbench/serving/test_serve.py", "a door"),
    Elsewhere(f"{W}/networks/answering.py", N, "answers, by the backend that asks"),
    Elsewhere(f"{W}/networks/view.py", N, "answers, by the backend that asks"),
    Elsewhere(f"{W}/networks/trees.py", "tests/workbench/networks/test_asked.py", "by text"),
    Elsewhere(f"{W}/networks/*.py", "tests/browser/test_networks.py", "a page, in a browser"),
    Elsewhere(
        f"{W}/patterns/answering.py",
        "tests/workbench/patterns/test_backend.py",
        "answers, by the backend that asks",
    ),
    Elsewhere(f"{W}/patterns/pa*s.py", "tests/browser/test_patterns.py", "a page, in a browser"),
    Elsewhere(f"{W}/patterns/page.py", "tests/browser/test_patterns.py", "a page, in a browser"),
    Elsewhere(
        f"{W}/calls/answering.py",
        "tests/workbench/calls/test_backend.py",
        "answers, by the backend that asks",
    ),
    Elsewhere(f"{W}/calls/pa*.py", "tests/browser/test_calls.py", "a page, in a browser"),
    Elsewhere(
        f"{W}/kernels/answering.py",
        "tests/workbench/kernels/test_backend.py",
        "answers, by the backend that asks",
    ),
    Elsewhere(f"{W}/kernels/pa*.py", "tests/browser/test_kernels.py", "a page, in a browser"),
    Elsewhere(
        f"{W}/systems/answering.py",
        "tests/workbench/systems/test_backend.py",
        "answers, by the backend that asks",
    ),
    Elsewhere(f"{W}/systems/pa*.py", "tests/browser/test_systems.py", "a page, in a browser"),
    Elsewhere(f"{W}/base/child_backend.py", N, "by the backends that are made of it"),
    Elsewhere(f"{W}/*/view.py", DRAWN, "what components draw"),
    Elsewhere(f"{W}/base/glossary.py", "tests/workbench/base/test_help.py", "rows of a table"),
    Elsewhere(f"{W}/shell/*.py", "tests/workbench/shell/test_view.py", "panes, in a browser"),
    Elsewhere(f"{W}/input/views.py", DRAWN, "what components draw"),
    Elsewhere(f"{W}/input/graphs.py", "tests/workbench/input/test_taking.py", "one kind"),
    Elsewhere(f"{W}/input/tensors.py", "tests/workbench/input/test_taking.py", "kinds"),
    Elsewhere(f"{W}/input/kinds.py", "tests/workbench/input/test_arriving.py", "kinds"),
    Elsewhere(f"{W}/state/answered.py", "tests/workbench/state/test_asking.py", "answers"),
    Elsewhere(f"{W}/why/path.py", DRAWN, "what components draw"),
    Elsewhere(f"{W}/views.py", DRAWN, "what components draw"),
    Elsewhere(f"{W}/figures/page.py", "tests/browser/test_figures.py", "a page, in a browser"),
    Elsewhere(f"{W}/state/edits.py", "tests/workbench/state/test_session.py", "by a session"),
    Elsewhere(f"{W}/explorer.py", "tests/browser/test_explorer.py", "a page, in a browser"),
)  # fmt: skip
"""The first row that fits a module counts."""

ACROSS = {
    "browser/*": "whole pages in Chromium",
    "comparison/test_page.py": "the tables of a document beside what the systems give",
    "comparison/test_torch.py": "modules of PyTorch, through the importer and every system",
    "contraction/test_beside_dataflow.py": "numbers that two packages derive apart from each other",
    "conformance/*": "reference vectors, for all primitives",
    "hostile/*": "inputs that mean harm, through whole commands",
    "notebooks/*": "the notebooks, cell by cell",
    "property/*": "random inputs, through several packages",
    "workbench/serving/test_hostile.py": "hostile addresses and messages, against a whole server",
    "test_bare_python.py": "the core without libraries that have machine code",
    "test_docs.py": "what the documents say",
    "test_packaging.py": "what is published, and whether its parts agree",
    "test_reprs.py": "the representations of the objects of all packages",
    "test_docs_blocks.py": "every block of code of the documents",
    "test_docs_site.py": "the documentation as it is built",
    "test_docstrings.py": "examples in docstrings, of all packages",
    "test_release.py": "the scripts of a release",
    "test_style.py": "style, types and layers",
    "test_layers.py": "arrows and circles among packages",
    "test_mirror.py": "where tests lie",
    "test_spec.py": "the specification: citations, and examples on both engines",
    "test_vocabulary.py": "words, class names and docstrings of all sources",
    "test_suite.py": "the tiers of the suite, and what tests may do",
    "cli/test_json.py": "the JSON of every command",
    "cli/test_stitch_inputs.py": "modules through the whole command",
    "frontends/torch/test_nothing_silent.py": "modules of all families, with hooks and objects",
    "frontends/mlir/test_iree.py": "whole functions, beside another compiler",
    "dataflow/cost/test_lanes.py": "lanes, through rules and statistics",
    "dataflow/cost/test_spaces.py": "whole spaces of schedules, as they run",
    "dataflow/primitives/test_new_primitive.py": "all places that a primitive touches",
    "dataflow/primitives/test_families.py": "what a family has, and what its modules know",
    "dataflow/sim/steps/test_narration.py": "sentences of all families",
    "dataflow/rtl/test_graphs.py": "whole graphs and programs as hardware",
    "dataflow/rtl/test_primitives.py": "the hardware of every primitive",
    "calls/test_stored_packages.py": "kinds of data that need other packages",
    "calls/test_call_experiments.py": "the experiments of a benchmark",
    "dataflow/sim/test_documented_bugs.py": "faults of the paper's artefacts, one by one",
    "dataflow/sim/test_formats.py": "every storage format through a run",
    "dataflow/sim/test_order_independence.py": "the same result in every order",
    "dataflow/sim/test_quirks.py": "oddities of the reference, primitive by primitive",
    "dataflow/dram/test_bandwidth.py": "the whole memory under patterns of addresses",
    "dataflow/dram/test_queues.py": "the memory of the reference",
    "dataflow/dram/test_random.py": "the whole memory under random requests",
    "dataflow/table/test_found_by_search.py": "tables that a search has found wrong",
    "dataflow/table/test_refusals.py": "what no table is built for",
    "frontends/mlir/test_corpus.py": "files of other tools",
    "frontends/mlir/test_fuzz.py": "damaged files",
    "frontends/mlir/test_importer.py": "whole files, from text to results",
    "frontends/torch/test_models.py": "whole modules",
    "frontends/torch/test_geometric.py": "layers and models of another package",
    "frontends/torch/test_transformers.py": "whole modules of another package",
    "frontends/torch/test_both_readers.py": "the same operations from PyTorch and from MLIR",
    "frontends/torch/test_families.py": "whole modules as people write them",
    "frontends/torch/test_operations.py": "operations, compared with PyTorch",
    "frontends/torch/test_wild_calls.py": "arguments of every kind",
    "models/test_blocked.py": "models in blocks",
    "models/test_the_four_models.py": "the four models of the paper",
    "program/test_extremes.py": "maxima and minima of several operands, from text to run",
    "program/test_malformed.py": "malformed texts, whichever step refuses them",
}


def modules() -> list[str]:
    """Files with code; fronts only hand on names, and need no test."""
    return sorted(
        path.relative_to(root).as_posix()
        for root in (ROOT / "engine", ROOT / "workbench")
        for path in root.rglob("*.py")
        if path.name != "__init__.py" and not path.stem.endswith("_pb2")
    )


def mirrored(module: str) -> str:
    """Return the location of a module's tests, relative to ``tests``."""
    path = Path(module.removeprefix("fuseloom/").replace("fuseloom_workbench/", "workbench/", 1))
    if path.name == "__init__.py":
        path = path.parent.with_suffix(".py")
    return path.with_name(f"test_{path.name}").as_posix()


ALONE = [module for module in modules() if not (TESTS / mirrored(module)).is_file()]
FILES = sorted(path.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py"))


def row_of(module: str) -> Elsewhere | None:
    return next((row for row in ELSEWHERE if fnmatch(module, row.modules)), None)


def test_every_module_has_tests() -> None:
    lost = [module for module in ALONE if row_of(module) is None]
    assert not lost, f"write tests/{mirrored(lost[0])}, or say in ELSEWHERE who tests it"


@pytest.mark.parametrize("row", ELSEWHERE, ids=lambda row: row.modules)
def test_what_is_tested_elsewhere_is_needed_and_there(row: Elsewhere) -> None:
    assert any(row_of(module) is row for module in ALONE), "no module needs this row"
    path = ROOT / row.tests
    assert path.is_file() or any(path.glob("test_*.py")), f"{row.tests} does not exist"
    assert row.why


def test_every_test_belongs_to_a_module_or_goes_across() -> None:
    fronts = {
        path.relative_to(ROOT / "engine").as_posix()
        for path in ROOT.glob("engine/fuseloom/*/**/__init__.py")
    }
    known = {mirrored(module) for module in [*modules(), *fronts]}
    strays = [
        file
        for file in FILES
        if file not in known and not any(fnmatch(file, pattern) for pattern in ACROSS)
    ]
    assert not strays, f"name tests/{strays[0]} after a module, or list it in ACROSS"
    for pattern, why in ACROSS.items():
        found = [file for file in FILES if fnmatch(file, pattern)]
        assert found, f"no test is at {pattern}"
        assert why
        assert not known & set(found), f"{pattern} mirrors a module"


def test_patterns_stay_in_their_folder() -> None:
    """``*`` of fnmatch crosses folders: a row must not cover modules deeper down by accident."""
    for module in ALONE:
        row = row_of(module)
        assert row is not None
        assert len(Path(module).parts) == len(Path(row.modules).parts), module
