"""A token before anything is shown: asked for once, then kept in a signed cookie."""

from __future__ import annotations

import asyncio
import hmac
from html import escape
from typing import Any

from bokeh.server.auth_provider import AuthProvider
from tornado.web import RequestHandler

from fuseloom_workbench.service.journal import note

COOKIE = "fuseloom"
DAYS = 7
PAUSE = 1.0
"""Seconds before a wrong token is answered."""
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Fuseloom</title>
<style>body {{ font: 16px system-ui, sans-serif; max-width: 26em; margin: 15vh auto }}
input, button {{ font: inherit; padding: .4em .7em }}</style>
<h1>Fuseloom</h1><p>{message}</p>
<form method="post"><label>Token <input type="password" name="token" autofocus
autocomplete="current-password"></label> <button>Enter</button></form></html>"""


def same(given: str, wanted: str) -> bool:
    """Return whether two tokens are equal, in a time that does not depend on the difference."""
    return hmac.compare_digest(given.encode(), wanted.encode())


def access(token: str) -> AuthProvider:
    """Return the provider that asks for the token, and recognises its owners."""

    class Login(RequestHandler):
        """The form, and the answer to it; a link may carry the token, too."""

        async def get(self) -> None:
            given = self.get_argument("token", "")
            if given:
                await self._enter(given)
            else:
                self._ask("This server wants a token. Whoever started it has one.")

        async def post(self) -> None:
            await self._enter(self.get_argument("token", ""))

        async def _enter(self, given: str) -> None:
            if not same(given, token):
                note("login_failed", address=self.request.remote_ip)
                await asyncio.sleep(PAUSE)
                self.set_status(403)
                self._ask("That is not the token.")
                return
            self.set_signed_cookie(
                COOKIE, "visitor", expires_days=DAYS, httponly=True, samesite="Strict"
            )
            self.redirect(self._next())

        def _next(self) -> str:
            wanted = self.get_argument("next", "/")
            inside = wanted.startswith("/") and not wanted.startswith(("//", "/\\"))
            return wanted if inside else "/"

        def _ask(self, message: str) -> None:
            self.write(PAGE.format(message=escape(message)))

    class VisitorCookie(AuthProvider):
        """Everybody who has the cookie is the same visitor."""

        @property
        def get_user(self) -> Any:
            def user(handler: RequestHandler) -> str | None:
                return "visitor" if handler.get_signed_cookie(COOKIE, max_age_days=DAYS) else None

            return user

        @property
        def get_user_async(self) -> None:
            return None

        @property
        def login_url(self) -> str:
            return "/login"

        @property
        def get_login_url(self) -> None:
            return None

        @property
        def login_handler(self) -> type[RequestHandler]:
            return Login

        @property
        def logout_url(self) -> None:
            return None

        @property
        def logout_handler(self) -> None:
            return None

    return VisitorCookie()
