"""Makes what the documentation shows of the code, and the site.

``python docs/build.py``
    Writes ``architecture.gv``, the packages and their imports as Graphviz text, its drawing
    ``architecture.svg``, the tables of ``numbers.md`` and ``benchmarks.md``, and the pictures on
    the workbench's home page.  Tests fail when one of them does not agree with the code.
``python docs/build.py site [FOLDER]``
    HTML pages in ``docs/_site`` (needs ``pip install 'fuseloom[docs]'``); ends with 1 if Sphinx has
    a warning.
``python docs/build.py notebooks``
    Runs each notebook that has changed since it was run last (minutes at first; needs the extra
    ``notebooks``); the site then shows what its cells showed.
``python docs/build.py outputs PAGE...``
    Runs the blocks of code of pages, and writes what they print behind them.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import grimp
import networkx as nx

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS), str(DOCS.parent)]

DATAFLOW = "fuseloom.dataflow"
HOLDS = {
    "fuseloom.faults": "reports of\ninternal errors",
    "fuseloom.interpreter": "how Python\nprocesses start",
    "fuseloom.terminal": "the width of tables",
    "fuseloom.arguments": "types of arguments",
    "fuseloom.atomic_files": "files whole\nor not at all",
    "fuseloom.wording": "counted nouns,\nclosest names",
    "fuseloom.timing": "rounds of\na measurement",
    "fuseloom.errors": "what a user is told",
    "fuseloom.display": "what a notebook shows",
    "fuseloom.program": "language, formats, storage,\nstatistics, dense meaning",
    "fuseloom.results": "checks, work, records of runs",
    "fuseloom.frontends": "PyTorch, MLIR, files",
    "fuseloom.models": "programs with data",
    "fuseloom.contraction": "sparse tensor networks,\nloops and kernels for a CPU",
    "fuseloom.codegen": "routines as C,\nmachine code",
    "fuseloom.access": "access patterns, equality saturation,\nsystolic arrays",
    "fuseloom.calls": "annotated calls of libraries,\nfused tile by tile",
    "fuseloom.stitch": "dense graphs as HLO,\nstitched into kernels",
    "fuseloom.comparison": "one program\nby every system",
    "fuseloom.dataflow.fusion": "regions, partial order graph",
    "fuseloom.dataflow.table": "fusion tables",
    "fuseloom.dataflow.samml": "catalogue, lowering, passes,\nother tools' graphs",
    "fuseloom.dataflow.compilation": "regions with their\ntables and graphs",
    "fuseloom.dataflow.compiled_before": "regions that schedules\nhave in common",
    "fuseloom.dataflow.remedies": "ways around a refusal,\neach tried",
    "fuseloom.dataflow.compiler": "program → graphs",
    "fuseloom.dataflow.dram": "the memory outside the chip",
    "fuseloom.dataflow.machine": "machines, latencies,\nports of the memory",
    "fuseloom.dataflow.rtl": "graphs as Verilog,\ntheir runs",
    "fuseloom.dataflow.primitives": "of each: golden model, kernel,\nhardware, estimates, words",
    "fuseloom.dataflow.sim": "both engines, events,\nexplain, conformance",
    "fuseloom.dataflow.cost": "the estimate",
    "fuseloom.dataflow.look_ups": "levels that are better\nlooked up than scanned",
    "fuseloom.dataflow.stores": "levels that are better\nstored dense",
    "fuseloom.dataflow.orders": "orders, ranked",
    "fuseloom.dataflow.formats": "formats that fit\nwhat inputs hold",
    "fuseloom.dataflow.without_zeros": "results worth\nhaving without zeros",
    "fuseloom.dataflow.what_if": "other channels, lanes",
    "fuseloom.dataflow.space": "candidates of regions,\nlower bounds",
    "fuseloom.dataflow.method": "schedules, as the\nsearch sees them",
    "fuseloom.dataflow.why": "where cycles went,\nwhat would help",
    "fuseloom.exploration": "the best schedule,\nwith a certificate;\nruns that are kept",
    "fuseloom.experiments": "the paper's tables and figures,\nas claims with commands",
    "fuseloom.cli": "fuseloom …",
    "fuseloom_workbench": "Panel components",
}
"""The contents of each package, in a few words."""


def package_of(module: str) -> str | None:
    """The package a module lies in; none for the top packages themselves."""
    parts = module.split(".")
    if parts[0] != "fuseloom":
        return parts[0]
    if parts[:2] == DATAFLOW.split("."):
        return ".".join(parts[:3]) if len(parts) > 2 else None
    return ".".join(parts[:2]) if len(parts) > 1 and parts[1] != "__main__" else None


def imports() -> nx.DiGraph:
    """An arrow from each package to every package it imports."""
    code = grimp.build_graph("fuseloom", "fuseloom_workbench")
    arrows = nx.DiGraph()
    for module in sorted(code.modules):
        package = package_of(module)
        if package is None:
            continue
        arrows.add_node(package)
        for other in code.find_modules_directly_imported_by(module):
            used = package_of(other)
            if used not in (None, package):
                arrows.add_edge(package, used)
    return arrows


def drawing(arrows: nx.DiGraph) -> str:
    """The architecture as Graphviz text: what is used lies below, arrows that follow are left out.

    Raises
    ------
    KeyError
        If a package is not described in :data:`HOLDS`.
    """
    shown = nx.transitive_reduction(arrows)
    lines = [
        "digraph architecture {",
        '  graph [rankdir=BT, nodesep=0.25, ranksep=0.35, fontname="sans-serif", bgcolor="white"]',
        '  node [shape=box, style="rounded,filled", fillcolor="#e8eefc", color="#5b6b8c", '
        'fontname="sans-serif", fontsize=11]',
        '  edge [color="#5b6b8c", arrowsize=0.7, dir=back]',
    ]
    outside = [package for package in sorted(arrows) if not package.startswith(DATAFLOW)]
    lines += [f"  {_box(package)}" for package in outside]
    lines += [
        "  subgraph cluster_dataflow {",
        '    label="fuseloom/dataflow"; color="#9aa7c4"',
    ]
    lines += [f"    {_box(package)}" for package in sorted(arrows) if package.startswith(DATAFLOW)]
    lines.append("  }")
    lines += [f'  "{used}" -> "{package}"' for package, used in sorted(shown.edges)]
    return "\n".join([*lines, "}"]) + "\n"


def _box(package: str) -> str:
    name = package.removeprefix(DATAFLOW + ".").replace(".", "/")
    text = f"{name}\n{HOLDS[package]}".replace("\n", r"\n")
    return f'"{package}" [label="{text}"]'


def site(folder: Path) -> int:
    """Build the site without a network; every warning is an error.  Gives the exit code."""
    from sphinx.cmd.build import main as sphinx

    return sphinx(["-q", "-W", "--keep-going", "-n", str(DOCS), str(folder)])


def outputs(pages: list[str]) -> None:
    """Write what the blocks of code of pages print."""
    import blocks

    for page in pages:
        with tempfile.TemporaryDirectory() as made, blocks.workplace(Path(made)) as folder:
            blocks.fill_in(Path(page).resolve(), {"__name__": "docs"}, folder)


def main(arguments: list[str]) -> int:
    """Write pictures and tables, build the site, run notebooks, or write what blocks print."""
    if arguments[:1] == ["outputs"]:
        outputs(arguments[1:])
        return 0
    if arguments[:1] == ["notebooks"]:
        import executed

        executed.keep_all()
        return 0
    if arguments[:1] == ["site"]:
        folder = Path(arguments[1]) if arguments[1:] else DOCS / "_site"
        code = site(folder)
        print(f"{folder / 'index.html'}" if not code else "not built without warnings")
        return code
    import tables

    from fuseloom.display.layout import laid_out
    from fuseloom_workbench.serving import door_pictures, fusion_picture

    for name, made in tables.MADE.items():
        (DOCS / name).write_text(tables.page(name, made()), encoding="utf-8")
    text = drawing(imports())
    (DOCS / "architecture.gv").write_text(text, encoding="utf-8")
    laid_out(text).draw(str(DOCS / "architecture.svg"), format="svg")
    workbench = DOCS.parent / "workbench" / "fuseloom_workbench"
    (workbench / door_pictures.ASSET).write_text(door_pictures.computed_pictures(), "utf-8")
    (workbench / fusion_picture.ASSET).write_text(fusion_picture.computed_picture(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
