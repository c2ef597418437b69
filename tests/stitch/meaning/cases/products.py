"""Products, convolutions, transforms and normalizations."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tests.stitch.meaning.cases.operation_case import (
    C,
    Halves,
    OperationCase,
    case,
    floats,
    integers,
)


def products() -> Iterable[tuple[str, OperationCase]]:
    x, y = floats(3, 4), floats(4, 5, seed=1)
    one = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    yield "dot", case(f"ROOT r = f32[3,5] dot(x, y), {one}", x=x, y=y)
    yield (
        "dot of vectors",
        case(
            "ROOT r = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
            x=x[0],
            y=y[:, 0].copy(),
        ),
    )
    yield (
        "dot of batches",
        case(
            "ROOT r = f32[5,2,3,7] dot(x, y), lhs_batch_dims={3,0}, lhs_contracting_dims={2}, "
            "rhs_batch_dims={1,2}, rhs_contracting_dims={3}",
            x=floats(2, 3, 4, 5),
            y=floats(7, 5, 2, 4, seed=1),
        ),
    )
    yield (
        "dot of two sums",
        case(
            "ROOT r = f32[3,2] dot(x, y), lhs_contracting_dims={1,2}, rhs_contracting_dims={2,0}",
            x=floats(3, 4, 5),
            y=floats(5, 2, 4, seed=1),
        ),
    )
    yield (
        "outer dot",
        case(
            "ROOT r = f32[3,2] dot(x, y), lhs_contracting_dims={}, rhs_contracting_dims={}",
            x=floats(3),
            y=floats(2),
        ),
    )
    yield (
        "dot of s32",
        case(f"ROOT r = s32[3,5] dot(x, y), {one}", x=integers(3, 4, most=2**30), y=integers(4, 5)),
    )
    yield (
        "dot of s8 to s32",
        case(
            f"ROOT r = s32[3,5] dot(x, y), {one}",
            x=integers(3, 4, most=127).astype(np.int8),
            y=integers(4, 5, most=127).astype(np.int8),
        ),
    )
    yield "dot of bf16", case(f"ROOT r = bf16[3,5] dot(x, y), {one}", x=Halves(x), y=Halves(y))
    yield (
        "dot of bf16 to f32",
        case(f"ROOT r = f32[3,5] dot(x, y), {one}", x=Halves(x), y=Halves(y)),
    )
    yield (
        "dot of f16",
        case(f"ROOT r = f16[3,5] dot(x, y), {one}", x=x.astype(np.float16), y=y.astype(np.float16)),
    )
    yield (
        "dot of c64",
        case(
            "ROOT r = c64[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
            x=C,
            y=C[::-1].copy(),
        ),
    )
    image, kernel = floats(2, 6, 7, 4), floats(3, 2, 4, 6, seed=1)
    nhwc = "dim_labels=b01f_01io->b01f"
    for name, window, dims, more in (
        ("convolution", "size=3x2", "2,4,6,6", ""),
        ("convolution with strides", "size=3x2 stride=2x3 pad=1_1x0_1", "2,3,3,6", ""),
        ("convolution with less", "size=3x2 pad=-1_0x-1_2", "2,3,7,6", ""),
        ("convolution with holes", "size=3x2 rhs_dilate=2x3", "2,2,4,6", ""),
        ("convolution, moved apart", "size=3x2 pad=2_2x1_1 lhs_dilate=2x3", "2,13,20,6", ""),
        ("convolution backwards", "size=3x2 rhs_reversal=1x1", "2,4,6,6", ""),
    ):
        yield (
            name,
            case(
                f"ROOT r = f32[{dims}] convolution(x, y), window={{{window}}}, {nhwc}{more}",
                x=image,
                y=kernel,
            ),
        )
    yield (
        "convolution of feature groups",
        case(
            f"ROOT r = f32[2,4,6,6] convolution(x, y), window={{size=3x2}}, {nhwc}, "
            "feature_group_count=2",
            x=image,
            y=kernel[:, :, :2].copy(),
        ),
    )
    yield (
        "convolution of batch groups",
        case(
            f"ROOT r = f32[1,4,6,6] convolution(x, y), window={{size=3x2}}, {nhwc}, "
            "batch_group_count=2",
            x=image,
            y=kernel,
        ),
    )
    yield (
        "convolution with other labels",
        case(
            "ROOT r = f32[6,4,2,6] convolution(x, y), window={size=3x2}, "
            "dim_labels=b01f_01io->f0b1",
            x=image,
            y=kernel,
        ),
    )
    yield (
        "convolution of one dimension",
        case(
            "ROOT r = f32[2,3,4] convolution(x, y), window={size=2}, dim_labels=bf0_oi0->bf0",
            x=floats(2, 2, 5),
            y=floats(3, 2, 2),
        ),
    )
    yield (
        "convolution of s32",
        case(
            "ROOT r = s32[1,1,4] convolution(x, y), window={size=2}, dim_labels=bf0_oi0->bf0",
            x=integers(1, 1, 5),
            y=integers(1, 1, 2),
        ),
    )
    signal = floats(3, 8)
    spectrum = (signal + 1j * floats(3, 8, seed=1)).astype(np.complex64)
    yield "fft", case("ROOT r = c64[3,8] fft(x), fft_type=FFT, fft_length={8}", x=spectrum)
    yield "fft back", case("ROOT r = c64[3,8] fft(x), fft_type=IFFT, fft_length={3,8}", x=spectrum)
    yield "fft of reals", case("ROOT r = c64[3,5] fft(x), fft_type=RFFT, fft_length={8}", x=signal)
    yield (
        "fft to reals",
        case(
            "ROOT r = f32[3,8] fft(x), fft_type=IRFFT, fft_length={8}",
            x=np.fft.rfft(signal).astype(np.complex64),
        ),
    )


def normalization() -> Iterable[tuple[str, OperationCase]]:
    x, scale, offset, mean = floats(4, 3, 5), floats(3), floats(3, seed=1), floats(3, seed=2)
    end = "epsilon=0.001, feature_index=1"
    yield (
        "batch-norm-training",
        case(
            f"ROOT r = (f32[4,3,5], f32[3], f32[3]) batch-norm-training(x, s, o), {end}",
            x=x,
            s=scale,
            o=offset,
        ),
    )
    yield (
        "batch-norm-inference",
        case(
            f"ROOT r = f32[4,3,5] batch-norm-inference(x, s, o, m, v), {end}",
            x=x,
            s=scale,
            o=offset,
            m=mean,
            v=np.abs(mean),
        ),
    )
    yield (
        "batch-norm-grad",
        case(
            f"ROOT r = (f32[4,3,5], f32[3], f32[3]) batch-norm-grad(x, s, m, v, g), {end}",
            x=x,
            s=scale,
            m=x.mean((0, 2)),
            v=x.var((0, 2)),
            g=floats(4, 3, 5, seed=3),
        ),
    )
