"""Formats from sparse encodings."""

from __future__ import annotations

from fuseloom.program.formats import format_text

from .files import imported


def formats(name: str) -> dict[str, str]:
    return {t.name: format_text(t.format) for t in imported(name).program.tensors}


def test_formats() -> None:
    assert formats("old_encoding")["B"] == "csc"
    assert formats("older_encoding")["A"] == "coo"
    assert formats("older_encoding")["B"] == "csc"
    assert formats("coo")["A"] == "coo"
    assert formats("dense_encodings")["B"] == "dense order 1,0"
    assert formats("csf3")["B"] == "csf order 2,0,1"
    assert formats("constants")["few"] == "dcsr"
    assert formats("transposed_weights")["wt"] == "dcsr"


def test_what_is_read_again_is_compressed() -> None:
    """Which elements an intermediate has is decided by its statement, not by its type."""
    found = formats("named_ops")
    assert found["t0"] == "dcsr"
    assert found["t3"] == "dense"
