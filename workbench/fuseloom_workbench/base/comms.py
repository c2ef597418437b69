"""Notebooks: nothing is sent to a view before the browser shows it.

Panel sends a message to a notebook in parts, one after another, and the browser counts them.  What
is sent while the cell's output is still being put up is lost; if that is the first part of a
message, all parts after it are taken for what they are not ("s is not iterable", seen with Panel
1.9.4 in JupyterLab 4), and the view stays as it was first drawn.  A drawing that comes a moment
after its cell does just that.  So messages wait until a component's script says that it is shown,
which is when the page's index has its root: until then Panel drops what comes.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable
from typing import Any

from panel.io import notebook, state

PATIENCE = 600.0
"""Seconds after which what waits for a view that nobody shows is not kept any more.

A kernel that runs its cells, and a browser that loads the scripts, may take a minute: messages that
are sent before are what this module prevents.
"""
SETTLED = 0.3
"""Seconds from the last component's word until its output's other scripts have run, too."""


class HeldMessages:
    """Messages of views that are not shown yet, in order.

    Parameters
    ----------
    send : callable
        ``send(comm, message)``, as Panel has it.
    later : callable
        ``later(seconds, function)``.
    tells : callable
        Whether the view of a comm has a component that says when it is shown; no other is waited
        for.
    """

    def __init__(
        self,
        send: Callable[[Any, Any], None],
        later: Callable[[float, Callable[[], None]], Any],
        tells: Callable[[Any], bool],
    ) -> None:
        self._send = send
        self._later = later
        self._tells = tells
        self._waiting: weakref.WeakKeyDictionary[Any, list[Any]] = weakref.WeakKeyDictionary()
        self._shown: weakref.WeakSet[Any] = weakref.WeakSet()
        self._said: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()

    def send(self, comm: Any, message: Any) -> None:
        """Send a message, or keep it until its view is shown."""
        if comm in self._shown or not (comm in self._waiting or self._tells(comm)):
            self._send(comm, message)
            return
        if comm not in self._waiting:
            self._waiting[comm] = []
            self._later(PATIENCE, lambda: self._flush(comm))
        self._waiting[comm].append(message)

    def shown(self, comm: Any) -> None:
        """A component of this view is there; the last one that says so is waited for."""
        if comm is None or comm in self._shown:
            return
        said = self._said[comm] = self._said.get(comm, 0) + 1

        def settled() -> None:
            if self._said[comm] == said:
                self._flush(comm)

        self._later(SETTLED, settled)

    def _flush(self, comm: Any) -> None:
        self._shown.add(comm)
        for message in self._waiting.pop(comm, []):
            self._send(comm, message)


def _later(seconds: float, function: Callable[[], None]) -> None:
    asyncio.get_running_loop().call_later(seconds, function)


_held: list[HeldMessages] = []


def tells(comm: Any) -> bool:
    """Return whether a component in the view of a comm says when a notebook shows it."""
    views = [view for view, _, _, other in state._views.values() if other is comm]
    return any(view.select(lambda each: getattr(each, "tells_shown", False)) for view in views)


def hold_until_shown() -> None:
    """From now on, in this process; done once, however often called."""
    if not _held:
        _held.append(HeldMessages(notebook.send, _later, tells))
        notebook.send = _held[0].send


def shown(component: Any) -> None:
    """A component's script says that it runs in a browser."""
    if not _held:
        return
    for ref in list(component._models):
        _, _, _, comm = state._views.get(ref, (None, None, None, None))
        _held[0].shown(comm)
