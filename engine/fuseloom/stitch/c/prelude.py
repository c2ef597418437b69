"""C functions that generated kernels call: what C has not, and mathematics that vectorises.

Exponential, logarithm and hyperbolic tangent of float follow the Cephes library: polynomials of a
reduced argument, without branches, so that a loop over them becomes vector instructions.  The error
function is a polynomial up to 0.93, and 1 less an exponential of one beyond.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_FLOATS = r"""
static inline TYPE maximum_NAME(TYPE a, TYPE b) { return (a >= b || a != a) ? a : b; }
static inline TYPE minimum_NAME(TYPE a, TYPE b) { return (a <= b || a != a) ? a : b; }
static inline TYPE sign_NAME(TYPE a)
{
    TYPE one = a > 0 ? (TYPE)1 : (TYPE)-1;
    return (a == 0 || a != a) ? a : one;
}
"""
_INTEGERS = r"""
static inline TYPE maximum_NAME(TYPE a, TYPE b) { return a >= b ? a : b; }
static inline TYPE minimum_NAME(TYPE a, TYPE b) { return a <= b ? a : b; }
static inline TYPE sign_NAME(TYPE a) { return (TYPE)((a > 0) - (a < 0)); }
static inline TYPE divide_NAME(TYPE a, TYPE b)
{
    if (b == 0) return (TYPE)-1;
    if (LEAST && b == (TYPE)-1) return (TYPE)(0 - (UNSIGNED)a);
    return (TYPE)(a / b);
}
static inline TYPE remainder_NAME(TYPE a, TYPE b)
{
    if (b == 0) return a;
    if (LEAST && b == (TYPE)-1) return 0;
    return (TYPE)(a % b);
}
static inline TYPE shift_left_NAME(TYPE a, TYPE b)
{
    return (UNSIGNED)b >= 8 * sizeof(TYPE) ? (TYPE)0 : (TYPE)((UNSIGNED)a << (UNSIGNED)b);
}
static inline TYPE shift_right_logical_NAME(TYPE a, TYPE b)
{
    return (UNSIGNED)b >= 8 * sizeof(TYPE) ? (TYPE)0 : (TYPE)((UNSIGNED)a >> (UNSIGNED)b);
}
static inline TYPE shift_right_arithmetic_NAME(TYPE a, TYPE b)
{
    SIGNED s = (SIGNED)a;
    if ((UNSIGNED)b >= 8 * sizeof(TYPE)) return (TYPE)(s < 0 ? -1 : 0);
    return (TYPE)(s >> (UNSIGNED)b);
}
static inline TYPE to_NAME(double a)
{
    if (a != a) return 0;
    return a >= (double)MOST ? MOST : a <= (double)LOWEST ? LOWEST : (TYPE)a;
}
"""
_VECTORS = r"""
/* In a file of many kernels compilers would call these instead, and loops become no vectors. */
#define inline __inline__ __attribute__((always_inline))
#if defined(__AVX512F__)
#define LINE_BYTES 64
#define MOST_ROWS 8
#else
#define LINE_BYTES 32
#define MOST_ROWS 4
#endif
#define AT_MOST(a, b) ((a) < (b) ? (a) : (b))
#define LINES_F32 (LINE_BYTES / 4)
#define LINES_F64 (LINE_BYTES / 8)
typedef float lines_f32 __attribute__((vector_size(LINE_BYTES), aligned(4), may_alias));
typedef double lines_f64 __attribute__((vector_size(LINE_BYTES), aligned(8), may_alias));
"""
BITS_AND_BF16 = r"""
static inline float float_of(uint32_t bits) { float x; memcpy(&x, &bits, 4); return x; }
static inline uint32_t bits_of(float x) { uint32_t bits; memcpy(&bits, &x, 4); return bits; }
static inline double double_of(uint64_t bits) { double x; memcpy(&x, &bits, 8); return x; }
static inline uint64_t wide_bits_of(double x) { uint64_t bits; memcpy(&bits, &x, 8); return bits; }
static inline float round_bf16(float x)
{
    uint32_t bits = bits_of(x);
    float rounded = float_of((bits + 0x7FFFu + ((bits >> 16) & 1u)) & 0xFFFF0000u);
    return x != x ? x : rounded;
}
static inline uint16_t half_of(float x) { return (uint16_t)(bits_of(x) >> 16); }
static inline float of_half(uint16_t x) { return float_of((uint32_t)x << 16); }
static inline int64_t clamped(int64_t x, int64_t most)
{
    return x < 0 ? 0 : x > most ? most : x;
}
"""
_MATHEMATICS = r"""
static inline float exp_f32(float x)
{
    float c = x > 89.0f ? 89.0f : x;
    c = c < -104.0f ? -104.0f : c;
    float t = c * 1.44269504088896341f + 12582912.0f; /* rounds to an integer, in its last bits */
    float n = t - 12582912.0f;
    float r = c - n * 0.693359375f;
    r = r + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r + 1.0f;
    int32_t k = (int32_t)(bits_of(t) - 0x4B400000u);
    int32_t half = k >> 1; /* in two steps, for the ends of the range */
    float low = float_of((uint32_t)(half + 127) << 23);
    float high = float_of((uint32_t)(k - half + 127) << 23);
    return p * low * high; /* of NaN, p is */
}
static inline float expm1_f32(float x)
{
    float n = x * 1.44269504088896341f + 12582912.0f;
    n = n - 12582912.0f;
    n = fabsf(x) < 0.35f ? 0.0f : n;
    float r = x - n * 0.693359375f;
    r = r + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * (r * r) + r;
    int near = n > -30.0f && n < 127.0f;
    float scale = float_of((uint32_t)((near ? (int32_t)n : 0) + 127) << 23);
    float made = near ? p * scale + (scale - 1.0f) : exp_f32(x) - 1.0f;
    return x == 0.0f ? x : made;
}
static inline float log_f32(float x)
{
    int tiny = x < 1.17549435e-38f;
    float scaled = tiny ? x * 8388608.0f : x;
    uint32_t bits = bits_of(scaled);
    float e = (float)((int32_t)(bits >> 23) - 126) - (tiny ? 23.0f : 0.0f);
    float m = float_of((bits & 0x007FFFFFu) | 0x3F000000u);
    int small = m < 0.707106781186547524f;
    e = small ? e - 1.0f : e;
    m = small ? m + m - 1.0f : m - 1.0f;
    float z = m * m;
    float p = 7.0376836292e-2f;
    p = p * m - 1.1514610310e-1f;
    p = p * m + 1.1676998740e-1f;
    p = p * m - 1.2420140846e-1f;
    p = p * m + 1.4249322787e-1f;
    p = p * m - 1.6668057665e-1f;
    p = p * m + 2.0000714765e-1f;
    p = p * m - 2.4999993993e-1f;
    p = p * m + 3.3333331174e-1f;
    float y = m * z * p;
    y = y - 2.12194440e-4f * e;
    y = y - 0.5f * z;
    float made = m + y + 0.693359375f * e;
    made = x == INFINITY ? INFINITY : made;
    made = x == 0.0f ? -INFINITY : made;
    return (x < 0.0f || x != x) ? NAN : made;
}
static inline float tanh_f32(float x)
{
    float size = fabsf(x);
    float z = x * x;
    float p = -5.70498872745e-3f;
    p = p * z + 2.06390887954e-2f;
    p = p * z - 5.37397155531e-2f;
    p = p * z + 1.33314422036e-1f;
    p = p * z - 3.33332819422e-1f;
    float near = p * z * x + x;
    float far = copysignf(1.0f - 2.0f / (exp_f32(size + size) + 1.0f), x);
    float made = size < 0.625f ? near : far;
    return x != x ? x : made;
}
static inline float log1p_f32(float x)
{
    float u = 1.0f + x;
    float lost = x - (u - 1.0f); /* what u was rounded by */
    float made = log_f32(u) + lost / u;
    made = x == 0.0f || x == INFINITY ? x : made;
    return x == -1.0f ? -INFINITY : made;
}
static inline float erf_f32(float x)
{
    float size = fabsf(x), z = x * x;
    float p = -5.96761703e-4f;
    p = p * z + 4.99119423e-3f;
    p = p * z - 2.67681349e-2f;
    p = p * z + 1.12819925e-1f;
    p = p * z - 3.76125336e-1f;
    p = p * z + 1.28379166e-1f;
    float near = p * x + x;
    float q = -1.72853470e-5f * size + 3.83197126e-4f;
    float u = -3.88396438e-3f * size + 2.42546219e-2f;
    q = q * z + u;
    q = q * size - 1.06777877e-1f;
    q = q * size - 6.34846687e-1f;
    q = q * size - 1.28717512e-1f;
    q = q * size - size;
    float far = copysignf(1.0f - exp_f32(q), x);
    return size > 0.927734375f ? far : near;
}
static inline float logistic_f32(float x) { return 1.0f / (1.0f + exp_f32(-x)); }
static inline double logistic_f64(double x) { return 1.0 / (1.0 + exp(-x)); }
"""


def functions_of_types() -> str:
    """Return what each type has functions for: extremes, division, shifts, conversions."""
    made = [
        _FLOATS.replace("TYPE", kind).replace("NAME", name)
        for name, kind in (("f32", "float"), ("f64", "double"))
    ]
    for bits in (8, 16, 32, 64):
        for sign, letter in (("", "s"), ("u", "u")):
            limits = (f"INT{bits}_MIN", f"INT{bits}_MAX")
            lowest, most = ("0", f"UINT{bits}_MAX") if sign else limits
            words = {
                "TYPE": f"{sign}int{bits}_t", "NAME": f"{letter}{bits}", "LOWEST": lowest,
                "LEAST": str(int(not sign)), "MOST": most, "UNSIGNED": f"uint{bits}_t",
                "SIGNED": f"int{bits}_t",
            }  # fmt: skip
            made.append(_worded(_INTEGERS, words))
    return "".join(made)


def _worded(text: str, words: dict[str, str]) -> str:
    return re.sub("|".join(words), lambda found: words[found[0]], text)


INCLUDES = "#include <math.h>\n#include <stdint.h>\n#include <string.h>\n"


def with_prelude(functions: Sequence[str], more: str = "", before: str = INCLUDES) -> str:
    """Put functions behind those that they call.

    Parameters
    ----------
    functions : sequence of str
        The code of functions, in the order in which they stand.
    more : str
        Functions that they may call, each of which begins with ``static`` and calls only those
        before it; by default all of the C.
    before : str
        The beginning of the file.
    """
    code = "\n".join(functions)
    first, *pieces = re.split(r"(?m)^(?=static )", more or _PRELUDE)
    words = set(re.findall(r"\w+", code))
    called: list[str] = []
    for piece in reversed(pieces):
        name = re.search(r"(\w+)\(", piece)
        if name is not None and name[1] in words:
            called.append(piece)
            words |= set(re.findall(r"\w+", piece))
    return "\n".join(
        [before + first.strip("\n"), *(one.strip("\n") for one in called[::-1]), "", code]
    )


_PRELUDE = _VECTORS + BITS_AND_BF16 + _MATHEMATICS + functions_of_types()
"""Types of vectors, and functions that the C of kernels may call."""
