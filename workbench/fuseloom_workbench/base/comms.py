"""Messages of notebooks: when they are sent to a view, and where those from a view are handled.

**To a view: not before the browser shows it.**
Panel sends a message to a notebook in parts, one after another, and the browser counts them.  What
is sent while the cell's output is still being put up is lost; if that is the first part of a
message, all parts after it are taken for what they are not ("s is not iterable", seen with Panel
1.9.4 in JupyterLab 4), and the view stays as it was first drawn.  A drawing that comes a moment
after its cell does just that.  So messages wait until a component's script says that it is shown,
which is when the page's index has its root: until then Panel drops what comes.  The script's words
may be lost, too, while the kernel does not know the browser's end; they are said again until there
is an answer.

**From a view: on the thread that runs the cells.**  JupyterLab has them handled on threads of their
own.  A session is not for two threads at once, and parts of two messages, each sent by a thread,
arrive mixed and are taken for what they are not, too (seen with ipykernel 7.4 and JupyterLab 4.6).
"""

from __future__ import annotations

import asyncio
import functools
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pyviz_comms
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
        self._said: weakref.WeakKeyDictionary[Any, set[Any]] = weakref.WeakKeyDictionary()

    def send(self, comm: Any, message: Any) -> None:
        """Send a message, or keep it until its view is shown."""
        if comm in self._shown or not (comm in self._waiting or self._tells(comm)):
            self._send(comm, message)
            return
        if comm not in self._waiting:
            self._waiting[comm] = []
            self._later(PATIENCE, lambda: self._flush(comm))
        self._waiting[comm].append(message)

    def shown(self, comm: Any, component: Any) -> bool:
        """Note that a component of this view is shown; return whether messages reach the view yet.

        The last component that says so for the first time is waited for.
        """
        if comm in self._shown:
            return True
        said = self._said.setdefault(comm, set())
        if component not in said:
            said.add(component)
            count = len(said)
            self._later(SETTLED, lambda: self._flush(comm) if len(said) == count else None)
        return False

    def _flush(self, comm: Any) -> None:
        self._shown.add(comm)
        for message in self._waiting.pop(comm, []):
            self._send(comm, message)


held: list[HeldMessages] = []
"""The messages of this kernel's views, once they are held."""


def handled_on(
    loop: asyncio.AbstractEventLoop, handle: Callable[[Any, Any], None]
) -> Callable[[Any, Any], None]:
    """Return ``handle(comm, message)`` as it runs on the thread of a loop, in the order of calls.

    Must be called on that thread.
    """
    thread = threading.get_ident()

    @functools.wraps(handle)
    def handled(comm: Any, message: Any) -> None:
        if threading.get_ident() == thread:
            handle(comm, message)
        else:
            loop.call_soon_threadsafe(handle, comm, message)

    return handled


def tells(comm: Any) -> bool:
    """Return whether a component in the view of a comm says when a notebook shows it."""
    views = [view for view, _, _, other in state._views.values() if other is comm]
    return any(view.select(lambda each: getattr(each, "tells_shown", False)) for view in views)


def hold_until_shown() -> None:
    """From now on, in this kernel; done once, however often called, and not without a kernel."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return
    if not held:
        held.append(HeldMessages(notebook.send, loop.call_later, tells))
        notebook.send = held[0].send
        pyviz_comms.Comm._handle_msg = handled_on(loop, pyviz_comms.Comm._handle_msg)


def shown(component: Any, roots: Any) -> bool:
    """Note that a component's script runs; return whether messages reach its view yet.

    Parameters
    ----------
    component : SessionComponent
        What the script belongs to.
    roots : object
        The ids of the view's roots, if the browser sent what it should.
    """
    ids = [root for root in roots if isinstance(root, str)] if isinstance(roots, list) else []
    comms = {state._views[root][3] for root in ids if root in state._views} - {None}
    return bool(held) and any(held[0].shown(comm, component.name) for comm in comms)
