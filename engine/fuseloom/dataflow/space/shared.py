"""Candidates of a region, examined once for all regions that equal it but for names."""

from __future__ import annotations

from collections.abc import Iterator

from fuseloom.program.types import Statement
from fuseloom.results.method import Deferred, Part, Refusal


class RegionCache:
    """A cache of results for regions, shared by all that are equal."""

    def __init__(
        self,
        statements: tuple[Statement, ...],
        candidates: Iterator[Part | Refusal | Deferred],
    ) -> None:
        self.statements = statements
        self._found: list[Part | Refusal | Deferred] = []
        self._candidates = candidates

    def __iter__(self) -> Iterator[Part | Refusal | Deferred]:
        number = 0
        while True:
            if number == len(self._found):
                found = next(self._candidates, None)
                if found is None:
                    return
                self._found.append(found)
            yield self._found[number]
            number += 1

    def plain(self) -> Iterator[Part | Refusal]:
        """The same; there is nothing deferred among it."""
        for found in self:
            assert not isinstance(found, Deferred)
            yield found
