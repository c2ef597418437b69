"""The two tiers of the suite, and what belongs to the second.

The first tier is what ``pytest`` runs without an option: units, conformance vectors, properties at
small counts, and one walk through each page in a browser.  The deep tier is everything else but
``fuzz``, which searches for hours.  A test belongs to the deep tier by one of three marks:

* ``deep`` from :data:`DEEP_PATHS`, for folders and files,
* ``deep`` beside the test, for one test or one of its parameters,
* ``browser`` beside the test, if it drives Chromium.

A property with :func:`counts` runs in both tiers, in the deep one with more random cases; those
that take minutes have more still for ``fuzz``.
"""

from __future__ import annotations

import re
from fnmatch import fnmatch
from functools import cache

import pytest

COLLECTED = pytest.StashKey[list[pytest.Item]]()
"""The tests that were collected, before the marker expression chose."""
FIRST = "not (deep or browser or fuzz)"
"""The marker expression of the first tier, which ``pyproject.toml`` has as the default."""
DEEP = "(deep or browser) and not fuzz"
"""The marker expression of the deep tier, which ``.ci/run`` has."""

DEEP_PATHS: dict[str, str] = {
    # what only the extra ``deep`` installs
    "frontends/torch/": "needs PyTorch and what builds on it, whose install takes minutes",
    "workbench/notebook/course/test_pytorch.py": "needs PyTorch",
    "notebooks/": "needs JupyterLab's kernels, and runs each notebook whole",
    "dataflow/samml/exchange/test_schema.py": "needs grpcio-tools",
    "exploration/executors/test_dask.py": "needs distributed; starts clusters",
    "test_docs_site.py": "needs Sphinx, and builds the whole site",
    "test_docstrings.py": "needs numpydoc",
    "frontends/mlir/test_iree.py": "needs IREE's compiler, which takes a minute for all functions",
    "dataflow/rtl/": "needs Amaranth, Icarus Verilog, Verilator and Yosys, and compiles hardware",
    "calls/test_stored_packages.py": "needs Shapely and TileDB",
    "calls/test_call_experiments.py": "needs PyTorch, Shapely and TileDB",
    # what takes long
    "access/rules/test_sets.py": "looks for counterexamples in thousands of random terms",
    "access/test_torch_layers.py": "needs PyTorch",
    "access/test_torch_networks.py": "needs PyTorch, and maps whole networks",
    "stitch/aten/": "needs PyTorch",
    "stitch/test_torch_graph.py": "needs PyTorch",
    "codegen/test_emit_numba.py": "compiles every shipped network by Numba",
    "contraction/kernels/test_run.py": "compiles every shipped network by the C compiler",
    "dataflow/cost/test_spaces.py": "simulates whole spaces of schedules",
    "dataflow/sim/compiled/test_cache.py": "compiles kernels in processes with caches of their own",
    "experiments/recipes/": "simulates figures of the paper",
    "exploration/executors/test_drive.py": "kills drivers, fills a disk, and starts again",
    "comparison/test_torch.py": "needs PyTorch",
    "exploration/test_torch_modules.py": "needs PyTorch",
    "exploration/test_autoschedule.py": "searches spaces of schedules for seconds each",
    "property/test_memory_by_content.py": "imports the engine in processes of their own",
    "test_docs.py": "runs the commands and programs of the README and of the documents",
    "test_docs_blocks.py": "runs every block of the documents, some of them with PyTorch",
    "test_packaging.py": "builds and installs the package several times",
    "workbench/service/test_client.py": "waits for limits of time and memory that end processes",
    "workbench/service/test_priority.py": "watches processes for seconds",
    "workbench/service/test_sharing.py": "starts a service of its own",
    "workbench/service/test_workers.py": "starts a service for each test",
    "workbench/serving/test_hostile.py": "starts servers",
    "workbench/serving/test_page.py": "starts servers, with several visitors for seconds",
    "workbench/serving/test_serve.py": "starts servers, and ends each in another state",
    # what starts processes, simulates or searches for tens of seconds
    "cli/test_autoschedule.py": "searches by whole commands",
    "cli/test_codesign.py": "searches by whole commands",
    "cli/test_graphs.py": "simulates graphs of other tools by whole commands",
    "cli/test_inputs.py": "simulates by whole commands",
    "cli/test_json.py": "runs every command for its document",
    "cli/test_main.py": "starts Python for each case",
    "cli/test_sweeps.py": "sweeps by whole commands",
    "contraction/kernels/test_arrays.py": "compiles kernels",
    "contraction/solving/test_solve.py": "solves hundreds of systems of constraints",
    "dataflow/cost/test_defined.py": "compares estimates with runs",
    "dataflow/samml/exchange/test_sam_export.py": "runs what it exports",
    "dataflow/samml/passes/test_buffers.py": "runs graphs at many capacities",
    "dataflow/samml/passes/test_parallelise.py": "runs graphs in lanes",
    "dataflow/dram/test_bandwidth.py": "long patterns of requests",
    "dataflow/dram/test_queues.py": "long patterns of requests",
    "dataflow/dram/test_random.py": "long random patterns of requests",
    "dataflow/sim/test_ports.py": "compiles kernels with ports",
    "dataflow/test_method.py": "runs every candidate of whole spaces",
    "experiments/test_registry.py": "runs each recipe at its smallest size",
    "exploration/executors/test_local.py": "starts worker processes",
    "exploration/sweep/test_sweep.py": "kills sweeps and starts them again",
    "frontends/files/test_limits.py": "reads large files in processes with limits",
    "frontends/files/test_planetoid.py": "reads and simulates data sets",
    "frontends/mlir/test_fuzz.py": "hundreds of damaged files",
    "hostile/": "runs each input in a process with limits",
    "models/datasets/test_standin.py": "makes large graphs",
    "models/test_blocked.py": "runs models in blocks",
    "property/test_everything_at_once.py": "random programs with every option",
    "property/test_gcn.py": "runs a network under many schedules",
    "test_bare_python.py": "runs the core without machine code",
    "test_vocabulary.py": "reads every source once for each word",
    "workbench/input/test_panels.py": "estimates at many sizes",
    "workbench/networks/test_backend.py": "compiles and runs kernels in processes",
    "workbench/calls/test_backend.py": "composes and measures in processes",
    "workbench/systems/test_backend.py": "fuses programs by every system, in processes",
    "workbench/patterns/test_backend.py": "maps in processes",
    "workbench/running/test_worker.py": "starts and ends worker processes",
    "workbench/search/": "searches for seconds each",
    "workbench/service/test_queued_runs.py": "starts a service, and waits in its queue",
    "workbench/serving/test_access.py": "starts servers",
    "workbench/serving/test_gate.py": "starts servers",
    "workbench/serving/test_health.py": "starts servers",
    "workbench/shell/test_view.py": "builds the page many times",
    "workbench/state/test_session.py": "estimates after every change",
    "workbench/state/test_shared.py": "runs and stores",
}
"""Folders (with a slash at the end) and files below ``tests``, each with the reason."""

ALLOWED_SKIPS: dict[str, str] = {
    "frontends/files/test_planetoid.py::*": "real data is read where it lies beside the checkout",
    "models/datasets/test_standin.py::*": "likewise",
    "test_docs.py::test_a_command_on_real_data": "likewise",
    "workbench/base/test_help.py::*": "the paper is read where it lies beside the checkout",
    "exploration/*": "mounting a full disk needs a privilege that containers withhold",
}
"""Tests below ``tests`` (patterns of ``fnmatch``) that may be skipped where ``CI`` is set."""


BROWSER = "browser/test_*.py"
"""Files whose tests have the mark ``browser``: all but the walks."""
WALKS = "browser/test_walks.py"
"""The one file with the mark ``walk``, which belongs to the first tier."""
MARKED = re.compile(r"\b(deep|browser|counts)\b")
"""Words of which a file has one if a test in it has a mark of the deep tier."""


def in_first_tier(path: str) -> bool:
    """Return whether a file, or a folder with a slash at the end, may be of the first tier."""
    return deep_path(path) is None and (path == WALKS or not fnmatch(path, BROWSER))


def in_deep_tier(path: str, text: str) -> bool:
    """Return whether a file of tests with this text may have some of the deep tier."""
    return deep_path(path) is not None or MARKED.search(text) is not None


@cache
def deep_path(path: str) -> str | None:
    """Return the row of :data:`DEEP_PATHS` that covers a path below ``tests``, if there is one."""
    return next(
        (row for row in DEEP_PATHS if path == row or (row.endswith("/") and path.startswith(row))),
        None,
    )


def counts(small: int, deep: int, fuzz: int = 0) -> pytest.MarkDecorator:
    """Run a test with ``count`` random cases: few in the first tier, many in the deep one.

    Parameters
    ----------
    small, deep : int
        The number of cases in the first and in the deep tier.
    fuzz : int, optional
        The number of cases that ``pytest -m fuzz`` tries, where they take minutes.
    """
    sizes = [
        pytest.param(small, id="small"),
        pytest.param(deep, id="deep", marks=pytest.mark.deep),
    ]
    if fuzz:
        sizes.append(pytest.param(fuzz, id="fuzz", marks=pytest.mark.fuzz))
    return pytest.mark.parametrize("count", sizes)
