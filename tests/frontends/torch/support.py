"""Importing a function or module and comparing everything that computes it with PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import fuseloom as fl
from fuseloom.errors import LoweringError, OrderError
from fuseloom.frontends.torch import ImportedModule


class Module(torch.nn.Module):
    """A module of one function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *x: Any) -> Any:
        return self.function(*x)


def normal(*shape: int, seed: int = 0) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def sparse(*shape: int, seed: int = 1, density: float = 0.4) -> Any:
    """Normal values of which most are 0, among them a whole row."""
    kept = torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < density
    kept[0] = False
    return normal(*shape, seed=seed + 100) * kept


def positive(*shape: int) -> Any:
    return normal(*shape).abs() + 0.5


def widest(imported: ImportedModule) -> str:
    """A schedule that fuses as far as regions can be built, from the first statement on."""
    regions: list[list[str]] = []
    for statement in imported.program.statements:
        name = statement.out.tensor
        if not statement.op.fuses:
            regions.append([])
            continue
        if regions and _builds(imported, regions[:-1], [*regions[-1], name]):
            regions[-1].append(name)
        else:
            regions.append([name])
    return _text(regions)


def _text(regions: list[list[str]]) -> str:
    return "; ".join(f"fuse {r[0]}..{r[-1]}" for r in regions if len(r) > 1)


def _builds(imported: ImportedModule, before: list[list[str]], region: list[str]) -> bool:
    try:
        fl.compile(imported.program, _text([*before, region]))
    except (LoweringError, OrderError):
        return False
    return True


def agrees(
    function: Any,
    inputs: tuple[Any, ...],
    formats: dict[str, str] | None = None,
    fused: str = "full",
    **options: Any,
) -> ImportedModule:
    """Import; the reference and simulations, unfused and fused, must equal the module.

    ``fused`` is the preset to simulate; where its regions cannot be built, what can.
    """
    module = function if isinstance(function, torch.nn.Module) else Module(function)
    imported = fl.from_torch(module, inputs, formats, **options)
    assert fl.parse(str(imported.program)) == imported.program
    agreement = imported.check()
    assert agreement.ok, f"{agreement}\n{imported.program}"
    try:
        full = fl.compile(imported.program, imported.presets[fused])
    except LoweringError:
        full = fl.compile(imported.program, widest(imported))
    for compiled in (fl.compile(imported.program, imported.presets["unfused"]), full):
        run = fl.simulate(compiled, imported.data)
        assert run.check(1e-4).ok, f"{run.check(1e-4)}\n{imported.program}"
        agreement = imported.check(run.outputs)
        assert agreement.ok, f"{compiled.schedule}: {agreement}\n{imported.program}"
    return imported


def imported(function: Callable[..., Any], *inputs: Any, **options: Any) -> Any:
    return fl.from_torch(Module(function), inputs, **options)
