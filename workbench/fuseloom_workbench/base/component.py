"""The base of all components: each shows parts of a page backend and makes requests of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, ClassVar

import param
from bokeh.document import Document
from panel.custom import JSComponent

from fuseloom_workbench.base.comms import shown
from fuseloom_workbench.base.help import texts
from fuseloom_workbench.base.page_backend import PageBackend, backend_of
from fuseloom_workbench.state.session import Session


class ScriptComponent(JSComponent):
    """A component whose script is plain JavaScript, which browsers run as it is.

    Panel would take it for TypeScript and translate it in the browser, at each visit anew: a third
    of what the browser's main thread does until the explorer can be used.
    """

    __abstract = True

    def _get_properties(self, doc: Document | None) -> dict[str, Any]:
        properties: dict[str, Any] = super()._get_properties(doc)
        text = properties["esm"].encode()
        properties["bundle"] = (
            f"{type(self).__name__}-{sha256(text).hexdigest()}"  # as if translated
        )
        return properties


class SessionComponent(ScriptComponent):
    """A component that draws what Python says and sends requests, never changing state itself.

    A request the engine refuses therefore needs nothing undone in the browser: the answer, in
    ``status``, is all that changes.

    Parameters
    ----------
    session : Session or PageBackend, optional
        Shared by the components of a page; a new one by default.
    """

    drawn = param.String("{}", doc="What is drawn, as JSON; scripts read it as model.view.")
    status = param.Dict({}, doc="The last answer: ok, message, count.")

    part: ClassVar[str]
    """The part of the page backend that is drawn."""
    more: ClassVar[tuple[str, ...]] = ()
    """Further parts that are looked at."""
    topics: ClassVar[tuple[str, ...]] = ()
    """The topics of requests that are answered here, in ``status``."""
    tells_shown: ClassVar[bool] = True
    """The script sends a message as soon as a notebook shows it."""

    __abstract = True

    def __init__(self, session: Session | PageBackend | None = None, **params: Any) -> None:
        self.backend = backend_of(session)
        params.setdefault("sizing_mode", "stretch_width")
        super().__init__(**params)
        self.backend.want("status", self.part, *self.more)
        self.refresh()
        self.backend.param.watch(lambda *_: self.refresh(), "version")

    @property
    def session(self) -> Session:
        """The session, where it is in this process."""
        return self.backend.session

    @property
    def view(self) -> dict[str, Any]:
        """The drawn data, as plain data."""
        return json.loads(self.drawn)

    def refresh(self) -> None:
        """Show what the page backend has now."""
        changes = self.changes()
        if changes:
            self.param.update(**changes)

    def changes(self) -> dict[str, Any]:
        """Parameters to set at this turn."""
        changes: dict[str, Any] = {}
        text = self.text()
        if text is not None and text != self.drawn:
            changes["drawn"] = text
        status = self._answer() if self.topics else None
        if status is not None:
            changes["status"] = status
        return changes

    def _answer(self) -> dict[str, Any] | None:
        """The status, if the last answer is one to tell here, or ends what was told."""
        said = self.backend.part("status")
        if said is None:
            return None
        status = {"ok": True, "message": said["summary"], "count": said["answers"], "told": False}
        if said["topic"] in self.topics:
            status.update(ok=said["ok"], message=said["message"], ways=said["ways"])
            status["told"] = status["message"] != said["summary"]
        elif self.status.get("ok", False) and not self.status["told"]:
            return None
        return status

    def text(self) -> str | None:
        """The JSON the script draws; None while it is not known."""
        return self.backend.parts.get(self.part)

    def handle(self, request: Mapping[str, Any]) -> None:
        """Carry out a request from the browser."""

    def receive(self, data: Any) -> None:
        """Take a message from the browser, which may send anything."""
        # what is not a request is not answered
        if not (isinstance(data, dict) and isinstance(data.get("kind"), str)):
            return
        if data["kind"] == "shown":
            if shown(self, data.get("roots")):
                self._send_msg({"kind": "heard"})
        elif data["kind"] == "help":
            self._send_msg({"kind": "help", "texts": texts()})
        elif data["kind"] == "way" and isinstance(data.get("text"), str):
            self.backend.ask("take_way_out", data["text"])
        else:
            self.handle(data)

    def _handle_msg(self, data: Any) -> None:
        self.receive(data)
