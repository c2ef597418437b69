"""The panels of the networks page: question, tree, nests, the dataflow machine beside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom_workbench.base.assets import script, style
from fuseloom_workbench.base.component import SessionComponent


class NetworkView(SessionComponent):
    """Operands with the indices they share, and the tree in which they are contracted.

    A node of the tree that is dragged on another is contracted with it first; by keys, ``m`` marks
    a node and ``Enter`` on another joins them, ``s`` exchanges the operands of a contraction.

    Examples
    --------
    >>> from fuseloom_workbench.networks.backend import NetworkBackend
    >>> backend = NetworkBackend()
    >>> backend.wait()
    >>> NetworkView(backend).view["text"]
    '(((A B) C) D)'
    >>> backend.close()
    """

    _esm = script("networks/network_view")
    _stylesheets = [style("networks/network_view")]
    part = "network"

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "contract", "moved": list(moved), "beside": list(beside)}:
                self.backend.ask("contract", moved, beside)
            case {"kind": "swap", "place": list(place)}:
                self.backend.ask("swap", place)


class QuestionForm(SessionComponent):
    """Einsum string, sizes, tree, data, bounds with their verdicts, pins.

    Examples
    --------
    >>> from fuseloom_workbench.networks.backend import NetworkBackend
    >>> backend = NetworkBackend()
    >>> form = QuestionForm(backend)
    >>> form.handle({"kind": "change", "changes": {"density": 2}})
    >>> form.status["message"]
    'a density is above 0 and at most 1. Write e.g. 0.1.'
    >>> backend.close()
    """

    _esm = script("networks/question_form")
    _stylesheets = [style("networks/question_form")]
    part = "question"
    topics = ("network",)

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "change", "changes": dict(changes)}:
                self.backend.ask("change", changes)
            case {"kind": "shipped", "name": str(name)}:
                self.backend.ask("shipped", name)
            case {"kind": "undo" | "pareto" as what}:
                self.backend.ask(what)
            case {"kind": "cancel"}:
                self.backend.cancel()


class SolutionsTable(SessionComponent):
    """The nests, the best first; a row is chosen to be looked at, or measured.

    Examples
    --------
    >>> from fuseloom_workbench.networks.asked import NetworkQuestion
    >>> from fuseloom_workbench.networks.backend import NetworkBackend
    >>> backend = NetworkBackend(NetworkQuestion.shipped("MTTKRP"))
    >>> backend.wait()
    >>> sorted(SolutionsTable(backend).view["ways"])
    ['fused', 'n-ary', 'unfused']
    >>> backend.close()
    """

    _esm = script("base/units", "networks/solutions_table")
    _stylesheets = [style("networks/solutions_table")]
    part = "solutions"

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "look" | "measure" as what, "number": int(number)}:
                self.backend.ask(what, number)


class NestView(SessionComponent):
    """The chosen nest.

    Examples
    --------
    >>> from fuseloom_workbench.networks.asked import NetworkQuestion
    >>> from fuseloom_workbench.networks.backend import NetworkBackend
    >>> backend = NetworkBackend(NetworkQuestion.shipped("MTTKRP"))
    >>> backend.wait()
    >>> NestView(backend).view["lines"][0]["kind"]
    'for'
    >>> backend.close()
    """

    _esm = script("base/units", "networks/nest_view")
    _stylesheets = [style("networks/nest_view")]
    part = "nest"

    def handle(self, request: Mapping[str, Any]) -> None:
        match request:
            case {"kind": "code", "number": int(number)}:
                self.backend.ask("code", number)


class Beside(SessionComponent):
    """Simulated cycles, operations and bytes of the same contractions; the CPU's best times.

    Examples
    --------
    >>> from fuseloom_workbench.networks.asked import NetworkQuestion
    >>> from fuseloom_workbench.networks.backend import NetworkBackend
    >>> backend = NetworkBackend(NetworkQuestion.shipped("two-layer GCN"))
    >>> card = Beside(backend)
    >>> card.handle({"kind": "dataflow"})
    >>> backend.wait()
    >>> [row["name"] for row in card.view["rows"]]
    ['unfused', 'fused']
    >>> backend.close()
    """

    _esm = script("base/units", "networks/beside")
    _stylesheets = [style("networks/beside")]
    part = "dataflow"

    def handle(self, request: Mapping[str, Any]) -> None:
        if request["kind"] == "dataflow":
            self.backend.ask("dataflow")
