"""Count the claims of each kind, and name those with a wider tolerance than their family::

    python -m fuseloom.experiments.count_claims

A claim that leaves out what its kind demands, or that is wider without a reason, ends it with 1.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from importlib.resources import files

from fuseloom.errors import DataError
from fuseloom.experiments.claims import ClaimKind, Published, read_published


def claims_and_numbers(claims: Iterable[Published]) -> Mapping[ClaimKind, tuple[int, int]]:
    """The number of claims of each kind, and of the numbers behind them."""
    every = list(claims)
    return {
        kind: (len(own), len({one.number_id for one in own}))
        for kind in ClaimKind
        if (own := [one for one in every if one.kind is kind])
    }


def main(text: str | None = None) -> int:
    """Print the counts of a text in the form of ``published.toml``, by default of that file."""
    if text is None:
        place = files("fuseloom.experiments").joinpath("published.toml")
        text = place.read_text(encoding="utf-8")
    try:
        every = read_published(text)
    except DataError as fault:
        print(fault.message, file=sys.stderr)
        return 1
    for kind, (claims, numbers) in claims_and_numbers(every.values()).items():
        print(f"{kind.value}: {claims} claims, {numbers} numbers")
    for one in every.values():
        if one.reason:
            print(f"{one.id} ({one.tolerance}): {one.reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
