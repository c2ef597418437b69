"""Files that mean harm: what is no file, what lies about itself, what is torn or full of zeros."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import random
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from fuseloom.dataflow.sim.conformance.judge import PRIMITIVES
from tests.hostile.ward import ROOT

CONFORMANCE = ROOT / "tests" / "conformance"
PROGRAM = "A: 4x4 csr\nx: 4 dense\ny[i] = A[i,j] * x[j]\nz[i] = relu(y[i])\n"
SQUARE = "%%MatrixMarket matrix coordinate real general\n"
CANARY = "canary"
"""A file that is there only if something was executed."""


class _Planted:
    """The payload that an unpickler would run."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (os.system, (f"touch {CANARY}",))


def not_files(folder: Path) -> list[str]:
    """Names that are no regular files, or none at all."""
    os.mkfifo(folder / "pipe")
    (folder / "empty-folder").mkdir()
    os.symlink("nowhere", folder / "dangling")
    os.symlink("round-b", folder / "round-a")
    os.symlink("round-a", folder / "round-b")
    os.symlink("/dev/zero", folder / "zero")
    os.symlink("pipe", folder / "to-pipe")
    return [
        "pipe", "to-pipe", "empty-folder", "dangling", "round-a", "zero", "/dev/zero",
        "/dev/random", "/dev/full", "/dev/tty", "/dev/stdin", "/proc/self/mem",
        "/proc/kmsg", "x" * 3000, "x/" * 3000, "empty-folder/" * 50, "a\x1b[31mred", "",
        "line\nbreak", "/", ".", "..", "\udcff\udcfe", "ｆｕｌｌ", "~root", "-", "--", "http://localhost/",
        "file:///etc/hosts", "|touch canary", "$(touch canary)", "\u202egnp", "a\x00b",
    ]  # fmt: skip


def npy(header: str, body: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    """An array of NumPy's with any header."""
    text = header.encode("latin-1", "replace")
    size = struct.pack("<H" if version[0] == 1 else "<I", len(text))
    return b"\x93NUMPY" + version + size + text + body


def npz(**members: bytes) -> bytes:
    """An archive of such arrays."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return held.getvalue()


def _header(shape: str, kind: str = "<f4") -> str:
    return f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n"


def archives(folder: Path) -> list[str]:
    """``.npz`` files: bombs, pickles, and shapes that lie."""
    planted = np.array([_Planted()], dtype=object)
    held = io.BytesIO()
    np.save(held, planted, allow_pickle=True)
    zeros = bytes(1 << 20)
    with (
        zipfile.ZipFile(folder / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("A.npy", "w", force_zip64=True) as entry,
    ):
        entry.write(npy(_header("(1073741824,)")))
        for _ in range(280):
            entry.write(zeros)
    lies = {
        "planted": npz(A=held.getvalue(), x=pickle.dumps(_Planted())),
        "huge-shape": npz(A=npy(_header("(2147483647, 2147483647)")), x=npy(_header("(4,)"))),
        "negative": npz(A=npy(_header("(-4, -4)"), bytes(64)), x=npy(_header("(4,)"), bytes(16))),
        "short": npz(A=npy(_header("(4, 4)"), bytes(7))),
        "long": npz(A=npy(_header("(1,)"), bytes(1 << 16))),
        "code": npz(A=npy("__import__('os').system('touch canary')\n", bytes(64))),
        "deep-header": npz(A=npy("(" * 20000 + ")" * 20000)),
        "long-header": npz(A=npy(" " * 60000 + _header("(4,)"), bytes(16))),
        "many-axes": npz(A=npy(_header("(" + "1," * 64 + ")"), bytes(4))),
        "text": npz(A=npy(_header("(2,)", "<U100000000"), bytes(64))),
        "record": npz(A=npy("{'descr': [('a', 'O')], 'fortran_order': False, 'shape': (1,)}\n")),
        "dates": npz(A=npy(_header("(4, 4)", "<M8[s]"), bytes(128))),
        "complex": npz(A=npy(_header("(4, 4)", "<c16"), bytes(256))),
        "nan": npz(A=npy(_header("(4, 4)"), b"\x00\x00\xc0\x7f" * 16),
                   x=npy(_header("(4,)"), b"\x00\x00\x80\x7f" * 4)),
        "version": npz(A=npy(_header("(4,)"), bytes(16), b"\x09\x09")),
        "no-arrays": npz(),
        "names": npz(**{f"../../{k}\x1b[2J": b"" for k in range(3)}),
        "sizes": npz(A_coords=npy(_header("(1, 2)", "<i8"), bytes(16)),
                     A_vals=npy(_header("(1,)"), bytes(4)),
                     A_shape=npy(_header("(2,)", "<i8"), struct.pack("<qq", 2**62, -1))),
        "outside": npz(A_coords=npy(_header("(1, 2)", "<i8"), struct.pack("<qq", 2**40, -5)),
                       A_vals=npy(_header("(1,)"), bytes(4)),
                       A_shape=npy(_header("(2,)", "<i8"), struct.pack("<qq", 4, 4))),
        "edges": npz(edge_index=npy(_header("(2, 1)", "<i8"), struct.pack("<qq", 2**61, -3))),
        "scipy": npz(format=npy(_header("()", "|S3"), b"csr"),
                     shape=npy(_header("(2,)", "<i8"), struct.pack("<qq", 2**31 - 1, 2**31 - 1)),
                     data=npy(_header("(1,)"), bytes(4)),
                     indices=npy(_header("(1,)", "<i8"), bytes(8)),
                     indptr=npy(_header("(2,)", "<i8"), struct.pack("<qq", 0, 2**60))),
    }  # fmt: skip
    for name, content in lies.items():
        (folder / f"{name}.npz").write_bytes(content)
    return ["bomb.npz", *(f"{name}.npz" for name in lies)]


def matrices(folder: Path) -> list[str]:
    """Matrix Market, FROSTT and lists of edges, with claims that nothing backs."""
    texts = {
        "rows.mtx": SQUARE + "2000000000 3 1\n1 1 1.0\n",
        "count.mtx": SQUARE + "3 3 9000000000000000000\n1 1 1.0\n",
        "digits.mtx": SQUARE + "3 3 1\n1 1 " + "9" * 10_000 + "\n",
        "size-digits.mtx": SQUARE + "9" * 10_000 + " 3 1\n1 1 1\n",
        "minus.mtx": SQUARE + "-3 -3 -1\n1 1 1\n",
        "nan.mtx": SQUARE + "3 3 1\n1 1 nan\n",
        "array.mtx": "%%MatrixMarket matrix array real general\n100000 100000\n1\n2\n",
        "pattern.mtx": "%%MatrixMarket matrix coordinate pattern hermitian\n3 3 1\n1 1\n",
        "banner.mtx": "%%MatrixMarket " + "x" * 500_000 + "\n",
        "line.mtx": SQUARE + "3 3 1\n" + "1" * 3_000_000,
        "nuls.mtx": SQUARE + "3 3 1\n" + "\0" * 1000 + "\n",
        "words.tns": "one two three\n",
        "axes.tns": " ".join(["1"] * 400) + "\n",
        "far.tns": "9223372036854775807 1 1\n",
        "far.csv": "1,99999999999999999999\n",
        "fraction.csv": "1.5,2\n",
        "columns.tsv": "1\t2\n" + "\t" * 500_000 + "\n",
        "nodes.txt": "0 2147483646\n",
        "minus.edges": "-1 -2\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    with gzip.open(folder / "lines.mtx.gz", "wb") as file:
        for _ in range(24):
            file.write(b"\n" * (1 << 20))
    with gzip.open(folder / "body.mtx.gz", "wb") as file:
        file.write(SQUARE.encode() + b"3 3 1000000000\n" + b"\n" * (24 << 20))
    with gzip.open(folder / "comments.csv.gz", "wb") as file:
        file.write(b"#\n" * (6 << 20))
    with gzip.open(folder / "zeros.tns.gz", "wb") as file:
        file.write(bytes(24 << 20))
    with gzip.open(folder / "ones.csv.gz", "wb") as file:
        file.write(b"1,1\n" * (1 << 19))
    (folder / "torn.mtx.gz").write_bytes(gzip.compress(SQUARE.encode() * 50)[:40])
    (folder / "twice.mtx.gz").write_bytes(gzip.compress(gzip.compress(SQUARE.encode())))
    return [
        *texts, "lines.mtx.gz", "body.mtx.gz", "comments.csv.gz", "zeros.tns.gz", "ones.csv.gz",
        "torn.mtx.gz", "twice.mtx.gz",
    ]  # fmt: skip


def graph_folders(folder: Path) -> list[str]:
    """Folders of data sets whose parts do harm."""
    planetoid = folder / "planetoid"
    planetoid.mkdir()
    for part in ("x", "tx", "allx", "y", "ty", "ally", "graph"):
        (planetoid / f"ind.cora.{part}").write_bytes(pickle.dumps(_Planted(), protocol=2))
    (planetoid / "ind.cora.test.index").write_text("0\n1\n")
    deep = folder / "deep"
    deep.mkdir()
    for part in ("x", "tx", "allx", "y", "ty", "ally", "graph"):
        (deep / f"ind.cora.{part}").write_bytes(
            b"\x80\x02" + b"(" * 300_000 + b"t" * 300_000 + b"."
        )
    (deep / "ind.cora.test.index").write_text("0\n")
    pipes = folder / "pipes"
    pipes.mkdir()
    for part in ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index"):
        os.mkfifo(pipes / f"ind.cora.{part}")
    ogb = folder / "ogb" / "raw"
    ogb.mkdir(parents=True)
    (ogb / "edge.csv.gz").write_bytes(gzip.compress(b"0,16777215\n"))
    (ogb / "num-node-list.csv.gz").write_bytes(gzip.compress(b"99999999999\n"))
    (ogb / "node-feat.csv.gz").write_bytes(gzip.compress(b"1,2\n" * 3))
    many = folder / "ogb-pipe" / "raw"
    many.mkdir(parents=True)
    os.mkfifo(many / "edge.csv.gz")
    return ["planetoid", "deep", "pipes", "ogb", "ogb-pipe"]


def documents(folder: Path) -> list[str]:
    """JSON, TOML, DOT, protobuf and MLIR that nest, repeat or claim without end."""
    node = {"id": 0, "op": "root", "inputs": [], "outputs": [0], "params": {}, "label": "r"}
    texts = {
        "deep.json": "[" * 30_000 + "]" * 30_000,
        "deep-objects.json": '{"a":' * 30_000 + "1" + "}" * 30_000,
        "digits.json": "[" + "9" * 10_000 + "]",
        "number.json": json.dumps({"version": 10**400, "nodes": [], "streams": []}),
        "nan.json": '{"version": NaN, "nodes": Infinity}',
        "surrogate.json": '{"\\ud800": "\\udfff"}',
        "twice.json": "{" + ", ".join('"nodes": []' for _ in range(50_000)) + "}",
        "nodes.json": json.dumps({"nodes": [node] * 20_000, "streams": [], "version": 1}),
        "null.json": "null",
        "empty.json": "",
        "list.json": "[{}]",
        "kind.json": '[{"kind": "scan", "nodes": [{"op": "' + "x" * 100_000 + '"}]}]',
        "vector.json": '[{"kind":"scan","cap":null,"nodes":[{"op":"trace","name":"s","out":"r",'
        '"tokens":["N",99999999999999999999,"S99999999999"],"times":[1,2],"type":"crd"}],'
        '"clocks":{},"dequeued":{},"outputs":{}}]',
        "deep.toml": "a=" + "[" * 30_000 + "]" * 30_000,
        "keys.toml": ".".join("a" * 20_000) + " = 1\n",
        "digits.toml": "alu_latency = " + "9" * 10_000 + "\n",
        "minus.toml": "alu_latency = -1\n",
        "inf.toml": "alu_latency = inf\n[dram]\nclock = nan\n",
        "large.toml": "channel_capacity = 9223372036854775807\nalu_latency = 9223372036854775807\n",
        "dates.toml": "alu_latency = 1979-05-27\n",
        "strings.toml": 'alu_latency = """' + "x" * 200_000 + '"""\n',
        "deep.gv": "digraph SAM {" + "subgraph a {" * 20_000 + "}" * 20_001,
        "nodes.gv": "digraph SAM {\n"
        + "".join(f'{k} [type="fiberlookup" tensor="B" mode="0" index="i"]\n' for k in range(9_000))
        + "}\n",
        "self.gv": 'digraph SAM {\n0 [type="add" sub="0"]\n0 -> 0 [label="" type="val"]\n}\n',
        "unclosed.gv": 'digraph SAM { 0 [label="' + "\\" * 50_001,
        "names.gv": "digraph SAM {\n" + "x" * 200_000 + ' [type="root"]\n}\n',
        "comment.gv": "/*" * 100_000,
        "deep.mlir": "func.func @f() {" * 20_000,
        "types.mlir": "func.func @f(%a: tensor<" + "9" * 10_000 + "xf32>) { return }",
        "angles.mlir": "func.func @f(%a: " + "tensor<" * 20_000 + ">" * 20_000 + ") { return }",
        "brackets.mlir": "#a = " + "[" * 50_000,
        "map.mlir": "#m = affine_map<(" + ",".join(f"d{k}" for k in range(30_000)) + ") -> (d0)>",
        "sum.mlir": "#m = affine_map<(d0) -> (" + "(" * 30_000 + "d0" + ")" * 30_000 + ")>",
        "string.mlir": 'module attributes {a = "' + "\\" * 100_001,
        "hex.mlir": "%0 = arith.constant 0x" + "f" * 20_000 + " : f32",
        "dense.mlir": "func.func @f() -> tensor<2147483647x2147483647xf32> {\n"
        "%0 = arith.constant dense<1.0> : tensor<2147483647x2147483647xf32>\n"
        "return %0 : tensor<2147483647x2147483647xf32>\n}",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    binaries = {
        "garbage.bin": bytes(random.Random(15).randbytes(4000)),
        "length.bin": b"\x0a\xff\xff\xff\xff\x0f" + bytes(100),
        "varint.bin": b"\xff" * 5000,
        "groups.bin": b"\x0b" * 50_000,
        "nested.bin": b"\x0a\x7f" * 30_000,
        "zeros.bin": bytes(1 << 20),
    }
    for name, content in binaries.items():
        (folder / name).write_bytes(content)
    with (folder / "sparse.json").open("wb") as file:
        file.truncate(3 << 30)
    return [*texts, *binaries, "sparse.json"]


SAMPLES = (
    str(PRIMITIVES), "sam/mat_residual.gv", "sam/mat_residual__small.npz", "sam/index.json",
    "comal/matmul_ijk_34_0.1_None_1/op.bin",
)  # fmt: skip
"""Well-formed files, of which damaged copies are made."""


def damaged(content: bytes, rng: random.Random) -> bytes:
    """A copy with one or two of: flipped bytes, a cut, a part left out, moved or repeated."""
    made = bytearray(content)
    for _ in range(rng.randint(1, 2)):
        size = max(len(made), 1)
        start = rng.randrange(size)
        part = made[start : start + rng.randint(1, max(size // 8, 1))]
        match rng.randrange(6):
            case 0:
                for _ in range(rng.randint(1, 6)):
                    made[rng.randrange(len(made)) : 1] = bytes([rng.randrange(256)])
            case 1:
                del made[start:]
            case 2:
                del made[start : start + len(part)]
            case 3:
                made[start:start] = part * rng.randint(1, 30)
            case 4:
                place = rng.randrange(size)
                made[place : place + len(part)] = part
            case _:
                wrong = (b"-1", b"99999999999999999999", b"1e999", b"nan", b"\x00", b"\xff", b"((")
                made[start : start + rng.randint(0, 4)] = rng.choice(wrong)
        if not made:
            made = bytearray(b"\n")
    return bytes(made)
