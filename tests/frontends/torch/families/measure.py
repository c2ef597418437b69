"""The acceptance rate of a family: ``python -m tests.frontends.torch.families.measure``."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import torch

import fuseloom as fl
from fuseloom.frontends.torch import ImportedModule

SIMULATED = 600
"""Programs with more statements are compiled under every preset, and run unfused only."""


def imported(build: Callable[[], Any], inputs: tuple[Any, ...]) -> ImportedModule:
    """The import of a module of a family, with the weights that the seed gives."""
    torch.manual_seed(0)
    return fl.from_torch(build().eval(), inputs)


def problems(made: ImportedModule, presets: Iterable[str] | None = None) -> list[str]:
    """Return the faults of an import: disagreements, and presets that do not compile."""
    found = []
    agreement = made.check()
    if not agreement.ok:
        found.append(f"the reference {agreement}")
    for preset in made.presets if presets is None else presets:
        try:
            compiled = fl.compile(made.program, made.presets[preset])
            run = fl.simulate(compiled, made.data)
        except Exception as problem:  # whatever it is, it is reported
            found.append(f"{preset}: {type(problem).__name__}: {str(problem)[:300]}")
            continue
        agreement = made.check(run.outputs)
        if not agreement.ok:
            found.append(f"{preset}: {agreement}")
        elif not run.check(1e-4).ok:
            found.append(f"{preset}: {run.check(1e-4)}")
    return found


def outcome(build: Callable[[], Any], inputs: tuple[Any, ...]) -> tuple[str, str]:
    """``accepted``, ``refused``, ``wrong`` or ``raw``, and why."""
    try:
        made = imported(build, inputs)
    except fl.FuseloomError as problem:
        return "refused", str(problem)
    except Exception as problem:
        return "raw", f"{type(problem).__name__}: {problem}"
    small = len(made.program.statements) <= SIMULATED
    wrong = problems(made, None if small else ["unfused"])
    return ("wrong", "; ".join(wrong)) if wrong else ("accepted", "")


def main(chosen: list[str]) -> None:
    from tests.frontends.torch.families.plain import PLAIN

    families: dict[str, dict[str, Any]] = {"plain": PLAIN}
    try:
        from tests.frontends.torch.families.hugging_face import HUGGING_FACE

        families["hugging face"] = HUGGING_FACE
    except ImportError as missing:
        print(missing)
    for family, cases in families.items():
        if chosen and family.split()[0] not in chosen and not set(chosen) & set(cases):
            continue
        counted: Counter[str] = Counter()
        for name, (build, inputs) in cases.items():
            if set(chosen) & set(cases) and name not in chosen:
                continue
            began = time.monotonic()
            word, why = outcome(build, inputs)
            counted[word] += 1
            print(f"{family}: {name}: {word} ({time.monotonic() - began:.1f} s) {why}", flush=True)
        print(family, dict(counted), "of", sum(counted.values()))


if __name__ == "__main__":
    main(sys.argv[1:])
