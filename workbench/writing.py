"""Every message to a browser is written: mends how Panel hands them to a socket.

While one task awaits that its messages are written, changes of the page may become further ones,
to be written by a task of their own.  The first, when it is done, takes away the sign that there is
something to write (``_WRITE_BLOCK``), and the second then wrote nothing: its messages stayed
(``_WRITE_MSGS``) until the page changed again.  A page on a loaded server said "working" for ever.
Seen with Panel 1.9.4; the test says when it is no longer so.
"""

from __future__ import annotations

from typing import Any

from panel.io import document


def write_every_message() -> None:
    """Let no message wait for the next one; done once, however often it is called."""
    dispatch = document._dispatch_msgs
    if dispatch.__module__ == __name__:
        return

    async def dispatch_all(doc: Any) -> None:
        if doc in document._WRITE_MSGS:
            document._WRITE_BLOCK[doc] = True
        await dispatch(doc)

    document._dispatch_msgs = dispatch_all
