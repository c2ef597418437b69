"""Decoders of GPT-3 with BigBird attention, in eighteen kernels each.

Source: the evaluation of the FuseFlow paper (``docs/spec/accounting.md`` §3.3).
The heads are split and merged by reshapes, which are fusion barriers, so a decoder falls into
three subsets: C1 (layer norm and the projections to queries, keys and values), C2 (masked
attention), C3 (output projection, residuals, layer norm, feed-forward network).  Full fusion merges
C3 of a decoder with C1 of the next.

What differs from the paper's files (``docs/spec/accounting.md`` §5): queries, keys and
values have a projection each; all kernels, fused or not, run at one sequence length; layer norm
divides by the width of the model; the mean is taken once.  As in the files, masking is
multiplicative, so the softmax runs over what the mask keeps, and the feed-forward network's
activation is relu.
"""

from __future__ import annotations

from types import MappingProxyType

from fuseloom.errors import ProgramError
from fuseloom.models.model import Kernel, Model
from fuseloom.program import parse
from fuseloom.wording import counted

EPSILON = 1e-5


def gpt3(
    tokens: int = 16,
    width: int = 8,
    heads: int = 2,
    inner: int = 16,
    decoders: int = 2,
    name: str = "gpt3",
) -> Model:
    """Decoders with masked attention over a sequence of tokens.

    Parameters
    ----------
    tokens, width, heads, inner : int
        Sequence length, model width, attention heads, width of the feed-forward network.
    decoders : int
        How many follow one another, each with weights of its own.  ``M``, the mask of all, is
        tokens x tokens (dcsr); everything else is dense.
    name : str
        Name of the program.

    Raises
    ------
    ProgramError
        A size below 1, or heads that do not divide the width.
    """
    if decoders < 1 or heads < 1:
        raise ProgramError(
            f"{counted(decoders, 'decoder')} with {counted(heads, 'head')}",
            hint="there is at least one of each",
        )
    if width % heads:
        raise ProgramError(
            f"{counted(heads, 'head')} do not divide a model width of {width}",
            hint="each head takes an equal part of the width",
        )
    sizes = _Sizes(tokens, width, heads, inner)
    lines = [f"program {name}", f"M: {tokens}x{tokens} dcsr", f"X0: {tokens}x{width} dense"]
    for n in range(1, decoders + 1):
        lines += [*sizes.declarations(n), *sizes.statements(n)]
    lines.append(f"output X{decoders}")
    program = parse("\n".join(lines), source="gpt3")
    kernels = [kernel for n in range(1, decoders + 1) for kernel in _kernels(n)]
    return Model(program, tuple(kernels), _presets(decoders), masks=frozenset({"M"}))


class _Sizes:
    def __init__(self, tokens: int, width: int, heads: int, inner: int) -> None:
        self.tokens = tokens
        self.width = width
        self.heads = heads
        self.inner = inner
        self.part = width // heads

    def declarations(self, n: int) -> list[str]:
        """Weights, biases, and the shapes that reshapes give."""
        t, w, h, f, e = self.tokens, self.width, self.heads, self.inner, self.part
        square = [f"W{x}{n}: {w}x{w} dense" for x in "qkvo"]
        biases = [f"b{x}{n}: {w} dense" for x in "qkvo"]
        network = [
            f"Wf{n}: {w}x{f} dense",
            f"bf{n}: {f} dense",
            f"Wg{n}: {f}x{w} dense",
            f"bg{n}: {w} dense",
        ]
        # Heads are outermost in attention; the keys are stored by tokens, so that the mask can
        # decide which scores are computed at all (docs/spec/accounting.md §1.2).
        split = [f"{x}h{n}: {t}x{h}x{e} dense order 1,0,2" for x in "QKV"]
        return [*square, *biases, *network, *split, f"Om{n}: {t}x{w} dense"]

    def norm(self, n: int, prefix: str, source: str) -> list[str]:
        """Layer norm without an affine part, of rows of ``source`` into ``<prefix>y``."""
        p, share = f"{prefix}{n}", repr(1.0 / self.width)
        return [
            f"{p}t[i] = {source}[i,c]",
            f"{p}m[i] = {share} * {p}t[i]",
            f"{p}c[i,c] = {source}[i,c] - {p}m[i]",
            f"{p}s[i] = {p}c[i,c] * {p}c[i,c]",
            f"{p}a[i] = {share} * {p}s[i]",
            f"{p}e[i] = {p}a[i] + {EPSILON!r}",
            f"{p}r[i] = rsqrt({p}e[i])",
            f"{p}y[i,c] = {p}c[i,c] * {p}r[i]",
        ]

    def statements(self, n: int) -> list[str]:
        x = f"X{n - 1}"
        lines = self.norm(n, "U", x)
        lines += [f"{q}p{n}[i,o] = U{n}y[i,c] * W{q.lower()}{n}[c,o]" for q in "QKV"]
        lines += [f"{q}b{n}[i,o] = {q}p{n}[i,o] + b{q.lower()}{n}[o]" for q in "QKV"]
        lines += [f"{q}h{n}[i,h,e] = reshape({q}b{n}[i,o])" for q in "QKV"]
        lines += [
            f"S{n}[h,i,l] = Qh{n}[i,h,e] * Kh{n}[l,h,e]",
            f"P{n}[h,i,l] = S{n}[h,i,l] * M[i,l]",
            f"Z{n}[h,i,l] = {self.part**-0.5!r} * P{n}[h,i,l]",
            f"x{n}[h,i] = max[l] Z{n}[h,i,l]",
            f"d{n}[h,i,l] = Z{n}[h,i,l] - x{n}[h,i]",
            f"e{n}[h,i,l] = exp(d{n}[h,i,l])",
            f"s{n}[h,i] = e{n}[h,i,l]",
            f"R{n}[h,i,l] = e{n}[h,i,l] / s{n}[h,i]",
            f"O{n}: {self.tokens}x{self.heads}x{self.part} csf order 1,0,2",
            f"O{n}[i,h,v] = R{n}[h,i,l] * Vh{n}[l,h,v]",
            f"Om{n}[i,c] = reshape(O{n}[i,h,v])",
            f"Ap{n}[i,o] = Om{n}[i,c] * Wo{n}[c,o]",
            f"Ab{n}[i,c] = Ap{n}[i,c] + bo{n}[c]",
            f"Y{n}[i,c] = Ab{n}[i,c] + {x}[i,c]",
            *self.norm(n, "T", f"Y{n}"),
            f"Fp{n}[i,f] = T{n}y[i,c] * Wf{n}[c,f]",
            f"Fb{n}[i,f] = Fp{n}[i,f] + bf{n}[f]",
            f"F{n}[i,f] = relu(Fb{n}[i,f])",
            f"Gp{n}[i,o] = F{n}[i,f] * Wg{n}[f,o]",
            f"Gb{n}[i,c] = Gp{n}[i,c] + bg{n}[c]",
            f"X{n}[i,c] = Gb{n}[i,c] + Y{n}[i,c]",
        ]
        return lines


NORM = "tmcsaery"
"""Letters of the statements of a layer norm."""


def _kernels(n: int) -> list[Kernel]:
    """The eighteen kernels of a decoder, and the two reshapes that memory does."""

    def kernel(name: str, *statements: str) -> Kernel:
        return Kernel(name if n == 1 else f"{name} {n}", statements)

    return [
        kernel("LN1", *(f"U{n}{x}" for x in NORM)),
        kernel("QKV", *(f"{x}p{n}" for x in "QKV")),
        kernel("+bqkv", *(f"{x}b{n}" for x in "QKV")),
        kernel("split heads", *(f"{x}h{n}" for x in "QKV")),
        kernel("Q·Kᵀ", f"S{n}"),
        kernel("mask", f"P{n}"),
        kernel("scale", f"Z{n}"),
        kernel("softmax", *(f"{x}{n}" for x in "xdesR")),
        kernel("·V", f"O{n}"),
        kernel("merge heads", f"Om{n}"),
        kernel("·Wo", f"Ap{n}"),
        kernel("+bo", f"Ab{n}"),
        kernel("residual", f"Y{n}"),
        kernel("LN2", *(f"T{n}{x}" for x in NORM)),
        kernel("FFN1", f"Fp{n}"),
        kernel("+bf", f"Fb{n}"),
        kernel("relu", f"F{n}"),
        kernel("FFN2", f"Gp{n}"),
        kernel("+bg", f"Gb{n}"),
        kernel("residual FFN", f"X{n}"),
    ]


def _presets(decoders: int) -> MappingProxyType[str, str]:
    """Unfused kernels; C1, C2, C3 of each decoder; C3 merged with the next decoder's C1."""
    every = range(1, decoders + 1)
    unfused = [f"fuse U{n}t..U{n}y; fuse x{n}..R{n}; fuse T{n}t..T{n}y" for n in every]
    partial = [f"fuse U{n}t..Vb{n}; fuse S{n}..O{n}; fuse Ap{n}..X{n}" for n in every]
    full = ["fuse U1t..Vb1"]
    for n in every:
        last = f"X{n}" if n == decoders else f"Vb{n + 1}"
        full += [f"fuse S{n}..O{n}", f"fuse Ap{n}..{last}"]
    return MappingProxyType(
        {"unfused": "; ".join(unfused), "partial": "; ".join(partial), "full": "; ".join(full)}
    )
