"""What components have in common: a session they show, and requests they send to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import param
from panel.custom import JSComponent

from workbench.session import Session


class SessionComponent(JSComponent):
    """A component that draws what Python says and sends requests, never changing state itself.

    A request the engine refuses therefore needs nothing undone in the browser: the answer, in
    ``status``, is all that changes.

    Parameters
    ----------
    session : Session, optional
        Shared by the components of a page; a new one by default.
    """

    view = param.Dict({}, doc="What is drawn, as plain data.")
    status = param.Dict({}, doc="The last answer: ok, message, count.")

    topics: ClassVar[tuple[str, ...]] = ()
    """What requests may be about whose refusal is shown here."""

    __abstract = True

    def __init__(self, session: Session | None = None, **params: Any) -> None:
        self.session = session if session is not None else Session()
        params.setdefault("sizing_mode", "stretch_width")
        super().__init__(**params)
        self._follow()

    def _follow(self) -> None:
        """Draw now and after each answer; components that show more watch more."""
        self.refresh()
        self.session.param.watch(lambda *_: self.refresh(), ["answers", "region"])

    def refresh(self) -> None:
        """Show the session's state."""
        view = self.make_view()
        session = self.session
        status = {"ok": True, "message": session.summary, "count": session.answers}
        if session.topic in self.topics:
            status.update(ok=session.ok, message=session.message)
        changes: dict[str, Any] = {"status": status}
        if view != self.view:
            changes["view"] = view
        self.param.update(**changes)

    def make_view(self) -> dict[str, Any]:
        """The plain data the script draws."""
        raise NotImplementedError

    def handle(self, request: Mapping[str, Any]) -> None:
        """Carry out a request from the browser."""

    def _handle_msg(self, data: Any) -> None:
        # a browser may send anything; what is not a request is not answered
        if isinstance(data, dict) and isinstance(data.get("kind"), str):
            self.handle(data)
