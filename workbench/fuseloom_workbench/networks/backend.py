"""The backend of a page of networks: the question that its visitor asks, and its answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from fuseloom.contraction.shipped import SHIPPED
from fuseloom_workbench.base.child_backend import ChildBackend, Post
from fuseloom_workbench.networks import trees
from fuseloom_workbench.networks.answering import tree_of
from fuseloom_workbench.networks.asked import NetworkQuestion
from fuseloom_workbench.systems.asked import SystemsQuestion
from fuseloom_workbench.systems.asked import address as compared_address

SAME = ("tree", "encoding", "pins", "most_bytes", "einsum", "extents")
"""On which of what is asked the bounds of all intermediates together rest."""


class NetworkBackend(ChildBackend):
    """The state of a network's page, and the receiver of its requests.

    Parameters
    ----------
    asked : NetworkQuestion, optional
        What is looked at first.
    post : callable, optional
        Calls back where the page may be changed; by default at the next tick of its document.

    Examples
    --------
    >>> backend = NetworkBackend(NetworkQuestion.shipped("MTTKRP"))
    >>> backend.wait()
    >>> [row["verdict"] for row in backend.part("question")["verdicts"]]
    ['sat', 'sat', 'sat', 'sat']
    >>> backend.ask("look", 1)
    >>> backend.wait()
    >>> backend.part("nest")["number"]
    1
    >>> backend.close()
    """

    target = "fuseloom_workbench.networks.answering:answer"
    topic = "network"
    opening = "solve"
    opening_text = "solving"
    smaller = "ask for less: smaller extents, or a smaller bound"

    def __init__(self, asked: NetworkQuestion | None = None, post: Post | None = None) -> None:
        super().__init__(asked or NetworkQuestion.shipped(), post)

    def ask(self, name: str, *arguments: Any) -> None:
        """``change`` (a mapping), ``shipped``, ``contract`` (two places of the tree), ``swap``,
        ``undo``, ``look``, ``measure``, ``code``, ``pareto`` or ``dataflow``; what is refused is
        told in ``status``.
        """
        super().ask(name, *arguments)

    def _carry_out(self, name: str, arguments: tuple[Any, ...]) -> None:
        match name, arguments:
            case "change", (Mapping() as changes,):
                self._take(self.asked.changed(changes))
            case "shipped", (str(which),):
                self._take(NetworkQuestion.shipped(which))
            case "contract", (list(moved), list(beside)):
                self._reshape(lambda t: trees.joined(t, tuple(moved), tuple(beside)))
            case "swap", (list(place),):
                self._reshape(lambda t: trees.swapped(t, tuple(place)))
            case "undo", ():
                self.undo()
            case "look" | "measure" | "code", (int(number),):
                self._put(name, number)
            case "pareto" | "dataflow", ():
                self._put(name)

    def _reshape(self, change: Callable[[trees.Nested], trees.Nested]) -> None:
        made = trees.text(change(trees.nested(tree_of(self.asked))))
        self._take(self.asked.changed({"tree": made}))

    def _arrived(self, name: str, data: dict[str, Any]) -> None:
        if name == "network":
            self._forget()
        self._found[name] = data
        if name == "solutions" and not data["rows"]:
            self._found.pop("nest", None)

    def _forget(self) -> None:
        """Drop what was found of another network, or under other constraints."""
        before = self._found.get("of")
        now = self.asked
        if before is None or any(getattr(before, n) != getattr(now, n) for n in SAME):
            self._found.pop("pareto", None)
        data = ("einsum", "extents", "tree", "density", "seed")
        if before is None or any(getattr(before, n) != getattr(now, n) for n in data):
            self._found.pop("dataflow", None)
        self._found["of"] = now

    def _drawn(self) -> dict[str, Any]:
        found = self._found
        verdicts = found.get("verdicts", {})
        pareto = found.get("pareto")
        return {
            "question": {
                "asked": self.asked.to_dict(),
                "shipped": [{"name": n, "einsum": s.einsum} for n, s in SHIPPED.items()],
                "verdicts": verdicts.get("verdicts", []),
                "least": verdicts.get("bound"),
                "pareto": None if pareto is None else pareto["vectors"],
                "busy": self._busy,
                "undo": len(self._before),
                "link": "?" + address(self.asked),
            },
            "network": found.get("network", {}),
            "solutions": {
                **found.get("solutions", {}),
                "chosen": found.get("nest", {}).get("number"),
                "busy": bool(self._busy["text"]),
            },
            "nest": found.get("nest", {}),
            "dataflow": {
                "rows": found.get("dataflow", {}).get("rows"),
                "cpu": self._of_cpu(),
                "explorer": self._explorer(),
                "compare": self._compare(),
                "busy": bool(self._busy["text"]),
            },
        }

    def _of_cpu(self) -> list[dict[str, Any]]:
        """The fastest nest of each way that was run."""
        best: dict[str, dict[str, Any]] = {}
        for row in self._found.get("solutions", {}).get("rows", []):
            known = best.get(row["way"])
            if row["measured"] is None:
                continue
            if known is None or row["measured"] < known["measured"]:
                best[row["way"]] = row
        return list(best.values())

    def _explorer(self) -> str:
        """The address of the explorer with the same contractions, on random data of its own."""
        program = self._found.get("network", {}).get("program")
        given = {"model": "spmv", "data": "random", "program": program}
        return "" if program is None else "explorer?" + urlencode(given)

    def _compare(self) -> str:
        """The address of the page of all systems with them; empty if they are too long for one."""
        program = self._found.get("network", {}).get("program")
        query = program and compared_address(SystemsQuestion(text=program, seed=self.asked.seed))
        return f"compare?{query}" if query else ""


def address(asked: NetworkQuestion) -> str:
    """Return the part of a page's address that asks the same question again."""
    given = {key: value for key, value in asked.to_dict().items() if value not in (None, "", ())}
    given["bounds"] = ",".join(f"{n}={b}" for n, b in asked.bounds)
    given["pins"] = ";".join(asked.pins)
    return urlencode({key: value for key, value in given.items() if value != ""})


def from_address(given: Mapping[str, str]) -> NetworkQuestion:
    """Return the question of an address; the shipped example by default.

    Raises
    ------
    ProgramError
        Of a value that is none.

    Examples
    --------
    >>> from urllib.parse import parse_qsl
    >>> asked = NetworkQuestion.shipped("MTTKRP").changed({"bound": 1, "pins": ["outermost i"]})
    >>> from_address(dict(parse_qsl(address(asked)))) == asked
    True
    """
    words = dict(given)
    made = NetworkQuestion.shipped(words.pop("network", NetworkQuestion.shipped().name))
    changes: dict[str, Any] = {}
    for key, value in words.items():
        match key:
            case "density":
                changes[key] = _number(value, float)
            case "seed" | "bound" | "most_bytes":
                changes[key] = _number(value, int)
            case "pins":
                changes[key] = value.split(";")
            case "bounds":
                pairs = [p.partition("=") for p in value.split(",")]
                changes[key] = [[name.strip(), _number(bound, int)] for name, _, bound in pairs]
            case _:
                changes[key] = value
    if "einsum" in words:
        changes = {"name": "", "extents": "", "tree": "", **changes}
    return made.changed(changes)


def _number(text: str, kind: Callable[[str], Any]) -> Any:
    """The number that a text is; the text itself where it is none, which is refused later."""
    try:
        return kind(text)
    except ValueError:
        return text
