"""Sending files to a session as a page does, and files that mean harm."""

from __future__ import annotations

import base64
import gzip
import io
import json
import pickle
import struct
import zipfile
from collections.abc import Mapping

import numpy as np
import scipy.sparse

from fuseloom_workbench.state import commands
from fuseloom_workbench.state.session import Session
from tests.hostile.files import npy, npz

PART = 200_000
SQUARE = b"%%MatrixMarket matrix coordinate real general\n"


def send(session: Session, name: str, content: bytes, size: int | None = None) -> dict:
    """Send a file part by part; what the session says of it."""
    announced = len(content) if size is None else size
    commands.carry_out(session, "upload_begin", [1, name, announced])
    at = 0
    while session.received.get("state") == "coming" and at < len(content):
        text = base64.b64encode(content[at : at + PART]).decode()
        commands.carry_out(session, "upload_part", [1, at, text])
        at += PART
    return session.received


def saved(matrix: np.ndarray) -> bytes:
    """A matrix as SciPy saves it."""
    held = io.BytesIO()
    scipy.sparse.save_npz(held, scipy.sparse.csr_array(matrix))
    return held.getvalue()


def arrays(**given: np.ndarray) -> bytes:
    """An archive of arrays."""
    held = io.BytesIO()
    np.savez(held, **given)
    return held.getvalue()


def array(given: np.ndarray) -> bytes:
    """One array as NumPy saves it."""
    held = io.BytesIO()
    np.save(held, given)
    return held.getvalue()


def market(matrix: np.ndarray) -> bytes:
    """A matrix as Matrix Market text."""
    rows, columns = np.nonzero(matrix)
    lines = [f"{i + 1} {j + 1} {matrix[i, j]}" for i, j in zip(rows, columns, strict=True)]
    head = SQUARE.decode() + f"{matrix.shape[0]} {matrix.shape[1]} {len(lines)}\n"
    return (head + "\n".join(lines) + "\n").encode()


def _header(shape: str, kind: str = "<f4") -> str:
    return f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n"


class _Planted:
    def __reduce__(self) -> tuple:
        return (open, ("canary", "w"))


def _bomb() -> bytes:
    held = io.BytesIO()
    with (
        zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("A.npy", "w", force_zip64=True) as entry,
    ):
        entry.write(npy(_header("(16777216,)")))
        zeros = bytes(1 << 20)
        for _ in range(64):
            entry.write(zeros)
    return held.getvalue()


def _objects() -> bytes:
    held = io.BytesIO()
    np.save(held, np.array([_Planted()], dtype=object), allow_pickle=True)
    return held.getvalue()


def hostile() -> Mapping[str, tuple[str, bytes, str]]:
    """By what they do: a name, the bytes, and a word that the refusal says."""
    packed = gzip.compress(b"%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 1\n" * 50)
    big = "2147483647"
    return {
        "pickle": ("a.pkl", pickle.dumps(_Planted()), "never read"),
        "pickle under another name": ("a.mtx", pickle.dumps(_Planted()), "never read"),
        "model of PyTorch": ("model.pt", b"PK\x03\x04" + bytes(50), "never read"),
        "pickle in npz": ("a.npz", npz(A=_objects()), "cannot read tensors"),
        "pickle in npy": ("a.npy", _objects(), "npy"),
        "bomb": ("bomb.npz", _bomb(), "unpacks to"),
        "packed bomb": ("a.mtx.gz", gzip.compress(SQUARE + b" " * (40 << 20), 9), "a.mtx.gz"),
        "truncated gzip": ("a.mtx.gz", packed[: len(packed) // 2], "a.mtx.gz"),
        "gzip of unknown kind": ("a.gz", packed, "unpack it"),
        "no tar in gzip": ("a.tar.gz", packed, "its header says"),
        "shape that lies": ("a.npz", npz(A=npy(_header(f"({big}, {big})"))), "A"),
        "npy shape that lies": ("a.npy", npy(_header(f"({big}, {big})")), "a.npy"),
        "negative shape": ("a.npy", npy(_header("(-4, -4)"), bytes(64)), "a.npy"),
        "too many axes": ("a.npy", npy(_header("(" + "1," * 40 + ")"), bytes(4)), "a.npy"),
        "code in a header": ("a.npy", npy("__import__('os').system('touch canary')\n"), "a.npy"),
        "deep header": ("a.npy", npy("(" * 9000 + ")" * 9000), "a.npy"),
        "texts": ("a.npy", array(np.array(["x", "y"])), "real numbers"),
        "complex": ("a.npy", array(np.ones((34, 34), complex)), "real numbers"),
        "scalar": ("a.npy", array(np.array(1.0)), "0 dimensions"),
        "not finite": ("a.npy", array(np.full((34, 34), np.nan, np.float32)), "finite"),
        "coordinates outside": (
            "a.npz",
            arrays(A_coords=np.array([[99, 2**40]]), A_vals=np.ones(1), A_shape=np.array([34, 34])),
            "outside",
        ),
        "coordinates of numbers": (
            "a.npz",
            arrays(A_coords=np.ones((1, 2)), A_vals=np.ones(1), A_shape=np.array([34, 34])),
            "integers",
        ),
        "huge sizes": (
            "a.npz",
            npz(A_coords=npy(_header("(1, 2)", "<i8"), bytes(16)), A_vals=npy(_header("(1,)"),
                bytes(4)), A_shape=npy(_header("(2,)", "<i8"), struct.pack("<qq", 2**62, -1))),
            "A",
        ),
        "no arrays": ("a.npz", npz(), "no arrays"),
        "members that climb": ("a.npz", npz(**{"../../etc/passwd": b"x"}), "cannot read"),
        "no zip": ("a.npz", b"x" * 100, "no NumPy archive"),
        "NaN sizes": ("a.mtx", SQUARE + b"nan nan nan\n1 1 1\n", "line 2"),
        "sizes that lie": ("a.mtx", SQUARE + b"34 34 999999999\n1 1 1\n", "a.mtx"),
        "negative sizes": ("a.mtx", SQUARE + b"-1 -1 -1\n", "line 2"),
        "endless line": ("a.mtx", SQUARE + b"1" * 3_000_000, "line"),
        "values that are none": ("a.mtx", SQUARE + b"34 34 1\n1 1 NaN\n", "not finite"),
        "tensor of words": ("a.tns", b"rm -rf / now\n", "line 1"),
        "FROSTT beyond all": ("a.tns", b"99999999999999999999 1 1.0\n", "line 1"),
        "deep JSON": ("s.json", b'{"design":' + b"[" * 200_000, "too deeply"),
        "JSON that is torn": ("s.json", b'{"version": 1, "design": {', "no JSON"),
        "JSON of another kind": ("s.json", json.dumps({"a": 1}).encode(), "neither"),
        "session that is damaged": (
            "s.json", json.dumps({"version": 1, "design": {"model": 7}}).encode(), "model is 7"),
        "session that opens files": (
            "s.json", json.dumps({"version": 1, "design": {
                "model": "gcn", "data": "/etc/passwd", "text": None, "cuts": [], "orders": {},
                "seed": 0, "where_possible": False, "schedule": "", "machine": "base='default'",
                "options": {}, "as_written": False, "uploads": []}}).encode(), "no data set"),
        "wrong encoding": ("p.loom", "A: 3x3 csr".encode("utf-16"), "UTF-8"),
        "binary": ("unknown", bytes(range(256)) * 9, "unknown kind"),
        "nothing": ("a.mtx", b"", "empty"),
        "program without end": ("p.loom", b"A" * 900_000, "characters"),
        "deep program": ("p.loom", b"y[i] = " + b"(" * 5000 + b"x[i]" + b")" * 5000, "p.loom"),
        "long text": ("p.mlir", b"//" + b"x" * 1_100_000, "at most 1 MiB"),
        "deep MLIR": ("p.mlir", b"func.func @m(" + b"%a: tensor<" * 3000, "p.mlir"),
        "graph that is torn": ("g.gv", b"digraph { a -> ", "g.gv"),
        "Comal graph": ("op.bin", b"\x08\x01", "--tortilla"),
        "name that climbs": ("../../\x1b[31m/etc/passwd", b"\0\1", "passwd: a file of an unknown"),
        "name without end": ("x" * 100_000 + ".mtx", b"junk\n", "…"),
    }  # fmt: skip
