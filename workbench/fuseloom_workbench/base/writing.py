"""Every message to a browser is written: mends how Panel hands them to a socket.

**While others are written.**  While one task awaits that its messages are written, changes of the
page may become further ones, to be written by a task of their own.  The first, when it is done,
takes away the sign that there is something to write (``_WRITE_BLOCK``), and the second then wrote
nothing: its messages stayed (``_WRITE_MSGS``) until the page changed again.  A page on a loaded
server said "working" for ever.

**While the page is opened.**  Panel drops changes of models until the browser says that the page is
ready, as the page is sent whole; but between the sending and the word of the browser lies a second
on a loaded machine, and what changed then never came.  A page said "drawing the graph" for ever.

Seen with Panel 1.9.4; the tests say when it is no longer so.  Panel 1.10 (with Bokeh 3.10)
has other names for these, and changes pages in threads where this code counts on the server's loop:
``pyproject.toml`` keeps to what came before.
"""

from __future__ import annotations

from typing import Any

from bokeh.document.events import DocumentPatchedEvent, MessageSentEvent
from panel.io import document


def write_every_message() -> None:
    """Let no message wait for the next one, and none be lost; done once, however often called."""
    if document._dispatch_msgs.__module__ != __name__:
        _write_all()
    if document._drain_unconnected_events.__module__ != __name__:
        _keep_all()


def _write_all() -> None:
    dispatch = document._dispatch_msgs

    async def dispatch_all(doc: Any) -> None:
        if doc in document._WRITE_MSGS:
            document._WRITE_BLOCK[doc] = True
        await dispatch(doc)

    document._dispatch_msgs = dispatch_all


def _keep_all() -> None:
    drain = document._drain_unconnected_events

    def drain_and_keep(doc: Any, lock: Any) -> Any:
        session = getattr(doc.session_context, "session", None)
        kept = []
        if session is not None and session._subscribed_connections:  # it may have been sent
            with lock:
                kept = [
                    event
                    for event in doc.callbacks._held_events or ()
                    if isinstance(event, DocumentPatchedEvent)
                    and not isinstance(event, MessageSentEvent)  # which Panel keeps
                ]
        now = drain(doc, lock)
        if kept:
            document._UNCONNECTED_EVENTS.setdefault(doc, []).extend(kept)
        return now

    document._drain_unconnected_events = drain_and_keep
