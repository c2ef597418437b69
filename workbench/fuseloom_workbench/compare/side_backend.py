"""The page backend of the design compared with, for components that show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuseloom_workbench.base.page_backend import PageBackend
from fuseloom_workbench.compare.view import LEFT


class SideBackend(PageBackend):
    """The design on the left, by the backend of the page that compares with it.

    Parameters
    ----------
    page : PageBackend
        Holds the parts of both designs.
    """

    def __init__(self, page: PageBackend) -> None:
        super().__init__(page.runner)
        self._page = page
        self._show()
        page.param.watch(lambda *_: self._show(), "version")

    def _show(self) -> None:
        theirs = self._page.parts
        parts = {
            name.removeprefix(LEFT): text
            for name, text in theirs.items()
            if name.startswith(LEFT) and text != "null"
        }
        if parts != self.parts:
            self._publish(parts)

    def want(self, *names: str) -> None:
        self._page.want(*(LEFT + name for name in names))

    def ask(self, name: str, *arguments: Any) -> None:
        self._page.ask("look_beside", name, list(arguments))

    def run(self, explain: bool = False, events: bool = False) -> None:
        self.ask("run")

    def search(self, wishes: Mapping[str, Any] | None = None) -> None:
        self.ask("search")

    def cancel(self) -> None:
        """Nothing is under way on the left."""
