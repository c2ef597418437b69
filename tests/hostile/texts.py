"""Programs, schedules and words of a command line that mean harm."""

from __future__ import annotations

LONG = "n" * 100_000
CHAIN = "A: 4x4 csr\nx: 4 dense\ny[i] = A[i,j] * x[j]\nz[i] = relu(y[i])\n"


def _statements(count: int) -> str:
    return "T0: 4 dense\n" + "".join(f"T{k + 1}[i] = relu(T{k}[i])\n" for k in range(count))


def _sums(count: int) -> str:
    names = [f"B{k}" for k in range(count)]
    declared = "".join(f"{name}: 4x4 csr\n" for name in names)
    return f"{declared}Y[i,j] = {' + '.join(f'{name}[i,j]' for name in names)}\n"


PROGRAMS: dict[str, str] = {
    "huge-vector": "A: 12000x12000 csr\nx: 12000 dense\ny[i] = A[i,j] * x[j]\n",
    "limit": "A: 16384x16384 csr\nx: 16384 dense\ny[i] = A[i,j] * x[j]\n",
    "dense-limit": "A: 16384x16384 dense\nx: 16384 dense\ny[i] = A[i,j] * x[j]\n",
    "many-inputs": "".join(f"B{k}: 4000x4000 csr\n" for k in range(30))
    + "Y[i,j] = " + " + ".join(f"B{k}[i,j]" for k in range(30)) + "\n",
    "outer": "a: 2000000 dense\nb: 2000000 dense\nC[i,j] = a[i] * b[j]\n",
    "outer-sum": "a: 100000 dense\nb: 100000 dense\nC[i,j] = a[i] * b[j]\ns = sum[i,j] C[i,j]\n",
    "outer-three": "a: 3000 dense\nb: 3000 dense\nc: 3000 dense\n"
    "s = product(a[i], b[j], c[k])\n",
    "outer-max": "a: 60000 dense\nb: 60000 dense\nC[i,j] = a[i] + b[j]\nm[i] = max[j] C[i,j]\n",
    "matmul": "A: 4000x4000 dense\nB: 4000x4000 dense\nC[i,j] = A[i,k] * B[k,j]\n",
    "matmul-sparse": "A: 4000x4000 csr\nB: 4000x4000 csr\nC[i,j] = A[i,k] * B[k,j]\n",
    "powers": "A: 1500x1500 dcsr\nB[i,j] = A[i,k] * A[k,j]\nC[i,j] = B[i,k] * B[k,j]\n"
    "D[i,j] = C[i,k] * C[k,j]\n",
    "rows": "A: 2000000000x3 csr\nx: 3 dense\ny[i] = A[i,j] * x[j]\n",
    "overflow": "A: 2147483647x2147483647 csr\nx: 2147483647 dense\ny[i] = A[i,j] * x[j]\n",
    "beyond": "A: 4294967296x4 csr\nx: 4 dense\ny[i] = A[i,j] * x[j]\n",
    "negative": "A: -4x4 csr\nx: 4 dense\ny[i] = A[i,j] * x[j]\n",
    "zero": "A: 0x0 csr\nx: 0 dense\ny[i] = A[i,j] * x[j]\n",
    "digits": f"A: {'9' * 10_000}x4 csr\nx: 4 dense\ny[i] = A[i,j] * x[j]\n",
    "constant-digits": CHAIN + f"w[i] = {'9' * 10_000} * z[i]\n",
    "constant-exponent": CHAIN + "w[i] = 1e999999999 * z[i]\n",
    "constant-nan": CHAIN + "w[i] = nan * z[i]\n",
    "rank": f"A: {'x'.join(['2'] * 40)} dense\ny = A[{','.join(f'i{k}' for k in range(40))}]\n",
    "rank-twelve": f"A: {'x'.join(['2'] * 12)} dense\n"
    f"y = sum[{','.join(f'i{k}' for k in range(12))}] A[{','.join(f'i{k}' for k in range(12))}]\n",
    "product-of-twelve": "".join(f"A{k}: 30x30 csr\n" for k in range(12))
    + "y = product(" + ", ".join(f"A{k}[i{k},i{k + 1}]" for k in range(12)) + ")\n",
    "name": f"{LONG}: 4 dense\ny[i] = relu({LONG}[i])\n",
    "name-used": CHAIN + f"w[i] = relu({LONG}[i])\n",
    "index-name": f"A: 4 dense\ny[{LONG}] = relu(A[{LONG}])\n",
    "program-name": f"program {LONG}\n{CHAIN}",
    "statements": _statements(30_000),
    "statements-allowed": _statements(4_900),
    "statements-some": _statements(600),
    "text": _statements(60) + "# " + "x" * 2_000_000,
    "parentheses": "A: 4 dense\ny[i] = " + "(" * 50_000 + "A[i]" + ")" * 50_000 + "\n",
    "functions": "A: 4 dense\ny[i] = " + "relu(" * 3_000 + "A[i]" + ")" * 3_000 + "\n",
    "minus": "A: 4 dense\ny[i] = " + "-" * 50_000 + "A[i]\n",
    "sums": _sums(400),
    "sums-many": _sums(3_000),
    "line": "A: 4 dense\ny[i] = A[i]" + " + A[i]" * 100_000 + "\n",
    "nul": "A: 4x4 csr\0\nx: 4 dense\ny[i] = A[i,j] * x[j]\n",
    "escape": "A\x1b]0;title\x07: 4 dense\ny[i] = relu(A[i])\n",
    "carriage": "A: 4 dense\r\ry[i] = relu(\rB[i])\n",
    "direction": "A\u202e: 4 dense\ny[i] = relu(A\u202e[i])\n",
    "letters": "Ａ: 4 dense\ny[ı] = relu(Ａ[ı])\n",
    "digits-of-others": "A: ４ dense\ny[i] = relu(A[i])\n",
    "byte-order": "\ufeffA: 4 dense\ny[i] = relu(A[i])\n",
    "separators": "A: 4 dense\u2028y[i] = relu(A[i])\u2029",
    "blank": "",
    "spaces": " \t\n" * 200_000,
    "comment": "#" * 900_000,
    "self": "y[i] = relu(y[i])\n",
    "twice": "A: 4 dense\ny[i] = relu(A[i])\ny[i] = exp(A[i])\n",
    "order-lie": "A: 4x4 [compressed, compressed] order 5,-1\ny[i] = A[i,j]\n",
    "order-long": "A: 4x4 [compressed, compressed] order "
    f"{','.join(['0'] * 9_000)}\ny[i] = A[i,j]\n",
    "levels": f"A: 4x4 [{', '.join(['compressed'] * 9_000)}]\ny[i] = A[i,j]\n",
    "block": "A: 4x4 csr block 999999999999\nx: 4 dense\ny[i] = A[i,j] * x[j]\n",
    "block-large": "A: 16384x16384 csr block 1024\nX: 16384x1024 dense block 1024\n"
    "Y[i,j] = A[i,k] * X[k,j]\n",
    "reshape": "A: 4x4 dense\nR: 2000000000x2 dense\nR[i,j] = reshape(A[k,l])\n",
    "reshape-digits": f"A: 4x4 dense\nR: {'9' * 5_000} dense\nR[i] = reshape(A[k,l])\n",
    "concat": "A: 2147483647x2 csr\nB: 2147483647x2 csr\nC[c,j] = concat[c](A[c,j], B[c,j])\n",
    "indices": "A: 4x4x4 dense\ny = sum[i,j,k] A[i,i,i]\n",
    "indices-many": f"A: 4 dense\ny[i] = A[{','.join(['i'] * 20_000)}]\n",
    "option": f"option {LONG} {LONG}\n{CHAIN}",
    "output": f"{CHAIN}output {', '.join(f'q{k}' for k in range(20_000))}\n",
}  # fmt: skip

LARGE = ("statements-allowed",)
"""As much as a program may have: it is compiled, and no more is asked."""

SCHEDULES: dict[str, str] = {
    "long": "x" * 800_000,
    "many": "fuse y..z; " * 40_000,
    "parallel": "fuse y..z; parallel i by 1000000000",
    "parallel-digits": f"parallel i by {'9' * 10_000}",
    "parallel-none": "parallel i by 0",
    "parallel-minus": "parallel i by -4",
    "parallel-some": "fuse y..z; parallel i by 200",
    "parallel-twice": "; ".join(["parallel i by 64"] * 50),
    "block": "block 1000000000",
    "block-none": "block 0",
    "order": f"order y: {','.join(f'i{k}' for k in range(50_000))}",
    "order-repeated": f"order y: {','.join(['i'] * 50_000)}",
    "order-wrong": "order y..z: j,i,q",
    "fuse-unknown": f"fuse {LONG}..{LONG}",
    "fuse-backwards": "fuse z..y",
    "fuse-across": "fuse y..z; fuse z..z",
    "store": f"store y {','.join(['dense'] * 50_000)}",
    "permute": "permute A" + "'" * 50_000 + " to j,i",
    "locate": "locate A.j maybe",
    "nul": "fuse y..z\0; order y: i",
    "escape": "fuse \x1b[2J..z",
    "unicode": "fuse ｙ..z",
    "empty-parts": ";" * 500_000,
    "global": "global y..z; materialise y; strict on; repeat references; block 3",
}

WORDS: tuple[list[str], ...] = (
    [],
    [""],
    ["\0"],
    ["nothing"],
    [LONG],
    ["--" + LONG],
    ["simulate", "--" + LONG],
    ["simulate", "--model"],
    ["simulate", "--model", LONG],
    ["simulate", "--model", "spmv", "--seed", "9" * 10_000],
    ["simulate", "--model", "spmv", "--seed", "-1"],
    ["simulate", "--model", "spmv", "--seed", "x" * 5_000],
    ["simulate", "--model", "spmv", "--capacity", "0"],
    ["simulate", "--model", "spmv", "--capacity", "9" * 5_000],
    ["simulate", "--model", "spmv", "--capacity", "99999999999"],
    ["simulate", "--model", "spmv", "--engine", "x" * 5_000],
    ["simulate", "--model", "spmv", "--token-limit", "nan"],
    ["simulate", "--model", "spmv", "--token-limit", "9" * 30],
    ["simulate", "--model", "spmv", "--memory-limit", "9" * 5_000],
    ["simulate", "--model", "spmv", "--memory-limit", "1"],
    ["simulate", "--model", "spmv", "--memory-limit", "-1GiB"],
    ["simulate", "--model", "spmv", "--memory-limit", "999999999999TiB"],
    ["simulate", "--model", "spmv", "--preset", LONG],
    ["simulate", "--model", "spmv", "--data", LONG],
    ["simulate", "--model", "spmv", "--with", LONG],
    ["simulate", "--model", "gpt3", "--with", "sequence=999999999999"],
    ["simulate", "--model", "gpt3", "--with", "sequence=1e9"],
    ["simulate", "--model", "gpt3", "--with", "decoders=100000"],
    ["simulate", "--model", "gpt3", "--with", "sequence=-16,block=0"],
    ["simulate", "--model", "gpt3", "--with", ",".join(["sequence=16"] * 20_000)],
    ["simulate", "--model", "gcn", "--with", "hidden=" + "9" * 5_000],
    ["simulate", "--model", "gcn", "--with", "hidden=2147483647"],
    ["simulate", "--model", "gcn", "--with", "density=nan"],
    ["simulate", "--model", "gcn", "--with", "density=-1"],
    ["estimate", "--model", "gcn", "--mode", LONG],
    ["explore", "--model", "spmv", "--limit", "0"],
    ["explore", "--model", "spmv", "--limit", "9" * 5_000],
    ["compile", "--model", "spmv", "--passes", LONG],
    ["compile", "--model", "spmv", "--passes", ",".join(["dead-code"] * 20_000)],
    ["compile", "--model", "spmv", "--show", LONG],
    ["compile", "--model", "spmv", "--export", LONG],
    ["compile", "--model", "spmv", "--export", "sam"],
    ["compile", "--model", "spmv", "--strict"],
    ["what-if", "--model", "spmv", "--capacities", "9" * 5_000],
    ["what-if", "--model", "spmv", "--capacities", ",".join(["4"] * 20_000)],
    ["what-if", "--model", "spmv", "--capacities", "99999999999999999999"],
    ["what-if", "--model", "spmv", "--lanes", "i=1000000000"],
    ["what-if", "--model", "spmv", "--lanes", LONG],
    ["what-if", "--model", "spmv", "--lanes", f"{LONG}=4"],
    ["what-if", "--model", "spmv", "--set", "alu_latency=99999999999999999999"],
    ["what-if", "--model", "spmv", "--set", f"{LONG}=4"],
    ["what-if", "--model", "spmv", "--mode", LONG],
    ["machine", LONG],
    ["models", LONG],
    ["models", "\x1b[31m"],
    ["serve", "--port", "-1"],
    ["serve", "--port", "9" * 5_000],
    ["serve", "--max-sessions", "0"],
    ["serve", "--max-memory", "x" * 5_000],
    ["simulate", "--json", "--model", LONG],
    ["simulate", "--json", "--seed", "x" * 5_000],
    ["--json"],
    ["simulate", *(["--tensors", "A=random"] * 2_000)],
    ["simulate", "\udcff\udcfe.loom"],
)
"""Whole command lines."""
