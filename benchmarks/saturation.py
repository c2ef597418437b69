"""What equality saturation buys: mappings beside those of rules that are applied in an order.

``python -m benchmarks.saturation [--networks lenet resnet18 ...] [--orders 10] [--calls 120]``

Every distinct layer of the networks is mapped onto an array of 64 × 64: by saturation; by the same
rules, each replacing what it matches, in the order of their file and in random orders; and in an
order that was made by hand for these layers, without the rules that undo others.  A layer counts as
mapped if no dot product is left; layers of more than 120 calls are left out.  Wall time of
saturation and extraction is that of one run.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from statistics import median

from fuseloom.access.constructs.operators import DOT_PRODUCT
from fuseloom.access.hardware import SystolicArray
from fuseloom.access.mapping import calls_of, map_term
from fuseloom.access.rules.rule import Rule
from fuseloom.access.rules.sets import rule_set
from fuseloom.access.saturation.phases import rewrite_in_phases
from fuseloom.access.terms import Term, subterms, tensors
from fuseloom.access.torch_layers import layers_of
from fuseloom.access.torch_networks import NETWORKS, network

BY_HAND = (
    "flatten-operands", "cartProd-of-reshapes", "dotProd-of-reshape", "stream-longer-operand",
    "split-groups", "group-of-one", "split-vectors", "box-of-box", "cartProd-of-concats",
    "dotProd-of-concat-compute", "split-outputs", "cartProd-of-concat-right",
    "dotProd-of-concat-access", "systolic-array",
)  # fmt: skip
ARRAY = SystolicArray(64, 64)


def in_order(term: Term, rules: Sequence[Rule]) -> int | None:
    """Cycles of what rules in an order make of a term; None if a dot product is left."""
    made = rewrite_in_phases(term, rules, ARRAY.parameters)
    left = any(
        part.construct == "compute" and part.attributes == (DOT_PRODUCT,) for part in subterms(made)
    )
    return None if left else sum(call.cycles for call in calls_of(made))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS), metavar="NAME")
    parser.add_argument("--orders", type=int, default=10)
    parser.add_argument("--calls", type=int, default=120, help="leave larger layers out")
    options = parser.parse_args()
    rules = {rule.name: rule for rule in rule_set("boxes")}
    hand = [rules[name] for name in BY_HAND]
    shuffled = [random.Random(seed).sample(list(rules.values()), len(rules))
                for seed in range(options.orders)]  # fmt: skip
    names = {}
    for name in options.networks:
        for layer in layers_of(*network(name).make())[0]:
            names.setdefault(layer.term, f"{name} {layer.name}")
    totals = [0, 0, 0, 0]
    ratios: list[float] = []
    print("| layer | tensors | cycles | s | file | hand | random orders that map it |")
    print("|---|---|---|---|---|---|---|")
    for term, name in names.items():
        began = time.perf_counter()
        mapped = map_term(term, ARRAY)
        seconds = time.perf_counter() - began
        if not 0 < len(mapped.calls) <= options.calls:
            continue
        file, own = in_order(term, list(rules.values())), in_order(term, hand)
        found = [cycles for order in shuffled if (cycles := in_order(term, order)) is not None]
        totals[0] += 1
        totals[1] += file is not None
        totals[2] += own is not None
        totals[3] += len(found)
        ratios += [cycles / mapped.cycles for cycles in (own, *found) if cycles is not None]
        extents = ", ".join("×".join(map(str, dims)) for dims in tensors(term).values())
        print(
            f"| {name} | {extents} | {mapped.cycles:,} | {seconds:.2f} | {file or 'no'} | "
            f"{own or 'no'} | {len(found)} of {options.orders} |",
            flush=True,
        )
    count = totals[0]
    print(
        f"\n{count} layers: mapped by saturation {count}, in the file's order {totals[1]}, by hand "
        f"{totals[2]}, in random orders {totals[3]} of {count * options.orders}; cycles of orders "
        f"that map over those of saturation: median {median(ratios):.2f}, largest {max(ratios):.2f}"
    )


if __name__ == "__main__":
    main()
