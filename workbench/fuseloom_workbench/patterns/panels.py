"""The panels of the page of access patterns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent


class PatternPanel(SessionComponent):
    """A panel whose requests are those of the page's backend, by their kind."""

    __abstract = True

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "change", "changes": dict(changes)}:
                self.backend.ask("change", changes)
            case {"kind": "write", "text": str(text)}:
                self.backend.ask("write", text)
            case {"kind": "inspect", "which": str(which), "path": list(path), "start": int(start)}:
                self.backend.ask("inspect", which, path, start)
            case {"kind": "class" | "step" as what, "number": int(number)}:
                self.backend.ask(what, number)
            case {"kind": "check", "name": str(name)}:
                self.backend.ask("check", name)
            case {"kind": "compare", "budget": budget, "whole": bool(whole)}:
                self.backend.ask("compare", budget, whole)
            case {"kind": "layers" | "undo" as what}:
                self.backend.ask(what)
            case {"kind": "cancel"}:
                self.backend.cancel()


class MappingForm(PatternPanel):
    """What is mapped, onto which array and memory, by which rules and limits.

    Examples
    --------
    >>> from fuseloom_workbench.patterns.backend import PatternBackend
    >>> backend = PatternBackend()
    >>> form = MappingForm(backend)
    >>> form.handle({"kind": "change", "changes": {"rows": 0}})
    >>> form.status["message"]
    'rows is an integer from 1 to 512, not 0'
    >>> backend.close()
    """

    _esm = script("patterns/mapping_form")
    _stylesheets = [style("base/form")]
    part = "mapping"
    topics = ("patterns",)


class TermEditor(PatternPanel):
    """The text of the term, read while it is written.

    Examples
    --------
    >>> from fuseloom_workbench.patterns.backend import PatternBackend
    >>> backend = PatternBackend()
    >>> editor = TermEditor(backend)
    >>> editor.handle({"kind": "write", "text": "(tensor A 3 4) (access A 3)"})
    >>> editor.view["written"]["error"]["column"]
    16
    >>> backend.close()
    """

    _esm = script("base/marked_text", "patterns/term_lines", "patterns/term_editor")
    _stylesheets = [style("input/text_editor", "patterns/term_lines", "patterns/term_editor")]
    part = "term"


class TermsBeside(PatternPanel):
    """The given term and the one for the array, and the rules that lead from one to the other.

    Examples
    --------
    >>> from fuseloom_workbench.patterns.backend import PatternBackend
    >>> backend = PatternBackend()
    >>> backend.wait()
    >>> [step["rule"] for step in TermsBeside(backend).view["steps"]][-1]
    'systolic-array'
    >>> backend.close()
    """

    _esm = script("patterns/term_lines", "patterns/terms_beside")
    _stylesheets = [style("patterns/term_lines", "patterns/terms_beside")]
    part = "terms"


class PatternView(PatternPanel):
    """A part of a term position by position, on the tensors that it sees.

    Examples
    --------
    >>> from fuseloom_workbench.patterns.backend import PatternBackend
    >>> backend = PatternBackend()
    >>> backend.wait()
    >>> PatternView(backend).view["construct"]
    'windows'
    >>> backend.close()
    """

    _esm = script("patterns/term_lines", "patterns/pattern_view")
    _stylesheets = [style("patterns/term_lines", "patterns/pattern_view")]
    part = "pattern"


class RulesTable(PatternPanel):
    """Rules, which are on, and what each did.

    Examples
    --------
    >>> from fuseloom_workbench.patterns.backend import PatternBackend
    >>> backend = PatternBackend()
    >>> backend.wait()
    >>> RulesTable(backend).view["rules"][0]["name"]
    'flatten-operands'
    >>> backend.close()
    """

    _esm = script("patterns/rules_table")
    _stylesheets = [style("input/text_editor", "patterns/rules_table")]
    part = "rewrites"


class SaturationView(PatternPanel):
    """The e-graph: its growth, and a class among its neighbours.

    Examples
    --------
    >>> from fuseloom_workbench.patterns.backend import PatternBackend
    >>> backend = PatternBackend()
    >>> backend.wait()
    >>> SaturationView(backend).view["stopped"]
    'saturated'
    >>> backend.close()
    """

    _esm = script("base/scales", "patterns/term_lines", "patterns/saturation_view")
    _stylesheets = [style("patterns/term_lines", "patterns/saturation_view")]
    part = "saturation"


class CallsView(PatternPanel):
    """The calls of the array in time, with the transfers that they wait for.

    Examples
    --------
    >>> from fuseloom_workbench.patterns.backend import PatternBackend
    >>> backend = PatternBackend()
    >>> backend.wait()
    >>> CallsView(backend).view["compute"]
    960
    >>> backend.close()
    """

    _esm = script("base/units", "base/scales", "patterns/calls_view")
    _stylesheets = [style("patterns/calls_view")]
    part = "array"


class DesignsTable(PatternPanel):
    """All layers of a network on the array; arrays and buffers compared.

    Examples
    --------
    >>> from fuseloom_workbench.patterns.backend import PatternBackend
    >>> backend = PatternBackend()
    >>> backend.wait()
    >>> DesignsTable(backend).view["several"]
    False
    >>> backend.close()
    """

    _esm = script("base/units", "base/scales", "patterns/designs_table")
    _stylesheets = [style("patterns/designs_table")]
    part = "designs"
