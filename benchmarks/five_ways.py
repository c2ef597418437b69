"""The programs that tie the systems together, by every system: the tables of the page about them.

    python -m benchmarks.five_ways [--only NAME] [--seconds S] [--rounds N]

Prints a table in Markdown for each program.  Times by the clock are those of this machine.
"""

from __future__ import annotations

import argparse

from fuseloom.comparison.compare import compare
from fuseloom.comparison.examples import EXAMPLES, example
from fuseloom.comparison.rows import Comparison, ComparisonRow
from fuseloom.wording import duration, grouped

TITLES = (
    "system", "way", "kernels", "between, bytes", "recompute", "FLOPs", "simulated, cycles",
    "predicted", "measured",
)  # fmt: skip


def cells(row: ComparisonRow) -> tuple[str, ...]:
    """The cells of a row in Markdown."""
    if not row.applies:
        return (row.system.value, "", "", "", "", "", "", "", "")
    predicted = ""
    if row.predicted is not None and row.predicted_unit == "cycles" and not row.simulated_cycles:
        predicted = f"{grouped(round(row.predicted))} cycles"
    return (
        row.system.value, row.way,
        *(grouped(x) if x is not None else "" for x in (row.kernels, row.bytes_between)),
        "" if row.recompute is None else f"{row.recompute:.2f}",
        *(grouped(x) if x is not None else "" for x in (row.flops, row.simulated_cycles)),
        predicted, "" if row.measured_seconds is None else duration(row.measured_seconds),
    )  # fmt: skip


def markdown(made: Comparison) -> str:
    """The table of a program; of what does not apply a line below it."""
    lines = [f"| {' | '.join(TITLES)} |", f"|{'---|' * len(TITLES)}"]
    lines += [f"| {' | '.join(cells(row))} |" for row in made.rows if row.applies]
    refused = {row.system.value: row.reason for row in made.rows if not row.applies}
    lines += ["", *(f"{system} does not apply: {reason}." for system, reason in refused.items())]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=EXAMPLES)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    for name in EXAMPLES if options.only is None else (options.only,):
        program, data = example(name)
        made = compare(program, data, seconds=options.seconds, rounds=options.rounds)
        print(f"## {name}\n\n{markdown(made)}\n")


if __name__ == "__main__":
    main()
