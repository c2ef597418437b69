"""Pages that were closed a short while ago, so that a page loaded anew goes on with its runs.

A page is given a long random word, which its browser keeps for as long as its tab is open; who has
it gets the design and the runs of that page.  Nothing is written anywhere.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass

KEEP = 1_800.0
"""Seconds for which a closed page is remembered."""
WORD = 24
"""Bytes of chance in a word."""


@dataclass(frozen=True)
class Parked:
    """What a page had: its session as JSON, and its runs as its seat has packed them."""

    saved: str
    kept: tuple[str, ...]
    since: float


class Parking:
    """What closed pages had, by their words; the oldest go first where there are too many.

    Parameters
    ----------
    most : int
        Pages that are remembered.
    most_text : int
        Characters of all of them together.
    """

    def __init__(self, most: int, most_text: int = 64 << 20) -> None:
        self.most = most
        self.most_text = most_text
        self._pages: dict[str, Parked] = {}

    def __len__(self) -> int:
        return len(self._pages)

    def put(self, word: str, saved: str | None, kept: list[str]) -> None:
        """Remember a page that is closed."""
        if saved is None:
            return
        self._forget_old()
        self._pages.pop(word, None)
        self._pages[word] = Parked(saved, tuple(kept), time.monotonic())
        while len(self._pages) > self.most or self._size() > self.most_text:
            del self._pages[next(iter(self._pages))]

    def get(self, word: str) -> Parked | None:
        """What the page of this word had."""
        self._forget_old()
        return self._pages.get(word)

    def _size(self) -> int:
        return sum(len(p.saved) + sum(map(len, p.kept)) for p in self._pages.values())

    def _forget_old(self) -> None:
        now = time.monotonic()
        for word in [w for w, page in self._pages.items() if now - page.since > KEEP]:
            del self._pages[word]


def new_word() -> str:
    """A word that nobody guesses."""
    return secrets.token_urlsafe(WORD)
