"""The API reference: which names are public, where each is documented, and how names are found.

Every name is documented once: with :mod:`fuseloom` if it re-exports the name, or else with the
first package that does; other packages link to it.
"""

from __future__ import annotations

import inspect
import re
import sys
from enum import Enum
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.pycode import ModuleAnalyzer
from sphinx.util.docutils import SphinxDirective

TOP = "fuseloom"
PACKAGES = (
    "fuseloom.program",
    "fuseloom.program.conversion",
    "fuseloom.models",
    "fuseloom.results",
    "fuseloom.dataflow",
    "fuseloom.dataflow.compiler",
    "fuseloom.dataflow.fusion",
    "fuseloom.dataflow.table",
    "fuseloom.dataflow.samml",
    "fuseloom.dataflow.samml.passes",
    "fuseloom.dataflow.samml.exchange",
    "fuseloom.dataflow.machine",
    "fuseloom.dataflow.sim",
    "fuseloom.dataflow.sim.steps",
    "fuseloom.dataflow.cost",
    "fuseloom.dataflow.orders",
    "fuseloom.dataflow.formats",
    "fuseloom.dataflow.without_zeros",
    "fuseloom.dataflow.why.recomputation",
    "fuseloom.dataflow.why.attribution",
    "fuseloom.dataflow.why.difference",
    "fuseloom.dataflow.why.answer",
    "fuseloom.dataflow.why.suggestions",
    "fuseloom.dataflow.rtl.design",
    "fuseloom.dataflow.rtl.verilog",
    "fuseloom.dataflow.rtl.running",
    "fuseloom.dataflow.rtl.whole_programs",
    "fuseloom.dataflow.rtl.area",
    "fuseloom.dataflow.rtl.synthesis",
    "fuseloom.dataflow.rtl.unit",
    "fuseloom.dataflow.rtl.float32.units",
    "fuseloom.contraction.tree",
    "fuseloom.contraction.networks",
    "fuseloom.contraction.given",
    "fuseloom.contraction.shipped",
    "fuseloom.contraction.solving.solve",
    "fuseloom.contraction.solving.pins",
    "fuseloom.contraction.solution",
    "fuseloom.contraction.loopnest.ir",
    "fuseloom.contraction.loopnest.parser",
    "fuseloom.contraction.loopnest.generate",
    "fuseloom.contraction.loopnest.iteration",
    "fuseloom.contraction.loopnest.interpreter",
    "fuseloom.contraction.ranking",
    "fuseloom.contraction.occupancy",
    "fuseloom.contraction.cost",
    "fuseloom.contraction.kernels.run",
    "fuseloom.contraction.kernels.data",
    "fuseloom.contraction.kernels.record",
    "fuseloom.access.shapes",
    "fuseloom.access.terms",
    "fuseloom.access.constructs",
    "fuseloom.access.constructs.construct",
    "fuseloom.access.constructs.operators",
    "fuseloom.access.text",
    "fuseloom.access.meaning",
    "fuseloom.access.kernels",
    "fuseloom.access.rules.rule",
    "fuseloom.access.rules.reader",
    "fuseloom.access.rules.sets",
    "fuseloom.access.rules.soundness",
    "fuseloom.access.rules.expressions",
    "fuseloom.access.saturation.classes",
    "fuseloom.access.saturation.egraph",
    "fuseloom.access.saturation.saturate",
    "fuseloom.access.saturation.extract",
    "fuseloom.access.saturation.cp_sat",
    "fuseloom.access.saturation.matching",
    "fuseloom.access.saturation.explain",
    "fuseloom.access.saturation.phases",
    "fuseloom.access.hardware",
    "fuseloom.access.memory",
    "fuseloom.access.mapping",
    "fuseloom.access.views",
    "fuseloom.access.loops",
    "fuseloom.access.lower",
    "fuseloom.access.layers",
    "fuseloom.access.mapped_layers",
    "fuseloom.access.sweep",
    "fuseloom.access.record",
    "fuseloom.access.program_windows",
    "fuseloom.access.program_layers",
    "fuseloom.access.term_program",
    "fuseloom.access.torch_layers",
    "fuseloom.access.torch_networks",
    "fuseloom.calls.language.annotation",
    "fuseloom.calls.language.reader",
    "fuseloom.calls.polynomials",
    "fuseloom.calls.data_kinds",
    "fuseloom.calls.packed_tree",
    "fuseloom.calls.stored_kinds",
    "fuseloom.calls.annotated",
    "fuseloom.calls.c_routines",
    "fuseloom.calls.library",
    "fuseloom.calls.library.library_call",
    "fuseloom.calls.checker",
    "fuseloom.calls.composition",
    "fuseloom.calls.parts",
    "fuseloom.calls.resolution",
    "fuseloom.calls.commands",
    "fuseloom.calls.loop_commands",
    "fuseloom.calls.pipeline_nodes",
    "fuseloom.calls.pipeline",
    "fuseloom.calls.schedule",
    "fuseloom.calls.pipeline_writer",
    "fuseloom.calls.polynomial_code",
    "fuseloom.calls.emit_python",
    "fuseloom.calls.cpp_code",
    "fuseloom.calls.emit_cpp",
    "fuseloom.calls.interpreter",
    "fuseloom.calls.recomputation",
    "fuseloom.calls.caches",
    "fuseloom.calls.fused",
    "fuseloom.calls.pipelines",
    "fuseloom.calls.program_calls",
    "fuseloom.calls.call_program",
    "fuseloom.calls.whole_calls",
    "fuseloom.calls.measuring",
    "fuseloom.calls.record",
    "fuseloom.stitch.shapes",
    "fuseloom.stitch.graph",
    "fuseloom.stitch.hlo",
    "fuseloom.stitch.meaning.evaluation",
    "fuseloom.stitch.examples.models",
    "fuseloom.stitch.module_builder",
    "fuseloom.stitch.program_graph",
    "fuseloom.stitch.graph_program",
    "fuseloom.stitch.torch_graph",
    "fuseloom.stitch.opcodes",
    "fuseloom.stitch.inlining",
    "fuseloom.stitch.spans",
    "fuseloom.stitch.schedules",
    "fuseloom.stitch.operand_schedules",
    "fuseloom.stitch.propagation",
    "fuseloom.stitch.consistency",
    "fuseloom.stitch.xla_rules",
    "fuseloom.stitch.stitched",
    "fuseloom.stitch.fusion",
    "fuseloom.stitch.frames",
    "fuseloom.stitch.kernel_traffic",
    "fuseloom.stitch.shared_memory",
    "fuseloom.stitch.kernel_memory",
    "fuseloom.stitch.kernel_schedules",
    "fuseloom.stitch.phases",
    "fuseloom.stitch.c.emitter",
    "fuseloom.stitch.triton.emitter",
    "fuseloom.stitch.cuda.emitter",
    "fuseloom.stitch.kernel_code",
    "fuseloom.stitch.kernel_cases",
    "fuseloom.stitch.emit_torch",
    "fuseloom.stitch.gpu.cuda_on_cpu",
    "fuseloom.stitch.gpu.cuda_compiler",
    "fuseloom.stitch.gpu.job",
    "fuseloom.stitch.gpu.times",
    "fuseloom.stitch.gpu.triton_check",
    "fuseloom.stitch.stitched_program",
    "fuseloom.stitch.prepared_program",
    "fuseloom.stitch.module_check",
    "fuseloom.stitch.operation_timing",
    "fuseloom.stitch.performance_library",
    "fuseloom.stitch.kernel_costs",
    "fuseloom.stitch.tuning",
    "fuseloom.stitch.cpu_schedules",
    "fuseloom.stitch.baseline_kernels",
    "fuseloom.stitch.end_to_end",
    "fuseloom.stitch.compiled_counts",
    "fuseloom.exploration.sweep",
    "fuseloom.exploration.store",
    "fuseloom.exploration.executors",
    "fuseloom.comparison.compare",
    "fuseloom.comparison.rows",
    "fuseloom.comparison.problem",
    "fuseloom.comparison.examples",
    "fuseloom.comparison.conversions",
    "fuseloom.comparison.black_boxes",
    "fuseloom.comparison.composed",
    "fuseloom.experiments",
    "fuseloom.display",
    "fuseloom.errors",
    "fuseloom_workbench.notebook",
)
"""Packages whose public names have a page or a part of one, in the order of the reference."""


def public(package: str) -> list[str]:
    """The public names of a package: those that it lists, or else its own without underscore."""
    module = import_module(package)
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return [name for name in listed if name != "__version__"]
    return [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_")
        and (inspect.isclass(thing) or inspect.isfunction(thing))
        and thing.__module__ == package
    ]


@cache
def places() -> dict[str, str]:
    """Map each public name to its page: ``fuseloom.program.parse`` at ``fuseloom.parse``."""
    known: dict[Any, str] = {}
    where = {}
    for package in (TOP, *PACKAGES):
        module = import_module(package)
        for name in public(package):
            thing = getattr(module, name)
            full = f"{package}.{name}"
            if isinstance(thing, ModuleType):
                where[full] = thing.__name__
                continue
            own = getattr(thing, "__qualname__", None) and hasattr(thing, "__module__")
            key = (thing.__module__, thing.__qualname__) if own else full
            where[full] = known.setdefault(key, full)
    return where


def directive(full: str) -> list[str]:
    """The lines of reStructuredText that document one name."""
    package, _, name = full.rpartition(".")
    thing = getattr(import_module(package), name)
    if not inspect.isclass(thing) and not inspect.isroutine(inspect.unwrap(thing)):
        said = [f"   {line}" for line in said_of(package, name)]
        return [f".. py:data:: {name}", f"   :module: {package}", "", *said, ""]
    if not inspect.isclass(thing):
        return [f".. autofunction:: {full}", ""]
    lines = [f".. autoclass:: {full}"]
    if issubclass(thing, Enum):
        lines += ["   :members:", "   :undoc-members:", "   :no-index-entry:"]
    elif not is_component(thing):
        lines.append("   :members:")
    return [*lines, ""]


def said_of(package: str, name: str) -> list[str]:
    """Return the text behind the assignment of a name, in whichever package it originates."""
    while True:
        analyzer = ModuleAnalyzer.for_module(package)
        analyzer.analyze()
        found = analyzer.attr_docs.get(("", name))
        if found:
            return found
        origin = re.search(rf"^from (\S+) import .*?\b{name}\b", _unwrapped(analyzer.code), re.M)
        if origin is None:
            raise LookupError(f"nothing is said of {package}.{name}")
        package = origin[1]


def _unwrapped(code: str) -> str:
    return re.sub(r"\(\n([^)]*?)\n\)", lambda m: m[1].replace("\n", " "), code)


def is_component(thing: type) -> bool:
    """Return whether a class is one of Panel's, whose own members are hundreds."""
    return any(base.__module__.startswith("panel.") for base in thing.__mro__)


class Public(SphinxDirective):
    """``{public} fuseloom.program``: every public name of a package, documented or linked."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        package = self.arguments[0]
        here, there = [], []
        for name in public(package):
            full = f"{package}.{name}"
            place = places()[full]
            module = isinstance(getattr(import_module(package), name), ModuleType)
            (there if module or place != full else here).append((name, place))
        lines = [f".. py:module:: {package}", ""]
        if there:
            roles = ", ".join(_role(name, place) for name, place in there)
            lines += ["", f"Documented elsewhere: {roles}.", ""]
        for _, full in here:
            lines += directive(full)
        return rst(self, lines)


class Components(SphinxDirective):
    """``{components}``: the views of the workbench, each a component on a session."""

    def run(self) -> list[nodes.Node]:
        return rst(self, [line for full in COMPONENTS for line in directive(full)])


COMPONENTS = (
    "fuseloom_workbench.state.session.Session",
    "fuseloom_workbench.shell.bench.Bench",
    "fuseloom_workbench.chain.fusion_chain.FusionChain",
    "fuseloom_workbench.table.table_grid.FusionTableGrid",
    "fuseloom_workbench.orders.orders_panel.OrdersPanel",
    "fuseloom_workbench.graph.graph_view.GraphView",
    "fuseloom_workbench.details.node_details.NodeDetails",
    "fuseloom_workbench.running.run_panel.RunPanel",
    "fuseloom_workbench.timeline.timeline.Timeline",
    "fuseloom_workbench.streams.streams_view.StreamsView",
    "fuseloom_workbench.compare.compare_panel.ComparePanel",
    "fuseloom_workbench.costs.costs_panel.CostsPanel",
    "fuseloom_workbench.landscape.landscape_panel.LandscapePanel",
    "fuseloom_workbench.memory.memory_panel.MemoryPanel",
    "fuseloom_workbench.why.panels.WhyBar",
    "fuseloom_workbench.why.panels.WhyPanel",
    "fuseloom_workbench.why.panels.PathPanel",
    "fuseloom_workbench.search.search_panel.SearchPanel",
    "fuseloom_workbench.input.text_editor.TextEditor",
    "fuseloom_workbench.input.panels.UploadPanel",
    "fuseloom_workbench.input.panels.FormatsPanel",
    "fuseloom_workbench.input.panels.SizesPanel",
    "fuseloom_workbench.input.panels.MachinePanel",
    "fuseloom_workbench.networks.backend.NetworkBackend",
    "fuseloom_workbench.networks.panels.QuestionForm",
    "fuseloom_workbench.networks.panels.NetworkView",
    "fuseloom_workbench.networks.panels.NestView",
    "fuseloom_workbench.networks.panels.SolutionsTable",
    "fuseloom_workbench.networks.panels.Beside",
    "fuseloom_workbench.patterns.backend.PatternBackend",
    "fuseloom_workbench.patterns.panels.MappingForm",
    "fuseloom_workbench.patterns.panels.CallsView",
    "fuseloom_workbench.patterns.panels.PatternView",
    "fuseloom_workbench.patterns.panels.TermEditor",
    "fuseloom_workbench.patterns.panels.TermsBeside",
    "fuseloom_workbench.patterns.panels.RulesTable",
    "fuseloom_workbench.patterns.panels.SaturationView",
    "fuseloom_workbench.patterns.panels.DesignsTable",
    "fuseloom_workbench.calls.backend.CallsBackend",
    "fuseloom_workbench.calls.panels.CallsForm",
    "fuseloom_workbench.calls.panels.FusionCosts",
    "fuseloom_workbench.calls.panels.CallsGraph",
    "fuseloom_workbench.calls.panels.CommandsPanel",
    "fuseloom_workbench.calls.panels.AnnotationsPanel",
    "fuseloom_workbench.calls.panels.TilesView",
    "fuseloom_workbench.calls.panels.CallsCode",
    "fuseloom_workbench.kernels.backend.KernelsBackend",
    "fuseloom_workbench.kernels.panels.KernelsForm",
    "fuseloom_workbench.kernels.panels.LayeredGraph",
    "fuseloom_workbench.kernels.panels.SchedulePicker",
    "fuseloom_workbench.kernels.panels.SharedMemoryMap",
    "fuseloom_workbench.kernels.panels.KernelCodes",
    "fuseloom_workbench.kernels.panels.KernelCounts",
    "fuseloom_workbench.kernels.panels.EndToEndView",
    "fuseloom_workbench.kernels.panels.ModuleText",
    "fuseloom_workbench.systems.backend.SystemsBackend",
    "fuseloom_workbench.systems.panels.ComparedProgramForm",
    "fuseloom_workbench.systems.panels.ComparisonTable",
    "fuseloom_workbench.systems.panels.ComparisonBars",
    "fuseloom_workbench.systems.panels.ComparedCommands",
)
"""Components for notebooks and pages of one's own."""


def _role(name: str, place: str) -> str:
    package, _, last = place.rpartition(".")
    thing = getattr(import_module(package), last)
    kind = "mod" if isinstance(thing, ModuleType) else "class" if inspect.isclass(thing) else "func"
    return f":{kind}:`{name} <{place}>`"


def rst(directive: SphinxDirective, lines: list[str]) -> list[nodes.Node]:
    """Nodes of reStructuredText, whichever language the page around is in."""
    text = "\n".join(["```{eval-rst}", *lines, "```"])
    return directive.parse_text_to_nodes(text)


def find(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, shown: nodes.TextElement
) -> nodes.Node | None:
    """A name that is none of the reference's as it is written: it is looked up in the code.

    What is public is linked to where it is documented.  What exists and is not public, and types of
    other projects in signatures, whose documentation is not at hand without a network, stay text.
    What does not exist is a warning.
    """
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    thing = look_up(target, _written_in(node)) or look_up(target, node.get("py:module"))
    place = place_of(thing) if thing is not None else None
    if place is None and thing is None:
        place = _only(env, target)
    if place is not None:
        domain = env.domains.python_domain
        found = domain.resolve_xref(env, node["refdoc"], app.builder, "obj", place, node, shown)
        if found is not None:
            return found
    return shown if thing is not None or _in_signature(node) else None


def look_up(target: str, package: str | None) -> Any:
    """Return the object of a dotted name, in a package or anywhere; None if there is none."""
    for start in ([f"{package}."] if package else []) + [""]:
        parts = f"{start}{target}".split(".")
        for cut in range(len(parts), 0, -1):
            name = ".".join(parts[:cut])
            try:
                if name not in sys.modules and find_spec(name) is None:
                    continue
                thing: Any = import_module(name)
            except (ImportError, ValueError):
                continue
            try:
                for part in parts[cut:]:
                    thing = getattr(thing, part)
            except AttributeError:
                break
            return thing
    return None


def place_of(thing: Any) -> str | None:
    """Return the documented name of an object, such as a class or a method."""
    if isinstance(thing, ModuleType):
        return thing.__name__
    name, module = getattr(thing, "__qualname__", None), getattr(thing, "__module__", None)
    if name is None or module is None:
        return None
    head, _, rest = name.partition(".")
    place = by_code().get((module, head))
    return place if place is None or not rest else f"{place}.{rest}"


@cache
def by_code() -> dict[tuple[str, str], str]:
    """The place of each public class and function, by its module and its name there."""
    found = {}
    for full in (*places().values(), *COMPONENTS):
        package, _, name = full.rpartition(".")
        thing = getattr(import_module(package), name, None) if package else None
        if hasattr(thing, "__qualname__") and hasattr(thing, "__module__"):
            found[thing.__module__, thing.__qualname__] = full
    return found


def _only(env: BuildEnvironment, target: str) -> str | None:
    objects = env.domains.python_domain.objects
    ends = [name for name in objects if name.endswith(f".{target}")]
    return ends[0] if len(ends) == 1 else None


def _written_in(node: nodes.Node | None) -> str | None:
    """The module whose docstring a node comes from; what a short name means is said there."""
    while node is not None:
        found = re.search(r"^(.+\.py):docstring of ([\w.]+)", node.source or "")
        if found:
            parts = found[2].split(".")
            names = (".".join(parts[:cut]) for cut in range(len(parts), 0, -1))
            return next((name for name in names if name in sys.modules), None)
        node = node.parent
    return None


def _in_signature(node: nodes.Node) -> bool:
    while node.parent is not None:
        if isinstance(node, addnodes.desc_signature):
            return True
        node = node.parent
    return False


def leave_out(app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any) -> Any:
    """Leave out the methods that notebooks call: they are no names for users."""
    last = name.rpartition(".")[2]
    return True if last.startswith(("_repr_", "__")) else None


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("public", Public)
    app.add_directive("components", Components)
    app.connect("missing-reference", find)
    app.connect("autodoc-skip-member", leave_out)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
