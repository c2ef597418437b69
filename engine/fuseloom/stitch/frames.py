"""Modules fused frame by frame: the computation that is run, and bodies of loops and branches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fuseloom.stitch.fusion import SHARED_MEMORY, FusionSettings, fuse
from fuseloom.stitch.graph import DenseComputation, DenseModule
from fuseloom.stitch.inlining import inline_calls
from fuseloom.stitch.kernel_memory import memory_check
from fuseloom.stitch.opcodes import ProductFusion
from fuseloom.stitch.shared_memory import SpaceSharing
from fuseloom.stitch.stitched import DeepFusion
from fuseloom.stitch.xla_rules import XlaFusion, XlaRules, xla_fusion

RUN = ("body", "condition", "true_computation", "false_computation", "branch_computations")
"""Attributes that name computations which are run as frames of their own."""


@dataclass(frozen=True)
class FusedFrame:
    """A computation, fused, and the same by the rules of XLA.

    Attributes
    ----------
    computation : DenseComputation
        As it was given, without calls.
    fusion : DeepFusion
    baseline : XlaFusion
    """

    computation: DenseComputation
    fusion: DeepFusion
    baseline: XlaFusion


@dataclass(frozen=True)
class FusedModule:
    """A module whose frames are fused.

    Attributes
    ----------
    module : DenseModule
        Without calls.
    frames : tuple of FusedFrame
        The computation that is run first.
    """

    module: DenseModule
    frames: tuple[FusedFrame, ...]

    @property
    def count(self) -> int:
        """Kernels of all frames, each once, without calls of libraries."""
        return sum(frame.fusion.count for frame in self.frames)

    @property
    def baseline_count(self) -> int:
        """Kernels of the baseline, counted alike."""
        return sum(frame.baseline.count for frame in self.frames)

    @property
    def ratio(self) -> float:
        """Kernels by those of the baseline; 1 where neither has any."""
        return self.count / self.baseline_count if self.baseline_count else 1.0


def frames_of(module: DenseModule) -> Iterator[DenseComputation]:
    """The computation that is run, and those that its loops and branches run, each once."""
    waiting, seen = [module.entry], {module.entry}
    for run in waiting:
        computation = module.computations[run]
        yield computation
        for operation in computation.operations:
            for key in RUN:
                given = operation.attributes.get(key, ())
                for name in (given,) if isinstance(given, str) else given:
                    if name not in seen:
                        seen.add(name)
                        waiting.append(name)


def fuse_module(
    module: DenseModule,
    products: ProductFusion = ProductFusion.BATCHED,
    *,
    shared_memory: int = SHARED_MEMORY,
    sharing: SpaceSharing = SpaceSharing.LIVENESS,
    settings: FusionSettings | None = None,
    rules: XlaRules | None = None,
) -> FusedModule:
    """Fuse every frame of a module, calls inlined, and count kernels of the baseline.

    Parameters
    ----------
    products, shared_memory, settings
        As :func:`fuseloom.stitch.fusion.fuse` takes them; by default operations are taken in from
        layers with calls of libraries, too, unlike in the paper.
    sharing : SpaceSharing
        The way in which buffers of a kernel share space; a kernel whose buffers do not fit does
        not grow.
    rules : XlaRules, optional
        Of the baseline.

    Examples
    --------
    >>> from fuseloom.stitch.graph import DenseOperation
    >>> from fuseloom.stitch.shapes import TensorShape
    >>> shape = TensorShape("f32", (4, 4))
    >>> x = DenseOperation("x", "parameter", shape)
    >>> y = DenseOperation("y", "transpose", shape, ("x",), {"dimensions": (1, 0)})
    >>> z = DenseOperation("z", "exponential", shape, ("y",))
    >>> main = DenseComputation("main", (x, y, z), "z")
    >>> made = fuse_module(DenseModule("m", {"main": main}, "main"))
    >>> made.count, made.baseline_count, made.ratio
    (1, 2, 0.5)
    """
    inlined = inline_calls(module)
    frames = []
    for frame in frames_of(inlined):
        fusion = fuse(
            frame, products, shared_memory=shared_memory,
            consistent=memory_check(frame, products, shared_memory, sharing),
            settings=settings or FusionSettings(call_layers=False),
        )  # fmt: skip
        frames.append(FusedFrame(frame, fusion, xla_fusion(frame, rules)))
    return FusedModule(inlined, tuple(frames))
