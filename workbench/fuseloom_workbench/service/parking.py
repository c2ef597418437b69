"""Pages that were closed a short while ago, so that a page loaded anew goes on with its runs.

A page is given a long random session token, which its browser keeps for as long as its tab is open;
who has it gets the design and the runs of that page.  Nothing is written where others could read it
(:mod:`fuseloom_workbench.service.spool`).
"""

from __future__ import annotations

import secrets
import time
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

from fuseloom_workbench.service.spool import TextSpool

KEEP = 1_800.0
"""Seconds for which a closed page is remembered."""
WORD = 24
"""Bytes of chance in a session token."""


@dataclass(frozen=True)
class Parked:
    """The state of a closed page: its session as compressed JSON, and its packed runs."""

    session: bytes
    kept: TextSpool
    since: float

    @property
    def saved(self) -> str:
        return zlib.decompress(self.session).decode()

    @property
    def size(self) -> int:
        """Bytes of both."""
        return len(self.session) + self.kept.size


class Parking:
    """The state of closed pages, by session token; the oldest go first when there are too many.

    Parameters
    ----------
    most : int
        Pages that are remembered.
    most_bytes : int
        Bytes of all of them together.
    """

    def __init__(self, most: int, most_bytes: int = 64 << 20) -> None:
        self.most = most
        self.most_bytes = most_bytes
        self._pages: dict[str, Parked] = {}

    def __len__(self) -> int:
        return len(self._pages)

    def put(self, session_token: str, saved: str | None, kept: TextSpool) -> None:
        """Remember a page that is closed; its runs are this lot's from now on."""
        if saved is None:
            kept.close()
            return
        self._forget_old()
        self._forget([session_token] if session_token in self._pages else [])
        self._pages[session_token] = Parked(zlib.compress(saved.encode()), kept, time.monotonic())
        while len(self._pages) > self.most or self._size() > self.most_bytes:
            self._forget([next(iter(self._pages))])

    def get(self, session_token: str) -> Parked | None:
        """Return the state of the page with this session token."""
        self._forget_old()
        return self._pages.get(session_token)

    def _size(self) -> int:
        return sum(page.size for page in self._pages.values())

    def _forget_old(self) -> None:
        now = time.monotonic()
        self._forget([w for w, page in self._pages.items() if now - page.since > KEEP])

    def _forget(self, session_tokens: Iterable[str]) -> None:
        for session_token in session_tokens:
            self._pages.pop(session_token).kept.close()


def new_session_token() -> str:
    """A session token that nobody guesses."""
    return secrets.token_urlsafe(WORD)
