"""Triton of stitched kernels: blocks as programs, phases as tiles, and loops over them.

Triton has no shared memory that a program could name.  A buffer of a block whose readers find all
its elements where they need them, in one tile, is a variable, kept in registers; each other buffer
lies in scratch memory of the block, which is global memory that the launcher allocates, with a
barrier between the phases that write and read it.  Every value is computed in the outermost loop
that it depends on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fuseloom.stitch.c.values import kernel_names
from fuseloom.stitch.phases import PhasedKernel
from fuseloom.stitch.shapes import TensorShape
from fuseloom.stitch.triton.memory import BlockMemory, block_memory
from fuseloom.stitch.triton.phases import phase_lines
from fuseloom.stitch.triton.prelude import TRITON_PRELUDE
from fuseloom.stitch.triton.scalars import triton_type
from fuseloom.stitch.triton.tiles import TiledPhase, tiled_phases

POINTERS: Mapping[str, str] = {
    "pred": "*i1", "bf16": "*bf16", "f32": "*fp32", "f64": "*fp64",
    **{f"s{bits}": f"*i{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"*u{bits}" for bits in (8, 16, 32, 64)},
}  # fmt: skip
"""Types of arguments, as Triton writes them."""
TORCH_TYPES: Mapping[str, str] = {
    "pred": "bool", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
    **{f"s{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
}  # fmt: skip
"""Names of PyTorch's types of elements."""
_WARPS = ((128, 1), (256, 2), (2048, 4))
"""Most elements of a tile, and the warps that compute it."""


@dataclass(frozen=True)
class TritonLaunch:
    """The grid, scratch memory and arguments of the launch of a kernel in Triton.

    Attributes
    ----------
    blocks : int
        Programs.
    warps : int
        Of a program.
    scratch : int
        Bytes of global memory of a program that its buffers lie in.
    signature : mapping
        Types of arguments, by name: inputs, outputs, and the scratch memory if there is any.
    outputs : tuple of TensorShape
    """

    blocks: int
    warps: int
    scratch: int
    signature: Mapping[str, str]
    outputs: tuple[TensorShape, ...]


def triton_source(functions: Sequence[str]) -> str:
    """Return the Python module of kernels, with their launchers, and what they call.

    Examples
    --------
    >>> "def run_name" in triton_source([])
    False
    """
    return "\n\n".join([TRITON_PRELUDE, *functions])


def triton_launch(phased: PhasedKernel) -> TritonLaunch:
    """Return what a kernel is launched with.

    Raises
    ------
    LoweringError
        If an operation has no form in Triton.
    """
    tiles = tiled_phases(phased)
    return _launch(phased, tiles, block_memory(phased, tiles))


def emit_stitched_triton(phased: PhasedKernel, name: str) -> str:
    """Write a kernel as a function of Triton, its launch, and a launcher ``run_NAME``.

    The function's arguments are the kernel's ``inputs``, ``outputs``, and scratch memory if any
    buffer lies there.  The launcher takes arrays of PyTorch, and returns a tuple of such.

    Raises
    ------
    LoweringError
        If an operation has no form in Triton.

    Examples
    --------
    >>> from fuseloom.stitch.fusion import fuse
    >>> from fuseloom.stitch.graph import DenseComputation, DenseModule, DenseOperation
    >>> from fuseloom.stitch.kernel_memory import memory_of
    >>> from fuseloom.stitch.phases import phases_of
    >>> shape = TensorShape("f32", (40,))
    >>> x = DenseOperation("x", "parameter", shape)
    >>> y = DenseOperation("y", "negate", shape, ("x",))
    >>> graph = DenseComputation("f", (x, y), "y")
    >>> kernel = fuse(graph).kernels[0]
    >>> phased = phases_of(DenseModule("m", {"f": graph}, "f"), graph, kernel,
    ...                    memory_of(graph, kernel))
    >>> print(emit_stitched_triton(phased, "kernel_0").partition("LAUNCHES")[0].strip())
    @triton.jit
    def kernel_0(in0, out0):
        # y
        e = tl.arange(0, 64)
        in_e = e < 40
        v0 = tl.load(in0 + e, mask=in_e, other=0)
        v1 = -v0
        tl.store(out0 + e, v1, mask=in_e)
    """
    tiles = tiled_phases(phased)
    memory = block_memory(phased, tiles)
    launch = _launch(phased, tiles, memory)
    lines = [*_function(phased, name, tiles, memory), "", "", *_launcher(phased, name, launch)]
    return "\n".join(lines)


def _launch(phased: PhasedKernel, tiles: Sequence[TiledPhase], memory: BlockMemory) -> TritonLaunch:
    largest = max((one.places for one in tiles), default=1)
    warps = next((warps for most, warps in _WARPS if largest <= most), 8)
    names = kernel_names(phased)
    signature: dict[str, str] = {}
    for some, known in ((phased.inputs, names.inputs), (phased.outputs, names.outputs)):
        for one in some:
            triton_type(one.array.element)  # raises if there is none
            signature[known[one.name]] = POINTERS[one.array.element]
    if memory.size:
        signature["scratch"] = "*i8"
    outputs = tuple(one.array for one in phased.outputs)
    return TritonLaunch(phased.blocks, warps, memory.size, signature, outputs)


def _function(
    phased: PhasedKernel, name: str, tiles: Sequence[TiledPhase], memory: BlockMemory
) -> list[str]:
    names = kernel_names(phased)
    arguments = [*names.inputs.values(), *names.outputs.values()]
    arguments += ["scratch"] if memory.size else []
    lines = ["@triton.jit", f"def {name}({', '.join(arguments)}):"]
    body = [*_places(phased, memory)]
    for one in tiles:
        body += ["tl.debug_barrier()"] if one.number in memory.barriers else []
        body.append(f"# {comment_line(one.phase.operation.name)}")
        body += phase_lines(one, memory)
    return [*lines, *(f"    {line}" for line in body or ["pass"])]


def _places(phased: PhasedKernel, memory: BlockMemory) -> list[str]:
    """Lines that find the place of a block."""
    if not phased.digits and not memory.size:
        return []
    wide = "" if memory.index == "tl.int32" else f".to({memory.index})"
    lines = [f"block = tl.program_id(0){wide}"]
    for digit, size, stride in phased.digits:
        lower = f"block // {stride}" if stride > 1 else "block"
        whole = size * stride == phased.blocks
        lines.append(f"{digit} = {lower if whole else f'{lower} % {size}'}")
    if memory.size:
        lines.append(f"own = scratch + block.to(tl.int64) * {memory.size}")
    for array, kind, offset in memory.arrays:
        start = f"(own + {offset})" if offset else "own"
        lines.append(f"{array} = {start}.to(tl.pointer_type({kind}))")
    return lines


def _launcher(phased: PhasedKernel, name: str, launch: TritonLaunch) -> list[str]:
    outputs = [(shape.dims, TORCH_TYPES[shape.element]) for shape in launch.outputs]
    given = [f"in{number}" for number in range(len(phased.inputs))]
    listed = "".join(f"{one}, " for one in given)
    entries = {
        "blocks": launch.blocks, "warps": launch.warps, "scratch": launch.scratch,
        "outputs": outputs, "signature": dict(launch.signature),
    }  # fmt: skip
    return [
        f'LAUNCHES["{name}"] = {{',
        *(f'    "{key}": {value!r},' for key, value in entries.items()),
        "}",
        "",
        "",
        f"def run_{name}({listed}device=None):",
        *(
            f"    # {array}: {comment_line(str(one.array))} {comment_line(one.name)}"
            for some, prefix in ((phased.inputs, "in"), (phased.outputs, "out"))
            for array, one in zip(_numbered(prefix, len(some)), some, strict=True)
        ),
        f'    return launched({name}, "{name}", [{", ".join(given)}], device)',
    ]


def _numbered(prefix: str, count: int) -> list[str]:
    return [f"{prefix}{number}" for number in range(count)]


def comment_line(name: str) -> str:
    r"""Write the name of an operation for a comment, on one line.

    Examples
    --------
    >>> print(comment_line("add.1\nimport os"))
    add.1\nimport os
    """
    return name.encode("unicode_escape").decode("ascii")
