"""Encodings: what is read, what is stored, and what is said where that differs."""

from __future__ import annotations

import numpy as np
import pytest

from fuseloom.errors import FuseloomError
from fuseloom.frontends.mlir import from_mlir
from fuseloom.program.formats import format_text

from .files import result

A = np.arange(48.0).reshape(4, 12) * np.random.default_rng(1).integers(0, 2, (4, 12))


def _text(encoding: str, alias: bool = True) -> str:
    name = "#e" if alias else encoding
    define = f"#e = {encoding}" if alias else ""
    return f"""
    {define}
    func.func @f(%A: tensor<4x12xf32, {name}>, %x: tensor<12xf32>) -> tensor<4xf32> {{
      %e = tensor.empty() : tensor<4xf32>
      %y = linalg.matvec ins(%A, %x : tensor<4x12xf32, {name}>, tensor<12xf32>)
        outs(%e : tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }}"""


BLOCKS = "(i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense)"
ENCODINGS: dict[str, tuple[str, str | None]] = {
    "map = (i, j) -> (i : dense, j : compressed)": ("csr", None),
    "map = (i, j) -> (j : dense, i : compressed(nonunique)), posWidth = 32, crdWidth = 8": (
        "csc", None,
    ),
    "map = (i, j) -> (i : compressed(nonunique), j : singleton(soa))": ("coo", None),
    "map = {l0, l1} (i = l0, j = l1) -> (l0 = i : dense, l1 = j : compressed)": ("csr", None),
    'dimLevelType = ["dense", "compressed-nu-no"], pointerBitWidth = 32': ("csr", None),
    'lvlTypes = ["dense", "compressed-hi"], dimToLvl = affine_map<(i, j) -> (j, i)>': (
        "csc", None,
    ),
    f"map = (i, j) -> {BLOCKS}": ("csr", "blocks"),
    "map = {il, jl, ii, jj} (i = il * 2 + ii, j = jl * 3 + jj) -> (il = i floordiv 2 : dense, "
    "jl = j floordiv 3 : compressed, ii = i mod 2 : dense, jj = j mod 3 : dense)": (
        "csr", "blocks",
    ),
    'lvlTypes = ["compressed", "compressed", "dense", "dense"], dimToLvl = affine_map<(i, j) -> '
    "(i floordiv 2, j floordiv 3, i mod 2, j mod 3)>": ("dcsr", "blocks"),
    "map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4]), crdWidth = 8": (
        "csr", "n of m elements",
    ),
    "map = (i, j) -> (i : dense, j floordiv 4 : dense, j mod 4 : block2_4)": (
        "csr", "2 of 4 elements",
    ),
    "map = (i : #sparse_tensor<slice(1, 4, 1)>, j : #sparse_tensor<slice(0, ?, 2)>) -> "
    "(i : dense, j : compressed)": ("csr", "a slice"),
    'dimLevelType = ["dense", "compressed"], dimSlices = [(1, 4, 1), (1, 4, 2)]': (
        "csr", "a slice",
    ),
    "map = (i, j) -> (j - i : compressed, i : compressed)": ("dcsc", "sums of dimensions"),
    "map = [s0](i, j) -> (i * (s0 * 4) : dense, i : dense, j : compressed)": (
        "csr", "sums of dimensions",
    ),
    "map = (i, j) -> (i : batch, j : loose_compressed(nonunique))": ("csr", "segments with gaps"),
    "map = (i, j) -> (i : dense, j : compressed), explicitVal = 1.0 : f32, implicitVal = 0.0 : f32":
        ("csr", "one value for all"),
    "map = (i, j) -> (i : dense, j : compressed),": ("csr", None),
}  # fmt: skip


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("alias", [True, False], ids=["alias", "in place"])
def test_encodings(encoding: str, alias: bool) -> None:
    stored, note = ENCODINGS[encoding]
    given = from_mlir(_text(f"#sparse_tensor.encoding<{{ {encoding} }}>", alias))
    assert format_text(given.program.tensor("A").format) == stored
    told = [text for text in given.notes if text.startswith("A: ")]
    assert bool(told) == (note is not None)
    if note is not None:
        assert note in told[0]
        assert f"it is stored {stored}" in told[0]


def test_storage_never_changes_what_is_computed() -> None:
    given = from_mlir(_text(f"#sparse_tensor.encoding<{{ map = (i, j) -> {BLOCKS} }}>"))
    x = np.arange(12.0)
    np.testing.assert_allclose(result(given, {"A": A, "x": x}), A @ x)


@pytest.mark.parametrize(
    ("encoding", "message"),
    [
        ("map = (i, j) -> (i : dense, k : compressed)", "no dimension k"),
        ("map = (i, j) -> (i : dense, i : compressed)", "must permute"),
        ("map = (i, j) -> (i : dense)", "must permute"),
        ("map = (i, j) -> (i : dens, j : compressed)", "no level format is called 'dens'"),
        ("map = (i, j) -> (2 : dense, j : compressed)", "no level of an encoding"),
        ("implicitVal = 1.0 : f32, map = (i, j) -> (i : dense, j : compressed)",
         "not stored are 1.0"),
        ('lvlTypes = ["dense"], dimToLvl = affine_map<(i, j) -> (i, j)>', "1 level formats for 2"),
        ("mapp = 3", "an encoding has no mapp"),
        ("map = (i) -> (i : dense)", "1 level, the tensor 2"),
    ],
)  # fmt: skip
def test_refusals(encoding: str, message: str) -> None:
    with pytest.raises(FuseloomError, match=message) as caught:
        from_mlir(_text(f"#sparse_tensor.encoding<{{ {encoding} }}>"))
    assert caught.value.line in (2, 3)
    assert caught.value.hint


def test_an_alias_that_nothing_uses_refuses_nothing() -> None:
    unused = """
    #odd = #other.thing<{ a | b }>
    #bad = #sparse_tensor.encoding<{ map = (i) -> (k : odd) }>
    #worse = affine_map<(i) -> (i floordiv 2)>
    !pointer = !llvm.ptr<i8>
    """
    good = _text("#sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed) }>")
    assert from_mlir(unused + good).program == from_mlir(good).program
    with pytest.raises(FuseloomError, match="no dimension k"):
        from_mlir(unused + good.replace("xf32, #e>", "xf32, #bad>"))


def test_a_text_that_ends_in_an_encoding_is_refused() -> None:
    text = "func.func @f(%A: tensor<4xf32, #sparse_tensor.encoding<{map = {l} (d0) -> ("
    with pytest.raises(FuseloomError, match="the end of the text is no level of an encoding"):
        from_mlir(text)
