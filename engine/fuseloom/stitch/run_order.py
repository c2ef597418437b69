"""The order in which kernels, and operations that are in none, can run."""

from __future__ import annotations

from fuseloom.stitch.stitched import DeepFusion


def run_order(fusion: DeepFusion) -> tuple[int | str, ...]:
    """Return numbers of kernels and names of operations that are in none.

    Each stands behind those that it reads.  What the result does not depend on is left out.

    Examples
    --------
    >>> from fuseloom.stitch.fusion import fuse
    >>> from fuseloom.stitch.graph import DenseComputation, DenseOperation
    >>> from fuseloom.stitch.shapes import TensorShape
    >>> shape = TensorShape("f32", (4,))
    >>> x = DenseOperation("x", "parameter", shape)
    >>> y = DenseOperation("y", "negate", shape, ("x",))
    >>> run_order(fuse(DenseComputation("f", (x, y), "y")))
    ('x', 0)
    """
    computation = fusion.computation
    homes = {
        name: number for number, kernel in enumerate(fusion.kernels) for name in kernel.operations
    }
    made: list[int | str] = []
    seen: set[int | str] = set()
    for end in (*computation.outputs, computation.root):
        stack: list[tuple[str, bool]] = [(end, False)]
        while stack:
            name, behind = stack.pop()
            key = homes.get(name, name)
            if behind:
                made.append(key)
            elif key not in seen:
                seen.add(key)
                stack.append((name, True))
                members = fusion.kernels[key].operations if isinstance(key, int) else (name,)
                for member in members:
                    stack += [(one, False) for one in computation.by_name[member].operands]
    return tuple(made)
