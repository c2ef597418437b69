"""The gate of the server: permitted hosts and requests, and the browsers' restrictions.

Bokeh's server lets a WebSocket without an Origin pass, and Panel's route ``/components`` imports
any installed module by name.  Both end here, before a handler is chosen.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from tornado import web

from fuseloom_workbench.service.journal import note
from fuseloom_workbench.state.addresses import LONGEST_ADDRESS

POLICY = "; ".join(
    (
        "default-src 'self'",
        # Bokeh starts from a script in the page; Panel runs components from blobs
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self' blob: {sockets}",
        "worker-src 'none'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
COMPONENTS = ("components/panel_material_ui.",)
"""The parts of the route ``/components`` that the page itself needs."""
LONGEST = LONGEST_ADDRESS + 100
"""Characters of a path with its query; the page's own are shorter, and a proxy may add a prefix."""


class Headers(web.OutputTransform):
    """Adds the headers to every answer."""

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        host = request.host
        self._policy = POLICY.format(sockets=f"ws://{host} wss://{host}" if _plain(host) else "")

    def transform_first_chunk(
        self, status_code: int, headers: Any, chunk: bytes, finishing: bool
    ) -> tuple[int, Any, bytes]:
        headers["Content-Security-Policy"] = self._policy
        for name, value in HEADERS.items():
            headers[name] = value
        headers["Server"] = "fuseloom"
        return status_code, headers, chunk


def _plain(host: str) -> bool:
    return bool(host) and all(c.isalnum() or c in ".-:[]_" for c in host)


class Refused(web.RequestHandler):
    """Answers what does not pass."""

    def initialize(self, status: int, reason: str) -> None:
        self._status, self._reason = status, reason

    def prepare(self) -> None:
        self.set_status(self._status)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"{self._reason}\n")

    def check_xsrf_cookie(self) -> None:
        """Nothing is done, so nothing is to be protected."""


def refusal(request: Any) -> tuple[int, str] | None:
    """Status and reason, if this request does not pass."""
    path = unquote(request.path)
    if len(request.uri) > LONGEST:
        return 414, "this address is too long"
    upgrade = request.headers.get("Upgrade", "").lower() == "websocket"
    if (upgrade or path.endswith("/ws")) and not request.headers.get("Origin"):
        return 403, "a WebSocket without an Origin is refused"
    wanted = path.lstrip("/")
    if wanted.startswith("components") and (".." in wanted or not wanted.startswith(COMPONENTS)):
        return 404, "there is nothing here"
    if request.method not in ("GET", "HEAD", "POST", "OPTIONS"):
        return 405, "this method is not used here"
    return None


def guard(app: web.Application) -> None:
    """Put the gate in front of a Tornado application."""
    choose = app.find_handler

    def find_handler(request: Any, **kwargs: Any) -> Any:
        refused = refusal(request)
        if refused is None:
            return choose(request, **kwargs)
        note("request_refused", status=refused[0], path=request.path[:200], reason=refused[1])
        status, reason = refused
        return app.get_handler_delegate(request, Refused, {"status": status, "reason": reason})

    app.find_handler = find_handler  # type: ignore[method-assign]
    app.transforms.append(Headers)
